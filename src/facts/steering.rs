//! Messages that a person says into a turn that runs.

use serde::{Deserialize, Serialize};
use serde_json::json;

use super::fact::{Fact, LogLine};
use super::message::{MESSAGES, attachments, message, steered, with_images};
use super::rows::{Change, Stamp};
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
}

impl Fact for TurnSteered {
    fn changes(&self, at: &Stamp) -> Vec<Change> {
        let also = json!({ "images": self.images, "steered": true, "client_id": self.client_id });
        let said = message(at, steered(self.message), self.turn, Role::User, &self.content, also);
        attachments(&self.images).chain([said]).collect()
    }

    fn frame(&self, _at: &Stamp) -> Option<ServerFrame> {
        Some(ServerFrame::Turn {
            turn: self.turn,
            state: self.state,
            id: self.client_id.clone(),
            origin: None,
            content: Some(self.content.clone()),
            message: Some(self.message),
            moved: None,
            images: self.images.clone(),
            reason: None,
        })
    }

    fn log(&self, _input: Option<&str>) -> Vec<LogLine> {
        vec![LogLine::new("task_steered", json!({ "message": self.message, "input": self.content }), &*self.content)]
    }

    fn headline(&self) -> Option<(String, String)> {
        Some((format!("message {} said into it", self.message), with_images(&self.content, &self.images)))
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
    fn changes(&self, _at: &Stamp) -> Vec<Change> {
        self.messages.iter().map(|message| MESSAGES.set(steered(*message), json!({ "from_step": self.step }))).collect()
    }

    fn frame(&self, _at: &Stamp) -> Option<ServerFrame> {
        Some(ServerFrame::Shown { turn: self.turn, step: self.step, messages: self.messages.clone() })
    }

    fn log(&self, _input: Option<&str>) -> Vec<LogLine> {
        let words = format!("step {} sees what was said meanwhile", self.step);
        vec![LogLine::new("steering_shown", json!({ "number": self.step, "messages": self.messages }), words)]
    }

    fn headline(&self) -> Option<(String, String)> {
        let messages: Vec<_> = self.messages.iter().map(ToString::to_string).collect();
        Some((format!("step {} is shown message {}", self.step, messages.join(", ")), String::new()))
    }
}
