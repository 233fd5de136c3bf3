-- Outcomes are recorded by the same code whether the server's login or, for its own SQL, the agent's login ends a tool call.

CREATE FUNCTION append_event(p_conversation BIGINT, p_kind TEXT, p_payload JSONB, p_at TIMESTAMPTZ) RETURNS BIGINT
LANGUAGE plpgsql SET search_path = level3, pg_temp AS $$
DECLARE
    v_sequence BIGINT;
BEGIN
    UPDATE conversations SET last_sequence = last_sequence + 1 WHERE conversation_id = p_conversation
    RETURNING last_sequence INTO STRICT v_sequence;
    INSERT INTO events (conversation_id, sequence, kind, payload, created_at)
    VALUES (p_conversation, v_sequence, p_kind, p_payload, p_at);
    RETURN v_sequence;
END $$;

-- Ends a tool call exactly once: outcome, message, audit entry and event. Raises L3001 when the turn belongs to somebody else by now,
-- L3002 when the call already has an outcome.
CREATE FUNCTION end_tool_call(
    p_turn BIGINT, p_fence BIGINT, p_call BIGINT, p_ok BOOLEAN, p_result TEXT, p_logs JSONB,
    p_proposal_sha256 BYTEA, p_verdict TEXT, p_at TIMESTAMPTZ
) RETURNS BIGINT
LANGUAGE plpgsql SET search_path = level3, pg_temp AS $$
DECLARE
    v_conversation BIGINT;
    v_tool TEXT;
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
    INSERT INTO messages (conversation_id, turn_id, role, content, tool_call_id, created_at)
    VALUES (v_conversation, p_turn, 'tool', p_result, p_call, p_at);
    INSERT INTO audit_entries (turn_id, tool_call_id, tool, proposal_sha256, verdict, outcome, created_at)
    VALUES (p_turn, p_call, v_tool, p_proposal_sha256, p_verdict, v_state, p_at);
    RETURN append_event(v_conversation, 'tool_call_ended', jsonb_build_object(
        'kind', 'tool_call_ended', 'turn', p_turn, 'call', p_call, 'name', v_tool,
        'outcome', jsonb_build_object('ok', p_ok, 'result', p_result, 'logs', p_logs)), p_at);
END $$;

-- What a token must be: only who reads server_keys can make one, and it fits one call under one lease in one transaction.
CREATE FUNCTION sql_token(p_call BIGINT, p_fence BIGINT, p_transaction TEXT) RETURNS BYTEA
LANGUAGE sql STABLE SET search_path = level3, pg_temp AS $$
    SELECT sha256(value || convert_to(p_call || ':' || p_fence || ':' || p_transaction, 'UTF8') || value)
    FROM server_keys WHERE name = 'sql_token'
$$;

-- The agent's login ends its own call with this, as the last statement of the transaction that ran the agent's statement, so that effect
-- and outcome commit together. The statement cannot know the token; a transaction that it ended and began anew has another id.
CREATE FUNCTION shared.end_sql_call(
    p_token BYTEA, p_turn BIGINT, p_fence BIGINT, p_call BIGINT, p_ok BOOLEAN, p_result TEXT,
    p_proposal_sha256 BYTEA, p_at TIMESTAMPTZ
) RETURNS BIGINT
LANGUAGE plpgsql SECURITY DEFINER SET search_path = level3, pg_temp AS $$
BEGIN
    IF p_token IS DISTINCT FROM sql_token(p_call, p_fence, pg_current_xact_id()::text) THEN
        RAISE EXCEPTION 'the transaction of tool call % was changed by its statement', p_call USING ERRCODE = 'L3003';
    END IF;
    RETURN end_tool_call(p_turn, p_fence, p_call, p_ok, p_result, '[]', p_proposal_sha256, 'allow', p_at);
END $$;

REVOKE ALL ON ALL FUNCTIONS IN SCHEMA level3 FROM PUBLIC;
REVOKE ALL ON ALL FUNCTIONS IN SCHEMA shared FROM PUBLIC;
