//! Events of all streams of a user, as they look for them, and what the heartbeat has before it.

use chrono::{DateTime, Utc};
use sqlx::{query, raw_sql};

use crate::domain::{ConversationId, UserId};
use crate::facts::EventRecord;
use crate::store::{StoreError, Theirs, value, word};
use crate::wire::api::NextWakeUp;

/// The events that a person wants to see; `None` stands for all.
#[derive(Clone, Debug, Default)]
pub struct EventFilter {
    /// The word for the kind.
    pub kind: Option<String>,
    /// The tool that was called, asked about or installed.
    pub tool: Option<String>,
    /// True for calls and turns that ended well, false for the others.
    pub well: Option<bool>,
    /// The conversation.
    pub conversation: Option<ConversationId>,
    /// The first moment.
    pub from: Option<DateTime<Utc>>,
    /// The moment before which they happened.
    pub to: Option<DateTime<Utc>>,
    /// The position before which they stand.
    pub before: Option<i64>,
}

impl Theirs {
    /// Their events with their positions, the newest first. Words from before a conversation was
    /// begun anew are not among them; deeds are.
    ///
    /// # Errors
    /// If the database does not answer or holds an event of a newer version.
    pub async fn find_events(&self, filter: &EventFilter, limit: i64) -> Result<Vec<(i64, EventRecord)>, StoreError> {
        // With these values, and not for all there may be: what is rare is then found along its
        // index.
        let mut tx = self.store.pool.begin().await?;
        raw_sql("SET LOCAL plan_cache_mode = force_custom_plan").execute(&mut *tx).await?;
        let rows = query!(
            "SELECT position, conversation_id, sequence, payload, created_at FROM events
             WHERE ($1::bigint IS NULL OR position < $1) AND ($2::text IS NULL OR kind = $2)
               AND ($3::text IS NULL
                    OR (coalesce(payload ->> 'name', payload #>> '{request,name}', payload #>> '{shown,tool}') = $3
                        AND kind IN ('tool_call_proposed', 'tool_call_ended', 'approval_requested', 'capability_installed',
                                     'capability_changed')))
               AND ($4::boolean IS NULL
                    OR (kind = 'tool_call_ended' AND (payload #>> '{outcome,ok}' = 'true') = $4)
                    OR (kind = 'turn_ended' AND (payload ->> 'state' = 'completed') = $4))
               AND ($5::bigint IS NULL OR conversation_id = $5)
               AND ($6::timestamptz IS NULL OR created_at >= $6) AND ($7::timestamptz IS NULL OR created_at < $7)
               AND (SELECT user_id = $9
                           AND (kind NOT IN ('turn_queued', 'turn_resumed', 'turn_steered', 'step_answered')
                                OR sequence > coalesce(anew_sequence, 0))
                    FROM conversations c WHERE c.conversation_id = events.conversation_id)
             ORDER BY position DESC LIMIT $8",
            filter.before,
            filter.kind.as_deref(),
            filter.tool.as_deref(),
            filter.well,
            filter.conversation.map(|conversation| conversation.0),
            filter.from,
            filter.to,
            limit,
            self.user.0
        );
        let rows = rows.fetch_all(&mut *tx).await?;
        tx.commit().await?;
        let rows = rows.into_iter();
        rows.map(|row| Ok((row.position, record(row.conversation_id, row.sequence, row.created_at, row.payload)?))).collect()
    }

    /// The events of theirs that tell what became of what was due, with their positions, the newest
    /// first: of tasks, reminders, timers, calls with Law and approvals. A follow-up and a campaign
    /// have more to tell than that, where they are; rows that are let go have no event.
    ///
    /// # Errors
    /// As [`Theirs::find_events`].
    pub async fn heartbeat_events(&self, limit: i64) -> Result<Vec<(i64, EventRecord)>, StoreError> {
        let rows = query!(
            r#"SELECT position AS "position!", conversation_id AS "conversation_id!", sequence AS "sequence!", payload AS "payload!",
                      created_at AS "created_at!"
             FROM (SELECT * FROM events WHERE kind = 'tasks_fired' UNION ALL SELECT * FROM events WHERE kind = 'tasks_held'
                   UNION ALL SELECT * FROM events WHERE kind = 'reminder_given'
                   UNION ALL SELECT * FROM events WHERE kind = 'timer_changed' AND payload ->> 'over' = 'true'
                   UNION ALL SELECT * FROM events WHERE kind = 'voice_call_changed' AND payload ->> 'reason' IN ('silent', 'minutes')
                   UNION ALL SELECT * FROM events WHERE kind = 'approval_decided' AND payload ->> 'state' = 'expired') done
             WHERE (SELECT user_id FROM conversations c WHERE c.conversation_id = done.conversation_id) = $2
             ORDER BY position DESC LIMIT $1"#,
            limit,
            self.user.0
        );
        let rows = rows.fetch_all(&self.store.pool).await?.into_iter();
        rows.map(|row| Ok((row.position, record(row.conversation_id, row.sequence, row.created_at, row.payload)?))).collect()
    }

    /// The things of theirs that are due next, the soonest first. The rows that calls lost are the
    /// owner's. A kind that is not named here is nobody's, and left out.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn next_wake_ups(&self, limit: i64) -> Result<Vec<NextWakeUp>, StoreError> {
        let rows = query!(
            r#"SELECT w.kind, w.subject, w.at, coalesce(t.title, a.shown ->> 'tool', i.contact, g.name) AS "title?"
               FROM wake_ups w
                   LEFT JOIN timers f ON w.kind = 'timer' AND f.user_id = w.subject
                   LEFT JOIN tasks t ON t.task_id = CASE WHEN w.kind IN ('task', 'reminder') THEN w.subject ELSE f.task_id END
                   LEFT JOIN voice_calls v ON w.kind = 'voice' AND v.voice_call_id = w.subject
                   LEFT JOIN approvals a ON w.kind = 'approval' AND a.approval_id = w.subject
                   LEFT JOIN relay_instances i ON w.kind = 'follow_up' AND i.instance_id = w.subject
                   LEFT JOIN campaigns g ON w.kind = 'campaign' AND g.id = w.subject
                   LEFT JOIN conversations c ON c.conversation_id = coalesce(a.conversation_id, i.conversation_id, g.conversation_id)
               WHERE CASE w.kind WHEN 'task' THEN t.user_id WHEN 'reminder' THEN t.user_id WHEN 'timer' THEN f.user_id
                     WHEN 'voice' THEN v.user_id WHEN 'kept' THEN $3::bigint ELSE c.user_id END = $2
               ORDER BY w.at, w.kind, w.subject LIMIT $1"#,
            limit,
            self.user.0,
            UserId::OWNER.0
        );
        let rows = rows.fetch_all(&self.store.pool).await?.into_iter();
        rows.map(|row| Ok(NextWakeUp { kind: word(&row.kind)?, subject: row.subject, at: row.at, title: row.title })).collect()
    }
}

fn record(conversation: i64, sequence: i64, at: DateTime<Utc>, payload: serde_json::Value) -> Result<EventRecord, StoreError> {
    Ok(EventRecord { conversation: ConversationId(conversation), sequence, at, event: value(payload)? })
}
