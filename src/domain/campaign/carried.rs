//! The memory of a campaign for proposals: those that were carried out against the state as it is,
//! and those that a person refused, or did not decide about in time, whatever the state.

use serde::{Deserialize, Serialize};

use super::Campaign;

/// The proposals that are remembered as carried out against a state.
const MOST_CARRIED: usize = 20;
/// The proposals that are remembered as refused by a person.
pub const MOST_REFUSED: usize = 100;

/// A proposal that was carried out or refused, and the state it was made against.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Carried {
    /// sha256 of the state; empty if only the no of a person is left.
    pub state: String,
    /// sha256 of the proposal.
    pub proposal: String,
    /// The outcome, in words; empty if only the no is left.
    pub came: String,
    /// True if a person refused it, or did not decide in time, and has not allowed it since.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub refused: bool,
}

/// A proposal that was judged, as far as its campaign remembers it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JudgedProposal {
    /// sha256 of it.
    pub fingerprint: String,
    /// True if it may be made again while the state is the same.
    pub again: bool,
    /// True if a person refused it or did not decide in time, false if it was allowed. `None`:
    /// neither.
    pub refused: Option<bool>,
}

impl Campaign {
    /// True if a person refused this very proposal, and has not allowed it since.
    pub fn has_refused(&self, fingerprint: &str) -> bool {
        self.carried.iter().any(|past| past.refused && past.proposal == fingerprint)
    }

    /// Remembers the proposal of a cycle that ends in this state, with the outcome in words. Of a
    /// proposal against another state, the no of a person alone is left.
    pub fn remember(&mut self, at: String, judged: Option<JudgedProposal>, came: &str) {
        for past in self.carried.iter_mut().filter(|past| past.state != at) {
            (past.state, past.came) = (String::new(), String::new());
        }
        self.carried.retain(|past| past.refused || past.state == at);
        let Some(JudgedProposal { fingerprint: proposal, again, refused }) = judged else { return };
        // A no holds until the person decides about this proposal again.
        self.carried.retain(|past| past.proposal != proposal || (past.refused && refused.is_none()));
        let refused = refused == Some(true);
        if refused || !again {
            let (state, came) = if again { (String::new(), String::new()) } else { (at, came.to_owned()) };
            self.carried.push(Carried { state, proposal, came, refused });
        }
        leave_newest(&mut self.carried, false, MOST_CARRIED);
        leave_newest(&mut self.carried, true, MOST_REFUSED);
    }
}

/// Leaves the newest of the proposals that were refused, or of those that were not.
fn leave_newest(carried: &mut Vec<Carried>, refused: bool, most: usize) {
    let mut over = carried.iter().filter(|past| past.refused == refused).count().saturating_sub(most);
    carried.retain(|past| {
        let goes = over > 0 && past.refused == refused;
        over -= usize::from(goes);
        !goes
    });
}
