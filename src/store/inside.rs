//! The deeds of a person in one conversation. Each function here first looks whose it is; a new one
//! beside them gets at the conversation no other way than by [`Theirs::own`].

use chrono::{DateTime, Utc};

use super::{Accepted, DeleteError, NewMessage, Question, StoreError, Theirs};
use crate::domain::{CallRequest, ConversationId, Heard, TurnId};
use crate::facts::EventRecord;
use crate::wire::api::{BranchPoint, ConversationChange, StoredChat};

impl Theirs {
    /// The events after `after`, oldest first, at most `limit` of them. Nothing from before the
    /// conversation was begun anew is among them.
    ///
    /// # Errors
    /// [`StoreError::NoConversation`], or if the database does not answer or holds an event of a
    /// newer version.
    pub async fn events_after(
        &self,
        conversation: ConversationId,
        after: i64,
        limit: i64,
    ) -> Result<Vec<EventRecord>, StoreError> {
        self.own(conversation).await?.shown_after(conversation, after, limit).await
    }

    /// The newest events before `before`, oldest first: `limit` of them, and so many more that no
    /// turn is cut, as long as these are no more than a few thousand.
    ///
    /// # Errors
    /// [`StoreError::NoConversation`], or if the database does not answer.
    pub async fn events_before(
        &self,
        conversation: ConversationId,
        before: Option<i64>,
        limit: i64,
    ) -> Result<Vec<EventRecord>, StoreError> {
        self.own(conversation).await?.stream_before(conversation, before, limit).await
    }

    /// The sequence number of the newest event; 0 if there is none.
    ///
    /// # Errors
    /// [`StoreError::NoConversation`], or if the database does not answer.
    pub async fn last_sequence(&self, conversation: ConversationId) -> Result<i64, StoreError> {
        self.own(conversation).await?.last_sequence_of(conversation).await
    }

    /// The event that accepted a message: the beginning of its turn, the going on of a turn whose
    /// approval it decided, or its place in the turn that it was said into.
    ///
    /// # Errors
    /// As [`Theirs::last_sequence`].
    pub async fn accepting_event(
        &self,
        conversation: ConversationId,
        turn: TurnId,
        client_id: Option<&str>,
    ) -> Result<EventRecord, StoreError> {
        self.own(conversation).await?.event_that_accepted(conversation, turn, client_id).await
    }

    /// The profile of a conversation.
    ///
    /// # Errors
    /// As [`Theirs::last_sequence`].
    pub async fn profile_of(&self, conversation: ConversationId) -> Result<String, StoreError> {
        self.own(conversation).await?.profile_of_any(conversation).await
    }

    /// A new conversation that goes on from a place of another one, with the same profile. A model
    /// is shown the turns that had ended there.
    ///
    /// # Errors
    /// As [`Theirs::last_sequence`].
    pub async fn branch(&self, from: BranchPoint, now: DateTime<Utc>) -> Result<ConversationId, StoreError> {
        self.own_to_speak(from.conversation).await?.branch_off(from, now).await
    }

    /// The place that a conversation goes on from; `None` if it is no branch.
    ///
    /// # Errors
    /// As [`Theirs::last_sequence`].
    pub async fn branch_point(&self, conversation: ConversationId) -> Result<Option<BranchPoint>, StoreError> {
        self.own(conversation).await?.branch_point_of(conversation).await
    }

    /// Changes a conversation's place in the list.
    ///
    /// # Errors
    /// As [`Theirs::last_sequence`].
    pub async fn change_conversation(
        &self,
        id: ConversationId,
        change: &ConversationChange,
        now: DateTime<Utc>,
    ) -> Result<(), StoreError> {
        self.own(id).await?.place_conversation(id, change, now).await
    }

    /// Takes a conversation from the list and the search. Its record stays.
    ///
    /// # Errors
    /// [`DeleteError`] says why not.
    pub async fn delete_conversation(&self, id: ConversationId, now: DateTime<Utc>) -> Result<(), DeleteError> {
        self.own(id).await?.hide_conversation(id, now).await
    }

    /// Accepts a message: message, turn and event in one transaction. The same `client_id` again
    /// gives the same turn. It decides nothing, whatever its words: see [`Theirs::answer`].
    ///
    /// # Errors
    /// [`StoreError::NoConversation`], or if the database does not answer; then nothing was
    /// accepted.
    pub async fn accept_message(
        &self,
        conversation: ConversationId,
        client_id: Option<&str>,
        content: &str,
        now: DateTime<Utc>,
    ) -> Result<Accepted, StoreError> {
        self.accept(conversation, NewMessage { content, client_id, ..NewMessage::default() }, now).await
    }

    /// The same for any message; one that steers becomes part of the running turn, if one runs.
    ///
    /// # Errors
    /// As [`Theirs::accept_message`].
    pub async fn accept(
        &self,
        conversation: ConversationId,
        message: NewMessage<'_>,
        now: DateTime<Utc>,
    ) -> Result<Accepted, StoreError> {
        self.own_to_speak(conversation).await?.take_in(conversation, message, now).await
    }

    /// Accepts a message that is not said into a turn, unless a question waits in its conversation:
    /// then `None`, and nothing was written.
    ///
    /// # Errors
    /// As [`Theirs::accept_message`].
    pub async fn accept_unless_asked(
        &self,
        conversation: ConversationId,
        message: NewMessage<'_>,
        now: DateTime<Utc>,
    ) -> Result<Option<Accepted>, StoreError> {
        self.own_to_speak(conversation).await?.take_in_unless_asked(conversation, message, now).await
    }

    /// The question that waits in a conversation, if exactly one does.
    ///
    /// # Errors
    /// As [`Theirs::last_sequence`].
    pub async fn question(&self, conversation: ConversationId, now: DateTime<Utc>) -> Result<Option<Question>, StoreError> {
        self.own(conversation).await?.question_in(conversation, now).await
    }

    /// Takes a message of the person's as the answer to a question. A word decides. A message that
    /// says something else declines, and is said into the turn in the same transaction. `None`:
    /// somebody else was faster, and it is a message like any other.
    ///
    /// # Errors
    /// [`StoreError::AskedByChannel`] if only the phone whose order asks may say such a word, or if
    /// the database does not answer; then nothing was decided or said.
    pub async fn answer(
        &self,
        question: &Question,
        heard: Heard,
        message: &NewMessage<'_>,
        now: DateTime<Utc>,
    ) -> Result<Option<Accepted>, StoreError> {
        self.store.take_answer(self.user, question, heard, message, now).await
    }

    /// Queues a turn with one call: message, turn, step, call and their events in one transaction.
    /// The conversation shows `content` as the order.
    ///
    /// # Errors
    /// [`StoreError::NoConversation`], or if the database does not answer; then nothing was queued.
    pub async fn queue_command(
        &self,
        conversation: ConversationId,
        content: &str,
        request: CallRequest,
        now: DateTime<Utc>,
    ) -> Result<TurnId, StoreError> {
        self.own_to_speak(conversation).await?.queue_order(conversation, None, content, request, now).await
    }

    /// As [`Theirs::queue_command`]; an order that comes again with the same id is the turn that it
    /// was.
    ///
    /// # Errors
    /// As [`Theirs::queue_command`].
    pub async fn queue_command_once(
        &self,
        conversation: ConversationId,
        id: &str,
        content: &str,
        request: CallRequest,
        now: DateTime<Utc>,
    ) -> Result<TurnId, StoreError> {
        self.own_to_speak(conversation).await?.queue_order(conversation, Some(id), content, request, now).await
    }

    /// Aborts the running and waiting turns of a conversation; a runner that still works on one
    /// finds its lease gone. If this process works on the turn, the model's text until then is kept
    /// as a step without calls. Returns the turns that were ended.
    ///
    /// # Errors
    /// As [`Theirs::last_sequence`].
    pub async fn stop(&self, conversation: ConversationId, now: DateTime<Utc>) -> Result<Vec<TurnId>, StoreError> {
        self.own_to_speak(conversation).await?.stop_turns(conversation, now).await
    }

    /// The chat in a conversation: its newest messages since it was begun anew.
    ///
    /// # Errors
    /// As [`Theirs::last_sequence`].
    pub async fn chat(&self, conversation: ConversationId) -> Result<StoredChat, StoreError> {
        self.own(conversation).await?.chat_in(conversation).await
    }

    /// Begins a conversation anew: turns that run or wait are stopped, and its turns so far are no
    /// longer shown, sent or exported. The chain of events keeps them.
    ///
    /// # Errors
    /// As [`Theirs::last_sequence`].
    pub async fn begin_anew(&self, conversation: ConversationId, now: DateTime<Utc>) -> Result<(), StoreError> {
        self.own_to_speak(conversation).await?.begin_chat_anew(conversation, now).await
    }

    /// The place in a conversation's stream at which it was last begun anew: nothing before it is
    /// shown. 0 if it never was.
    ///
    /// # Errors
    /// As [`Theirs::last_sequence`].
    pub async fn begun_anew_at(&self, conversation: ConversationId) -> Result<i64, StoreError> {
        self.own(conversation).await?.chat_begun_anew_at(conversation).await
    }
}
