//! Instances: ordered, looked at, let rest and go on, ended, and spoken in as the agent.

use axum::Json;
use serde::Deserialize;

use super::super::reply::{ApiRefusal, At, Body, QueryString, Reply, limit};
use super::shown;
use crate::domain::relay::{DeliveryState, Instance, MOST_TEXT_OUT, RelayMessage};
use crate::domain::todo::zone_named;
use crate::domain::{InstanceId, InstanceState, RelayMessageId, seen_name};
use crate::http::Doors;
use crate::http::visitor::Owner;
use crate::store::{CountedInstance, InstanceFilter, NewInstance, RelayError};
use crate::wire::api::{
    InstanceInfo, InstanceOrder, Instances, RelayExport, SaidAsAgent, SayAsAgent, SettleMessage, SettledAs, Transcript,
    TranscriptMessage, TranscriptMessages,
};

/// The most instances, and messages, of an answer.
const MOST: i64 = 1_000;
/// The most characters of an objective, of a to-do, and of a key; the most to-dos.
const MOST_OBJECTIVE: usize = 4_000;
const MOST_TODO: usize = 500;
const MOST_KEY: usize = 200;
const MOST_TODOS: usize = 50;
/// Seconds between follow-ups, and how many in a row.
const HEARTBEATS: std::ops::RangeInclusive<i64> = 60..=2_592_000;
const FOLLOW_UPS: std::ops::RangeInclusive<i64> = 0..=20;

/// The instances that are asked for.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct AskedInstances {
    state: Option<String>,
    contact: Option<String>,
    limit: Option<i64>,
}

/// The part of a transcript that is asked for.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct AskedTranscript {
    after: Option<i32>,
    limit: Option<i64>,
}

/// The instance that is exported, if it is one.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct AskedExport {
    instance: Option<InstanceId>,
}

pub(super) async fn list(Owner(doors): Owner, QueryString(asked): QueryString<AskedInstances>) -> Reply<Instances> {
    let states = asked.state.as_deref().unwrap_or_default().split(',').map(str::trim).filter(|state| !state.is_empty());
    let states = states.map(|state| state.to_ascii_uppercase().parse::<InstanceState>());
    let states = states.collect::<Result<Vec<_>, _>>().map_err(|why| ApiRefusal::bad(format!("`state`: {why}")))?;
    let contact = asked.contact.as_deref().map(|contact| shown::address("contact", contact)).transpose()?;
    let contact = contact.map(|contact| contact.to_string());
    let limit = limit(asked.limit, 200, MOST)?;
    let mut found = doors.store.relay_instances(&InstanceFilter { states, contact, limit: limit + 1 }).await?;
    let more = i64::try_from(found.len()).unwrap_or(i64::MAX) > limit;
    found.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
    Ok(Json(Instances { instances: found.into_iter().map(|counted| shown::instance(counted, false)).collect(), more }))
}

pub(super) async fn create(Owner(doors): Owner, Body(order): Body<InstanceOrder>) -> Reply<InstanceInfo> {
    let new = read(&doors, order)?;
    let (instance, again) = doors.store.make_instance(new, doors.clock.now()).await?;
    Ok(Json(shown::instance(doors.store.relay_instance(instance.id).await?, again)))
}

pub(super) async fn show(Owner(doors): Owner, At(id): At<InstanceId>) -> Reply<InstanceInfo> {
    let counted = doors.store.relay_instance(id).await?;
    let waits = match counted.queued {
        0 => None,
        _ => shown::waits(&doors, &counted.instance).await?,
    };
    Ok(Json(InstanceInfo { waits, ..shown::instance(counted, false) }))
}

pub(super) async fn transcript(
    Owner(doors): Owner,
    At(id): At<InstanceId>,
    QueryString(asked): QueryString<AskedTranscript>,
) -> Reply<Transcript> {
    let instance = doors.store.relay_instance(id).await?.instance;
    let limit = limit(asked.limit, 200, MOST)?;
    let mut messages = doors.store.relay_transcript(id, asked.after.unwrap_or_default(), limit + 1).await?;
    let more = i64::try_from(messages.len()).unwrap_or(i64::MAX) > limit;
    messages.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
    let waits = |message: &RelayMessage| message.delivery.state == Some(DeliveryState::Queued);
    let held = match messages.iter().any(waits) {
        true => shown::waits(&doors, &instance).await?,
        false => None,
    };
    let line = |message: RelayMessage| TranscriptMessage { waits: held.filter(|_| waits(&message)), ..shown::message(message) };
    let messages = messages.into_iter().map(line).collect();
    Ok(Json(Transcript { instance: id, state: instance.progress.state, messages, more }))
}

pub(super) async fn pause(Owner(doors): Owner, At(id): At<InstanceId>) -> Reply<InstanceInfo> {
    let paused = doors.store.pause_instance(id, doors.clock.now()).await;
    ordered(&doors, paused).await
}

pub(super) async fn resume(Owner(doors): Owner, At(id): At<InstanceId>) -> Reply<InstanceInfo> {
    let resumed = doors.store.resume_instance(id, doors.clock.now()).await;
    ordered(&doors, resumed).await
}

pub(super) async fn cancel(Owner(doors): Owner, At(id): At<InstanceId>) -> Reply<InstanceInfo> {
    let cancelled = doors.store.cancel_instance(id, doors.clock.now()).await;
    ordered(&doors, cancelled).await
}

async fn ordered(doors: &Doors, done: Result<Instance, RelayError>) -> Reply<InstanceInfo> {
    Ok(Json(as_it_was(doors, done?).await?))
}

/// An instance as an order left it: the agent may be at work on it by now.
async fn as_it_was(doors: &Doors, instance: Instance) -> Result<InstanceInfo, ApiRefusal> {
    let counted = doors.store.relay_instance(instance.id).await?;
    Ok(shown::instance(CountedInstance { instance, ..counted }, false))
}

pub(super) async fn send(Owner(doors): Owner, At(id): At<InstanceId>, Body(said): Body<SayAsAgent>) -> Reply<SaidAsAgent> {
    let text = seen_name(&said.text);
    if text.is_empty() || text.chars().count() > MOST_TEXT_OUT {
        return Err(ApiRefusal::bad(format!("`text` has 1 to {MOST_TEXT_OUT} characters, like \"text\": \"Hello\"")));
    }
    if said.id.as_ref().is_some_and(|key| key.is_empty() || key.len() > MOST_KEY) {
        return Err(ApiRefusal::bad(format!("`id` has 1 to {MOST_KEY} bytes")));
    }
    let (message, instance) = doors.store.say_as_agent(id, text, said.id.as_deref(), doors.clock.now()).await?;
    let instance = as_it_was(&doors, instance).await?;
    Ok(Json(SaidAsAgent { message: shown::message(message), instance }))
}

pub(super) async fn resend(Owner(doors): Owner, At(id): At<RelayMessageId>) -> Reply<TranscriptMessage> {
    Ok(Json(shown::message(doors.store.resend_message(id, doors.clock.now()).await?)))
}

pub(super) async fn settle(
    Owner(doors): Owner,
    At(id): At<RelayMessageId>,
    Body(SettleMessage { settled }): Body<SettleMessage>,
) -> Reply<TranscriptMessage> {
    Ok(Json(shown::message(doors.store.settle_message(id, settled == SettledAs::Sent, doors.clock.now()).await?)))
}

pub(super) async fn unknown(Owner(doors): Owner) -> Reply<TranscriptMessages> {
    let messages = doors.store.unknown_messages().await?.into_iter().map(shown::message).collect();
    Ok(Json(TranscriptMessages { messages }))
}

pub(super) async fn export(Owner(doors): Owner, QueryString(asked): QueryString<AskedExport>) -> Reply<RelayExport> {
    let found = match asked.instance {
        Some(id) => vec![doors.store.relay_instance(id).await?],
        None => doors.store.relay_instances(&InstanceFilter { limit: i64::MAX, ..InstanceFilter::default() }).await?,
    };
    let mut transcripts = std::collections::BTreeMap::new();
    for counted in &found {
        let messages = doors.store.relay_transcript(counted.instance.id, 0, i64::MAX).await?;
        transcripts.insert(counted.instance.id, messages.into_iter().map(shown::message).collect());
    }
    let settings = super::channels::settings(&doors).await?;
    let instances = found.into_iter().map(|counted| shown::instance(counted, false)).collect();
    Ok(Json(RelayExport { instances, transcripts, settings }))
}

/// An order as the store takes it.
fn read(doors: &Doors, order: InstanceOrder) -> Result<NewInstance, ApiRefusal> {
    let InstanceOrder { objective, contact, todos, channel, heartbeat_seconds, max_follow_ups, time_zone, key } = order;
    let objective = seen_name(&objective).to_owned();
    if objective.is_empty() || objective.chars().count() > MOST_OBJECTIVE {
        return Err(ApiRefusal::bad(format!(
            "`objective` has 1 to {MOST_OBJECTIVE} characters, like \"Agree on a time for the viewing on Friday\""
        )));
    }
    let todos: Vec<_> = todos.iter().map(|text| seen_name(text).to_owned()).collect();
    if todos.len() > MOST_TODOS || todos.iter().any(|text| text.is_empty() || text.chars().count() > MOST_TODO) {
        return Err(ApiRefusal::bad(format!(
            "`todos` are {MOST_TODOS} at most, each of 1 to {MOST_TODO} characters, like [\"Ask for a time\"]"
        )));
    }
    let default = doors.store.relay_settings().channel;
    let channel = channel.unwrap_or_else(|| default.to_owned());
    if doors.channels.get(&channel).is_none() {
        let there: Vec<_> = doors.channels.all().map(|open| open.channel.name()).collect();
        return Err(ApiRefusal::bad(format!("`channel`: there is no channel `{channel}`; there are: {}", there.join(", "))));
    }
    let heartbeat = within(heartbeat_seconds, HEARTBEATS, 1_800)
        .ok_or_else(|| ApiRefusal::bad("`heartbeat_seconds` is 60 to 2592000 (30 days), like 1800"))?;
    let follow_ups =
        within(max_follow_ups, FOLLOW_UPS, 5).ok_or_else(|| ApiRefusal::bad("`max_follow_ups` is 0 to 20, like 5"))?;
    let zone = |name: &str| zone_named(name).map_err(|why| ApiRefusal::bad(format!("`time_zone`: {why}")));
    let time_zone = time_zone.as_deref().map(zone).transpose()?;
    if key.as_ref().is_some_and(|key| key.is_empty() || key.len() > MOST_KEY) {
        return Err(ApiRefusal::bad(format!("`key` has 1 to {MOST_KEY} bytes, like \"viewing-friday\"")));
    }
    let contact = shown::address("contact", &contact)?;
    let (heartbeat_seconds, max_follow_ups) = (heartbeat, follow_ups);
    Ok(NewInstance { channel, contact, objective, todos, heartbeat_seconds, max_follow_ups, time_zone, key })
}

fn within(given: Option<i64>, range: std::ops::RangeInclusive<i64>, default: i32) -> Option<i32> {
    given.map_or(Some(default), |given| range.contains(&given).then(|| i32::try_from(given).ok())?)
}
