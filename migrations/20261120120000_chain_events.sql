-- Events become evidence: each carries the hash of the one before it, a place in the order of all streams, and all that its projections
-- need. What is changed, taken out, swapped or cut off later is found by `level3 replay --check`.

-- The order in which events of different streams were written. Whoever changes a row that several streams speak of (a task, a capability)
-- holds it locked while the event is written, so this is the order of the changes.
CREATE SEQUENCE event_positions;
ALTER TABLE events ADD COLUMN position BIGINT, ADD COLUMN hash BYTEA;

-- The fingerprint of an event and of all before it in its stream. The payload stands last, so that no two events give the same text.
CREATE FUNCTION event_hash(
    p_previous BYTEA, p_conversation BIGINT, p_sequence BIGINT, p_position BIGINT, p_kind TEXT, p_payload JSONB, p_at TIMESTAMPTZ
) RETURNS BYTEA
LANGUAGE sql STABLE AS $$
    SELECT sha256(coalesce(p_previous, ''::bytea) || convert_to(concat_ws(' ', p_conversation, p_sequence, p_position,
        (extract(epoch FROM p_at) * 1000000)::bigint, p_kind, p_payload::text), 'UTF8'))
$$;

-- Everything of a version that a person approved or a model wrote, and the bytes that run.
CREATE FUNCTION capability_fingerprint(p_version capability_versions) RETURNS TEXT
LANGUAGE sql STABLE SET search_path = level3, pg_temp AS $$
    SELECT encode(sha256(convert_to(jsonb_build_array(
        p_version.name, p_version.version, p_version.description, p_version.language, p_version.source, p_version.parameters,
        p_version.grants, p_version.tests, p_version.sha256, p_version.engine)::text, 'UTF8') || p_version.component), 'hex')
$$;

CREATE FUNCTION text_fingerprint(p_text TEXT) RETURNS TEXT
LANGUAGE sql STABLE AS $$
    SELECT encode(sha256(convert_to(p_text, 'UTF8')), 'hex')
$$;

REVOKE ALL ON FUNCTION event_hash, capability_fingerprint, text_fingerprint FROM PUBLIC;

-- Events written before this carried less than their rows. Once, before there is a chain, they are told what the rows still know.
UPDATE events SET payload = payload || jsonb_build_object('cost_micros', s.cost_micros)
FROM steps s WHERE kind = 'step_answered' AND s.step_id = (payload ->> 'step')::bigint;
UPDATE events SET payload = payload || jsonb_build_object('position', c.position)
FROM tool_calls c WHERE kind = 'tool_call_proposed' AND c.tool_call_id = (payload ->> 'call')::bigint;
UPDATE events SET payload = payload || jsonb_build_object('verdict', a.verdict, 'approval', a.approval_id)
FROM audit_entries a WHERE kind = 'tool_call_ended' AND a.tool_call_id = (payload ->> 'call')::bigint;
UPDATE events SET payload = payload || jsonb_build_object('client_id', a.client_id)
FROM approvals a WHERE kind = 'approval_decided' AND a.approval_id = (payload ->> 'approval')::bigint;
UPDATE events SET payload = payload || jsonb_build_object(
    'request_sha256', encode(o.request_sha256, 'hex'),
    'answer_sha256', CASE WHEN payload ->> 'state' = o.state THEN text_fingerprint(o.answer) END)
FROM operations o
WHERE kind = 'operation_recorded' AND o.tool_call_id = (payload ->> 'call')::bigint AND o.ordinal = (payload ->> 'ordinal')::integer;
UPDATE events SET payload = payload || jsonb_build_object('fingerprint', capability_fingerprint(v))
FROM capability_versions v
WHERE kind = 'capability_installed' AND v.name = payload ->> 'name' AND v.version = (payload ->> 'version')::integer;
-- A task that fired more than once keeps the due date of the last time, and a deleted one keeps none: nobody compares those.
UPDATE events e SET payload = payload || jsonb_build_object('due_at', (
    SELECT coalesce(jsonb_agg(coalesce(t.fired_due_at, e.created_at) ORDER BY fired.place), '[]')
    FROM jsonb_array_elements(e.payload -> 'tasks') WITH ORDINALITY AS fired (task, place)
    LEFT JOIN tasks t ON t.task_id = fired.task::bigint))
WHERE kind = 'tasks_fired';

-- Their order among each other: that of the streams, and between streams that of time, which never runs backwards inside one.
UPDATE events e SET position = o.position FROM (
    SELECT conversation_id, sequence, row_number() OVER (ORDER BY reached, conversation_id, sequence) AS position FROM (
        SELECT conversation_id, sequence, max(created_at) OVER (PARTITION BY conversation_id ORDER BY sequence) AS reached
        FROM events) streams) o
WHERE (e.conversation_id, e.sequence) = (o.conversation_id, o.sequence);
SELECT setval('event_positions', coalesce(max(position), 0) + 1, FALSE) FROM events;

DO $$
DECLARE
    v_event events;
    v_conversation BIGINT;
    v_hash BYTEA;
BEGIN
    FOR v_event IN SELECT * FROM events ORDER BY conversation_id, sequence LOOP
        IF v_conversation IS DISTINCT FROM v_event.conversation_id THEN
            v_conversation := v_event.conversation_id;
            v_hash := NULL;
        END IF;
        v_hash := event_hash(v_hash, v_event.conversation_id, v_event.sequence, v_event.position, v_event.kind, v_event.payload,
                             v_event.created_at);
        UPDATE events SET hash = v_hash WHERE conversation_id = v_event.conversation_id AND sequence = v_event.sequence;
    END LOOP;
END $$;
ALTER TABLE events ALTER COLUMN position SET NOT NULL, ALTER COLUMN hash SET NOT NULL;
CREATE UNIQUE INDEX events_in_order ON events (position);

CREATE OR REPLACE FUNCTION append_event(p_conversation BIGINT, p_kind TEXT, p_payload JSONB, p_at TIMESTAMPTZ) RETURNS BIGINT
LANGUAGE plpgsql SET search_path = level3, pg_temp AS $$
DECLARE
    v_sequence BIGINT;
    v_previous BYTEA;
    v_position BIGINT;
BEGIN
    UPDATE conversations SET last_sequence = last_sequence + 1 WHERE conversation_id = p_conversation
    RETURNING last_sequence INTO STRICT v_sequence;
    -- The conversation's row is locked, so nobody writes between this one and the one before.
    SELECT hash INTO v_previous FROM events WHERE conversation_id = p_conversation AND sequence = v_sequence - 1;
    v_position := nextval('event_positions');
    INSERT INTO events (conversation_id, sequence, position, kind, payload, created_at, hash)
    VALUES (p_conversation, v_sequence, v_position, p_kind, p_payload, p_at,
            event_hash(v_previous, p_conversation, v_sequence, v_position, p_kind, p_payload, p_at));
    RETURN v_sequence;
END $$;

-- As before; their events now carry the fingerprints of what they recorded, the verdict, and the approval that was used up.
CREATE OR REPLACE FUNCTION settle_operations(p_conversation BIGINT, p_turn BIGINT, p_call BIGINT, p_at TIMESTAMPTZ) RETURNS VOID
LANGUAGE plpgsql SET search_path = level3, pg_temp AS $$
DECLARE
    v_operation operations;
BEGIN
    FOR v_operation IN
        UPDATE operations SET state = 'unknown', ended_at = p_at WHERE tool_call_id = p_call AND state = 'intended' RETURNING *
    LOOP
        PERFORM append_event(p_conversation, 'operation_recorded', jsonb_build_object(
            'kind', 'operation_recorded', 'turn', p_turn, 'call', p_call, 'ordinal', v_operation.ordinal,
            'power', v_operation.power, 'class', v_operation.class, 'request', v_operation.request,
            'request_sha256', encode(v_operation.request_sha256, 'hex'), 'answer_sha256', NULL, 'state', 'unknown'), p_at);
    END LOOP;
END $$;

CREATE OR REPLACE FUNCTION end_tool_call(
    p_turn BIGINT, p_fence BIGINT, p_call BIGINT, p_ok BOOLEAN, p_result TEXT, p_logs JSONB,
    p_proposal_sha256 BYTEA, p_verdict TEXT, p_at TIMESTAMPTZ
) RETURNS BIGINT
LANGUAGE plpgsql SET search_path = level3, pg_temp AS $$
DECLARE
    v_conversation BIGINT;
    v_tool TEXT;
    v_approval BIGINT;
    v_state CONSTANT TEXT := CASE WHEN p_ok THEN 'done' ELSE 'failed' END;
BEGIN
    SELECT conversation_id INTO v_conversation FROM turns
    WHERE turn_id = p_turn AND fence = p_fence AND state = 'running' FOR UPDATE;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'turn % is no longer held with fence %', p_turn, p_fence USING ERRCODE = 'L3001';
    END IF;
    UPDATE tool_calls SET state = v_state, logs = p_logs, ended_at = p_at
    WHERE tool_call_id = p_call AND turn_id = p_turn AND state = 'proposed'
    RETURNING name INTO v_tool;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'tool call % has an outcome already', p_call USING ERRCODE = 'L3002';
    END IF;
    IF p_verdict = 'ask' THEN
        UPDATE approvals SET used_at = p_at
        WHERE tool_call_id = p_call AND state = 'approved' AND used_at IS NULL AND proposal_sha256 = p_proposal_sha256
        RETURNING approval_id INTO v_approval;
        IF NOT FOUND THEN
            RAISE EXCEPTION 'tool call % has no approval to use', p_call USING ERRCODE = 'L3004';
        END IF;
    END IF;
    PERFORM settle_operations(v_conversation, p_turn, p_call, p_at);
    INSERT INTO messages (conversation_id, turn_id, role, content, tool_call_id, created_at)
    VALUES (v_conversation, p_turn, 'tool', p_result, p_call, p_at);
    INSERT INTO audit_entries (turn_id, tool_call_id, tool, proposal_sha256, verdict, outcome, created_at, approval_id)
    VALUES (p_turn, p_call, v_tool, p_proposal_sha256, p_verdict,
            CASE WHEN EXISTS (SELECT FROM operations WHERE tool_call_id = p_call AND state = 'unknown') THEN 'unknown' ELSE v_state END,
            p_at, v_approval);
    RETURN append_event(v_conversation, 'tool_call_ended', jsonb_build_object(
        'kind', 'tool_call_ended', 'turn', p_turn, 'call', p_call, 'name', v_tool,
        'outcome', jsonb_build_object('ok', p_ok, 'result', p_result, 'logs', p_logs),
        'verdict', p_verdict, 'approval', v_approval), p_at);
END $$;

CREATE OR REPLACE FUNCTION end_operation(
    p_turn BIGINT, p_fence BIGINT, p_call BIGINT, p_ordinal INTEGER, p_power TEXT, p_class TEXT,
    p_request_sha256 BYTEA, p_request JSONB, p_state TEXT, p_answer TEXT, p_at TIMESTAMPTZ
) RETURNS BIGINT
LANGUAGE plpgsql SET search_path = level3, pg_temp AS $$
DECLARE
    v_conversation BIGINT;
BEGIN
    SELECT conversation_id INTO v_conversation FROM turns
    WHERE turn_id = p_turn AND fence = p_fence AND state = 'running' FOR UPDATE;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'turn % is no longer held with fence %', p_turn, p_fence USING ERRCODE = 'L3001';
    END IF;
    INSERT INTO operations (tool_call_id, ordinal, power, class, request_sha256, request, state, answer, created_at, ended_at)
    VALUES (p_call, p_ordinal, p_power, p_class, p_request_sha256, p_request, p_state, p_answer, p_at,
            CASE WHEN p_state = 'intended' THEN NULL ELSE p_at END)
    ON CONFLICT (tool_call_id, ordinal) DO UPDATE
    SET state = EXCLUDED.state, answer = EXCLUDED.answer, ended_at = EXCLUDED.ended_at
    WHERE operations.state = 'intended' AND EXCLUDED.state <> 'intended'
      AND operations.request_sha256 = EXCLUDED.request_sha256;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'operation % of tool call % is recorded already', p_ordinal, p_call USING ERRCODE = 'L3002';
    END IF;
    RETURN append_event(v_conversation, 'operation_recorded', jsonb_build_object(
        'kind', 'operation_recorded', 'turn', p_turn, 'call', p_call, 'ordinal', p_ordinal, 'power', p_power, 'class', p_class,
        'request', p_request, 'request_sha256', encode(p_request_sha256, 'hex'), 'answer_sha256', text_fingerprint(p_answer),
        'state', p_state), p_at);
END $$;
