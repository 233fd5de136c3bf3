//! The floors, as `ARCHITECTURE.md` lists them.
//!
//! ```text
//! F4 hands    model | sandbox        beside each other: neither imports the other
//! F5 mind     tools agent runner     in this order: a later one may import an earlier one
//! F6 doors    http cli<F2            `cli` imports nothing from F2 up
//! ```

use std::collections::BTreeMap;

/// The place of a module.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Place {
    floor: usize,
    /// Its place on the floor, from the left.
    position: usize,
    /// It may import only from floors below this one.
    below: usize,
}

/// All modules with their places.
#[derive(Debug)]
pub struct Floors(BTreeMap<String, Place>);

impl Floors {
    /// Reads the fenced block `floors` of a document.
    pub fn from_document(document: &str) -> Result<Self, String> {
        let mut lines = document.lines().skip_while(|line| line.trim() != "```floors");
        if lines.next().is_none() {
            return Err("there is no block ```floors".into());
        }
        Self::read(lines.take_while(|line| line.trim() != "```"))
    }

    fn read<'a>(lines: impl Iterator<Item = &'a str>) -> Result<Self, String> {
        let mut places = BTreeMap::new();
        for (floor, line) in lines.filter(|line| !line.trim().is_empty()).enumerate() {
            let mut words = line.split_whitespace();
            if words.next() != Some(&format!("F{floor}")) {
                return Err(format!("expected floor F{floor} in `{line}`"));
            }
            words.next().ok_or_else(|| format!("`{line}` has no name"))?;
            let (mut position, mut beside) = (0, false);
            for word in words {
                if word == "|" {
                    beside = true;
                    continue;
                }
                position += usize::from(!beside);
                beside = false;
                let (module, below) = match word.split_once("<F") {
                    Some((module, below)) => (module, below.parse().map_err(|_| format!("`{word}` names no floor"))?),
                    None => (word, usize::MAX),
                };
                if places.insert(module.to_owned(), Place { floor, position, below }).is_some() {
                    return Err(format!("`{module}` is listed twice"));
                }
            }
        }
        if places.is_empty() {
            return Err("the block ```floors lists no module".into());
        }
        Ok(Self(places))
    }

    /// True when the module is on the list.
    pub fn lists(&self, module: &str) -> bool {
        self.0.contains_key(module)
    }

    /// The number of the module's floor.
    pub fn floor(&self, module: &str) -> Option<usize> {
        self.0.get(module).map(|place| place.floor)
    }

    /// Why `from` may not import `to`; `None` when it may.
    pub fn refusal(&self, from: &str, to: &str) -> Option<String> {
        if from == to {
            return None;
        }
        let Some(target) = self.0.get(to) else { return Some(format!("`{to}` is on no floor of ARCHITECTURE.md")) };
        let Some(own) = self.0.get(from) else { return Some(format!("`{from}` is on no floor of ARCHITECTURE.md")) };
        if target.floor >= own.below {
            return Some(format!("`{from}` may import only from below F{}, and `{to}` is on F{}", own.below, target.floor));
        }
        if (target.floor, target.position) < (own.floor, own.position) {
            return None;
        }
        Some(if target.floor == own.floor && target.position == own.position {
            format!("`{from}` and `{to}` stand beside each other on F{} and may not import each other", own.floor)
        } else {
            format!(
                "`{from}` (F{}) may not import `{to}` (F{}): arrows go down, and on one floor to the left",
                own.floor, target.floor
            )
        })
    }
}

#[cfg(test)]
pub mod tests {
    use super::Floors;

    /// A small house.
    pub fn house() -> Floors {
        Floors::from_document(
            "# Text\n```floors\nF0 words  domain\nF1 ground clock config\nF2 memory store\n\
             F3 hands  model | sandbox\nF4 mind   tools agent\nF5 doors  http cli<F2\n```\nmore",
        )
        .unwrap()
    }

    #[test]
    fn arrows_go_down_and_to_the_left() {
        for (from, to) in [("agent", "domain"), ("agent", "tools"), ("config", "clock"), ("tools", "sandbox"), ("cli", "config")]
        {
            assert_eq!(house().refusal(from, to), None, "{from} → {to}");
        }
        for (from, to) in [("domain", "store"), ("tools", "agent"), ("clock", "config"), ("store", "model")] {
            assert!(house().refusal(from, to).unwrap().contains("arrows go down"), "{from} → {to}");
        }
    }

    #[test]
    fn neighbours_do_not_import_each_other() {
        for (from, to) in [("model", "sandbox"), ("sandbox", "model")] {
            assert!(house().refusal(from, to).unwrap().contains("beside each other"), "{from} → {to}");
        }
    }

    #[test]
    fn a_module_can_be_kept_to_the_lower_floors() {
        assert!(house().refusal("cli", "store").unwrap().contains("only from below F2"));
        assert!(house().refusal("cli", "http").unwrap().contains("only from below F2"));
        assert_eq!(house().refusal("http", "store"), None);
    }

    #[test]
    fn modules_that_are_not_listed_are_refused_on_both_sides() {
        assert!(house().refusal("agent", "helpers").unwrap().contains("`helpers` is on no floor"));
        assert!(house().refusal("helpers", "domain").unwrap().contains("`helpers` is on no floor"));
    }

    #[test]
    fn a_list_that_cannot_be_right_is_refused() {
        for (document, problem) in [
            ("no block", "no block"),
            ("```floors\n```", "lists no module"),
            ("```floors\nF1 words domain\n```", "expected floor F0"),
            ("```floors\nF0 words domain\nF1 ground domain\n```", "listed twice"),
            ("```floors\nF0 words domain<Fx\n```", "names no floor"),
        ] {
            assert!(Floors::from_document(document).unwrap_err().contains(problem), "{document}");
        }
    }
}
