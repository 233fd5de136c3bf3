//! Turns: queued, taken up, in the queue again, over.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::fact::{Fact, LogLine};
use super::message::{MESSAGES, attachments, message, steered, with_images};
use super::rows::{Change, Stamp, Table, fields};
use crate::domain::{Failure, Image, Machine, MessageId, Origin, Role, TurnId, TurnInput, TurnState};
use crate::wire::ServerFrame;

/// The state of each turn.
pub(super) static TURNS: Table =
    Table { unsaid: &["lease_owner", "lease_until", "takes", "taken_at"], ..Table::all("turns", "turn_id::text") };

/// A turn in a state, with the columns that change with it. `None` leaves the state as it is.
pub(super) fn turn_is(turn: TurnId, state: Option<TurnState>, also: Value) -> Change {
    let mut row = fields(also);
    row.extend(state.map(|state| ("state".to_owned(), json!(state))));
    TURNS.set(turn, Value::Object(row))
}

fn turn_frame(turn: TurnId, state: TurnState, reason: Option<String>) -> ServerFrame {
    let (id, origin, content, message, moved, images) = (None, None, None, None, None, Vec::new());
    ServerFrame::Turn { turn, state, id, origin, content, message, moved, images, reason }
}

/// An input was accepted; from here on it is never lost.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TurnQueued {
    /// The new turn.
    pub turn: TurnId,
    /// The message that holds the input.
    pub message: MessageId,
    /// The id the client gave its message.
    pub client_id: Option<String>,
    /// A person, or tasks that fell due.
    pub origin: Origin,
    /// The words of the message.
    pub content: String,
    /// The message it was, if it had been said into a turn that ended before a step was shown it; that one is gone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub moved: Option<MessageId>,
    /// The images that came with it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub images: Vec<Image>,
}

impl Fact for TurnQueued {
    fn changes(&self, at: &Stamp) -> Vec<Change> {
        let Self { turn, client_id, origin, content, moved, images, message: _ } = self;
        let row = json!({
            "turn_id": turn, "conversation_id": at.conversation, "origin": origin, "client_id": client_id, "fence": 0,
            "created_at": at.time,
        });
        let said = message(at, format!("user/{turn}"), *turn, Role::User, content, json!({ "images": images }));
        let mut changes = vec![turn_is(*turn, Some(TurnState::FIRST), row), said];
        changes.extend(attachments(images));
        changes.extend(moved.map(|gone| MESSAGES.gone(steered(gone))));
        changes
    }

    fn frame(&self, _at: &Stamp) -> Option<ServerFrame> {
        Some(ServerFrame::Turn {
            turn: self.turn,
            state: TurnState::Queued,
            id: self.client_id.clone(),
            origin: Some(self.origin),
            content: Some(self.content.clone()),
            message: None,
            moved: self.moved,
            images: self.images.clone(),
            reason: None,
        })
    }

    fn headline(&self) -> Option<(String, String)> {
        Some((format!("queued, from a {}", self.origin), with_images(&self.content, &self.images)))
    }
}

/// A runner took the turn up, the first time or again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TurnStarted {
    /// The turn.
    pub turn: TurnId,
    /// Counts the times it was taken up; writes of an older holder are refused.
    pub fence: i64,
}

impl Fact for TurnStarted {
    fn changes(&self, _at: &Stamp) -> Vec<Change> {
        vec![turn_is(self.turn, TurnState::after(TurnInput::Claim), json!({ "fence": self.fence }))]
    }

    fn frame(&self, _at: &Stamp) -> Option<ServerFrame> {
        Some(turn_frame(self.turn, TurnState::Running, None))
    }

    fn log(&self, input: Option<&str>) -> Vec<LogLine> {
        let words = input.map_or_else(|| format!("taken up again, the {}. time", self.fence), str::to_owned);
        vec![LogLine::new("task_started", json!({ "attempt": self.fence, "input": input }), words)]
    }

    fn headline(&self) -> Option<(String, String)> {
        Some((format!("taken up, fence {}", self.fence), String::new()))
    }
}

/// A turn that waited is in the queue again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TurnResumed {
    /// The turn.
    pub turn: TurnId,
    /// The id a client gave the message that decided.
    pub client_id: Option<String>,
    /// That message.
    pub content: Option<String>,
}

impl Fact for TurnResumed {
    fn changes(&self, _at: &Stamp) -> Vec<Change> {
        vec![turn_is(self.turn, TurnState::after(TurnInput::Resume), json!({}))]
    }

    fn frame(&self, _at: &Stamp) -> Option<ServerFrame> {
        let (turn, id, content) = (self.turn, self.client_id.clone(), self.content.clone());
        let (state, origin, message, moved, reason) = (TurnState::Queued, None, None, None, None);
        Some(ServerFrame::Turn { turn, state, id, origin, content, message, moved, images: Vec::new(), reason })
    }

    fn headline(&self) -> Option<(String, String)> {
        Some(("in the queue again".to_owned(), self.content.clone().unwrap_or_default()))
    }
}

/// The turn is over.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TurnEnded {
    /// The turn.
    pub turn: TurnId,
    /// One of the final states.
    pub state: TurnState,
    /// Why, if it did not simply complete; written for a person.
    pub reason: Option<String>,
    /// The cause that kept it from its answer, if it failed.
    pub failure: Option<Failure>,
    /// If the model had too many requests: seconds after which it may take one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_after: Option<u32>,
}

impl Fact for TurnEnded {
    fn changes(&self, at: &Stamp) -> Vec<Change> {
        vec![turn_is(self.turn, Some(self.state), json!({ "reason": self.reason, "ended_at": at.time }))]
    }

    fn frame(&self, _at: &Stamp) -> Option<ServerFrame> {
        let (turn, reason) = (self.turn, self.reason.clone());
        Some(match self.state {
            TurnState::Failed => {
                ServerFrame::Error { content: reason.unwrap_or_default(), turn: Some(turn), failure: self.failure, id: None }
            }
            state => turn_frame(turn, state, reason),
        })
    }

    fn log(&self, _input: Option<&str>) -> Vec<LogLine> {
        let event = if self.state == TurnState::Completed { "task_completed" } else { "task_aborted" };
        let body = json!({ "state": self.state, "reason": self.reason, "failure": self.failure });
        vec![LogLine::new(event, body, self.reason.as_deref().unwrap_or_default())]
    }

    fn headline(&self) -> Option<(String, String)> {
        Some((self.state.to_string(), self.reason.clone().unwrap_or_default()))
    }
}
