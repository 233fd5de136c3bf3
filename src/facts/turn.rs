//! Turns: queued, taken up, in the queue again, over.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::fact::{Fact, Reading, line};
use super::message::{CountedMessage, MESSAGES, attachments, message_row, steered, with_images};
use super::rows::{Change, Table, fields};
use crate::domain::{Failure, Image, Machine, MessageId, Origin, Requests, Role, TurnId, TurnInput, TurnState};
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

fn turn_frame(turn: TurnId, state: TurnState, reason: Option<String>, usage: Option<Requests>, ms: Option<i64>) -> ServerFrame {
    let (id, origin, content, message, moved, images) = (None, None, None, None, None, Vec::new());
    ServerFrame::Turn { turn, state, id, origin, content, message, moved, images, reason, usage, ms }
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
    /// A message, tasks that fell due, or an order.
    pub origin: Origin,
    /// The words of the message.
    pub content: String,
    /// The message it was, if it had been said into a turn that ended before a step was shown it;
    /// that one is gone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub moved: Option<MessageId>,
    /// The images that came with it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub images: Vec<Image>,
    /// Its place among the person's messages of the day, if it counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counted: Option<CountedMessage>,
}

impl Fact for TurnQueued {
    fn read(&self, to: &mut Reading<'_>) {
        let Self { turn, client_id, origin, content, moved, images, counted, message: _ } = self;
        to.rows(|at| {
            let row = json!({
                "turn_id": turn, "conversation_id": at.conversation, "origin": origin, "client_id": client_id, "fence": 0,
                "created_at": at.time,
            });
            let message = message_row(at, format!("user/{turn}"), *turn, Role::User, content, json!({ "images": images }));
            let gone = moved.map(|gone| MESSAGES.gone(steered(gone)));
            [turn_is(*turn, Some(TurnState::FIRST), row), message]
                .into_iter()
                .chain(attachments(images))
                .chain(gone)
                .chain(counted.map(CountedMessage::row))
        })
        .frame(|_| ServerFrame::Turn {
            turn: *turn,
            state: TurnState::Queued,
            id: client_id.clone(),
            origin: Some(*origin),
            content: Some(content.clone()),
            message: None,
            moved: *moved,
            images: images.clone(),
            reason: None,
            usage: None,
            ms: None,
        })
        .print(|| (format!("queued, from a {origin}"), with_images(content, images)));
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
    fn read(&self, to: &mut Reading<'_>) {
        let Self { turn, fence } = *self;
        to.rows(|_| [turn_is(turn, TurnState::after(TurnInput::Claim), json!({ "fence": fence }))])
            .frame(|_| turn_frame(turn, TurnState::Running, None, None, None))
            .log(|input| {
                let words = input.map_or_else(|| format!("taken up again, the {fence}. time"), str::to_owned);
                [line("task_started", json!({ "attempt": fence, "input": input }), words)]
            })
            .print(|| (format!("taken up, fence {fence}"), ""));
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
    fn read(&self, to: &mut Reading<'_>) {
        let Self { turn, client_id, content } = self;
        to.rows(|_| [turn_is(*turn, TurnState::after(TurnInput::Resume), json!({}))])
            .frame(|_| {
                let (turn, id, content, images) = (*turn, client_id.clone(), content.clone(), Vec::new());
                let (state, origin, message, moved, reason, usage, ms) = (TurnState::Queued, None, None, None, None, None, None);
                ServerFrame::Turn { turn, state, id, origin, content, message, moved, images, reason, usage, ms }
            })
            .print(|| ("in the queue again".to_owned(), content.clone().unwrap_or_default()));
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
    /// The requests that it made to models, and their cost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Requests>,
    /// How long it took from its acceptance, without the time in which it waited for a person, in
    /// milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ms: Option<i64>,
}

impl Fact for TurnEnded {
    fn read(&self, to: &mut Reading<'_>) {
        let Self { turn, state, reason, failure, retry_after: _, usage, ms } = self;
        to.rows(|at| [turn_is(*turn, Some(*state), json!({ "reason": reason, "ended_at": at.time }))])
            .frame(|_| match state {
                TurnState::Failed => {
                    let content = reason.clone().unwrap_or_default();
                    let (turn, failure, usage, ms) = (Some(*turn), *failure, *usage, *ms);
                    ServerFrame::Error { content, turn, failure, id: None, usage, ms, upgrade: false }
                }
                state => turn_frame(*turn, *state, reason.clone(), *usage, *ms),
            })
            .log(|_| {
                let event = if *state == TurnState::Completed { "task_completed" } else { "task_aborted" };
                let body = json!({ "state": state, "reason": reason, "failure": failure });
                [line(event, body, reason.as_deref().unwrap_or_default())]
            })
            .print(|| (state.to_string(), reason.as_deref().unwrap_or_default()));
    }
}
