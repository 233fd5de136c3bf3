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
mod tests;
