//! Tasks that fell due become turns: one for each conversation and, in it, for each model that
//! tasks name. Within an hour a user has no more of them than the profile allows. Each turn is a
//! transaction of its own, so nobody waits for the others.

use std::collections::HashMap;

use chrono::{DateTime, TimeDelta, Utc};
use sqlx::{query, query_as, query_scalar};

use crate::domain::{Budgets, ConversationId, Origin, Task, TaskId, TaskStatus, UserId};
use crate::facts::{TasksFired, TasksHeld};
use crate::failpoint::{self, Point};
use crate::store::things::tasks::Row;
use crate::store::{Lease, Store, StoreError, Unit, value};

/// The server that begins a turn of tasks holds this lock: all servers of a database share the
/// limit of the hour.
const LOCK: i64 = 0x6c33_6475;

/// How long a begun turn counts, and how long a person who was told that tasks wait is not told
/// again.
const HOUR: TimeDelta = TimeDelta::hours(1);

/// The result of a look for due tasks.
#[derive(Debug, Default)]
pub struct Fired {
    /// How many turns they began.
    pub turns: usize,
    /// If some wait: the time at which the next of them may begin a turn.
    pub held_until: Option<DateTime<Utc>>,
}

/// The tasks that began a turn, as they were when its first step was stored, or as they are if it
/// has none: what the turn itself does to them changes nothing here.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct FiredTasks {
    /// Those that were done, given up, moved or deleted since they fell due.
    pub settled: Vec<TaskId>,
    /// True if there is no other.
    pub all_settled: bool,
}

/// The tasks of a turn, and if the newest event of each that is older than the turn's first step
/// settles it.
const FIRED_TASKS: &str = "\
    SELECT named.task::bigint, coalesce((
        SELECT (changed.payload ->> 'deleted')::boolean OR changed.payload #>> '{task,status}' <> ALL($3)
               OR (changed.payload #>> '{task,due_at}')::timestamptz
                  IS DISTINCT FROM coalesce((fired.payload -> 'due_at' ->> (named.place - 1)::integer)::timestamptz,
                                            (changed.payload #>> '{task,due_at}')::timestamptz)
        FROM events changed
        WHERE changed.kind = 'task_changed' AND changed.position > fired.position AND changed.payload #> '{task,id}' = named.task
              AND changed.position < coalesce((
                  SELECT min(step.position) FROM events step
                  WHERE step.conversation_id = $1 AND step.sequence > fired.sequence AND step.kind = 'step_answered'
                        AND step.payload -> 'turn' = to_jsonb($2::bigint)), 9223372036854775807)
        ORDER BY changed.position DESC LIMIT 1), FALSE)
    FROM (SELECT position, sequence, payload FROM events
          WHERE kind = 'tasks_fired' AND conversation_id = $1 AND payload -> 'turn' = to_jsonb($2::bigint)
          ORDER BY position DESC LIMIT 1) fired,
         jsonb_array_elements(fired.payload -> 'tasks') WITH ORDINALITY AS named (task, place)
    ORDER BY named.place";

/// Due tasks of one conversation that name the same model.
struct Group {
    conversation: ConversationId,
    /// The profile of the conversation.
    profile: String,
    model: Option<String>,
    /// Turns that tasks may begin within an hour.
    limit: Option<u64>,
}

impl Group {
    /// The reason why no turn may begin: the limit, and the time at which there is room again.
    fn held(&self, begun: &[DateTime<Utc>]) -> Option<(u64, Option<DateTime<Utc>>)> {
        let limit = self.limit?;
        let leaves = begun.len().checked_sub(usize::try_from(limit).ok()?)?;
        Some((limit, begun.get(leaves).map(|begun| *begun + HOUR)))
    }
}

impl Store {
    /// Hands every due task to a turn, the longest due first. `describe` writes the turn's input,
    /// for the profile of this name.
    ///
    /// # Errors
    /// If the database does not answer; tasks that were handed out until then stay so.
    pub async fn fire_due_tasks(
        &self,
        now: DateTime<Utc>,
        describe: impl Fn(&str, &[Task]) -> String,
    ) -> Result<Fired, StoreError> {
        let groups = query!(
            r#"SELECT c.conversation_id, c.profile, c.user_id, t.model, c.tasks_held_at, p.budgets AS "budgets?"
               FROM wake_ups w JOIN tasks t ON t.task_id = w.subject JOIN conversations c USING (conversation_id)
                    LEFT JOIN profile_policies p ON p.profile = c.profile
               WHERE w.kind = 'task' AND w.at BETWEEN '-infinity' AND $1
               GROUP BY c.conversation_id, t.model, p.profile ORDER BY min(w.at), min(w.subject)"#,
            now
        );
        let (mut fired, mut begun) = (Fired::default(), HashMap::<UserId, Vec<DateTime<Utc>>>::new());
        for row in groups.fetch_all(&self.pool).await? {
            let budgets: Budgets = row.budgets.map(value).transpose()?.unwrap_or_default();
            let (conversation, user) = (ConversationId(row.conversation_id), UserId(row.user_id));
            let group = Group { conversation, profile: row.profile, model: row.model, limit: budgets.tasks.turns_per_hour };
            // However many wait: if the person knows it, there is nothing to do.
            if !to_tell(row.tasks_held_at, now)
                && let Some((_, until)) = group.held(begun.get(&user).map_or(&[][..], Vec::as_slice))
            {
                fired.held_until = [fired.held_until, until].into_iter().flatten().min();
                continue;
            }
            let mut unit = self.begin(now).await?;
            let lately = unit.begun_by_tasks(user).await?;
            let held = group.held(&lately);
            begun.insert(user, lately);
            if let Some((limit, until)) = held {
                fired.held_until = [fired.held_until, until].into_iter().flatten().min();
                unit.hold_tasks(conversation, limit, until).await?;
            } else if unit.fire(&group, &describe).await? {
                fired.turns += 1;
                failpoint::hit(Point::MidDue).map_err(sqlx::Error::Io)?;
            }
            unit.commit().await?;
        }
        Ok(fired)
    }

    /// Says which of the tasks that began a turn need nothing more. The turn's input names them
    /// all: it was written when they fell due, and the turn may have waited since.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn fired_tasks(&self, lease: &Lease) -> Result<FiredTasks, StoreError> {
        let active: Vec<_> = TaskStatus::ALL.iter().filter(|status| status.is_active()).map(|status| status.as_str()).collect();
        let rows = query_as::<_, (i64, bool)>(FIRED_TASKS).bind(lease.conversation.0).bind(lease.turn.0).bind(active);
        let fired = rows.fetch_all(&self.pool).await?;
        let settled: Vec<_> = fired.iter().filter(|(_, settled)| *settled).map(|(task, _)| TaskId(*task)).collect();
        Ok(FiredTasks { all_settled: !fired.is_empty() && settled.len() == fired.len(), settled })
    }
}

/// True if a person who was last `told` then has to be told that tasks wait.
fn to_tell(told: Option<DateTime<Utc>>, now: DateTime<Utc>) -> bool {
    told.is_none_or(|told| told <= now - HOUR)
}

impl Unit {
    /// The times at which a user's tasks began turns within the last hour, the earliest first.
    /// Until this transaction ends, no other server begins one.
    async fn begun_by_tasks(&mut self, user: UserId) -> Result<Vec<DateTime<Utc>>, StoreError> {
        query!(r#"SELECT pg_advisory_xact_lock($1)::text AS "locked""#, LOCK).fetch_one(&mut *self.tx).await?;
        let begun = query_scalar!(
            "SELECT created_at FROM turns t WHERE origin = 'task' AND created_at > $1 AND created_at <= $2
               AND (SELECT user_id FROM conversations c WHERE c.conversation_id = t.conversation_id) = $3
             ORDER BY created_at",
            self.now - HOUR,
            self.now,
            user.0
        );
        Ok(begun.fetch_all(&mut *self.tx).await?)
    }

    /// Makes the turn of a group. False if nothing of it is due any more, or if other transactions
    /// are changing all of it: those wake us again.
    async fn fire(&mut self, group: &Group, describe: impl Fn(&str, &[Task]) -> String) -> Result<bool, StoreError> {
        let Group { conversation, profile, model, .. } = group;
        self.hold_conversation(*conversation).await?;
        let due = query_as!(
            Row,
            "SELECT t.task_id, t.conversation_id, t.title, t.details, t.status, t.due_at, t.created_at, t.updated_at, t.model,
                    t.subtasks, t.remind_at, t.recurrence
             FROM wake_ups w JOIN tasks t ON t.task_id = w.subject
             WHERE w.kind = 'task' AND w.at BETWEEN '-infinity' AND $1 AND t.conversation_id = $2 AND t.model IS NOT DISTINCT FROM $3
             ORDER BY w.at, t.task_id FOR UPDATE SKIP LOCKED",
            self.now,
            conversation.0,
            model.as_deref()
        )
        .fetch_all(&mut *self.tx)
        .await?;
        let due = due.into_iter().map(Task::try_from).collect::<Result<Vec<_>, _>>()?;
        if due.is_empty() {
            return Ok(false);
        }
        let (tasks, due_at): (Vec<_>, _) = due.iter().filter_map(|task| Some((task.id, task.due_at?))).unzip();
        let titles = due.iter().filter(|task| task.due_at.is_some()).map(|task| task.title.clone()).collect();
        // This settles their wake-ups.
        let ids: Vec<_> = tasks.iter().map(|task| task.0).collect();
        query!("UPDATE tasks SET fired_due_at = due_at WHERE task_id = ANY($1)", &ids).execute(&mut *self.tx).await?;
        let turn = self.queue_turn(*conversation, Origin::Task, None, &describe(profile, &due)).await?;
        if model.is_some() {
            query!("UPDATE turns SET task_model = $2 WHERE turn_id = $1", turn.0, model.as_deref())
                .execute(&mut *self.tx)
                .await?;
        }
        let event = TasksFired { tasks, turn, due_at, model: model.clone(), titles };
        self.append(*conversation, event.into()).await?;
        Ok(true)
    }

    /// Tells the person, once in an hour, that tasks of a conversation wait.
    async fn hold_tasks(
        &mut self,
        conversation: ConversationId,
        limit: u64,
        until: Option<DateTime<Utc>>,
    ) -> Result<(), StoreError> {
        self.hold_conversation(conversation).await?;
        let held = query!(
            r#"SELECT c.tasks_held_at,
                      array(SELECT w.subject FROM wake_ups w JOIN tasks t ON t.task_id = w.subject
                            WHERE w.kind = 'task' AND w.at BETWEEN '-infinity' AND $2 AND t.conversation_id = c.conversation_id
                            ORDER BY w.at, w.subject) AS "tasks!"
               FROM conversations c WHERE c.conversation_id = $1"#,
            conversation.0,
            self.now
        )
        .fetch_one(&mut *self.tx)
        .await?;
        if held.tasks.is_empty() || !to_tell(held.tasks_held_at, self.now) {
            return Ok(());
        }
        query!("UPDATE conversations SET tasks_held_at = $2 WHERE conversation_id = $1", conversation.0, self.now)
            .execute(&mut *self.tx)
            .await?;
        let tasks = held.tasks.into_iter().map(TaskId).collect();
        self.append(conversation, TasksHeld { tasks, limit, until }.into()).await?;
        Ok(())
    }
}
