-- A person is shown other things of a call than the model reads: how long it took, which version was called, the columns of its rows. They
-- stand in the event beside the outcome's text; how long it took also in a column, for the statistics of capabilities.

ALTER TABLE tool_calls ADD COLUMN ms BIGINT;

-- As before, with the account for a person.
DROP FUNCTION end_tool_call(BIGINT, BIGINT, BIGINT, BOOLEAN, TEXT, JSONB, BYTEA, TEXT, TIMESTAMPTZ, TEXT);
CREATE FUNCTION end_tool_call(
    p_turn BIGINT, p_fence BIGINT, p_call BIGINT, p_ok BOOLEAN, p_result TEXT, p_logs JSONB,
    p_proposal_sha256 BYTEA, p_verdict TEXT, p_at TIMESTAMPTZ, p_refusal TEXT DEFAULT NULL,
    p_account JSONB DEFAULT NULL
) RETURNS BIGINT
LANGUAGE plpgsql SET search_path = level3, pg_temp AS $$
DECLARE
    v_conversation BIGINT;
    v_tool TEXT;
    v_approval BIGINT;
    v_kept BIGINT;
    v_state CONSTANT TEXT := CASE WHEN p_ok THEN 'done' ELSE 'failed' END;
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
    PERFORM settle_operations(v_conversation, p_turn, p_call, p_at);
    INSERT INTO messages (conversation_id, turn_id, role, content, tool_call_id, created_at)
    VALUES (v_conversation, p_turn, 'tool', p_result, p_call, p_at);
    INSERT INTO audit_entries (turn_id, tool_call_id, tool, proposal_sha256, verdict, outcome, created_at, approval_id)
    VALUES (p_turn, p_call, v_tool, p_proposal_sha256, p_verdict,
            CASE WHEN EXISTS (SELECT FROM operations WHERE tool_call_id = p_call AND state = 'unknown') THEN 'unknown' ELSE v_state END,
            p_at, v_approval);
    SELECT sum(rows) INTO v_kept FROM kept_calls WHERE tool_call_id = p_call;
    RETURN append_event(v_conversation, 'tool_call_ended', jsonb_strip_nulls(jsonb_build_object('kept', v_kept)) || jsonb_build_object(
        'kind', 'tool_call_ended', 'turn', p_turn, 'call', p_call, 'name', v_tool,
        'outcome', jsonb_build_object('ok', p_ok, 'result', p_result, 'logs', p_logs)
            || jsonb_strip_nulls(jsonb_build_object('refusal', p_refusal, 'account', p_account)),
        'verdict', p_verdict, 'approval', v_approval), p_at);
END $$;


-- As before, with the account for a person. It is no part of the token: only the server calls this with a token, and the token is good once.
DROP FUNCTION shared.end_sql_call(BYTEA, BIGINT, BIGINT, BIGINT, BOOLEAN, TEXT, BYTEA, TEXT, TIMESTAMPTZ);
CREATE FUNCTION shared.end_sql_call(
    p_token BYTEA, p_turn BIGINT, p_fence BIGINT, p_call BIGINT, p_ok BOOLEAN, p_result TEXT,
    p_proposal_sha256 BYTEA, p_verdict TEXT, p_at TIMESTAMPTZ, p_account JSONB DEFAULT NULL
) RETURNS BIGINT
LANGUAGE plpgsql SECURITY DEFINER SET search_path = level3, pg_temp AS $$
BEGIN
    IF p_token IS DISTINCT FROM sql_token(concat_ws(':', 'call', p_call, p_ok, p_verdict), p_fence, p_result) THEN
        RAISE EXCEPTION 'the transaction of tool call % was changed by its statement', p_call USING ERRCODE = 'L3003';
    END IF;
    RETURN end_tool_call(p_turn, p_fence, p_call, p_ok, p_result, '[]', p_proposal_sha256, p_verdict, p_at, NULL, p_account);
END $$;

REVOKE ALL ON FUNCTION end_tool_call, shared.end_sql_call FROM PUBLIC;

DO $$ BEGIN
    EXECUTE format('GRANT EXECUTE ON FUNCTION shared.end_sql_call TO %I', current_database() || '_agent');
END $$;
