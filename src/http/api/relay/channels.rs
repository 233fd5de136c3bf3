//! Channels: how they stand, and the phones of the test channel.

use axum::Json;
use serde::Deserialize;

use super::super::reply::{ApiRefusal, At, Body, QueryString, Reply};
use super::shown;
use crate::channels::{IncomingMessage, OpenChannel};
use crate::domain::InstanceState;
use crate::domain::relay::{LOOPBACK, MOST_TEXT_IN};
use crate::http::Doors;
use crate::http::visitor::Owner;
use crate::store::{Came, StoreError};
use crate::wire::api::{
    ChannelInfo, ChannelList, LoopbackCame, LoopbackPhone, LoopbackSay, PaceInForce, PhoneMessage, RelaySettingsInfo, RelayStatus,
};

/// The most bytes of a text that a phone of the test channel takes.
const MOST_SAID: usize = 64 * MOST_TEXT_IN;

/// The kinds of chat, and first the one that is no other.
const CHATS: [&str; 4] = ["direct", "group", "broadcast", "status"];

/// The phone that is asked for.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct AskedPhone {
    address: Option<String>,
    after: Option<i64>,
}

pub(super) async fn status(Owner(doors): Owner) -> Reply<RelayStatus> {
    let states = doors.store.instances_by_state().await?;
    let many =
        |wanted: &dyn Fn(InstanceState) -> bool| states.iter().filter(|(state, _)| wanted(*state)).map(|(_, many)| many).sum();
    Ok(Json(RelayStatus {
        pid: std::process::id(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        uptime_seconds: (doors.clock.now() - doors.started_at).num_seconds().max(0),
        active: many(&|state| state.has_place(None)),
        queued: many(&|state| state == InstanceState::Queued),
        paused: many(&|state| state == InstanceState::Paused),
        needs_human: many(&|state| state == InstanceState::NeedsHumanIntervention),
        unknown: doors.store.unknown_messages().await?.len(),
        channels: shown::channels(&doors).await?,
    }))
}

pub(super) async fn list(Owner(doors): Owner) -> Reply<ChannelList> {
    Ok(Json(ChannelList { channels: shown::channels(&doors).await? }))
}

pub(super) async fn logout(Owner(doors): Owner, At(name): At<String>) -> Reply<ChannelInfo> {
    let open = there(&doors, &name)?;
    open.channel.logout().await;
    Ok(Json(shown::channel(&doors, open).await?))
}

pub(super) async fn unlock(Owner(doors): Owner, At(name): At<String>) -> Reply<ChannelInfo> {
    let open = there(&doors, &name)?;
    if !doors.store.unlock_channel(&name).await? {
        return Err(ApiRefusal::conflict(format!("the channel `{name}` makes first contacts already")));
    }
    Ok(Json(shown::channel(&doors, open).await?))
}

pub(super) async fn pace(Owner(doors): Owner) -> Reply<PaceInForce> {
    Ok(Json(PaceInForce { pace: doors.store.relay_settings().pace }))
}

/// The settings as they are exported.
pub(super) async fn settings(doors: &Doors) -> Result<RelaySettingsInfo, StoreError> {
    let set = doors.store.relay_settings();
    Ok(RelaySettingsInfo { pace: set.pace, time_zone: set.zone.name().to_owned(), channels: shown::channels(doors).await? })
}

pub(super) async fn phone(Owner(doors): Owner, QueryString(asked): QueryString<AskedPhone>) -> Reply<LoopbackPhone> {
    let phone = asked.address.as_deref().map(|phone| shown::address("address", phone)).transpose()?;
    let found =
        doors.store.loopback_messages(phone.as_ref().map(|phone| phone.as_str()), asked.after.unwrap_or_default()).await?;
    let message = found.into_iter().map(|message| PhoneMessage {
        n: message.number,
        address: message.address,
        mine: message.mine,
        id: message.id,
        text: message.text,
        media: message.media,
        arrivals: message.arrivals,
        at: message.at,
    });
    let waits = match &phone {
        Some(phone) => doors.store.contact_held_back(LOOPBACK, phone.as_str(), doors.clock.now()).await?,
        None => None,
    };
    Ok(Json(LoopbackPhone { messages: message.collect(), waits }))
}

pub(super) async fn say(Owner(doors): Owner, Body(said): Body<LoopbackSay>) -> Reply<LoopbackCame> {
    let from = shown::address("address", &said.address)?;
    if said.text.trim().is_empty() || said.text.len() > MOST_SAID {
        return Err(ApiRefusal::bad(format!("`text` has 1 to {MOST_SAID} bytes, like \"text\": \"Yes, Friday is fine\"")));
    }
    if said.id.as_ref().is_some_and(|id| id.is_empty() || id.len() > 200) {
        return Err(ApiRefusal::bad("`id` has 1 to 200 bytes"));
    }
    let now = doors.clock.now();
    let id = said.id.unwrap_or_else(|| doors.access.fresh_id());
    let open = there(&doors, LOOPBACK)?;
    let inbox = doors.channels.inbox(open, &doors.store, &doors.clock, &doors.site.media());
    let chat = said.chat.unwrap_or_else(|| CHATS[0].to_owned());
    if !CHATS.contains(&&*chat) {
        return Err(ApiRefusal::bad(format!("`chat`: `{chat}` is no kind of chat; there are: {}", CHATS.join(", "))));
    }
    let message = IncomingMessage {
        id: id.clone(),
        from: said.address.clone(),
        text: said.text.clone(),
        chat,
        note: said.note,
        own: said.own,
        to: said.own.then(|| said.address.clone()),
        quoted: said.quoted,
        ..IncomingMessage::default()
    };
    let came = inbox.take(message).await?;
    // A message of ours that comes back is on the phone already.
    if came.is_some() || !said.own {
        doors.store.say_at_loopback(from.as_str(), &id, &said.text, now).await?;
    }
    let (came, instance) = match came {
        Some(Came::Kept(instance)) => ("kept", Some(instance)),
        Some(Came::Again(instance)) => ("again", Some(instance)),
        Some(Came::Stranger) => ("stranger", None),
        Some(Came::Ordered) => ("order", None),
        None => ("dropped", None),
    };
    Ok(Json(LoopbackCame { came: came.to_owned(), instance }))
}

fn there<'d>(doors: &'d Doors, name: &str) -> Result<&'d OpenChannel, ApiRefusal> {
    let there = || doors.channels.all().map(|open| open.channel.name()).collect::<Vec<_>>().join(", ");
    doors.channels.get(name).ok_or_else(|| ApiRefusal::unknown(format!("there is no channel `{name}`; there are: {}", there())))
}
