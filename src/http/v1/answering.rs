//! A request on its way to its answer: what every form of the answer says of it, and how it ends.

use axum::http::StatusCode;

use super::follow::Follow;
use super::history::link;
use super::refusal::V1Refusal;
use super::telling::{Ending, Telling};
use crate::domain::{ApprovalId, Failure, Shown};
use crate::http::Doors;
use crate::store::{Fingerprint, ShownAccepted};
use crate::wire::v1::Level3Part;

/// A request on its way to its answer.
pub(super) struct Answering {
    pub(super) follow: Follow,
    pub(super) doors: Doors,
    pub(super) asked: Fingerprint,
}

/// How an answer ends.
pub(super) struct AnswerEnd {
    /// Text that is still to be told.
    pub(super) text: String,
    pub(super) finish_reason: &'static str,
    pub(super) approval: Option<ApprovalId>,
}

impl Answering {
    /// The id of the answer: who asks again gets the same.
    pub(super) fn id(&self) -> String {
        format!("chatcmpl-{}", self.follow.shown().request)
    }

    /// When it was accepted, in seconds since 1970.
    pub(super) fn created(&self) -> i64 {
        self.follow.shown().at.timestamp()
    }

    pub(super) fn progress(&self) -> Level3Part {
        let ShownAccepted { conversation, turn, .. } = *self.follow.shown();
        Level3Part { conversation, turn, approval: None, tool_call: None, tool_result: None }
    }

    /// Ends the answer, and keeps what the client will show if it goes on.
    pub(super) async fn end(&mut self, ending: Ending) -> Result<AnswerEnd, V1Refusal> {
        let telling = self.follow.telling();
        let end = ended(telling, ending)?;
        let told = link(&self.asked, "assistant", telling.text());
        self.doors.store.keep_told(self.follow.shown().request, &told).await?;
        Ok(end)
    }
}

/// The last words, or why there are none.
fn ended(telling: &mut Telling, ending: Ending) -> Result<AnswerEnd, V1Refusal> {
    let end = |text, approval| AnswerEnd { text, finish_reason: "stop", approval };
    Ok(match ending {
        Ending::Answered(cut) => AnswerEnd { finish_reason: if cut { "length" } else { "stop" }, ..end(String::new(), None) },
        Ending::Stopped => end(telling.add("*(stopped)*"), None),
        Ending::Waiting(approval, shown) => end(telling.add(&waiting(approval, &shown)), Some(approval)),
        Ending::Behind(approval) => end(telling.add(&behind(approval)), Some(approval)),
        Ending::Busy(reason, wait) => return Err(V1Refusal::busy(reason, wait)),
        Ending::Failed(Some(Failure::Model), reason) => {
            return Err(V1Refusal::failed(StatusCode::BAD_GATEWAY, reason, "model_failed"));
        }
        Ending::Failed(Some(Failure::Server) | None, reason) => {
            return Err(V1Refusal::failed(StatusCode::SERVICE_UNAVAILABLE, reason, "turn_failed"));
        }
    })
}

fn waiting(id: ApprovalId, shown: &Shown) -> String {
    let what: String = shown.what.iter().map(|what| format!("\n* {what}")).collect();
    format!(
        "**Approval {id} waits for you** (`{}`):{what}\n\n{}\n\nDecide on level3's page, where everything about it is shown, or with \
         `level3 approvals approve {id}` or `level3 approvals deny {id}`. Nothing that is said here decides it.",
        shown.tool, shown.why
    )
}

fn behind(id: ApprovalId) -> String {
    format!(
        "Your message is kept, and its turn comes once approval {id} is decided, for which an earlier one of this conversation waits: on \
         level3's page, or with `level3 approvals show {id}`. Send the same request again, with the same Idempotency-Key, for the answer."
    )
}
