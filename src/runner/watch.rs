//! Which servers are dead, judged by the signs that they do not give. Looks are counted, and not
//! time: clocks differ, and jump.

use std::collections::HashMap;

/// After so many looks in a row without a new sign, six seconds, a server with turns counts as
/// dead.
const PATIENCE: u32 = 3;

/// For each server with turns: its count of signs, and the number of looks since that count
/// changed.
#[derive(Debug, Default)]
pub(super) struct Watch(HashMap<String, (i64, u32)>);

impl Watch {
    /// Counts a look; returns the servers that are dead.
    pub(super) fn look(&mut self, holders: Vec<(String, i64)>) -> Vec<String> {
        let before = std::mem::take(&mut self.0);
        let mut gone = Vec::new();
        for (owner, signs) in holders {
            let quiet = match before.get(&owner) {
                Some((seen, quiet)) if *seen == signs => quiet + 1,
                _ => 0,
            };
            if quiet >= PATIENCE {
                gone.push(owner.clone());
            }
            self.0.insert(owner, (signs, quiet));
        }
        gone
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn holders(signs: &[(&str, i64)]) -> Vec<(String, i64)> {
        signs.iter().map(|(owner, signs)| ((*owner).to_owned(), *signs)).collect()
    }

    #[test]
    fn a_server_is_dead_after_three_looks_without_a_sign_and_lives_with_the_next_one() {
        let mut watch = Watch::default();
        for look in 0..3 {
            assert_eq!(watch.look(holders(&[("a", 7), ("b", look)])), [""; 0], "look {look}");
        }
        assert_eq!(watch.look(holders(&[("a", 7), ("b", 3)])), ["a"]);
        assert_eq!(watch.look(holders(&[("a", 7)])), ["a"], "until its turns are taken");
        assert_eq!(watch.look(holders(&[("a", 8)])), [""; 0]);
    }

    #[test]
    fn a_server_that_held_nothing_in_between_is_watched_anew() {
        let mut watch = Watch::default();
        for _ in 0..3 {
            watch.look(holders(&[("a", 7)]));
        }
        assert_eq!(watch.look(holders(&[])), [""; 0]);
        assert_eq!(watch.look(holders(&[("a", 7)])), [""; 0]);
    }
}
