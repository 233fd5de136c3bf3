//! Instances, messages and channels in the form of the interface.

use chrono::{DateTime, TimeDelta, Utc};

use super::super::reply::ApiRefusal;
use crate::channels::OpenChannel;
use crate::domain::InstanceState;
use crate::domain::relay::{ChannelState, ContactAddress, HeldBack, Hold, Instance, Pace, RelayMessage, SaidBy};
use crate::http::Doors;
use crate::store::{CountedInstance, RelayError, StoreError};
use crate::wire::api::{ChannelInfo, ChannelUse, InstanceInfo, TranscriptMessage};

/// An instance as it is shown; `again` if an order had made it before.
pub(super) fn instance(counted: CountedInstance, again: bool) -> InstanceInfo {
    let CountedInstance { instance, unknown, queued, tokens } = counted;
    let progress = instance.progress;
    InstanceInfo {
        id: instance.id,
        state: progress.state,
        paused_from: progress.paused_from,
        reason: progress.reason,
        objective: instance.objective,
        contact: instance.contact,
        channel: instance.channel,
        time_zone: instance.time_zone,
        todos: progress.todos,
        heartbeat_seconds: instance.heartbeat_seconds,
        max_follow_ups: instance.max_follow_ups,
        follow_ups: progress.follow_ups,
        next_heartbeat_at: progress.heartbeat_at,
        conversation: instance.conversation,
        key: instance.key,
        unknown,
        queued_messages: queued,
        waits: None,
        tokens,
        created_at: instance.created_at,
        updated_at: progress.updated_at,
        ended_at: progress.ended_at,
        again,
    }
}

/// A message as it is shown.
pub(super) fn message(message: RelayMessage) -> TranscriptMessage {
    let delivery = message.delivery;
    TranscriptMessage {
        id: message.id,
        instance: message.instance,
        seq: message.number,
        at: message.created_at,
        said_by: message.said_by,
        text: message.text,
        untrusted: message.said_by == SaidBy::Contact,
        delivery: delivery.state,
        waits: None,
        follow_up: message.follow_up,
        reason: delivery.reason,
        sent_at: delivery.sent_at,
        delivered_at: delivery.delivered_at,
        read_at: delivery.read_at,
        media: message.media,
        cut: message.cut,
    }
}

/// The channels as they are shown.
pub(super) async fn channels(doors: &Doors) -> Result<Vec<ChannelInfo>, StoreError> {
    let mut shown = Vec::new();
    for open in doors.channels.all() {
        shown.push(channel(doors, open).await?);
    }
    Ok(shown)
}

/// A channel as it is shown.
pub(super) async fn channel(doors: &Doors, open: &OpenChannel) -> Result<ChannelInfo, StoreError> {
    let (name, now) = (open.channel.name(), doors.clock.now());
    let status = open.channel.status().borrow().clone();
    let past = doors.store.sent_lately(name, now).await?;
    let (strangers, locked) = doors.store.channel_notes(name).await?;
    let Pace { channel_per_minute, channel_per_day, first_contacts_per_day, .. } = doors.store.relay_settings().pace;
    let within = |at: DateTime<Utc>| at > now - TimeDelta::minutes(1);
    let used = ChannelUse {
        minute: past.iter().filter(|message| within(message.at)).count(),
        minute_limit: channel_per_minute,
        day: past.len(),
        day_limit: channel_per_day,
        first_contacts_day: past.iter().filter(|message| message.first).count(),
        first_contacts_limit: first_contacts_per_day,
    };
    let what_to_do = "Look at the account on its phone; when it may write to new people again, unlock the channel.";
    Ok(ChannelInfo {
        name: name.to_owned(),
        kind: open.channel.kind().to_owned(),
        state: status.state,
        qr: status.qr,
        address: status.address,
        reason: status.reason,
        until: status.until,
        no_first_contacts: locked.map(|why| format!("The service refused a message: {why}. {what_to_do}")),
        used,
        dropped: open.dropped.counts().into_iter().map(|(why, count)| (why.to_owned(), count)).collect(),
        strangers,
    })
}

/// Why messages of an instance that wait in the outbox do not leave now.
pub(super) async fn waits(doors: &Doors, instance: &Instance) -> Result<Option<HeldBack>, StoreError> {
    let status = doors.channels.get(&instance.channel).map(|open| open.channel.status().borrow().clone());
    let online = status.as_ref().is_some_and(|status| status.state == ChannelState::Online);
    if online || instance.progress.state == InstanceState::Paused {
        return doors.store.instance_held_back(instance, doors.clock.now()).await;
    }
    Ok(Some(HeldBack { why: Hold::NotOnline, until: status.and_then(|status| status.until) }))
}

/// The address of a contact, in this field.
///
/// # Errors
/// A sentence that names the field and shows a right one.
pub(super) fn address(field: &str, written: &str) -> Result<ContactAddress, ApiRefusal> {
    ContactAddress::read(written).map_err(|why| ApiRefusal::bad(format!("`{field}`: {why}")))
}

impl From<RelayError> for ApiRefusal {
    fn from(error: RelayError) -> Self {
        match error {
            RelayError::Unknown(..) | RelayError::NoMessage(..) => Self::unknown(error.to_string()),
            RelayError::Refused(why) => Self::conflict(why),
            RelayError::Store(error) => error.into(),
        }
    }
}
