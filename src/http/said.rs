//! A person's words in a channel of their own: which conversation they are for, and what they do to
//! a question that waits there.

use super::visitor::Visitor;
use crate::domain::todo::{LongMessage, fits_one_message};
use crate::domain::{ConversationId, MessageDoor};
use crate::store::{Accepted, NewMessage, StoreError, Theirs};
use crate::wire::MAX_MESSAGE_BYTES;

/// The longest id a client may give its message.
const MAX_ID_BYTES: usize = 200;

/// The reason for which a message is not taken.
#[derive(Debug, thiserror::Error)]
pub(super) enum NotTaken {
    /// It names something that does not exist, in words for the client.
    #[error("{0}")]
    Refused(String),
    /// The database did not take it.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// The conversation that a message is for: the one it names, or the main one of the profile it
/// names. `None` if it names neither.
pub(super) async fn addressed(
    visitor: &Visitor,
    conversation: Option<ConversationId>,
    profile: Option<&str>,
) -> Result<Option<ConversationId>, NotTaken> {
    let Some(name) = profile else { return Ok(conversation) };
    let profile = visitor.profile(name).map_err(|unknown| NotTaken::Refused(unknown.to_string()))?;
    let Some(named) = conversation else {
        if !profile.audience.may_decide() {
            let told = format!("the profile `{name}` has no main conversation; name the `conversation` that is meant");
            return Err(NotTaken::Refused(told));
        }
        return Ok(Some(visitor.theirs().main_conversation_of(name, visitor.now()).await?));
    };
    match visitor.theirs().profile_of(named).await {
        Ok(own) if own == name => Ok(Some(named)),
        Ok(own) => Err(NotTaken::Refused(format!("conversation {named} has the profile `{own}`, for life, and not `{name}`"))),
        Err(error @ StoreError::NoConversation(_)) => Err(NotTaken::Refused(error.to_string())),
        Err(error) => Err(error.into()),
    }
}

/// Why a conversation cannot take a message.
#[derive(Debug, thiserror::Error)]
pub(super) enum Misfit {
    /// It says nothing.
    #[error("`content` is empty; there is nothing to react to")]
    Empty,
    /// It is longer than any message.
    #[error("the message has {0} bytes; {MAX_MESSAGE_BYTES} is the most")]
    Large(usize),
    /// It is longer than a message to Lea or Law.
    #[error(transparent)]
    Long(#[from] LongMessage),
}

/// Allows a message that the conversation can take, whatever door it came by.
pub(super) async fn fits(visitor: &Visitor, conversation: ConversationId, content: &str, has_images: bool) -> Result<(), Misfit> {
    if content.trim().is_empty() && !has_images {
        return Err(Misfit::Empty);
    }
    if let Err(long) = fits_one_message(content)
        && visitor.counted().contains(&visitor.theirs().profile_of(conversation).await.unwrap_or_default())
    {
        return Err(long.into());
    }
    if content.len() > MAX_MESSAGE_BYTES { Err(Misfit::Large(content.len())) } else { Ok(()) }
}

/// Why a message cannot have this id, in words that do not repeat it. The id comes back in frames
/// and finds the message again, so it cannot be kept with something hidden in it.
pub(super) fn unfit_id(theirs: &Theirs, id: &str) -> Option<String> {
    if id.len() > MAX_ID_BYTES || id.contains('\0') {
        return Some(format!("`id` must have {MAX_ID_BYTES} bytes at most and no zero character"));
    }
    if MessageDoor::of(id).is_some() {
        return Some("`id` begins like those of messages that come by another door; give the message another `id`".to_owned());
    }
    let told = "`id` holds the value of a secret, which is not kept; give the message another `id`";
    (!theirs.keeps_as_is(id)).then(|| told.to_owned())
}

/// Takes a message. If a question waits, and the conversation's profile is for a person who may
/// decide, the message may be the answer. Otherwise it is a message like any other; one that steers
/// joins the running turn only if the profile may be talked over.
pub(super) async fn take(
    visitor: &Visitor,
    conversation: ConversationId,
    message: NewMessage<'_>,
) -> Result<Accepted, StoreError> {
    let (theirs, now) = (visitor.theirs(), visitor.now());
    let message = NewMessage { steer: message.steer && may_steer(visitor, conversation).await?, ..message };
    // Mostly no question waits, and this is all.
    if let Some(accepted) = theirs.accept_unless_asked(conversation, message, now).await? {
        return Ok(accepted);
    }
    // A word that comes with an image is something else than the word, and the image is kept.
    let said = if message.images.is_empty() { message.content } else { "" };
    if let Some(question) = theirs.question(conversation, now).await?
        && visitor.profile(&question.profile).is_ok_and(|profile| profile.audience.may_decide())
        && let Some(heard) = question.words.heard(said)
        && let Some(accepted) = theirs.answer(&question, heard, &message, now).await?
    {
        return Ok(accepted);
    }
    theirs.accept(conversation, message, now).await
}

/// True if a message may join the running turn of a conversation. If its profile may not be talked
/// over, a further message queues, whatever its client asked for.
async fn may_steer(visitor: &Visitor, conversation: ConversationId) -> Result<bool, StoreError> {
    let name = visitor.theirs().profile_of(conversation).await?;
    Ok(visitor.profile(&name).is_ok_and(|profile| profile.talked_over))
}
