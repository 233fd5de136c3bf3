//! Conversations: new ones, the list and each of it, its changes, older frames, and the search.

use axum::Json;
use axum::http::StatusCode;
use chrono::{DateTime, SecondsFormat, Utc};
use serde::Deserialize;

use super::reply::{self, ApiRefusal, At, Body, QueryString, Reply};
use crate::domain::ConversationId;
use crate::facts::EventRecord;
use crate::http::visitor::Visitor;
use crate::store::{ListPlace, StoreError};
use crate::wire::api::{
    BranchPoint, ChangedConversation, ConversationChange, Conversations, Deleted, Frames, ListedConversation, MadeConversation,
    NewConversation, SearchResults,
};

/// Conversations on a page of the list.
const LIST: i64 = 50;
/// Frames on a page, unless another number is asked for.
const FRAMES: i64 = 200;
/// The most frames that may be asked for.
const MOST_FRAMES: i64 = 1000;
/// The most findings of a search.
const FOUND: i64 = 50;
/// The longest title, in bytes.
const MAX_TITLE_BYTES: usize = 400;

/// The words for a person, before they decide and after.
const DELETED: &str = "A deleted conversation is out of the list and the search, and comes back if something happens in it, \
    such as a task that falls due. What was recorded of it stays, since it is the record of what the agent did.";

/// The operator works on one task at a time, so there is one conversation.
const ONE_QUEUE: &str = "the operator has one conversation, its main one, so that its tasks come one after the other; say it there: {\"profile\": \"operator\"}";

/// A new conversation beside the main one, or a branch of another.
pub(super) async fn create(
    visitor: Visitor,
    Body(NewConversation { profile, from }): Body<NewConversation>,
) -> Result<(StatusCode, Json<MadeConversation>), ApiRefusal> {
    let conversation = match from {
        Some(from) => branched(&visitor, from, profile.as_deref()).await?,
        None => {
            let profile = visitor.profile(profile.as_deref().unwrap_or(visitor.default_profile()))?;
            if profile.operates {
                return Err(ApiRefusal::conflict(ONE_QUEUE));
            }
            visitor.theirs().create_conversation_of(profile.name, visitor.now()).await?
        }
    };
    Ok((StatusCode::CREATED, Json(MadeConversation { conversation })))
}

async fn branched(visitor: &Visitor, from: BranchPoint, profile: Option<&str>) -> Result<ConversationId, ApiRefusal> {
    talked_in(visitor, from.conversation).await?;
    let theirs = visitor.theirs();
    let last = theirs.last_sequence(from.conversation).await?;
    if !(0..=last).contains(&from.seq) {
        return Err(ApiRefusal::bad(format!("conversation {} has no frame {}; its last is {last}", from.conversation, from.seq)));
    }
    let anew = theirs.begun_anew_at(from.conversation).await?;
    if from.seq < anew {
        let told = format!("conversation {} was begun anew at frame {anew}; nothing goes on from before it", from.conversation);
        return Err(ApiRefusal::bad(told));
    }
    if visitor.profile(&theirs.profile_of(from.conversation).await?).is_ok_and(|own| own.operates) {
        return Err(ApiRefusal::conflict(ONE_QUEUE));
    }
    if profile.is_some() {
        return Err(ApiRefusal::bad("a branch keeps the profile of its conversation; leave `profile` out"));
    }
    Ok(theirs.branch(from, visitor.now()).await?)
}

#[derive(Deserialize)]
pub(super) struct Page {
    #[serde(default)]
    archived: bool,
    after: Option<String>,
}

pub(super) async fn list(visitor: Visitor, QueryString(Page { archived, after }): QueryString<Page>) -> Reply<Conversations> {
    let after = after.as_deref().map(place).transpose()?;
    let mut conversations = visitor.theirs().conversations(&visitor.mains(), archived, after, LIST + 1).await?;
    let more = conversations.len() > LIST as usize;
    conversations.truncate(LIST as usize);
    let next = conversations.last().filter(|_| more).map(|last| written(&last.into()));
    Ok(Json(Conversations { conversations, next }))
}

pub(super) async fn show(visitor: Visitor, At(id): At<ConversationId>) -> Reply<ListedConversation> {
    Ok(Json(visitor.theirs().conversation(&visitor.mains(), id).await?))
}

/// A place in the list as an address has it.
fn written(place: &ListPlace) -> String {
    let at = place.active_at.to_rfc3339_opts(SecondsFormat::Micros, true);
    format!("{}_{at}_{}", u8::from(place.pinned), place.id)
}

fn place(written: &str) -> Result<ListPlace, ApiRefusal> {
    let read = || {
        let mut parts = written.splitn(3, '_');
        let pinned = parts.next()?.parse::<u8>().ok()? == 1;
        let active_at = DateTime::parse_from_rfc3339(parts.next()?).ok()?.with_timezone(&Utc);
        Some(ListPlace { pinned, active_at, id: ConversationId(parts.next()?.parse().ok()?) })
    };
    read().ok_or_else(|| ApiRefusal::bad("`after` is no place in the list; give the `next` of the page before"))
}

pub(super) async fn change(
    visitor: Visitor,
    At(id): At<ConversationId>,
    Body(change): Body<ConversationChange>,
) -> Reply<ChangedConversation> {
    if change.title.as_ref().is_some_and(|title| title.len() > MAX_TITLE_BYTES) {
        return Err(ApiRefusal::bad(format!("the title is longer than {MAX_TITLE_BYTES} bytes")));
    }
    talked_in(&visitor, id).await?;
    visitor.theirs().change_conversation(id, &change, visitor.now()).await?;
    Ok(Json(ChangedConversation { id }))
}

/// Refuses a conversation that no list ever has, which is nobody's to name, to put away or to go on
/// from: that of a contact, a campaign or a program.
async fn talked_in(visitor: &Visitor, id: ConversationId) -> Result<(), ApiRefusal> {
    let profile = visitor.theirs().profile_of(id).await?;
    if visitor.mains().contains(&profile) { Ok(()) } else { Err(StoreError::NoConversation(id).into()) }
}

#[derive(Deserialize)]
pub(super) struct Confirmed {
    #[serde(default)]
    confirmed: bool,
}

pub(super) async fn delete(
    visitor: Visitor,
    At(id): At<ConversationId>,
    QueryString(Confirmed { confirmed }): QueryString<Confirmed>,
) -> Reply<Deleted> {
    talked_in(&visitor, id).await?;
    if !confirmed {
        return Err(ApiRefusal::conflict(DELETED));
    }
    visitor.theirs().delete_conversation(id, visitor.now()).await?;
    Ok(Json(Deleted { id, said: DELETED.to_owned() }))
}

#[derive(Deserialize)]
pub(super) struct Before {
    before: Option<i64>,
    limit: Option<i64>,
}

pub(super) async fn frames(
    visitor: Visitor,
    At(id): At<ConversationId>,
    QueryString(Before { before, limit }): QueryString<Before>,
) -> Reply<Frames> {
    let limit = reply::limit(limit, FRAMES, MOST_FRAMES)?;
    let mut events = visitor.theirs().events_before(id, before, limit).await?;
    let anew = visitor.theirs().begun_anew_at(id).await?;
    events.retain(|event| event.sequence > anew);
    let before = events.first().map(|first| first.sequence).filter(|first| *first > anew + 1);
    let from = if before.is_none() { visitor.theirs().branch_point(id).await? } else { None };
    Ok(Json(Frames { frames: events.iter().filter_map(EventRecord::frame).collect(), before, from }))
}

#[derive(Deserialize)]
pub(super) struct SearchQuery {
    q: String,
}

pub(super) async fn search(visitor: Visitor, QueryString(SearchQuery { q }): QueryString<SearchQuery>) -> Reply<SearchResults> {
    Ok(Json(SearchResults { found: visitor.theirs().search(&visitor.mains(), &q, FOUND).await? }))
}
