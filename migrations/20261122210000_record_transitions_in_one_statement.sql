-- A transition of a turn (accept, claim, store a step, end a call) is one statement, and so one round trip and one commit. The functions take the
-- facts as the program writes them, put in what only the database knows (numbers, costs), and give back what they recorded.

-- An event that was recorded.
CREATE TYPE recorded AS (sequence BIGINT, event JSONB);

-- Writing an event locks its conversation's row, which has to be there. The foreign key asked for that row once more with each event.
ALTER TABLE events DROP CONSTRAINT events_conversation_id_fkey;

-- A message looks for a question that waits in its conversation.
CREATE INDEX approvals_pending ON approvals (conversation_id) WHERE state = 'pending';

-- Writes facts into a conversation's stream, in order: the number and the hash before them are looked up once for all of them.
CREATE FUNCTION append_events(p_conversation BIGINT, p_events JSONB[], p_at TIMESTAMPTZ) RETURNS SETOF recorded
LANGUAGE plpgsql AS $$
DECLARE
    v_sequence BIGINT;
    v_position BIGINT;
    v_hash BYTEA;
    v_event JSONB;
BEGIN
    UPDATE conversations SET last_sequence = last_sequence + cardinality(p_events) WHERE conversation_id = p_conversation
    RETURNING last_sequence - cardinality(p_events) INTO STRICT v_sequence;
    -- The conversation's row is locked, so nobody writes between these and the one before.
    SELECT hash INTO v_hash FROM events WHERE conversation_id = p_conversation AND sequence = v_sequence;
    FOREACH v_event IN ARRAY p_events LOOP
        v_sequence := v_sequence + 1;
        v_position := nextval('event_positions');
        v_hash := event_hash(v_hash, p_conversation, v_sequence, v_position, v_event ->> 'kind', v_event, p_at);
        INSERT INTO events (conversation_id, sequence, position, kind, payload, created_at, hash)
        VALUES (p_conversation, v_sequence, v_position, v_event ->> 'kind', v_event, p_at, v_hash);
        RETURN NEXT (v_sequence, v_event)::recorded;
    END LOOP;
END $$;

CREATE OR REPLACE FUNCTION append_event(p_conversation BIGINT, p_kind TEXT, p_payload JSONB, p_at TIMESTAMPTZ) RETURNS BIGINT
LANGUAGE plpgsql SET search_path = level3, pg_temp AS $$
BEGIN
    RETURN (SELECT sequence FROM append_events(p_conversation, ARRAY[p_payload], p_at));
END $$;

-- Queues a turn with its input. The caller holds the conversation's row.
CREATE FUNCTION queue_turn(p_conversation BIGINT, p_queued JSONB, p_first TEXT, p_at TIMESTAMPTZ) RETURNS SETOF recorded
LANGUAGE plpgsql AS $$
DECLARE
    v_turn BIGINT;
    v_message BIGINT;
BEGIN
    INSERT INTO turns (conversation_id, origin, client_id, state, created_at)
    VALUES (p_conversation, p_queued ->> 'origin', p_queued ->> 'client_id', p_first, p_at)
    RETURNING turn_id INTO v_turn;
    INSERT INTO messages (conversation_id, turn_id, role, content, images, created_at)
    VALUES (p_conversation, v_turn, 'user', p_queued ->> 'content', coalesce(p_queued -> 'images', '[]'), p_at)
    RETURNING message_id INTO v_message;
    RETURN QUERY SELECT * FROM append_events(
        p_conversation, ARRAY[p_queued || jsonb_build_object('turn', v_turn, 'message', v_message)], p_at);
END $$;

-- Accepts a message: `new`; or `again` with the turn of an earlier message of this id; or `asked` if a question waits that goes first; or
-- `nowhere` if there is no such conversation.
CREATE FUNCTION accept_message(
    p_conversation BIGINT, p_queued JSONB, p_first TEXT, p_unless_asked BOOLEAN,
    p_images TEXT[], p_types TEXT[], p_bytes BYTEA[], p_at TIMESTAMPTZ
) RETURNS TABLE (came TEXT, turn BIGINT, sequence BIGINT, event JSONB)
LANGUAGE plpgsql SET search_path = level3, pg_temp AS $$
#variable_conflict use_column
DECLARE
    v_client CONSTANT TEXT := p_queued ->> 'client_id';
    v_known BIGINT;
BEGIN
    -- This puts the turns of a conversation in one order.
    PERFORM FROM conversations WHERE conversation_id = p_conversation FOR UPDATE;
    IF NOT FOUND THEN
        RETURN QUERY SELECT 'nowhere', NULL::bigint, NULL::bigint, NULL::jsonb;
        RETURN;
    END IF;
    IF v_client IS NOT NULL THEN
        SELECT turn_id INTO v_known FROM (
            SELECT turn_id FROM turns WHERE conversation_id = p_conversation AND client_id = v_client
            UNION ALL SELECT turn_id FROM messages WHERE conversation_id = p_conversation AND client_id = v_client
            UNION ALL SELECT turn_id FROM approvals WHERE conversation_id = p_conversation AND client_id = v_client) known LIMIT 1;
        IF FOUND THEN
            RETURN QUERY SELECT 'again', v_known, NULL::bigint, NULL::jsonb;
            RETURN;
        END IF;
    END IF;
    IF p_unless_asked AND EXISTS (
        SELECT FROM approvals WHERE conversation_id = p_conversation AND state = 'pending' AND expires_at > p_at) THEN
        RETURN QUERY SELECT 'asked', NULL::bigint, NULL::bigint, NULL::jsonb;
        RETURN;
    END IF;
    IF cardinality(p_images) > 0 THEN
        INSERT INTO attachments (sha256, media_type, bytes, created_at)
        SELECT image.*, p_at FROM unnest(p_images, p_types, p_bytes) image ON CONFLICT DO NOTHING;
    END IF;
    RETURN QUERY SELECT 'new', (q.event ->> 'turn')::bigint, q.sequence, q.event
    FROM queue_turn(p_conversation, p_queued, p_first, p_at) q;
END $$;

-- Takes up turns that are first in their conversations, and that nobody holds, or one of the servers `p_gone`: what a person said before what
-- tasks began, and the oldest first.
CREATE FUNCTION claim_turns(p_owner TEXT, p_gone TEXT[], p_before TEXT[], p_after TEXT, p_most INTEGER, p_at TIMESTAMPTZ)
RETURNS TABLE (conversation BIGINT, profile TEXT, origin TEXT, takes INTEGER, sequence BIGINT, event JSONB)
LANGUAGE plpgsql SET search_path = level3, pg_temp AS $$
#variable_conflict use_column
DECLARE
    v_turn RECORD;
BEGIN
    FOR v_turn IN
        WITH next AS (
            SELECT turn_id, conversation_id, turn_place(turn_id) AS place FROM turns t
            WHERE ended_at IS NULL AND state = ANY(p_before)
              AND (lease_owner = ANY(p_gone) OR (lease_owner IS NULL AND coalesce(lease_until, '-infinity') <= p_at))
              AND NOT EXISTS (
                  SELECT FROM turns earlier
                  WHERE earlier.conversation_id = t.conversation_id AND earlier.turn_id < t.turn_id AND earlier.ended_at IS NULL)
            ORDER BY origin = 'task', turn_id LIMIT p_most FOR UPDATE SKIP LOCKED)
        UPDATE turns SET state = p_after, fence = fence + 1, lease_owner = p_owner, lease_until = p_at,
               takes = CASE WHEN taken_at = place THEN takes + 1 ELSE 1 END, taken_at = place
        FROM next JOIN conversations USING (conversation_id)
        WHERE turns.turn_id = next.turn_id
        RETURNING turns.turn_id, turns.conversation_id, turns.fence, turns.origin, turns.takes, conversations.profile
    LOOP
        RETURN QUERY SELECT v_turn.conversation_id, v_turn.profile, v_turn.origin, v_turn.takes, r.sequence, r.event
        FROM append_events(v_turn.conversation_id, ARRAY[
            jsonb_build_object('kind', 'turn_started', 'turn', v_turn.turn_id, 'fence', v_turn.fence)], p_at) r;
    END LOOP;
END $$;

-- Keeps an answer and the calls that it asks for, and gives the events of that, which the caller records.
CREATE FUNCTION insert_step(
    p_conversation BIGINT, p_answered JSONB, p_calls JSONB[], p_input_micros BIGINT, p_output_micros BIGINT, p_at TIMESTAMPTZ
) RETURNS JSONB[]
LANGUAGE plpgsql AS $$
DECLARE
    v_turn CONSTANT BIGINT := p_answered ->> 'turn';
    v_model CONSTANT TEXT := p_answered ->> 'model';
    -- NULL if the provider did not count. Numbers beyond the column's are the largest there is.
    v_input CONSTANT BIGINT :=
        CASE WHEN jsonb_typeof(p_answered -> 'usage') = 'object' THEN least((p_answered #>> '{usage,input}')::numeric, 9223372036854775807) END;
    v_output CONSTANT BIGINT :=
        CASE WHEN jsonb_typeof(p_answered -> 'usage') = 'object' THEN least((p_answered #>> '{usage,output}')::numeric, 9223372036854775807) END;
    v_step BIGINT;
    v_cost BIGINT;
    v_call JSONB;
    v_number BIGINT;
    v_events JSONB[];
BEGIN
    INSERT INTO steps (turn_id, number, model, finish_reason, input_tokens, output_tokens, cost_micros, created_at, unproven)
    VALUES (v_turn, (p_answered ->> 'number')::integer, v_model, p_answered ->> 'finish_reason', v_input, v_output,
            cost_at(v_model, v_input, v_output, p_input_micros, p_output_micros), p_at, (p_answered ->> 'unproven')::boolean)
    RETURNING step_id, cost_micros INTO v_step, v_cost;
    INSERT INTO messages (conversation_id, turn_id, role, content, step_id, created_at)
    VALUES (p_conversation, v_turn, 'assistant', p_answered ->> 'content', v_step, p_at);
    v_events := ARRAY[p_answered || jsonb_build_object('step', v_step, 'cost_micros', v_cost)];
    FOREACH v_call IN ARRAY p_calls LOOP
        INSERT INTO tool_calls (turn_id, step_id, position, request_id, name, arguments, created_at)
        VALUES (v_turn, v_step, (v_call ->> 'position')::integer, v_call #>> '{request,id}', v_call #>> '{request,name}',
                v_call #>> '{request,arguments}', p_at)
        RETURNING tool_call_id INTO v_number;
        v_events := array_append(v_events, v_call || jsonb_build_object('step', v_step, 'call', v_number));
    END LOOP;
    RETURN v_events;
END $$;

-- Stores an answer, and ends the turn with it (`p_ended`) unless a person has said something into the turn that no step has seen. `waits`:
-- another turn of the conversation can be taken up now. Raises L3001 when the turn belongs to somebody else by now, and L3006 if one of the
-- actions of its end has work to do: then nothing was written, and the caller goes the long way.
CREATE FUNCTION store_step(
    p_turn BIGINT, p_fence BIGINT, p_from TEXT, p_answered JSONB, p_calls JSONB[], p_input_micros BIGINT, p_output_micros BIGINT,
    p_ended JSONB, p_actions TEXT[], p_at TIMESTAMPTZ
) RETURNS TABLE (sequence BIGINT, event JSONB, waits BOOLEAN)
LANGUAGE plpgsql SET search_path = level3, pg_temp AS $$
#variable_conflict use_column
DECLARE
    v_conversation BIGINT;
    v_over BOOLEAN;
    v_waits BOOLEAN := FALSE;
    v_events JSONB[];
    v_recorded recorded[];
BEGIN
    SELECT conversation_id INTO v_conversation FROM turns
    WHERE turn_id = p_turn AND fence = p_fence AND state = p_from FOR UPDATE;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'turn % is no longer held with fence %', p_turn, p_fence USING ERRCODE = 'L3001';
    END IF;
    v_over := p_ended IS NOT NULL
        AND NOT EXISTS (SELECT FROM messages WHERE turn_id = p_turn AND steered AND from_step IS NULL);
    IF v_over AND (cardinality(p_calls) > 0 OR EXISTS (SELECT FROM unnest(p_actions) AS action WHERE CASE action
        WHEN 'void approvals' THEN EXISTS (SELECT FROM approvals WHERE turn_id = p_turn AND state = 'pending')
        WHEN 'cut calls' THEN EXISTS (SELECT FROM tool_calls WHERE turn_id = p_turn AND state = 'proposed')
        ELSE TRUE END)) THEN
        RAISE EXCEPTION 'turn % has more to do at its end', p_turn USING ERRCODE = 'L3006';
    END IF;
    v_events := insert_step(
        v_conversation, p_answered || jsonb_build_object('last', v_over), p_calls, p_input_micros, p_output_micros, p_at);
    IF v_over THEN
        UPDATE turns SET state = p_ended ->> 'state', reason = p_ended ->> 'reason', lease_owner = NULL, lease_until = NULL,
               ended_at = p_at
        WHERE turn_id = p_turn;
        v_events := array_append(v_events, p_ended);
    END IF;
    v_recorded := ARRAY(SELECT r FROM append_events(v_conversation, v_events, p_at) r);
    IF v_over THEN
        -- The conversation's row is locked by now: whoever accepted a message before this is seen, and others come after the end.
        v_waits := EXISTS (SELECT FROM turns WHERE conversation_id = v_conversation AND ended_at IS NULL);
    END IF;
    RETURN QUERY SELECT r.sequence, r.event, v_waits FROM unnest(v_recorded) r;
END $$;

-- Ends a tool call exactly once: outcome, message, audit entry and event. Says which approval was used up, and how many rows can be put
-- back. Raises L3001 when the turn belongs to somebody else by now, L3002 when the call has an outcome already.
CREATE FUNCTION end_call(
    p_turn BIGINT, p_fence BIGINT, p_call BIGINT, p_ok BOOLEAN, p_result TEXT, p_logs JSONB,
    p_proposal_sha256 BYTEA, p_verdict TEXT, p_at TIMESTAMPTZ, p_refusal TEXT
) RETURNS TABLE (sequence BIGINT, approval BIGINT, kept BIGINT)
LANGUAGE plpgsql SET search_path = level3, pg_temp AS $$
#variable_conflict use_column
DECLARE
    v_conversation BIGINT;
    v_tool TEXT;
    v_approval BIGINT;
    v_kept BIGINT;
    v_state CONSTANT TEXT := CASE WHEN p_ok THEN 'done' ELSE 'failed' END;
    v_came TEXT := v_state;
BEGIN
    SELECT conversation_id INTO v_conversation FROM turns
    WHERE turn_id = p_turn AND fence = p_fence AND state = 'running' FOR UPDATE;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'turn % is no longer held with fence %', p_turn, p_fence USING ERRCODE = 'L3001';
    END IF;
    UPDATE tool_calls SET state = v_state, logs = p_logs, ended_at = p_at, refusal = p_refusal
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
    IF EXISTS (SELECT FROM operations WHERE tool_call_id = p_call) THEN
        PERFORM settle_operations(v_conversation, p_turn, p_call, p_at);
        IF EXISTS (SELECT FROM operations WHERE tool_call_id = p_call AND state = 'unknown') THEN
            v_came := 'unknown';
        END IF;
    END IF;
    INSERT INTO messages (conversation_id, turn_id, role, content, tool_call_id, created_at)
    VALUES (v_conversation, p_turn, 'tool', p_result, p_call, p_at);
    INSERT INTO audit_entries (turn_id, tool_call_id, tool, proposal_sha256, verdict, outcome, created_at, approval_id)
    VALUES (p_turn, p_call, v_tool, p_proposal_sha256, p_verdict, v_came, p_at, v_approval);
    SELECT sum(rows) INTO v_kept FROM kept_calls WHERE tool_call_id = p_call;
    RETURN QUERY SELECT r.sequence, v_approval, v_kept FROM append_events(v_conversation, ARRAY[
        jsonb_strip_nulls(jsonb_build_object('kept', v_kept)) || jsonb_build_object(
            'kind', 'tool_call_ended', 'turn', p_turn, 'call', p_call, 'name', v_tool,
            'outcome', jsonb_build_object('ok', p_ok, 'result', p_result, 'logs', p_logs)
                || jsonb_strip_nulls(jsonb_build_object('refusal', p_refusal)),
            'verdict', p_verdict, 'approval', v_approval)], p_at) r;
END $$;

-- The agent's login ends its own call with this, as before. It says what `end_call` says.
DROP FUNCTION shared.end_sql_call(BYTEA, BIGINT, BIGINT, BIGINT, BOOLEAN, TEXT, BYTEA, TEXT, TIMESTAMPTZ);
DROP FUNCTION end_tool_call(BIGINT, BIGINT, BIGINT, BOOLEAN, TEXT, JSONB, BYTEA, TEXT, TIMESTAMPTZ, TEXT);
CREATE FUNCTION shared.end_sql_call(
    p_token BYTEA, p_turn BIGINT, p_fence BIGINT, p_call BIGINT, p_ok BOOLEAN, p_result TEXT,
    p_proposal_sha256 BYTEA, p_verdict TEXT, p_at TIMESTAMPTZ
) RETURNS TEXT
LANGUAGE plpgsql SECURITY DEFINER SET search_path = level3, pg_temp AS $$
BEGIN
    IF p_token IS DISTINCT FROM sql_token(concat_ws(':', 'call', p_call, p_ok, p_verdict), p_fence, p_result) THEN
        RAISE EXCEPTION 'the transaction of tool call % was changed by its statement', p_call USING ERRCODE = 'L3003';
    END IF;
    RETURN (SELECT to_json(ended)::text FROM end_call(
        p_turn, p_fence, p_call, p_ok, p_result, '[]', p_proposal_sha256, p_verdict, p_at, NULL) ended);
END $$;

-- Keeps a checked draft as the newest version of its name and makes it live. Raises L3007 if another version than `p_replaces` is live.
CREATE FUNCTION install_capability(
    p_conversation BIGINT, p_installed JSONB, p_description TEXT, p_language TEXT, p_source TEXT, p_parameters JSONB, p_tests JSONB,
    p_component BYTEA, p_engine TEXT, p_replaces INTEGER, p_widens BOOLEAN, p_at TIMESTAMPTZ
) RETURNS SETOF recorded
LANGUAGE plpgsql SET search_path = level3, pg_temp AS $$
DECLARE
    v_name CONSTANT TEXT := p_installed ->> 'name';
    v_live INTEGER;
    v_version INTEGER;
    v_fingerprint TEXT;
BEGIN
    -- Two turns may write the same name at once: the second waits here for the first. The lock is on a table of ours, since any login can
    -- hold an advisory one.
    LOCK TABLE capability_versions IN SHARE ROW EXCLUSIVE MODE;
    SELECT version INTO v_live FROM capabilities WHERE name = v_name AND state = 'installed' FOR UPDATE;
    IF v_live IS DISTINCT FROM p_replaces THEN
        RAISE EXCEPTION 'capability % was changed by somebody else', v_name USING ERRCODE = 'L3007';
    END IF;
    IF p_widens THEN
        -- The person said "always" of the powers until now.
        DELETE FROM tool_rules WHERE tool = v_name AND rule = 'always';
    END IF;
    INSERT INTO capability_versions
        (name, version, description, language, source, parameters, grants, tests, component, sha256, engine, created_at)
    SELECT v_name, coalesce(max(version), 0) + 1, p_description, p_language, p_source, p_parameters, p_installed -> 'grants', p_tests,
           p_component, p_installed ->> 'sha256', p_engine, p_at
    FROM capability_versions WHERE name = v_name
    RETURNING version, capability_fingerprint(capability_versions) INTO v_version, v_fingerprint;
    INSERT INTO capabilities (name, version, created_at, updated_at) VALUES (v_name, v_version, p_at, p_at)
    ON CONFLICT (name) DO UPDATE SET version = v_version, state = 'installed', updated_at = p_at;
    RETURN QUERY SELECT * FROM append_events(p_conversation, ARRAY[
        p_installed || jsonb_build_object('version', v_version, 'fingerprint', v_fingerprint)], p_at);
END $$;

REVOKE ALL ON FUNCTION append_events, queue_turn, accept_message, claim_turns, insert_step, store_step, end_call,
    shared.end_sql_call, install_capability FROM PUBLIC;

DO $$ BEGIN
    EXECUTE format('GRANT EXECUTE ON FUNCTION shared.end_sql_call TO %I', current_database() || '_agent');
END $$;
