//! Whose is what. All that a door asks of the database about conversations, and all that is read
//! across them, is asked of one user's rows: a caller has to say whose, and another's number reads
//! exactly like one that does not exist (ADR 47).

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

use sqlx::query;
use tokio::sync::broadcast;
use tokio::sync::broadcast::error::RecvError;

use super::{Announced, Hint, Store, StoreError};
use crate::domain::{ConversationId, InstanceId, UserId};
use crate::facts::EventRecord;
use crate::wire::ServerFrame;

/// After so many, the users of conversations are looked up anew: a server that runs for years stays
/// small.
const REMEMBERED: usize = 100_000;

/// The users of conversations, as far as they were asked for, with what else a conversation never
/// changes.
#[derive(Clone, Debug, Default)]
pub(super) struct KnownUsers(Arc<RwLock<HashMap<ConversationId, KnownUser>>>);

/// The user of a conversation, the instance of Relay whose it is, and its profile.
#[derive(Debug)]
struct KnownUser {
    user: UserId,
    instance: Option<InstanceId>,
    profile: Box<str>,
}

impl KnownUsers {
    /// Looks at what is known of a conversation.
    fn look<T>(&self, conversation: ConversationId, at: impl FnOnce(&KnownUser) -> T) -> Option<T> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).get(&conversation).map(at)
    }

    /// The profile of a conversation, if it is known.
    pub(super) fn profile_of(&self, conversation: ConversationId) -> Option<Box<str>> {
        self.look(conversation, |known| known.profile.clone())
    }

    /// Learns of a conversation that is no instance's.
    pub(super) fn learn(&self, conversation: ConversationId, user: UserId, profile: &str) {
        self.keep(conversation, KnownUser { user, instance: None, profile: profile.into() });
    }

    fn keep(&self, conversation: ConversationId, user: KnownUser) {
        let mut known = self.0.write().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= REMEMBERED {
            known.clear();
        }
        known.insert(conversation, user);
    }

    /// Forgets what a user had, who is no more.
    pub(super) fn forget(&self, user: UserId) {
        self.0.write().unwrap_or_else(PoisonError::into_inner).retain(|_, known| known.user != user);
    }
}

/// The rows of one user, and nothing of anybody else. Cheap to clone.
#[derive(Clone)]
pub struct Theirs {
    pub(super) store: Arc<Store>,
    pub(super) user: UserId,
}

impl Store {
    /// The rows of a user.
    pub fn of(&self, user: UserId) -> Theirs {
        Theirs { store: Arc::new(self.clone()), user }
    }

    /// The rows of the owner.
    pub fn owners(&self) -> Theirs {
        self.of(UserId::OWNER)
    }

    /// The user whose conversation it is, if it exists, and the instance.
    async fn user_of(&self, conversation: ConversationId) -> Result<Option<(UserId, Option<InstanceId>)>, StoreError> {
        let known = self.users_of.look(conversation, |known| (known.user, known.instance));
        if known.is_some() {
            return Ok(known);
        }
        let row = query!(
            r#"SELECT user_id, profile, instance_id AS "instance_id?"
               FROM conversations LEFT JOIN relay_instances USING (conversation_id) WHERE conversation_id = $1"#,
            conversation.0
        );
        let Some(row) = row.fetch_optional(&self.pool).await? else { return Ok(None) };
        let (user, instance) = (UserId(row.user_id), row.instance_id.map(InstanceId));
        self.users_of.keep(conversation, KnownUser { user, instance, profile: row.profile.into() });
        Ok(Some((user, instance)))
    }
}

impl Theirs {
    /// The user.
    pub fn user(&self) -> UserId {
        self.user
    }

    /// True if a text is kept as it is. No other can be a key by which a client finds something
    /// again.
    pub fn keeps_as_is(&self, text: &str) -> bool {
        self.store.clean(text) == text
    }

    /// True if the conversation exists and is theirs.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn owns(&self, conversation: ConversationId) -> Result<bool, StoreError> {
        Ok(self.store.user_of(conversation).await?.is_some_and(|(user, _)| user == self.user))
    }

    /// False if a list of conversations with these profiles surely does not have this one.
    pub fn may_list(&self, conversation: ConversationId, profiles: &[String]) -> bool {
        let is_of = |known: &KnownUser| profiles.iter().any(|profile| **profile == *known.profile);
        self.store.users_of.look(conversation, is_of).unwrap_or(true)
    }

    /// The store of a conversation that is theirs.
    pub(super) async fn own(&self, conversation: ConversationId) -> Result<&Store, StoreError> {
        if self.owns(conversation).await? { Ok(&*self.store) } else { Err(StoreError::NoConversation(conversation)) }
    }

    /// The instance of Relay whose conversation it is; `None` if it is no instance's.
    ///
    /// # Errors
    /// [`StoreError::NoConversation`], or if the database does not answer.
    pub async fn instance_of(&self, conversation: ConversationId) -> Result<Option<InstanceId>, StoreError> {
        match self.store.user_of(conversation).await? {
            Some((user, instance)) if user == self.user => Ok(instance),
            _ => Err(StoreError::NoConversation(conversation)),
        }
    }

    /// The store of a conversation that is theirs, to say or order something there. An instance's
    /// own is for its contact alone.
    pub(super) async fn own_to_speak(&self, conversation: ConversationId) -> Result<&Store, StoreError> {
        match self.instance_of(conversation).await? {
            Some(instance) => Err(StoreError::OfContact(conversation, instance)),
            None => Ok(&*self.store),
        }
    }

    /// The events that are committed from now on, here, in their conversations.
    pub fn events(&self) -> TheirSignals<Announced<EventRecord>> {
        TheirSignals::new(self, self.store.signals().events())
    }

    /// The events that other servers commit from now on in their conversations; `None` if some may
    /// have been missed.
    pub fn elsewhere(&self) -> TheirSignals<Option<Hint>> {
        TheirSignals::new(self, self.store.signals().hints())
    }

    /// Pieces of text as models write them from now on in their conversations.
    pub fn deltas(&self) -> TheirSignals<Announced<ServerFrame>> {
        TheirSignals::new(self, self.store.signals().deltas())
    }
}

/// A signal that is about a conversation, or about all.
pub trait AboutConversation: Clone {
    /// The conversation; `None` if it is about all.
    fn conversation(&self) -> Option<ConversationId>;
}

impl AboutConversation for EventRecord {
    fn conversation(&self) -> Option<ConversationId> {
        Some(self.conversation)
    }
}

impl<T: AboutConversation> AboutConversation for Announced<T> {
    fn conversation(&self) -> Option<ConversationId> {
        (**self).conversation()
    }
}

impl AboutConversation for Option<Hint> {
    fn conversation(&self) -> Option<ConversationId> {
        self.as_ref().map(|hint| hint.conversation)
    }
}

impl AboutConversation for ServerFrame {
    fn conversation(&self) -> Option<ConversationId> {
        match self {
            Self::Delta { conversation, .. } | Self::Notice { conversation, .. } => Some(*conversation),
            _ => None,
        }
    }
}

/// Signals of the process, of which a user hears those about their conversations.
pub struct TheirSignals<T> {
    theirs: Theirs,
    signals: broadcast::Receiver<T>,
    /// A signal that was taken and whose user is not known yet, or that was put back: a wait that
    /// is given up loses nothing. In a box, since it is rare.
    held: Option<Box<T>>,
}

impl<T: AboutConversation> TheirSignals<T> {
    fn new(theirs: &Theirs, signals: broadcast::Receiver<T>) -> Self {
        Self { theirs: theirs.clone(), signals, held: None }
    }

    /// The next one, if it is here already and is surely about one of their conversations.
    pub fn now(&mut self) -> Option<T> {
        loop {
            let signal = match self.held.take() {
                Some(held) => *held,
                None => self.signals.try_recv().ok()?,
            };
            match self.is_theirs(&signal) {
                Some(true) => return Some(signal),
                Some(false) => {}
                None => {
                    self.put_back(signal);
                    return None;
                }
            }
        }
    }

    /// Gives one back that [`Self::now`] has just given: it is the next one again.
    pub fn put_back(&mut self, signal: T) {
        self.held = Some(Box::new(signal));
    }

    /// The next one. A wait for it may be given up at any time.
    ///
    /// # Errors
    /// [`RecvError::Lagged`] if some were missed, or if the database does not say whose one is: the
    /// caller reads on from there.
    pub async fn recv(&mut self) -> Result<T, RecvError> {
        loop {
            if self.held.is_none() {
                let signal = self.signals.recv().await?;
                match self.is_theirs(&signal) {
                    Some(true) => return Ok(signal),
                    Some(false) => continue,
                    None => self.held = Some(Box::new(signal)),
                }
            }
            let Some(conversation) = self.held.as_ref().and_then(|held| held.conversation()) else {
                self.held = None;
                continue;
            };
            // In a box of its own as well: a task keeps room for the largest thing that it ever
            // waits for.
            let owns = Box::pin(self.theirs.owns(conversation)).await;
            match (self.held.take(), owns) {
                (Some(held), Ok(true)) => return Ok(*held),
                (_, Ok(_)) => {}
                (_, Err(_)) => return Err(RecvError::Lagged(1)),
            }
        }
    }

    /// True if a signal is for this user; `None` if that is not known without the database.
    fn is_theirs(&self, signal: &T) -> Option<bool> {
        match signal.conversation() {
            Some(conversation) => self.theirs.store.users_of.look(conversation, |known| known.user == self.theirs.user),
            None => Some(true),
        }
    }
}
