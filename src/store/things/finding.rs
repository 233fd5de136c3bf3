//! Conversations as a person finds them again: the list, its changes, the search, and older events.

mod snippet;
#[cfg(test)]
mod tests;

use std::collections::{HashMap, HashSet};

use chrono::{DateTime, Utc};
use sqlx::{query, query_as};

use super::branches::branch_point;
use crate::domain::{ConversationId, Role, TurnId, seen_name, unturned};
use crate::facts::{Event, EventRecord};
use crate::store::{Store, StoreError, Theirs, value, word};
use crate::wire::api::{ConversationChange, ListedConversation, Piece, SearchHit};

/// The most events of a page that was made longer so that it cuts no turn.
const LONGEST_PAGE: usize = 4000;
/// The most characters of a title that is taken from a message.
const TITLE: usize = 80;

/// A place in the list of conversations.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ListPlace {
    /// True among the pinned ones, which come first.
    pub pinned: bool,
    /// The time of the conversation's newest event.
    pub active_at: DateTime<Utc>,
    /// The conversation.
    pub id: ConversationId,
}

impl From<&ListedConversation> for ListPlace {
    fn from(conversation: &ListedConversation) -> Self {
        Self { pinned: conversation.pinned, active_at: conversation.active_at, id: conversation.id }
    }
}

/// The reason for which a conversation is not taken from the list.
#[derive(Debug, thiserror::Error)]
pub enum DeleteError {
    /// Messages without a conversation go there.
    #[error("conversation {0} is the main one of its profile, and stays; archive it instead")]
    Main(ConversationId),
    /// A turn works in it.
    #[error("a turn runs or waits in conversation {0}; stop it first")]
    Busy(ConversationId),
    /// The database did not do it.
    #[error(transparent)]
    Store(#[from] StoreError),
}

struct Row {
    conversation_id: i64,
    profile: String,
    is_main: bool,
    title: Option<String>,
    first: Option<String>,
    active_at: DateTime<Utc>,
    running: bool,
    waiting: i64,
    pinned: bool,
    archived: bool,
    branch_of: Option<i64>,
    branch_sequence: Option<i64>,
}

impl From<Row> for ListedConversation {
    fn from(row: Row) -> Self {
        let title = row.title.or_else(|| row.first.as_deref().and_then(title_of));
        Self {
            id: ConversationId(row.conversation_id),
            title: title.as_deref().or_else(|| character(&row.profile)).map(unturned),
            profile: row.profile,
            main: row.is_main,
            active_at: row.active_at,
            running: row.running,
            waiting: row.waiting,
            pinned: row.pinned,
            archived: row.archived,
            from: branch_point(row.branch_of, row.branch_sequence),
            branches: Vec::new(),
        }
    }
}

/// A title made of a message: its first line that says something.
fn title_of(message: &str) -> Option<String> {
    let line = message.lines().map(seen_name).find(|line| !line.is_empty())?;
    let mut title: String = line.chars().take(TITLE).collect();
    if title.len() < line.len() {
        title.push('…');
    }
    Some(title)
}

/// The name of the character that one talks with under this profile. It is the same in every
/// language.
fn character(profile: &str) -> Option<&'static str> {
    match profile {
        "lea" => Some("Lea"),
        "law" => Some("Law"),
        _ => None,
    }
}

/// The words of a search as Postgres reads them: each must begin a word of the text. Postgres takes
/// a quoted word apart as it does the text. `None` if there are none.
fn words_of(asked: &str) -> Option<String> {
    let words = asked.split(|letter: char| letter.is_whitespace() || letter.is_control());
    let words = words.filter(|word| word.contains(char::is_alphanumeric));
    let words: Vec<_> = words.map(|word| format!("'{}':*", word.replace('\\', r"\\").replace('\'', "''"))).collect();
    (!words.is_empty()).then(|| words.join(" & "))
}

impl Theirs {
    /// Their conversations with these profiles in the order of the list, after `after`, at most
    /// `limit`. One that was deleted comes back if something happened in it since.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn conversations(
        &self,
        profiles: &[String],
        archived: bool,
        after: Option<ListPlace>,
        limit: i64,
    ) -> Result<Vec<ListedConversation>, StoreError> {
        self.listed(profiles, Some(archived), &[], after, limit).await
    }

    /// One of their conversations with these profiles as the list has it, also if it was put away,
    /// and with its branches.
    ///
    /// # Errors
    /// [`StoreError::NoConversation`] if no list has it, or if the database does not answer.
    pub async fn conversation(&self, profiles: &[String], id: ConversationId) -> Result<ListedConversation, StoreError> {
        let found = self.listed(profiles, None, &[id.0], None, 1).await?.pop().ok_or(StoreError::NoConversation(id))?;
        Ok(ListedConversation { branches: self.store.branches_of(id).await?, ..found })
    }

    /// The rows of the list; `None` of `archived` and no `ids` stand for all. One that has no title
    /// and no turn, since it was begun anew, is none of them: what else may be recorded there, such
    /// as a timer or what the operator remembers, is shown elsewhere. A title is made of words that
    /// a person said or ordered: turns of other origins have words for a model.
    async fn listed(
        &self,
        profiles: &[String],
        archived: Option<bool>,
        ids: &[i64],
        after: Option<ListPlace>,
        limit: i64,
    ) -> Result<Vec<ListedConversation>, StoreError> {
        let rows = query_as!(
            Row,
            r#"SELECT c.conversation_id, profile, is_main, title, archived_at IS NOT NULL AS "archived!",
                   CASE WHEN title IS NULL THEN (SELECT left(content, 1000) FROM (
                      (SELECT m.message_id, m.content
                       FROM turns t CROSS JOIN LATERAL (SELECT message_id, content FROM messages
                           WHERE turn_id = t.turn_id AND role = 'user' ORDER BY message_id LIMIT 1) m
                       WHERE t.conversation_id = c.conversation_id AND t.origin IN ('message', 'command')
                         AND t.turn_id > coalesce(c.anew_after, 0) ORDER BY t.turn_id LIMIT 1)
                      UNION ALL
                      (SELECT message_id, content FROM messages s
                       WHERE s.conversation_id = c.conversation_id AND s.steered AND s.turn_id > coalesce(c.anew_after, 0)
                       ORDER BY message_id LIMIT 1)) f ORDER BY message_id LIMIT 1) END AS first,
                   active_at AS "active_at!", pinned AS "pinned!",
                   branch_of, branch_sequence,
                   EXISTS (SELECT FROM turns t WHERE t.conversation_id = c.conversation_id AND t.ended_at IS NULL) AS "running!",
                   (SELECT count(*) FROM approvals a WHERE a.conversation_id = c.conversation_id AND a.state = 'pending') AS "waiting!"
               FROM conversations c LEFT JOIN events e ON e.conversation_id = c.conversation_id AND e.sequence = c.last_sequence,
                   LATERAL (SELECT coalesce(e.created_at, c.created_at) AS active_at, pinned_at IS NOT NULL AS pinned) AS at
               WHERE ($1::boolean IS NULL OR (archived_at IS NOT NULL) = $1) AND (deleted_at IS NULL OR deleted_at < active_at)
                 AND (title IS NOT NULL OR EXISTS
                      (SELECT FROM turns t WHERE t.conversation_id = c.conversation_id AND t.turn_id > coalesce(c.anew_after, 0)))
                 AND user_id = $6 AND profile = ANY($7)
                 AND (cardinality($8::bigint[]) = 0 OR c.conversation_id = ANY($8))
                 AND ($2::boolean IS NULL OR (pinned, active_at, c.conversation_id) < ($2, $3, $4))
               ORDER BY pinned DESC, active_at DESC, c.conversation_id DESC LIMIT $5"#,
            archived,
            after.map(|place| place.pinned),
            after.map(|place| place.active_at),
            after.map(|place| place.id.0),
            limit,
            self.user.0,
            profiles,
            ids
        )
        .fetch_all(&self.store.pool)
        .await?;
        Ok(rows.into_iter().map(ListedConversation::from).collect())
    }

    /// Messages in their conversations with these profiles, of people and answers, that hold every
    /// one of these words, and titles that do; the newest first, at most `limit` of each. Nothing
    /// from before a conversation was begun anew is found, and no words that began a turn by
    /// themselves, such as the heartbeat's, which are for a model.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn search(&self, profiles: &[String], asked: &str, limit: i64) -> Result<Vec<SearchHit>, StoreError> {
        let Some(words) = words_of(asked) else { return Ok(Vec::new()) };
        let messages = query!(
            r#"SELECT conversation_id, turn_id, role, created_at, left(content, 100000) AS "content!"
               FROM (SELECT * FROM messages
                     WHERE to_tsvector('simple', left(content, 100000)) @@ to_tsquery('simple', $1) AND role IN ('user', 'assistant')
                       AND (role = 'assistant' OR steered
                            OR (SELECT origin IN ('message', 'command') FROM turns t WHERE t.turn_id = messages.turn_id))
                       AND (SELECT user_id = $3 AND profile = ANY($4) AND messages.turn_id > coalesce(anew_after, 0)
                                   AND (deleted_at IS NULL OR deleted_at < (SELECT e.created_at FROM events e
                                        WHERE e.conversation_id = o.conversation_id AND e.sequence = o.last_sequence))
                            FROM conversations o WHERE o.conversation_id = messages.conversation_id)
                     ORDER BY message_id DESC LIMIT $2) AS m
               ORDER BY message_id DESC"#,
            words,
            limit,
            self.user.0,
            profiles
        );
        let titles = query!(
            r#"SELECT c.conversation_id, title AS "title!", c.created_at
               FROM conversations c LEFT JOIN events e ON e.conversation_id = c.conversation_id AND e.sequence = c.last_sequence
               WHERE title IS NOT NULL AND (deleted_at IS NULL OR deleted_at < e.created_at)
                 AND to_tsvector('simple', title) @@ to_tsquery('simple', $1) AND user_id = $3 AND profile = ANY($4)
               ORDER BY c.conversation_id DESC LIMIT $2"#,
            words,
            limit,
            self.user.0,
            profiles
        );
        let (titles, messages) = tokio::try_join!(titles.fetch_all(&self.store.pool), messages.fetch_all(&self.store.pool))?;
        let said_in: Vec<_> = messages.iter().map(|row| row.conversation_id).collect();
        let listed = if said_in.is_empty() { Vec::new() } else { self.listed(profiles, None, &said_in, None, limit).await? };
        let titled: HashMap<_, _> = listed.into_iter().map(|one| (one.id, one.title)).collect();
        let titles = titles.into_iter().map(|row| {
            let title = unturned(&row.title);
            let snippet = vec![Piece { text: title.clone(), hit: false }];
            let conversation = ConversationId(row.conversation_id);
            Ok(SearchHit { conversation, title: Some(title), turn: None, role: None, at: row.created_at, snippet })
        });
        let messages = messages.into_iter().map(|row| {
            let conversation = ConversationId(row.conversation_id);
            Ok(SearchHit {
                conversation,
                title: titled.get(&conversation).cloned().flatten(),
                turn: Some(TurnId(row.turn_id)),
                role: Some(word::<Role>(&row.role)?),
                at: row.created_at,
                snippet: snippet::snippet(&row.content, asked),
            })
        });
        titles.chain(messages).collect()
    }
}

impl Store {
    /// See [`Theirs::change_conversation`].
    pub(in crate::store) async fn place_conversation(
        &self,
        id: ConversationId,
        change: &ConversationChange,
        now: DateTime<Utc>,
    ) -> Result<(), StoreError> {
        let title = change.title.as_deref().map(|title| self.clean(seen_name(title)));
        let changed = query!(
            "UPDATE conversations SET
                title = CASE WHEN $2::text IS NULL THEN title ELSE nullif(trim($2), '') END,
                pinned_at = CASE WHEN $3::boolean IS NULL THEN pinned_at WHEN $3 THEN coalesce(pinned_at, $5) END,
                archived_at = CASE WHEN $4::boolean IS NULL THEN archived_at WHEN $4 THEN coalesce(archived_at, $5) END
             WHERE conversation_id = $1",
            id.0,
            title.as_deref(),
            change.pinned,
            change.archived,
            now
        );
        if changed.execute(&self.pool).await?.rows_affected() == 0 {
            return Err(StoreError::NoConversation(id));
        }
        self.signals.placed(id);
        Ok(())
    }

    /// See [`Theirs::delete_conversation`].
    pub(in crate::store) async fn hide_conversation(&self, id: ConversationId, now: DateTime<Utc>) -> Result<(), DeleteError> {
        let deleted = query!(
            r#"UPDATE conversations c SET
                   deleted_at = CASE WHEN is_main OR busy THEN deleted_at ELSE $2 END
               FROM (SELECT EXISTS (SELECT FROM turns WHERE conversation_id = $1 AND ended_at IS NULL) AS busy) AS turn
               WHERE conversation_id = $1 RETURNING is_main, busy AS "busy!""#,
            id.0,
            now
        );
        match deleted.fetch_optional(&self.pool).await.map_err(StoreError::from)? {
            None => Err(StoreError::NoConversation(id).into()),
            Some(row) if row.is_main => Err(DeleteError::Main(id)),
            Some(row) if row.busy => Err(DeleteError::Busy(id)),
            Some(_) => {
                self.signals.placed(id);
                Ok(())
            }
        }
    }

    /// See [`Theirs::events_before`].
    pub(in crate::store) async fn stream_before(
        &self,
        conversation: ConversationId,
        before: Option<i64>,
        limit: i64,
    ) -> Result<Vec<EventRecord>, StoreError> {
        let last = self.last_sequence_of(conversation).await?;
        let mut from = before.unwrap_or(i64::MAX).min(last + 1);
        let mut newest_first: Vec<EventRecord> = Vec::new();
        // The turns with an event in the page whose beginning is not in it.
        let mut cut = HashSet::new();
        while from > 1 && (newest_first.is_empty() || !cut.is_empty()) && newest_first.len() < LONGEST_PAGE {
            let rows = query!(
                "SELECT sequence, payload, created_at FROM events WHERE conversation_id = $1 AND sequence < $2
                 ORDER BY sequence DESC LIMIT $3",
                conversation.0,
                from,
                limit
            );
            for row in rows.fetch_all(&self.pool).await? {
                if !newest_first.is_empty() && newest_first.len() >= usize::try_from(limit).unwrap_or(0) && cut.is_empty() {
                    break;
                }
                let event: Event = value(row.payload)?;
                match (event.about().turn, &event) {
                    (Some(turn), Event::TurnQueued(_)) => {
                        cut.remove(&turn);
                    }
                    (Some(turn), _) => {
                        cut.insert(turn);
                    }
                    (None, _) => {}
                }
                from = row.sequence;
                newest_first.push(EventRecord { conversation, sequence: row.sequence, at: row.created_at, event });
            }
        }
        newest_first.reverse();
        Ok(newest_first)
    }
}
