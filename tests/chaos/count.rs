//! Counts after every run: the database, the peer's file and the frames of the clients have to
//! agree.

use std::collections::BTreeMap;
use std::fmt;

use chrono::{DateTime, Utc};
use serde_json::{Value, json};
use sqlx::{PgConnection, Row};

use crate::rig::Rig;

/// The table of a run.
#[derive(Default)]
pub struct Table {
    pub kills: usize,
    pub messages: usize,
    pub turns: i64,
    /// Of class T, K and N.
    pub effects: [i64; 3],
    pub lost: i64,
    pub repeated: i64,
    pub unknown: i64,
    /// From the start of a process to the first turn that was taken up again, in milliseconds, in
    /// order.
    pub recoveries: Vec<i64>,
    /// Everything that should not be.
    pub wrong: Vec<String>,
}

impl Table {
    /// Fails with everything that is wrong.
    pub fn check(&self) {
        assert!(self.wrong.is_empty() && self.lost == 0 && self.repeated == 0, "{self}\n{:#?}", self.wrong);
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [t, k, n] = self.effects;
        let of = |part: usize| self.recoveries.get(self.recoveries.len().saturating_sub(1) * part / 100).copied().unwrap_or(0);
        writeln!(f, "| kills | messages | turns | effects T | K | N | lost | repeated | unknown | recovery p50 | longest |")?;
        writeln!(f, "|---|---|---|---|---|---|---|---|---|---|---|")?;
        writeln!(
            f,
            "| {} | {} | {} | {t} | {k} | {n} | {} | {} | {} | {} ms | {} ms |",
            self.kills,
            self.messages,
            self.turns,
            self.lost,
            self.repeated,
            self.unknown,
            of(50),
            of(100)
        )
    }
}

/// Counts of things that must not be there, each by a query that gives one number and what it
/// means.
const NEVER: [(&str, &str); 13] = [
    ("turns that are not over", "SELECT count(*) FROM turns WHERE state IN ('queued', 'running')"),
    ("turns that failed", "SELECT count(*) FROM turns WHERE state IN ('failed', 'aborted')"),
    (
        "calls without an outcome",
        "SELECT count(*) FROM tool_calls JOIN turns t USING (turn_id)
      WHERE tool_calls.state = 'proposed' AND t.state <> 'awaiting_approval'",
    ),
    (
        "calls with more than one outcome",
        "SELECT count(*) FROM (SELECT tool_call_id FROM messages WHERE role = 'tool'
      GROUP BY tool_call_id HAVING count(*) > 1) x",
    ),
    (
        "calls with more than one audit entry",
        "SELECT count(*) FROM (SELECT tool_call_id FROM audit_entries
      GROUP BY tool_call_id HAVING count(*) > 1) x",
    ),
    (
        "steps that were stored twice",
        "SELECT count(*) FROM (SELECT turn_id, number FROM steps GROUP BY 1, 2 HAVING count(*) > 1) x",
    ),
    (
        "streams with a gap",
        "SELECT count(*) FROM (SELECT conversation_id FROM events GROUP BY 1
      HAVING count(*) <> max(sequence) OR min(sequence) <> 1) x",
    ),
    (
        "turns that ended twice",
        "SELECT count(*) FROM (SELECT payload ->> 'turn' FROM events WHERE kind = 'turn_ended'
      GROUP BY 1 HAVING count(*) > 1) x",
    ),
    (
        "operations left intended in a call that is over",
        "SELECT count(*) FROM operations JOIN tool_calls c USING (tool_call_id)
      WHERE operations.state = 'intended' AND c.state <> 'proposed'",
    ),
    (
        "unknown operations without an event",
        "SELECT count(*) FROM operations o WHERE state = 'unknown' AND NOT EXISTS (
      SELECT FROM events e WHERE e.kind = 'operation_recorded' AND (e.payload ->> 'call')::bigint = o.tool_call_id
      AND (e.payload ->> 'ordinal')::int = o.ordinal AND e.payload ->> 'state' = 'unknown')",
    ),
    (
        "unknown operations the model was not told of",
        "SELECT count(*) FROM operations o WHERE state = 'unknown' AND NOT EXISTS (
      SELECT FROM messages m WHERE m.tool_call_id = o.tool_call_id
      AND (m.content LIKE '%Nobody knows whether%' OR m.content LIKE '%may have arrived%' OR m.content LIKE 'Cut off%'))",
    ),
    (
        "values of done operations that are not there",
        "SELECT count(*) FROM operations WHERE kind = 'kv' AND state = 'done'
      AND NOT EXISTS (SELECT FROM kv_entries WHERE capability = 'act' AND key = request ->> 'set')",
    ),
    (
        "due tasks that were handed out twice",
        "SELECT count(*) FROM (SELECT jsonb_array_elements(payload -> 'tasks') FROM events
      WHERE kind = 'tasks_fired' GROUP BY 1 HAVING count(*) > 1) x",
    ),
];

/// Effects of class T: each done call, or operation, once; no other. `(what, done, there)`: how
/// often an effect was recorded as done, and how often it is there, by its id.
const TRANSACTIONAL: [(&str, &str, &str); 3] = [
    (
        "execute_sql",
        "SELECT substring(arguments from 'INTO effects VALUES \\(''([^'']*)''') AS id, count(*) AS n FROM tool_calls
      WHERE name = 'execute_sql' AND state = 'done' AND arguments LIKE '%INTO effects%' GROUP BY 1",
        "SELECT id, count(*) AS n FROM agent.effects GROUP BY 1",
    ),
    (
        "host.sql",
        "SELECT request -> 'params' ->> 0 AS id, count(*) AS n FROM operations WHERE kind = 'sql' AND state = 'done' GROUP BY 1",
        "SELECT id, count(*) AS n FROM agent.inner_effects GROUP BY 1",
    ),
    (
        "manage_tasks",
        "SELECT arguments::jsonb ->> 'title' AS id, count(*) AS n FROM tool_calls
      WHERE name = 'manage_tasks' AND state = 'done' GROUP BY 1",
        "SELECT title AS id, count(*) AS n FROM tasks GROUP BY 1",
    ),
];

/// Counts everything. Every client must have come to its end.
pub async fn count(rig: &Rig) -> Table {
    let mut table = Table { kills: rig.kills, ..Table::default() };
    let mut behind = rig.behind().await;
    for (what, query) in NEVER {
        let found: i64 = sqlx::query_scalar(query).fetch_one(&mut behind).await.unwrap();
        if found != 0 {
            table.wrong.push(format!("{what}: {found}"));
        }
    }
    const REASONS: &str = "SELECT DISTINCT coalesce(reason, '') FROM turns WHERE state IN ('failed', 'aborted')";
    let reasons: Vec<String> = sqlx::query_scalar(REASONS).fetch_all(&mut behind).await.unwrap();
    table.wrong.extend(reasons);
    table.turns = sqlx::query_scalar("SELECT count(*) FROM turns").fetch_one(&mut behind).await.unwrap();
    transactional(&mut table, &mut behind).await;
    at_the_peer(&mut table, rig, &mut behind).await;
    clients(&mut table, rig, &mut behind).await;
    table.recoveries = recoveries(&rig.starts, &mut behind).await;
    // The tables are what the events say, and no event was changed: `level3 replay --check` asks
    // the same.
    let (status, replayed) = rig.api(reqwest::Method::GET, "replay/check").await;
    if status != 200 || replayed["clean"] != json!(true) {
        table.wrong.push(format!("replay: {replayed}"));
    }
    table
}

async fn by_id(behind: &mut PgConnection, query: &'static str) -> BTreeMap<String, i64> {
    let rows = sqlx::query(query).fetch_all(behind).await.unwrap();
    rows.iter().map(|row| (row.get::<Option<String>, _>("id").unwrap_or_default(), row.get("n"))).collect()
}

async fn transactional(table: &mut Table, behind: &mut PgConnection) {
    for (what, done, there) in TRANSACTIONAL {
        let (done, there) = (by_id(behind, done).await, by_id(behind, there).await);
        for id in done.keys().chain(there.keys()).collect::<std::collections::BTreeSet<_>>() {
            let (done, there) = (done.get(id).copied().unwrap_or(0), there.get(id).copied().unwrap_or(0));
            table.effects[0] += there;
            table.lost += (done - there).max(0);
            table.repeated += (there - done).max(0);
            if done != there || there > 1 {
                table.wrong.push(format!("{what} {id}: recorded {done} times, there {there} times"));
            }
        }
    }
}

async fn at_the_peer(table: &mut Table, rig: &Rig, behind: &mut PgConnection) {
    let happened = rig.peer.effects();
    for (path, times) in &happened {
        table.effects[if path.starts_with("/keyed/") { 1 } else { 2 }] += times;
        table.repeated += times - 1;
        if *times != 1 {
            table.wrong.push(format!("{path} happened {times} times at the peer"));
        }
    }
    let query = "SELECT substring(request ->> 'url' from 'https?://[^/]*(/.*)') AS path, class, state FROM operations WHERE kind = 'http'";
    for row in sqlx::query(query).fetch_all(behind).await.unwrap() {
        let (path, class, state): (String, String, String) = (row.get("path"), row.get("class"), row.get("state"));
        let there = happened.contains_key(&path);
        table.unknown += i64::from(state == "unknown");
        table.lost += i64::from(state == "done" && !there);
        if (state == "done" && !there)
            || (state == "failed" && there)
            || class != if path.starts_with("/keyed/") { "K" } else { "N" }
        {
            table.wrong.push(format!("{path}, class {class}: the ledger says {state}, and at the peer it is {there}"));
        }
    }
}

async fn clients(table: &mut Table, rig: &Rig, behind: &mut PgConnection) {
    for (conversation, told) in &rig.told {
        let (acknowledged, frames) = {
            let told = told.lock().unwrap();
            (told.acknowledged.clone(), told.frames.clone())
        };
        table.messages += acknowledged.len();
        for (id, turn) in &acknowledged {
            let kept: i64 =
                sqlx::query_scalar("SELECT count(*) FROM turns WHERE turn_id = $1 AND conversation_id = $2 AND client_id = $3")
                    .bind(turn)
                    .bind(conversation)
                    .bind(id)
                    .fetch_one(&mut *behind)
                    .await
                    .unwrap();
            if kept != 1 {
                table.lost += 1;
                table.wrong.push(format!("the accepted message {id} is there {kept} times"));
            }
        }
        // The client was shown over all its connections what the stream holds: every frame once, up
        // to the last it has.
        let last = frames.last().and_then(|frame| frame["seq"].as_i64()).unwrap_or(0);
        let shown: Vec<i64> = frames.iter().filter_map(|frame| frame["seq"].as_i64()).collect();
        let whole: Vec<i64> = sqlx::query_scalar(
            "SELECT sequence FROM events WHERE conversation_id = $1 AND sequence <= $2 AND kind <> 'answer_broken_off' ORDER BY sequence",
        )
        .bind(conversation)
        .bind(last)
        .fetch_all(&mut *behind)
        .await
        .unwrap();
        if shown != whole {
            let missing: Vec<_> = whole.iter().filter(|seq| !shown.contains(seq)).collect();
            table.wrong.push(format!("conversation {conversation}: the client was not shown {missing:?} of {last}"));
        }
        let unknown: i64 = sqlx::query_scalar(
            "SELECT count(*) FROM operations JOIN tool_calls USING (tool_call_id) JOIN turns USING (turn_id)
             WHERE conversation_id = $1 AND operations.state = 'unknown'",
        )
        .bind(conversation)
        .fetch_one(&mut *behind)
        .await
        .unwrap();
        let is_unknown = |frame: &&Value| frame["type"] == "operation" && frame["state"] == "unknown";
        let shown = frames.iter().filter(is_unknown).count();
        if i64::try_from(shown).unwrap() != unknown {
            table.wrong.push(format!("conversation {conversation}: {unknown} effects are unknown, {shown} were shown so"));
        }
    }
}

/// For every start, how long it took until a turn that had been interrupted was taken up again;
/// sorted.
async fn recoveries(starts: &[DateTime<Utc>], behind: &mut PgConnection) -> Vec<i64> {
    let again: Vec<DateTime<Utc>> = sqlx::query_scalar(
        "SELECT created_at FROM events WHERE kind = 'turn_started' AND (payload ->> 'fence')::bigint > 1 ORDER BY 1",
    )
    .fetch_all(behind)
    .await
    .unwrap();
    let mut found: Vec<i64> = starts
        .iter()
        .enumerate()
        .filter_map(|(number, start)| {
            let until = starts.get(number + 1).copied().unwrap_or(DateTime::<Utc>::MAX_UTC);
            let first = again.iter().find(|at| *at > start && **at < until)?;
            Some((*first - *start).num_milliseconds())
        })
        .collect();
    found.sort_unstable();
    found
}
