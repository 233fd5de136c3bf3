//! Messages that a person says into a turn that runs.

use serde::{Deserialize, Serialize};
use serde_json::json;

use super::fact::{Fact, Reading, line};
use super::message::{CountedMessage, MESSAGES, attachments, message_row, steered, with_images};
use crate::domain::{Image, MessageId, Role, TurnId, TurnState};
use crate::wire::ServerFrame;

/// A person said something into a turn that runs; no answer ends it before a step was shown this.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TurnSteered {
    /// The turn.
    pub turn: TurnId,
    /// The message.
    pub message: MessageId,
    /// The id the client gave its message.
    pub client_id: Option<String>,
    /// The state of the turn in that moment.
    pub state: TurnState,
    /// The words of the message.
    pub content: String,
    /// The images that came with it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub images: Vec<Image>,
    /// Its place among the person's messages of the day, if it counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counted: Option<CountedMessage>,
}

impl Fact for TurnSteered {
    fn read(&self, to: &mut Reading<'_>) {
        let Self { turn, message, client_id, state, content, images, counted } = self;
        to.rows(|at| {
            let also = json!({ "images": images, "steered": true, "client_id": client_id });
            let said = message_row(at, steered(*message), *turn, Role::User, content, also);
            attachments(images).chain([said]).chain(counted.map(CountedMessage::row))
        })
        .frame(|_| ServerFrame::Turn {
            turn: *turn,
            state: *state,
            id: client_id.clone(),
            origin: None,
            content: Some(content.clone()),
            message: Some(*message),
            moved: None,
            images: images.clone(),
            reason: None,
            usage: None,
            ms: None,
        })
        .log(|_| [line("task_steered", json!({ "message": message, "input": content }), content)])
        .print(|| (format!("message {message} said into it"), with_images(content, images)));
    }
}

/// The model is shown messages that were said into a turn, from a step on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SteeringShown {
    /// The turn.
    pub turn: TurnId,
    /// The number of that step.
    pub step: i32,
    /// The messages, oldest first.
    pub messages: Vec<MessageId>,
}

impl Fact for SteeringShown {
    fn read(&self, to: &mut Reading<'_>) {
        let Self { turn, step, messages } = self;
        to.rows(|_| messages.iter().map(|message| MESSAGES.set(steered(*message), json!({ "from_step": step }))))
            .frame(|_| ServerFrame::Shown { turn: *turn, step: *step, messages: messages.clone() })
            .log(|_| {
                let words = format!("step {step} sees what was said meanwhile");
                [line("steering_shown", json!({ "number": step, "messages": messages }), words)]
            })
            .print(|| {
                let messages: Vec<_> = messages.iter().map(ToString::to_string).collect();
                (format!("step {step} is shown message {}", messages.join(", ")), "")
            });
    }
}
