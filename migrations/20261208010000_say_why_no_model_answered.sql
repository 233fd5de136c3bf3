-- A campaign whose model gives no answer waits with that as its reason, and says it in its audit: until now it said that its tasks miss something.
ALTER TABLE campaigns ADD COLUMN no_answer TEXT;

-- As before, but for `no answer`.
CREATE OR REPLACE VIEW audit_log AS
SELECT 'call ' || a.audit_entry_id AS id, c.id AS campaign_id, a.created_at AS timestamp, a.tool AS action_type,
       jsonb_build_object('turn', a.turn_id, 'call', a.tool_call_id, 'verdict', a.verdict, 'outcome', a.outcome,
                          'approval', a.approval_id, 'arguments', k.arguments, 'refusal', k.refusal) AS payload
FROM audit_entries a JOIN tool_calls k USING (tool_call_id) JOIN turns t ON t.turn_id = a.turn_id JOIN campaigns c USING (conversation_id)
UNION ALL
SELECT 'operation ' || o.tool_call_id || '.' || o.ordinal, c.id, o.created_at, o.kind,
       jsonb_build_object('call', o.tool_call_id, 'state', o.state, 'request', o.request)
FROM operations o JOIN tool_calls k USING (tool_call_id) JOIN turns t ON t.turn_id = k.turn_id JOIN campaigns c USING (conversation_id)
UNION ALL
SELECT 'step ' || s.step_id, c.id, s.created_at, 'model request',
       jsonb_build_object('turn', s.turn_id, 'step', s.step_id, 'model', s.model, 'finish_reason', s.finish_reason)
FROM steps s JOIN turns t USING (turn_id) JOIN campaigns c USING (conversation_id)
UNION ALL
SELECT 'refusal ' || e.position, c.id, e.created_at, 'answer refused', jsonb_build_object('turn', e.payload -> 'turn', 'why', e.payload -> 'why')
FROM events e JOIN campaigns c USING (conversation_id) WHERE e.kind = 'proposal_refused'
UNION ALL
SELECT 'answer ' || e.position, c.id, e.created_at, 'no answer', jsonb_build_object('turn', e.payload -> 'turn', 'why', e.payload #> '{campaign,no_answer}')
FROM events e JOIN campaigns c USING (conversation_id) WHERE e.kind = 'cycle_ended' AND e.payload -> 'campaign' ? 'no_answer'
UNION ALL
SELECT 'script ' || e.position, c.id, e.created_at, 'script', e.payload
FROM events e JOIN campaigns c USING (conversation_id) WHERE e.kind = 'script_ran'
UNION ALL
SELECT 'file ' || e.position || '.' || f.number, c.id, e.created_at, 'file read', jsonb_build_object('call', e.payload -> 'call', 'file', f.file)
FROM events e JOIN campaigns c USING (conversation_id), jsonb_array_elements(e.payload -> 'files') WITH ORDINALITY f (file, number)
WHERE e.kind = 'script_ran'
UNION ALL
SELECT 'file ' || e.position || '.' || f.number, c.id, e.created_at, 'file read', jsonb_build_object('turn', e.payload -> 'turn', 'file', f.file)
FROM events e JOIN campaigns c USING (conversation_id),
     jsonb_array_elements(coalesce(e.payload -> 'files', '[]')) WITH ORDINALITY f (file, number)
WHERE e.kind = 'cycle_asked'
UNION ALL
SELECT 'file ' || e.position, c.id, e.created_at, 'file read', e.payload -> 'read'
FROM events e JOIN campaigns c USING (conversation_id) WHERE e.kind = 'leads_kept' AND e.payload ? 'read'
UNION ALL
SELECT 'file ' || e.position, c.id, e.created_at, 'file written',
       jsonb_build_object('source', e.payload #> '{artifact,source}', 'step', e.payload #> '{artifact,step_id}',
                          'approval', e.payload #> '{artifact,approval_id}',
                          'file', jsonb_build_object('type', 'file', 'key', e.payload #> '{artifact,artifact_key}',
                              'version', e.payload #> '{artifact,version}', 'sha256', e.payload #> '{artifact,sha256}'))
FROM events e JOIN campaigns c USING (conversation_id) WHERE e.kind = 'artifact_kept' AND e.payload #>> '{artifact,artifact_type}' = 'file'
UNION ALL
SELECT 'page ' || e.position, c.id, e.created_at, CASE e.kind WHEN 'page_read' THEN 'page read' ELSE 'page touched' END, e.payload
FROM events e JOIN campaigns c USING (conversation_id) WHERE e.kind IN ('page_read', 'page_touched');
