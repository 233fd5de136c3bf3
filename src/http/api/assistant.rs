//! Lea and Law, and the tiers that say how much may be said to them.

use axum::Json;
use serde::Deserialize;
use serde_json::Value;

use super::reply::{ApiRefusal, At, Body, QueryString, Reply};
use super::turns::{self, Ordered};
use crate::domain::todo::{TierLimits, TodoFunction};
use crate::domain::{ConversationId, Tier, shortened};
use crate::http::visitor::{Owner, Visitor};
use crate::wire::api::{AssistantState, StoredChat, Tiers};

/// The most bytes of an order in words; its arguments have the whole.
const MOST_WORDS: usize = 400;

/// Whose chat.
#[derive(Deserialize)]
pub(super) struct With {
    /// `lea` or `law`.
    #[serde(default = "lea")]
    profile: String,
}

fn lea() -> String {
    "lea".to_owned()
}

/// A character that the person may talk with, by its profile's name.
fn assistant(visitor: &Visitor, profile: &str) -> Result<&'static str, ApiRefusal> {
    let profile = visitor.profile(profile)?;
    if profile.counted {
        return Ok(profile.name);
    }
    Err(ApiRefusal::bad(format!("`{}` is no assistant; there are: {}", profile.name, visitor.counted().join(", "))))
}

/// The person's conversation with a character, made if this is its first use.
async fn conversation(visitor: &Visitor, profile: &str) -> Result<ConversationId, ApiRefusal> {
    Ok(visitor.theirs().main_conversation_of(assistant(visitor, profile)?, visitor.now()).await?)
}

pub(super) async fn show(visitor: Visitor) -> Reply<AssistantState> {
    let (theirs, now) = (visitor.theirs(), visitor.now());
    let conversations = theirs.mains(&visitor.counted()).await?;
    let (timer, timed) = theirs.timer(now).await?;
    let allowances = theirs.allowances(now).await?;
    let hears = visitor.speech().hears_at().is_some() || visitor.vapi().is_set();
    Ok(Json(AssistantState { conversations, timer, timed, allowances, hears }))
}

pub(super) async fn chat(visitor: Visitor, QueryString(With { profile }): QueryString<With>) -> Reply<StoredChat> {
    let (theirs, profile) = (visitor.theirs(), assistant(&visitor, &profile)?);
    match theirs.mains(&[profile.to_owned()]).await?.get(profile) {
        Some(conversation) => Ok(Json(theirs.chat(*conversation).await?)),
        None => Ok(Json(StoredChat::of_nothing(visitor.user()))),
    }
}

pub(super) async fn begin_anew(visitor: Visitor, QueryString(With { profile }): QueryString<With>) -> Reply<StoredChat> {
    let conversation = conversation(&visitor, &profile).await?;
    visitor.theirs().begin_anew(conversation, visitor.now()).await?;
    Ok(Json(visitor.theirs().chat(conversation).await?))
}

/// A person's own press: the function is an order in the conversation, and passes the same law as a
/// call of the character.
pub(super) async fn call(
    visitor: Visitor,
    At(name): At<String>,
    QueryString(With { profile }): QueryString<With>,
    Body(arguments): Body<Value>,
) -> Ordered {
    let function: TodoFunction = name.parse().map_err(ApiRefusal::unknown)?;
    let conversation = conversation(&visitor, &profile).await?;
    let said = arguments.as_object().into_iter().flatten().filter(|(name, _)| *name != "confirmed");
    let said: Vec<_> = said.map(|(_, value)| value.as_str().map_or_else(|| value.to_string(), str::to_owned)).collect();
    let order = function.in_words();
    let content = if said.is_empty() { order } else { format!("{order}: {}", said.join(", ")) };
    let content = shortened(&content, MOST_WORDS);
    turns::order(&visitor, Some(conversation), &content, function.as_str(), &arguments).await
}

pub(super) async fn tiers(Owner(doors): Owner) -> Reply<Tiers> {
    Ok(Json(Tiers { tiers: doors.store.tiers().await? }))
}

pub(super) async fn set_tier(Owner(doors): Owner, At(tier): At<String>, Body(limits): Body<TierLimits>) -> Reply<Tiers> {
    let tier: Tier = tier.parse().map_err(ApiRefusal::unknown)?;
    doors.store.set_tier(tier, limits).await?;
    tiers(Owner(doors)).await
}
