//! Which module names which. Every path that begins with `crate`, `super` or `self` counts, in
//! `use` lines, in code, in macros and in attributes; comments and text do not.

use proc_macro2::{Delimiter, TokenTree};

use super::files::{Finding, Source};
use super::floors::Floors;
use super::tokens;

/// A path that names a module at the top.
struct Arrow {
    target: String,
    line: usize,
}

/// Arrows of this file that the floors forbid.
pub fn check(floors: &Floors, file: &Source) -> Vec<Finding> {
    let path = module_path(&file.path);
    let Some(own) = path.first() else { return Vec::new() };
    let refused = |arrow: Arrow| floors.refusal(own, &arrow.target).map(|why| file.finding(arrow.line, why));
    arrows(file).into_iter().filter_map(refused).collect()
}

/// A finding when the module this file belongs to is on no floor.
pub fn listed(floors: &Floors, file: &Source) -> Vec<Finding> {
    match module_path(&file.path).first() {
        Some(module) if !floors.lists(module) => {
            vec![file.finding(1, format!("`{module}` is on no floor of ARCHITECTURE.md; add it where it belongs"))]
        }
        _ => Vec::new(),
    }
}

/// How many arrows a file has.
pub fn count(file: &Source) -> usize {
    arrows(file).len()
}

/// The roots of the three crates, with the first and the last floor that each holds.
pub const ROOTS: [(&str, usize, usize); 3] = [("src/ground.rs", 0, 1), ("src/hands.rs", 2, 3), ("src/lib.rs", 4, usize::MAX)];

/// True for the root of a crate, which is no module.
pub fn is_root(path: &str) -> bool {
    ROOTS.iter().any(|(root, ..)| *root == path)
}

/// The module a file is: `src/store/embedded/mod.rs` is `store`, `embedded`. `src/lib.rs` is none.
pub fn module_path(path: &str) -> Vec<String> {
    if is_root(path) {
        return Vec::new();
    }
    let path = path.trim_start_matches("src/").trim_end_matches(".rs");
    let mut path: Vec<String> = path.split('/').map(String::from).collect();
    if matches!(path.last().map(String::as_str), Some("mod")) {
        path.pop();
    }
    path
}

fn arrows(file: &Source) -> Vec<Arrow> {
    let mut found = Vec::new();
    walk(&tokens::of(file), &mut module_path(&file.path), &mut found);
    found
}

fn walk(all: &[TokenTree], module: &mut Vec<String>, found: &mut Vec<Arrow>) {
    let mut at = 0;
    while at < all.len() {
        match &all[at] {
            TokenTree::Ident(word) if *word == "mod" => {
                if let (Some(name), Some(TokenTree::Group(body))) = (tokens::word(all.get(at + 1)), all.get(at + 2)) {
                    module.push(name);
                    walk(&tokens::inside(body), module, found);
                    module.pop();
                    at += 2;
                }
            }
            TokenTree::Ident(word) if tokens::is_path_separator(all, at + 1) => {
                let begins = match word.to_string().as_str() {
                    "crate" => Some(Vec::new()),
                    // The programs name the library by its name.
                    "level3" if module.first().is_some_and(|first| first == "main" || first == "bin") => Some(Vec::new()),
                    "super" => Some(module[..module.len().saturating_sub(1)].to_vec()),
                    "self" => Some(module.clone()),
                    _ => None,
                };
                if let Some(begins) = begins {
                    at = follow(all, at + 3, begins, found);
                    continue;
                }
            }
            // serde and others take paths as text.
            TokenTree::Literal(literal) => {
                if let Some(rest) = tokens::text(literal).as_deref().and_then(|text| text.strip_prefix("crate::")) {
                    let target = rest.split("::").next().unwrap_or_default().to_owned();
                    found.push(Arrow { target, line: tokens::line(&all[at]) });
                }
            }
            TokenTree::Group(group) => walk(&tokens::inside(group), module, found),
            _ => {}
        }
        at += 1;
    }
}

/// Goes on with a path after its first `::`; gives back where to read on.
fn follow(all: &[TokenTree], mut at: usize, mut begins: Vec<String>, found: &mut Vec<Arrow>) -> usize {
    while tokens::word(all.get(at)).as_deref() == Some("super") && tokens::is_path_separator(all, at + 1) {
        begins.pop();
        at += 3;
    }
    let Some(token) = all.get(at) else { return at };
    let line = tokens::line(token);
    if let Some(own) = begins.first() {
        found.push(Arrow { target: own.clone(), line });
        return at;
    }
    match token {
        TokenTree::Ident(name) => found.push(Arrow { target: name.to_string(), line }),
        TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => {
            let members = tokens::inside(group);
            for member in members.split(|token| matches!(token, TokenTree::Punct(comma) if comma.as_char() == ',')) {
                if let Some(first) = member.first() {
                    found.push(Arrow { target: first.to_string(), line: tokens::line(first) });
                }
            }
        }
        other => found.push(Arrow { target: other.to_string(), line }),
    }
    at + 1
}

#[cfg(test)]
mod tests {
    use super::super::floors::tests::house;
    use super::*;

    fn findings(path: &str, text: &str) -> Vec<String> {
        check(&house(), &Source::sample(path, text)).iter().map(Finding::to_string).collect()
    }

    #[test]
    fn a_wrong_arrow_is_found_in_every_way_of_writing_it() {
        for text in [
            "use crate::agent::Agent;",
            "use crate::{agent};",
            "use crate::{domain::{Task, Turn}, agent::{self, Agent}};",
            "fn a() { crate::agent::run() }",
            "type A = Vec<crate::agent::Agent>;",
            "fn a() { vec![crate::agent::run()]; }",
            "macro_rules! a { () => { $crate::agent::run() } }",
            "#[serde(with = \"crate::agent::hex\")] struct A;",
            "use super::agent::Agent;",
            "mod inner { use super::super::agent::Agent; }",
            "pub use crate::agent as other;",
            "use crate::agent;",
        ] {
            let found = findings("src/store/mod.rs", text);
            assert_eq!(found.len(), 1, "{text}: {found:?}");
            assert!(found[0].starts_with("src/store/mod.rs:1: `store` (F2) may not import `agent`"), "{found:?}");
        }
    }

    #[test]
    fn the_line_is_that_of_the_name() {
        let found =
            findings("src/store/queue/turns.rs", "//! Turns.\n\nuse crate::{\n    domain::Task,\n    agent::Agent,\n};\n");
        assert!(found.len() == 1 && found[0].starts_with("src/store/queue/turns.rs:5:"), "{found:?}");
    }

    #[test]
    fn right_arrows_comments_and_text_are_no_finding() {
        let text = "//! See crate::agent.\n/// Used by [`crate::agent`].\n// crate::agent\nuse crate::{clock, domain::Task};\n\
                    use super::domain::Turn; use self::rows::Row;\nfn a() -> &'static str { \"see crate::agent\" }";
        assert_eq!(findings("src/store/mod.rs", text), Vec::<String>::new());
    }

    #[test]
    fn super_is_followed_to_where_it_leads() {
        let in_depth = "use super::super::agent::Agent;";
        assert_eq!(findings("src/store/embedded/mod.rs", in_depth).len(), 1);
        // One level deeper the same words mean `store::agent`.
        assert_eq!(findings("src/store/embedded/cluster.rs", in_depth), Vec::<String>::new());
    }

    #[test]
    fn everything_at_once_is_refused() {
        for text in ["use crate::*;", "use super::*;", "use crate::{*};"] {
            assert_eq!(findings("src/store/mod.rs", text).len(), 1, "{text}");
        }
        assert_eq!(findings("src/store/mod.rs", "mod tests { use super::*; }"), Vec::<String>::new());
    }

    #[test]
    fn the_program_is_held_to_its_floor_too() {
        assert!(findings("src/main.rs", "use level3::store;")[0].contains("`main` is on no floor"));
    }

    #[test]
    fn a_module_that_is_not_listed_is_found() {
        for path in ["src/helpers.rs", "src/helpers/mod.rs", "src/helpers/text.rs"] {
            let found = listed(&house(), &Source::sample(path, ""));
            assert!(found.len() == 1 && found[0].to_string().contains("`helpers` is on no floor"), "{path}: {found:?}");
        }
        assert_eq!(listed(&house(), &Source::sample("src/lib.rs", "")), []);
        assert_eq!(listed(&house(), &Source::sample("src/agent/mod.rs", "")), []);
    }
}
