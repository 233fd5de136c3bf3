-- The law: approvals that are asked for, decided and used once; what each profile may do; what it has cost.

ALTER TABLE turns DROP CONSTRAINT turns_origin_check;
-- `command`: a person gave an order at the command line or in the page, for example to install a capability.
ALTER TABLE turns ADD CONSTRAINT turns_origin_check CHECK (origin IN ('message', 'task', 'command'));

-- A proposal whose circumstances changed after it was shown is asked about again, so one call may have several.
ALTER TABLE approvals DROP CONSTRAINT approvals_tool_call_id_key;
ALTER TABLE approvals DROP CONSTRAINT approvals_state_check;
ALTER TABLE approvals ADD CONSTRAINT approvals_state_check CHECK (state IN ('pending', 'approved', 'denied', 'expired', 'void'));
ALTER TABLE approvals
    ADD COLUMN conversation_id BIGINT REFERENCES conversations,
    -- When the one effect it allowed was recorded. A used approval allows nothing more.
    ADD COLUMN used_at TIMESTAMPTZ,
    -- The id a client gave the message by which it was decided; makes that idempotent.
    ADD COLUMN client_id TEXT,
    ADD CONSTRAINT approvals_client_id UNIQUE (conversation_id, client_id),
    ADD CONSTRAINT approvals_used_when_approved CHECK (used_at IS NULL OR state = 'approved');
UPDATE approvals SET conversation_id = (SELECT conversation_id FROM turns WHERE turns.turn_id = approvals.turn_id);
ALTER TABLE approvals ALTER COLUMN conversation_id SET NOT NULL;
CREATE UNIQUE INDEX approvals_one_pending ON approvals (tool_call_id) WHERE state = 'pending';
CREATE INDEX approvals_waiting ON approvals (expires_at) WHERE state = 'pending';

-- What the second model said of a proposal; kept, so that a resumed turn does not pay for it again.
ALTER TABLE tool_calls ADD COLUMN classification JSONB;
CREATE INDEX tool_calls_by_name ON tool_calls (name, tool_call_id);

ALTER TABLE audit_entries DROP CONSTRAINT audit_entries_outcome_check;
ALTER TABLE audit_entries ADD CONSTRAINT audit_entries_outcome_check CHECK (outcome IN ('done', 'failed', 'unknown'));
ALTER TABLE audit_entries ADD COLUMN approval_id BIGINT REFERENCES approvals;

-- What a profile may do. A profile without a row has the defaults of the program.
CREATE TABLE profile_policies (
    profile TEXT PRIMARY KEY,
    mode TEXT NOT NULL CHECK (mode IN ('auto', 'smart', 'ask', 'read_only')),
    -- Whether a second model classifies proposals.
    governor BOOLEAN NOT NULL,
    budgets JSONB NOT NULL,
    updated_at TIMESTAMPTZ NOT NULL
);
CREATE TABLE tool_rules (
    profile TEXT NOT NULL,
    tool TEXT NOT NULL,
    rule TEXT NOT NULL CHECK (rule IN ('always', 'ask', 'never')),
    updated_at TIMESTAMPTZ NOT NULL,
    PRIMARY KEY (profile, tool)
);

-- What a model costs, in millionths of a dollar for a million tokens. A model without a row costs an unknown amount.
CREATE TABLE model_rates (
    model TEXT PRIMARY KEY,
    input_micros BIGINT NOT NULL CHECK (input_micros >= 0),
    output_micros BIGINT NOT NULL CHECK (output_micros >= 0),
    updated_at TIMESTAMPTZ NOT NULL
);
-- What the step cost at the rate of its day, in millionths of a dollar; NULL where the rate or the tokens were unknown.
ALTER TABLE steps ADD COLUMN cost_micros BIGINT;
CREATE INDEX steps_by_time ON steps (created_at);

-- Values are sealed by the program; the key is not in the database.
CREATE TABLE secrets (
    name TEXT PRIMARY KEY,
    sealed BYTEA NOT NULL,
    created_at TIMESTAMPTZ NOT NULL,
    updated_at TIMESTAMPTZ NOT NULL
);

-- Values that capabilities keep between calls, each capability its own.
CREATE TABLE kv_entries (
    capability TEXT NOT NULL,
    key TEXT NOT NULL,
    value JSONB NOT NULL,
    updated_at TIMESTAMPTZ NOT NULL,
    PRIMARY KEY (capability, key)
);

-- What a capability's call did outside its sandbox, in the order it was begun. A call that is run again after a crash finds here what
-- was done already: nothing is done twice.
CREATE TABLE operations (
    tool_call_id BIGINT NOT NULL REFERENCES tool_calls,
    ordinal INTEGER NOT NULL CHECK (ordinal > 0),
    power TEXT NOT NULL CHECK (power IN ('http', 'sql', 'kv', 'tools')),
    class TEXT NOT NULL CHECK (class IN ('T', 'K', 'N')),
    -- Fingerprint of the request; a call that takes another way when it is run again is noticed by it.
    request_sha256 BYTEA NOT NULL,
    -- The request as it may be shown: with placeholders, never with a secret's value.
    request JSONB NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('intended', 'done', 'failed', 'unknown')),
    -- What the capability was answered.
    answer TEXT,
    created_at TIMESTAMPTZ NOT NULL,
    ended_at TIMESTAMPTZ,
    PRIMARY KEY (tool_call_id, ordinal),
    CHECK ((state = 'intended') = (ended_at IS NULL))
);

-- What was begun and has no answer when its call ends may have happened: nobody will learn it any more.
CREATE FUNCTION settle_operations(p_conversation BIGINT, p_turn BIGINT, p_call BIGINT, p_at TIMESTAMPTZ) RETURNS VOID
LANGUAGE plpgsql SET search_path = level3, pg_temp AS $$
DECLARE
    v_operation operations;
BEGIN
    FOR v_operation IN
        UPDATE operations SET state = 'unknown', ended_at = p_at WHERE tool_call_id = p_call AND state = 'intended' RETURNING *
    LOOP
        PERFORM append_event(p_conversation, 'operation_recorded', jsonb_build_object(
            'kind', 'operation_recorded', 'turn', p_turn, 'call', p_call, 'ordinal', v_operation.ordinal,
            'power', v_operation.power, 'class', v_operation.class, 'request', v_operation.request, 'state', 'unknown'), p_at);
    END LOOP;
END $$;

-- As before, and now an approval is used up in the very moment the call ends. L3004: the call was allowed by an approval that is not
-- there, or was used.
DROP FUNCTION shared.end_sql_call(BYTEA, BIGINT, BIGINT, BIGINT, BOOLEAN, TEXT, BYTEA, TIMESTAMPTZ);
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
        'outcome', jsonb_build_object('ok', p_ok, 'result', p_result, 'logs', p_logs)), p_at);
END $$;

-- What a token must be: only who reads server_keys can make one. It fits one fact under one lease in one transaction, and the text that
-- is recorded as its outcome: nobody who came by it could say anything else with it.
DROP FUNCTION sql_token(BIGINT, BIGINT, TEXT);
CREATE FUNCTION sql_token(p_fact TEXT, p_fence BIGINT, p_text TEXT) RETURNS BYTEA
LANGUAGE sql STABLE SET search_path = level3, pg_temp AS $$
    SELECT sha256(value || convert_to(
        concat_ws(':', p_fact, p_fence, pg_current_xact_id(), encode(sha256(convert_to(p_text, 'UTF8')), 'hex')), 'UTF8') || value)
    FROM server_keys WHERE name = 'sql_token'
$$;

CREATE FUNCTION shared.end_sql_call(
    p_token BYTEA, p_turn BIGINT, p_fence BIGINT, p_call BIGINT, p_ok BOOLEAN, p_result TEXT,
    p_proposal_sha256 BYTEA, p_verdict TEXT, p_at TIMESTAMPTZ
) RETURNS BIGINT
LANGUAGE plpgsql SECURITY DEFINER SET search_path = level3, pg_temp AS $$
BEGIN
    IF p_token IS DISTINCT FROM sql_token(concat_ws(':', 'call', p_call, p_ok, p_verdict), p_fence, p_result) THEN
        RAISE EXCEPTION 'the transaction of tool call % was changed by its statement', p_call USING ERRCODE = 'L3003';
    END IF;
    RETURN end_tool_call(p_turn, p_fence, p_call, p_ok, p_result, '[]', p_proposal_sha256, p_verdict, p_at);
END $$;

-- Records one operation of a capability's call that is over, with its event.
CREATE FUNCTION end_operation(
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
        'request', p_request, 'state', p_state), p_at);
END $$;

-- The agent's login ends an SQL operation with this, as it ends its own calls.
CREATE FUNCTION shared.end_sql_operation(
    p_token BYTEA, p_turn BIGINT, p_fence BIGINT, p_call BIGINT, p_ordinal INTEGER,
    p_request_sha256 BYTEA, p_request JSONB, p_answer TEXT, p_at TIMESTAMPTZ
) RETURNS BIGINT
LANGUAGE plpgsql SECURITY DEFINER SET search_path = level3, pg_temp AS $$
BEGIN
    IF p_token IS DISTINCT FROM sql_token(concat_ws(':', 'operation', p_call, p_ordinal), p_fence, p_answer) THEN
        RAISE EXCEPTION 'the transaction of tool call % was changed by its statement', p_call USING ERRCODE = 'L3003';
    END IF;
    RETURN end_operation(p_turn, p_fence, p_call, p_ordinal, 'sql', 'T', p_request_sha256, p_request, 'done', p_answer, p_at);
END $$;

REVOKE ALL ON FUNCTION sql_token, end_tool_call, end_operation, shared.end_sql_call, shared.end_sql_operation FROM PUBLIC;

-- What the agent may see of the audit, with what became of approvals.
CREATE OR REPLACE VIEW shared.audit_entries AS
SELECT audit_entry_id, turn_id, tool_call_id, tool, verdict, outcome, created_at, approval_id FROM audit_entries;

DO $$
DECLARE
    v_agent CONSTANT TEXT := current_database() || '_agent';
BEGIN
    EXECUTE format('GRANT EXECUTE ON FUNCTION shared.end_sql_call, shared.end_sql_operation TO %I', v_agent);
END $$;
