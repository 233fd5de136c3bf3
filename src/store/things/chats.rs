//! A conversation as a person reads it since they last began anew: the newest messages, each once,
//! with the words that its frames have for the person.

use std::collections::{HashMap, HashSet};

use sqlx::{query_as, query_scalar};

use crate::domain::{ConversationId, Origin, Role, SubtaskId, TaskId, UserId};
use crate::facts::{Event, EventRecord, ToolCallEnded, TurnResumed};
use crate::store::{Store, StoreError};
use crate::wire::ServerFrame;
use crate::wire::api::{ChatCall, ChatMessage, StoredChat};

/// The most messages that a chat has.
const MOST_MESSAGES: usize = 50;
/// How many events are read at once.
const PAGE: i64 = 300;

/// A call as the chat has it.
fn called(ended: &ToolCallEnded) -> ChatCall {
    let (ok, result) = (ended.outcome.ok, &ended.outcome.result);
    let result = ok.then(|| serde_json::from_str(result).unwrap_or_else(|_| result.as_str().into()));
    ChatCall { name: ended.name.clone(), success: ok, result, error: (!ok).then(|| ended.said()) }
}

/// The person or the assistant, and the words, of an event that is a message; `None` for others.
/// The house's own sentences and questions are said by the assistant.
fn said(record: &EventRecord) -> Option<(Role, String)> {
    Some(match &record.event {
        // These words are for the model; another event has those for the person.
        Event::TurnQueued(queued) if matches!(queued.origin, Origin::Task | Origin::FollowUp | Origin::Cycle) => return None,
        Event::TurnQueued(queued) => (Role::User, queued.content.clone()),
        Event::TurnSteered(steered) => (Role::User, steered.content.clone()),
        Event::TurnResumed(TurnResumed { content: Some(content), .. }) => (Role::User, content.clone()),
        Event::ApprovalRequested(asked) => (Role::Assistant, asked.shown.in_words().to_owned()),
        // It was taken back.
        Event::StepAnswered(answered) if answered.unproven && !answered.last => return None,
        Event::StepAnswered(answered) => (Role::Assistant, answered.said().into_owned()),
        _ => match record.frame()?.frame {
            ServerFrame::Error { content, .. }
            | ServerFrame::Fired { content, .. }
            | ServerFrame::Held { content, .. }
            | ServerFrame::Timer { content, .. }
            | ServerFrame::Reminder { content, .. } => (Role::Assistant, content),
            _ => return None,
        },
    })
}

/// The messages of a stream. Steps without words or calls are none.
fn messages_of(records: &[EventRecord]) -> Vec<ChatMessage> {
    let mut messages: Vec<ChatMessage> = Vec::new();
    // The step of each turn that its calls belong to, and the messages that were said into a turn.
    let (mut steps, mut steered, mut gone) = (HashMap::new(), HashMap::new(), HashSet::new());
    for record in records {
        match &record.event {
            Event::TurnQueued(queued) => gone.extend(queued.moved.and_then(|moved| steered.get(&moved).copied())),
            Event::TurnSteered(said) => {
                steered.insert(said.message, record.sequence);
            }
            Event::StepAnswered(answered) => {
                steps.insert(answered.turn, messages.len());
            }
            Event::ToolCallEnded(ended) => {
                let step = steps.get(&ended.turn).and_then(|step| messages.get_mut(*step));
                step.into_iter().for_each(|step| step.function_calls.push(called(ended)));
            }
            _ => {}
        }
        let Some((role, content)) = said(record) else { continue };
        messages.push(ChatMessage { id: record.sequence, role, content, timestamp: record.at, function_calls: Vec::new() });
    }
    let says = |message: &ChatMessage| !message.content.trim().is_empty() || !message.function_calls.is_empty();
    messages.retain(|message| !gone.contains(&message.id) && says(message));
    messages
}

impl Store {
    /// See [`crate::store::Theirs::chat`].
    pub(in crate::store) async fn chat_in(&self, conversation: ConversationId) -> Result<StoredChat, StoreError> {
        // The task or the subtask that was named last may be gone.
        let of = query_as::<_, (i64, Option<i64>, Option<i64>)>(
            "SELECT c.user_id, t.task_id, s.subtask_id
             FROM conversations c LEFT JOIN last_named l ON l.user_id = c.user_id
                  LEFT JOIN tasks t ON t.task_id = l.task_id AND t.user_id = c.user_id
                  LEFT JOIN subtasks s ON s.task_id = t.task_id AND s.subtask_id = l.subtask_id
             WHERE c.conversation_id = $1",
        );
        let of = of.bind(conversation.0).fetch_optional(&self.pool).await?;
        let (user, task, subtask) = of.ok_or(StoreError::NoConversation(conversation))?;
        let mut messages = self.newest_messages(conversation).await?;
        for message in &mut messages {
            // A secret may have been set after somebody wrote its value here.
            message.content = self.clean(&message.content).into_owned();
        }
        Ok(StoredChat {
            user_id: UserId(user),
            last_updated: messages.last().map(|message| message.timestamp),
            messages,
            last_referenced_task_id: task.map(TaskId),
            last_referenced_subtask_id: subtask.map(SubtaskId),
        })
    }

    /// The newest messages, the oldest of them first.
    async fn newest_messages(&self, conversation: ConversationId) -> Result<Vec<ChatMessage>, StoreError> {
        let anew = self.chat_begun_anew_at(conversation).await?;
        let (mut records, mut before) = (Vec::new(), None);
        loop {
            // A page cuts no turn, so that each call comes with its step.
            let mut page = self.stream_before(conversation, before, PAGE).await?;
            page.retain(|record| record.sequence > anew);
            before = page.first().map(|first| first.sequence).filter(|first| *first > anew + 1);
            page.append(&mut records);
            records = page;
            let mut messages = messages_of(&records);
            if messages.len() >= MOST_MESSAGES || before.is_none() {
                messages.drain(..messages.len().saturating_sub(MOST_MESSAGES));
                return Ok(messages);
            }
        }
    }

    /// See [`crate::store::Theirs::begun_anew_at`].
    pub(in crate::store) async fn chat_begun_anew_at(&self, conversation: ConversationId) -> Result<i64, StoreError> {
        let at = query_scalar!("SELECT anew_sequence FROM conversations WHERE conversation_id = $1", conversation.0);
        Ok(at.fetch_optional(&self.pool).await?.flatten().unwrap_or_default())
    }
}
