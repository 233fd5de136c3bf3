-- The ledger is of every call that reaches outside, not only of capabilities: an operation has a kind. Beside what the powers of a capability
-- reach, level3 itself reaches tools of MCP servers, channels, a browser and files for a call. External calls stood as `tools` until now, and
-- stay so where they are recorded.
ALTER TABLE operations RENAME COLUMN power TO kind;
ALTER TABLE operations DROP CONSTRAINT operations_power_check,
    ADD CONSTRAINT operations_kind_check CHECK (kind IN ('http', 'sql', 'kv', 'tools', 'mcp', 'channel', 'browser', 'file'));

-- As before. In the event the kind keeps its first name, `power`: what is recorded stays readable by one reader.
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
            'power', v_operation.kind, 'class', v_operation.class, 'request', v_operation.request,
            'request_sha256', encode(v_operation.request_sha256, 'hex'), 'answer_sha256', NULL, 'state', 'unknown'), p_at);
    END LOOP;
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
    INSERT INTO operations (tool_call_id, ordinal, kind, class, request_sha256, request, state, answer, created_at, ended_at)
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
