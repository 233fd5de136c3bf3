-- A person is shown other things of a call than the model reads: how long it took, which version was called, the columns of its rows. They
-- stand in the event beside the outcome's text; how long it took also in a column, for the statistics of capabilities. The end of a turn says
-- what it used up.

ALTER TABLE tool_calls ADD COLUMN ms BIGINT;

-- As before, with the account for a person.
DROP FUNCTION shared.end_sql_call(BYTEA, BIGINT, BIGINT, BIGINT, BOOLEAN, TEXT, BYTEA, TEXT, TIMESTAMPTZ);
DROP FUNCTION end_call(BIGINT, BIGINT, BIGINT, BOOLEAN, TEXT, JSONB, BYTEA, TEXT, TIMESTAMPTZ, TEXT);
CREATE FUNCTION end_call(
    p_turn BIGINT, p_fence BIGINT, p_call BIGINT, p_ok BOOLEAN, p_result TEXT, p_logs JSONB,
    p_proposal_sha256 BYTEA, p_verdict TEXT, p_at TIMESTAMPTZ, p_refusal TEXT, p_account JSONB
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
    UPDATE tool_calls SET state = v_state, logs = p_logs, ended_at = p_at, refusal = p_refusal, ms = (p_account ->> 'ms')::bigint
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
                || jsonb_strip_nulls(jsonb_build_object('refusal', p_refusal, 'account', p_account)),
            'verdict', p_verdict, 'approval', v_approval)], p_at) r;
END $$;

-- As before, with the account for a person. It is no part of the token: only the server calls this with a token, and the token is good once.
CREATE FUNCTION shared.end_sql_call(
    p_token BYTEA, p_turn BIGINT, p_fence BIGINT, p_call BIGINT, p_ok BOOLEAN, p_result TEXT,
    p_proposal_sha256 BYTEA, p_verdict TEXT, p_at TIMESTAMPTZ, p_account JSONB
) RETURNS TEXT
LANGUAGE plpgsql SECURITY DEFINER SET search_path = level3, pg_temp AS $$
BEGIN
    IF p_token IS DISTINCT FROM sql_token(concat_ws(':', 'call', p_call, p_ok, p_verdict), p_fence, p_result) THEN
        RAISE EXCEPTION 'the transaction of tool call % was changed by its statement', p_call USING ERRCODE = 'L3003';
    END IF;
    RETURN (SELECT to_json(ended)::text FROM end_call(
        p_turn, p_fence, p_call, p_ok, p_result, '[]', p_proposal_sha256, p_verdict, p_at, NULL, p_account) ended);
END $$;

-- The part of a turn's end that is for a person: its requests to models, those of this transaction among them, and the milliseconds since it was
-- accepted, without those in which it waited for a person.
CREATE FUNCTION turn_account(p_turn BIGINT, p_at TIMESTAMPTZ) RETURNS JSONB
LANGUAGE plpgsql AS $$
DECLARE
    v_most CONSTANT BIGINT := 9223372036854775807;
    v_usage JSONB;
    v_waited NUMERIC;
BEGIN
    SELECT jsonb_build_object(
        'requests', count(*), 'input_tokens', least(coalesce(sum(input_tokens), 0), v_most),
        'output_tokens', least(coalesce(sum(output_tokens), 0), v_most),
        'cost_micros', CASE WHEN count(*) = count(cost_micros) THEN least(coalesce(sum(cost_micros), 0), v_most) END)
    INTO v_usage FROM model_requests WHERE turn_id = p_turn AND model <> 'level3';
    SELECT coalesce(sum(extract(epoch FROM coalesce(decided_at, p_at) - created_at)), 0)
    INTO v_waited FROM approvals WHERE turn_id = p_turn;
    RETURN (SELECT jsonb_build_object(
        'usage', v_usage, 'ms', greatest(0, (extract(epoch FROM p_at - created_at) - v_waited) * 1000)::bigint)
        FROM turns WHERE turn_id = p_turn);
END $$;

-- As before, with the account of a turn that ends.
CREATE OR REPLACE FUNCTION store_step(
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
        v_events := array_append(v_events, p_ended || turn_account(p_turn, p_at));
    END IF;
    v_recorded := ARRAY(SELECT r FROM append_events(v_conversation, v_events, p_at) r);
    IF v_over THEN
        -- The conversation's row is locked by now: whoever accepted a message before this is seen, and others come after the end.
        v_waits := EXISTS (SELECT FROM turns WHERE conversation_id = v_conversation AND ended_at IS NULL);
    END IF;
    RETURN QUERY SELECT r.sequence, r.event, v_waits FROM unnest(v_recorded) r;
END $$;

REVOKE ALL ON FUNCTION end_call, shared.end_sql_call, turn_account FROM PUBLIC;

DO $$ BEGIN
    EXECUTE format('GRANT EXECUTE ON FUNCTION shared.end_sql_call TO %I', current_database() || '_agent');
END $$;
