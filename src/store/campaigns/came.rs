//! The result of a cycle, as far as it follows from the end of its call.

use super::loading::LastCall;
use crate::domain::campaign::page::is_browser_tool;
use crate::domain::campaign::{CampaignProposal, JudgedProposal};
use crate::domain::{CallState, RefusalCode};

/// The result of a cycle.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CycleCame {
    /// The kind of its proposal, if there was one.
    pub proposal: Option<String>,
    /// The same, as far as the campaign remembers it.
    pub judged: Option<JudgedProposal>,
    /// The outcome, in words for a person.
    pub words: String,
    /// The outcome in words for the model, if they are others.
    pub told: Option<String>,
    /// True if something came of it.
    pub fruitful: bool,
    /// True if no model answered; the words say why.
    pub silent: bool,
    /// True if it was set aside before its model made a proposal: then it counts as none.
    pub aside: bool,
}

impl CycleCame {
    /// The result of a cycle whose one call has ended.
    pub fn of_call(last: &LastCall) -> Self {
        let call = &last.made;
        let written = serde_json::from_str(&call.arguments).unwrap_or_default();
        let read = CampaignProposal::read(&call.name, &written).ok();
        let done = call.state == CallState::Done;
        let idle = matches!(read, Some(CampaignProposal::NoOp(_)));
        // It could not begin: the same may be proposed again.
        let refusal = call.refusal.as_deref();
        let not_begun = refusal == Some(RefusalCode::Gone.as_str());
        // A page is outside the state: it may be another by now, so what did not come about may be
        // proposed again.
        let outside = matches!(&read, Some(CampaignProposal::ExecuteTool(run)) if is_browser_tool(&run.tool));
        let again = not_begun || (outside && !done);
        // A question that nobody decided in time counts as a no.
        let noes = [RefusalCode::Denied, RefusalCode::Expired].map(RefusalCode::as_str);
        let refused = refusal.map_or(Some(false), |code| noes.contains(&code).then_some(true));
        let how = if done { "done" } else { "not done" };
        Self {
            proposal: Some(call.name.clone()),
            judged: read.map(|proposal| JudgedProposal { fingerprint: proposal.fingerprint(), again, refused }),
            words: format!("{} was {how}: {}", call.name, last.sentence()),
            fruitful: done && !idle,
            ..Self::default()
        }
    }
}
