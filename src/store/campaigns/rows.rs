//! The rows of a campaign's state, read by one statement: it sees one moment, and is one round
//! trip.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use serde::Deserialize;
use serde_json::Value;
use sqlx::types::Json;
use sqlx::{PgExecutor, query_as};

use crate::domain::campaign::audit::{AuditLine, MOST_AUDIT};
use crate::domain::campaign::page::{PageReading, PageShows, PageTouch, Pages};
use crate::domain::campaign::state::{CampaignRows, LeadsInBrief, MOST_CALLS_READ, MOST_LEADS_SHOWN};
use crate::domain::campaign::{Lead, LeadStatus, ProposalKind};
use crate::domain::{CampaignId, ConversationId, RUN_SCRIPT};
use crate::store::queue::standing::StandingRow;

/// $1 and $2: the campaign, or its conversation; $3: the most leads; $4: the most calls; $5: a
/// question for the place of a turn, or NULL; $6: the most lines of the audit; $7: true if the
/// newest calls are wanted in any case. Else they are read if a condition looks for one: to read
/// them is much of the work, and the audit names a few alone. $8 and $9: the tool that runs
/// scripts, and the proposal to run a tool. The calls of a conversation are as old as its turns,
/// which have an index. The runs that are sought are those of `domain::campaign::sought`, of each
/// the newest, however old it is. The lines of the audit are those that `audited` makes of events;
/// which artifacts are files is seen in their table without their content.
const STATE: &str = r#"
WITH c AS MATERIALIZED (SELECT * FROM campaigns WHERE id = coalesce($1, (SELECT id FROM campaigns WHERE conversation_id = $2))),
     wanted AS MATERIALIZED (
         SELECT w.condition, w.condition ->> 'kind' AS kind, t.status <> 'done' AS is_open
         FROM c JOIN campaign_tasks t ON t.campaign_id = c.id, jsonb_array_elements(
             coalesce(t.metadata -> 'preconditions', '[]') || coalesce(t.metadata -> 'requires', '[]')) AS w (condition)),
     asks AS MATERIALIZED (
         SELECT $7 OR EXISTS (SELECT FROM wanted WHERE kind IN ('tool_succeeded', 'script_succeeded')) AS for_calls),
     sought AS MATERIALIZED (
         SELECT DISTINCT s.tool, s.arguments FROM wanted CROSS JOIN LATERAL (
             SELECT condition ->> 'tool' AS tool,
                    CASE jsonb_typeof(condition -> 'arguments') WHEN 'object' THEN condition -> 'arguments' ELSE '{}' END AS arguments
             WHERE kind = 'tool_succeeded'
             UNION ALL
             SELECT $8::text, jsonb_build_object('script', form.before || regexp_replace(condition ->> 'artifact', '^.*/', ''))
             FROM unnest(ARRAY['', 'js_script/', 'python_script/']) AS form (before) WHERE kind = 'script_succeeded') s
         WHERE is_open)
SELECT json_build_object(
    'campaign', to_json(c),
    'sequence', (SELECT last_sequence FROM conversations o WHERE o.conversation_id = c.conversation_id),
    'tasks', (SELECT coalesce(json_agg(t ORDER BY id), '[]') FROM campaign_tasks t WHERE t.campaign_id = c.id),
    'artifacts', (SELECT coalesce(json_agg(a ORDER BY id), '[]')
        FROM (SELECT artifact_type, artifact_key, max(version) AS version FROM artifacts WHERE campaign_id = c.id
              GROUP BY artifact_type, artifact_key) newest
        JOIN artifacts a ON a.campaign_id = c.id AND (a.artifact_type, a.artifact_key, a.version)
                                                   = (newest.artifact_type, newest.artifact_key, newest.version)),
    'contexts', (SELECT coalesce(json_agg(x ORDER BY id), '[]') FROM campaign_contexts x WHERE x.campaign_id = c.id),
    'calls', (SELECT coalesce(json_agg(k), '[]') FROM (
        (SELECT k.tool_call_id, k.step_id, k.name, k.arguments, k.state, k.refusal, k.ended_at
         FROM turns t JOIN tool_calls k USING (turn_id) WHERE t.conversation_id = c.conversation_id AND k.ended_at IS NOT NULL
             AND (SELECT for_calls FROM asks)
         ORDER BY t.turn_id DESC, k.tool_call_id DESC LIMIT $4)
        UNION ALL
        (SELECT k.tool_call_id, k.step_id, k.name, k.arguments, k.state, k.refusal, k.ended_at
         FROM tool_calls k WHERE k.tool_call_id = ANY(audit.calls) AND NOT (SELECT for_calls FROM asks))
        UNION ALL
        (SELECT k.tool_call_id, k.step_id, k.name, k.arguments, k.state, k.refusal, k.ended_at
         FROM sought CROSS JOIN LATERAL (
             SELECT k.* FROM turns t JOIN tool_calls k USING (turn_id)
             WHERE t.conversation_id = c.conversation_id AND k.name = $9 AND k.state = 'done' AND k.ended_at IS NOT NULL
                 AND CASE WHEN strpos(k.arguments, sought.tool) > 0 THEN is_run_of(k.arguments, sought.tool, sought.arguments) END
             ORDER BY t.turn_id DESC, k.tool_call_id DESC LIMIT 1) k)) k),
    'audit', audit.lines,
    'counted', (SELECT coalesce(json_agg(json_build_array(status, leads, newest)), '[]') FROM (
        SELECT status, count(*) AS leads, max(sequence) AS newest FROM leads WHERE campaign_id = c.id GROUP BY status) s),
    'leads_sha256', (SELECT encode(sha256(convert_to(coalesce(string_agg(
        concat_ws(' ', id, status, weight_score, sequence), ',' ORDER BY id), ''), 'UTF8')), 'hex') FROM leads WHERE campaign_id = c.id),
    'best', (SELECT coalesce(json_agg(l), '[]') FROM (
        SELECT * FROM leads WHERE campaign_id = c.id ORDER BY weight_score DESC, id LIMIT $3) l),
    'named', (SELECT coalesce(json_agg(l ORDER BY id), '[]') FROM leads l WHERE l.campaign_id = c.id AND l.id IN (
        SELECT (condition ->> 'lead')::bigint FROM wanted
        WHERE CASE WHEN kind = 'lead_status' THEN condition ->> 'lead' ~ '^[0-9]{1,18}$' END)),
    'touch', (SELECT json_build_array(e.sequence, e.payload -> 'touch') FROM events e
        WHERE e.conversation_id = c.conversation_id AND e.kind = 'page_touched' ORDER BY e.sequence DESC LIMIT 1),
    'reading', (SELECT json_build_array(e.sequence, e.payload -> 'page') FROM events e
        WHERE e.conversation_id = c.conversation_id AND e.kind = 'page_read' ORDER BY e.sequence DESC LIMIT 1),
    'words', (SELECT e.payload ->> 'sha256' FROM events e
        WHERE e.conversation_id = c.conversation_id AND e.kind = 'cycle_words' ORDER BY e.sequence DESC LIMIT 1),
    'shows', (SELECT coalesce(json_agg(json_build_array(condition ->> 'host', condition ->> 'contains', e.sequence, e.created_at)), '[]')
        FROM wanted CROSS JOIN LATERAL (
            SELECT e.sequence, e.created_at FROM events e WHERE e.conversation_id = c.conversation_id AND e.kind = 'page_read'
              AND e.payload #>> '{page,host}' = condition ->> 'host' AND strpos(e.payload #>> '{page,text}', condition ->> 'contains') > 0
            ORDER BY e.sequence DESC LIMIT 1) e
        WHERE wanted.kind = 'page_read')),
    standing($5)
FROM c CROSS JOIN LATERAL (
    SELECT coalesce(json_agg(l.line ORDER BY l.sequence), '[]') AS lines,
           array_agg((l.line ->> 'call')::bigint) FILTER (WHERE l.line ->> 'kind' = 'tool_call_ended') AS calls FROM (
        (SELECT e.sequence, jsonb_build_object('kind', e.kind) || CASE e.kind
             WHEN 'tool_call_ended' THEN jsonb_build_object('call', e.payload -> 'call', 'unknown', EXISTS (
                 SELECT FROM operations o WHERE o.tool_call_id = (e.payload ->> 'call')::bigint AND o.state = 'unknown'))
             WHEN 'proposal_refused' THEN jsonb_build_object('why', e.payload -> 'why')
             WHEN 'script_ran' THEN jsonb_build_object(
                 'script', e.payload -> 'script', 'files', e.payload -> 'files', 'ok', e.payload -> 'ok')
             WHEN 'page_read' THEN jsonb_build_object('address', e.payload #> '{page,address}')
             ELSE jsonb_build_object('touch', e.payload -> 'touch') END AS line
         FROM events e WHERE e.conversation_id = c.conversation_id
             AND e.kind IN ('tool_call_ended', 'proposal_refused', 'script_ran', 'page_read', 'page_touched')
         ORDER BY e.sequence DESC LIMIT $6)
        UNION ALL
        (SELECT a.sequence, jsonb_build_object('kind', 'artifact_kept', 'source', a.source,
             'file', jsonb_build_object('type', a.artifact_type, 'key', a.artifact_key, 'version', a.version))
         FROM artifacts a WHERE a.campaign_id = c.id AND a.artifact_type = 'file' ORDER BY a.sequence DESC LIMIT $6)
        ORDER BY sequence DESC LIMIT $6) l) audit"#;

/// The campaign whose state is read.
#[derive(Clone, Copy, Debug)]
pub(super) enum Of {
    /// This one.
    Campaign(CampaignId),
    /// That of a conversation.
    Conversation(ConversationId),
}

/// The answer of the statement.
#[derive(Deserialize)]
struct Read {
    campaign: Value,
    sequence: i64,
    tasks: Vec<Value>,
    artifacts: Vec<Value>,
    contexts: Vec<Value>,
    calls: Vec<Value>,
    audit: Vec<AuditLine>,
    counted: Vec<(LeadStatus, i64, i64)>,
    leads_sha256: String,
    best: Vec<Lead>,
    named: Vec<Lead>,
    touch: Option<(i64, PageTouch)>,
    reading: Option<(i64, PageReading)>,
    words: Option<String>,
    shows: Vec<(String, String, i64, DateTime<Utc>)>,
}

/// The rows of a campaign as its tables and events have them; `None` if there is none.
pub(super) async fn rows(database: impl PgExecutor<'_>, of: Of) -> Result<Option<CampaignRows>, sqlx::Error> {
    Ok(read(database, of, true, None).await?.map(|(rows, _)| rows))
}

/// The same as a cycle needs them: the newest calls only if a condition looks for one, else those
/// that the audit names. With the place where a turn stands, if that is `asked`; it is read a
/// moment later.
pub(super) async fn rows_for_cycle(
    database: impl PgExecutor<'_>,
    conversation: ConversationId,
    asked: Option<Value>,
) -> Result<Option<(CampaignRows, Option<StandingRow>)>, sqlx::Error> {
    read(database, Of::Conversation(conversation), false, asked).await
}

async fn read(
    database: impl PgExecutor<'_>,
    of: Of,
    all_calls: bool,
    asked: Option<Value>,
) -> Result<Option<(CampaignRows, Option<StandingRow>)>, sqlx::Error> {
    let (campaign, conversation) = match of {
        Of::Campaign(id) => (Some(id.0), None),
        Of::Conversation(id) => (None, Some(id.0)),
    };
    let most = |count: usize| i64::try_from(count).unwrap_or(i64::MAX);
    let read = query_as::<_, (Json<Read>, Option<Json<StandingRow>>)>(STATE).bind(campaign).bind(conversation);
    let read = read.bind(most(MOST_LEADS_SHOWN)).bind(most(MOST_CALLS_READ)).bind(asked).bind(most(MOST_AUDIT));
    let read = read.bind(all_calls).bind(RUN_SCRIPT).bind(ProposalKind::ExecuteTool.as_str());
    let read = read.fetch_optional(database).await?;
    Ok(read.map(|(Json(read), standing)| (read.rows(), standing.map(|Json(standing)| standing))))
}

impl Read {
    fn rows(self) -> CampaignRows {
        let counts = self.counted.iter().map(|(status, count, _)| (*status, *count)).collect();
        let newest = self.counted.iter().map(|(status, _, newest)| (*status, *newest)).collect();
        // Several tasks may require the same.
        let shows: BTreeMap<_, _> =
            self.shows.into_iter().map(|(host, contains, sequence, at)| ((host, contains), (sequence, at))).collect();
        let shows = shows.into_iter().map(|((host, contains), (sequence, at))| PageShows { host, contains, sequence, at });
        CampaignRows {
            campaign: self.campaign,
            tasks: self.tasks,
            leads: LeadsInBrief { counts, newest, best: self.best, named: self.named, sha256: self.leads_sha256 },
            artifacts: self.artifacts,
            contexts: self.contexts,
            calls: self.calls,
            audit: self.audit,
            pages: Pages { touch: self.touch, reading: self.reading, shows: shows.collect() },
            words: self.words,
            sequence: self.sequence,
        }
    }
}
