//! Relay: instances and what moves them, the messages of their transcripts, and the delivery of
//! ours. No frame carries them: clients hear that the list changed, and read it.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::fact::{Fact, Reading, line};
use super::rows::{Change, Table, fields, time};
use crate::domain::operator::{Subject, Undelivered};
use crate::domain::relay::{Delivery, Instance, InstanceProgress, RelayMessage};
use crate::domain::{InstanceId, InstanceInput, InstanceState, RelayMessageId, TurnId};

/// The instances.
pub(super) static RELAY_INSTANCES: Table = Table::all("relay_instances", "instance_id::text");
/// Their transcripts.
pub(super) static RELAY_MESSAGES: Table = Table::all("relay_messages", "message_id::text");

/// The columns of the part of an instance that changes.
fn progress_row(progress: &InstanceProgress) -> Value {
    let InstanceProgress { state, paused_from, reason, todos, follow_ups, heartbeat_at, delay_seconds, updated_at, ended_at } =
        progress;
    json!({
        "state": state, "paused_from": paused_from, "reason": reason, "todos": todos, "follow_ups": follow_ups,
        "heartbeat_at": heartbeat_at.map(time), "delay_seconds": delay_seconds, "updated_at": time(*updated_at),
        "ended_at": ended_at.map(time),
    })
}

/// The columns of how far a message is.
fn delivery_row(delivery: &Delivery) -> Value {
    let Delivery { state, peer_id, reason, sender, not_before, sending_at, sent_at, delivered_at, read_at } = delivery;
    json!({
        "state": state, "peer_id": peer_id, "reason": reason, "sender": sender, "not_before": not_before.map(time),
        "sending_at": sending_at.map(time), "sent_at": sent_at.map(time), "delivered_at": delivered_at.map(time),
        "read_at": read_at.map(time),
    })
}

/// An instance was ordered.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct InstanceMade {
    /// The instance as it begins.
    pub instance: Instance,
}

impl Fact for InstanceMade {
    fn read(&self, to: &mut Reading<'_>) {
        let Instance {
            id,
            conversation,
            key,
            channel,
            contact,
            objective,
            time_zone,
            heartbeat_seconds,
            max_follow_ups,
            created_at,
            progress,
        } = &self.instance;
        to.rows(|_| {
            let mut row = fields(progress_row(progress));
            row.extend(fields(json!({
                "instance_id": id, "conversation_id": conversation, "key": key, "channel": channel, "contact": contact,
                "objective": objective, "time_zone": time_zone, "heartbeat_seconds": heartbeat_seconds,
                "max_follow_ups": max_follow_ups, "created_at": time(*created_at),
            })));
            [RELAY_INSTANCES.set(id, Value::Object(row))]
        })
        .print(|| (format!("instance {id} ordered, {}", progress.state), objective.clone()));
    }
}

/// An instance took an input, or its to-dos or times changed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct InstanceMoved {
    /// The instance.
    pub instance: InstanceId,
    /// Its state before.
    pub from: InstanceState,
    /// The input; `None` if its state stayed and something else changed.
    pub input: Option<InstanceInput>,
    /// Its changing part as it is now.
    pub progress: InstanceProgress,
}

impl Fact for InstanceMoved {
    fn read(&self, to: &mut Reading<'_>) {
        let Self { instance, from, input, progress } = self;
        to.rows(|_| [RELAY_INSTANCES.set(instance, progress_row(progress))]).print(|| {
            let how = input.map_or_else(|| "changed".to_owned(), |input| format!("{input}: {from} → {}", progress.state));
            (format!("instance {instance} {how}"), progress.reason.clone().unwrap_or_default())
        });
    }
}

/// A message came into a transcript: a contact's, or one of ours, which is in the outbox with it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RelayMessageKept {
    /// The message.
    pub message: RelayMessage,
}

impl Fact for RelayMessageKept {
    fn read(&self, to: &mut Reading<'_>) {
        let RelayMessage {
            id,
            instance,
            conversation,
            channel,
            contact,
            number,
            said_by,
            text,
            turn,
            first_contact,
            follow_up,
            key,
            media,
            cut,
            delivery,
            created_at,
        } = &self.message;
        to.rows(|_| {
            let mut row = fields(delivery_row(delivery));
            row.extend(fields(json!({
                "message_id": id, "instance_id": instance, "conversation_id": conversation, "channel": channel, "contact": contact, "number": number, "said_by": said_by,
                "text": text, "turn_id": turn, "first_contact": first_contact, "follow_up": follow_up, "key": key, "media": media, "cut": cut,
                "created_at": time(*created_at),
            })));
            [RELAY_MESSAGES.set(id, Value::Object(row))]
        })
        .print(|| {
            let whose = instance.map_or_else(|| format!("to {contact}"), |instance| format!("instance {instance}"));
            (format!("{whose}, message {number}, said by {said_by}"), format!("{} bytes", text.len()))
        });
    }
}

/// A turn was shown what a contact had written.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RepliesShown {
    /// The turn.
    pub turn: TurnId,
    /// The messages that no turn had been shown.
    pub messages: Vec<RelayMessageId>,
}

impl Fact for RepliesShown {
    fn read(&self, to: &mut Reading<'_>) {
        let Self { turn, messages } = self;
        to.rows(|_| {
            messages.iter().map(|message| RELAY_MESSAGES.set(message, json!({ "turn_id": turn }))).collect::<Vec<Change>>()
        })
        .log(|_| [line("replies_shown", json!({ "messages": messages }), format!("{} messages of the contact", messages.len()))])
        .print(|| (format!("{} messages of the contact shown", messages.len()), ""));
    }
}

/// A message of ours is further than it was.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DeliveryChanged {
    /// The message.
    pub message: RelayMessageId,
    /// How far it is.
    pub delivery: Delivery,
    /// The task, of a message about one of the operator's that did not arrive or may not have.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn: Option<TurnId>,
    /// The subject of such a message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub about: Option<Subject>,
}

impl Fact for DeliveryChanged {
    fn read(&self, to: &mut Reading<'_>) {
        let Self { message, delivery, turn: _, about } = self;
        let undelivered = || about.and_then(|about| Undelivered::of(about, delivery.state, delivery.reason.clone()));
        to.rows(|_| [RELAY_MESSAGES.set(message, delivery_row(delivery))]);
        to.log(|_| {
            undelivered().map(|undelivered| {
                let body = json!({ "message": message, "about": about, "state": delivery.state, "reason": delivery.reason });
                line("message_undelivered", body, undelivered.to_string())
            })
        });
        to.print(|| {
            let state = delivery.state.map(|state| state.to_string()).unwrap_or_default();
            (format!("message {message} is {state}"), delivery.reason.clone().unwrap_or_default())
        });
    }
}
