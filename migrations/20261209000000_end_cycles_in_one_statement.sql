-- The effect of a cycle's proposal was a transaction of five statements, the cycle's end one of
-- six. The program knows all that they read, as long as the campaign's stream has nothing in it but
-- what the program has seen. So each is one statement now, which looks at the stream first.

-- Records facts of a campaign, and makes the rows that follow from them: `p_rows` has these by
-- table, and counts the events from 1.
CREATE FUNCTION record_campaign(p_conversation BIGINT, p_events JSONB[], p_rows JSONB, p_at TIMESTAMPTZ) RETURNS SETOF recorded
LANGUAGE plpgsql SET search_path = level3, pg_temp AS $$
DECLARE
    v_recorded recorded[];
    v_before BIGINT;
BEGIN
    IF cardinality(p_events) = 0 THEN
        RETURN;
    END IF;
    v_recorded := ARRAY(SELECT r FROM append_events(p_conversation, p_events, p_at) r);
    v_before := (v_recorded[1]).sequence - 1;
    IF p_rows ? 'campaigns' THEN
        INSERT INTO campaigns
        SELECT r.* FROM jsonb_array_elements(p_rows -> 'campaigns') AS one (fact), jsonb_populate_record(NULL::campaigns, fact) r
        ON CONFLICT (id) DO UPDATE
        SET (name, status, reason, waits_for, next_at, cycles, idle_cycles, fault, no_answer, bad_answers, judged_step, carried, cycles_left,
             updated_at) =
            (EXCLUDED.name, EXCLUDED.status, EXCLUDED.reason, EXCLUDED.waits_for, EXCLUDED.next_at, EXCLUDED.cycles,
             EXCLUDED.idle_cycles, EXCLUDED.fault, EXCLUDED.no_answer, EXCLUDED.bad_answers, EXCLUDED.judged_step, EXCLUDED.carried,
             EXCLUDED.cycles_left, EXCLUDED.updated_at);
    END IF;
    IF p_rows ? 'campaign_tasks' THEN
        INSERT INTO campaign_tasks
        SELECT r.* FROM jsonb_array_elements(p_rows -> 'campaign_tasks') AS one (fact), jsonb_populate_record(
            NULL::campaign_tasks, fact || jsonb_build_object('sequence', (fact ->> 'sequence')::bigint + v_before)) r
        ON CONFLICT (id) DO UPDATE
        SET (description, status, metadata, sequence, updated_at) =
            (EXCLUDED.description, EXCLUDED.status, EXCLUDED.metadata, EXCLUDED.sequence, EXCLUDED.updated_at);
    END IF;
    IF p_rows ? 'leads' THEN
        INSERT INTO leads
        SELECT r.* FROM jsonb_array_elements(p_rows -> 'leads') AS one (fact), jsonb_populate_record(
            NULL::leads, fact || jsonb_build_object('sequence', (fact ->> 'sequence')::bigint + v_before)) r
        ON CONFLICT (id) DO UPDATE
        SET (full_name, profile_url, weight_score, status, attributes, scored, sequence, updated_at) =
            (EXCLUDED.full_name, EXCLUDED.profile_url, EXCLUDED.weight_score, EXCLUDED.status, EXCLUDED.attributes, EXCLUDED.scored,
             EXCLUDED.sequence, EXCLUDED.updated_at);
    END IF;
    IF p_rows ? 'artifacts' THEN
        -- A version is never changed.
        INSERT INTO artifacts
        SELECT r.* FROM jsonb_array_elements(p_rows -> 'artifacts') AS one (fact), jsonb_populate_record(
            NULL::artifacts, fact || jsonb_build_object('sequence', (fact ->> 'sequence')::bigint + v_before)) r;
    END IF;
    IF p_rows ? 'campaign_contexts' THEN
        INSERT INTO campaign_contexts
        SELECT r.* FROM jsonb_array_elements(p_rows -> 'campaign_contexts') AS one (fact),
            jsonb_populate_record(NULL::campaign_contexts, fact) r
        ON CONFLICT (id) DO UPDATE SET (uses_left, void) = (EXCLUDED.uses_left, EXCLUDED.void);
    END IF;
    RETURN QUERY SELECT r.sequence, r.event FROM unnest(v_recorded) r;
END $$;

-- Holds the turn of a cycle, then its campaign, then its conversation, which it gives, until the
-- transaction ends. Raises L3001 when the turn belongs to somebody else by now, and L3014 if the
-- stream has gone on from the event `p_after`: then what the caller knows may not hold any more.
CREATE FUNCTION hold_cycle(p_turn BIGINT, p_fence BIGINT, p_state TEXT, p_after BIGINT) RETURNS BIGINT
LANGUAGE plpgsql SET search_path = level3, pg_temp AS $$
DECLARE
    v_conversation BIGINT;
    v_last BIGINT;
BEGIN
    -- The turn is locked as the first part is made. The number of the last event is that of the
    -- locked row: one that waits for the lock sees what came meanwhile.
    WITH turn AS MATERIALIZED (
        SELECT conversation_id FROM turns WHERE turn_id = p_turn AND fence = p_fence AND state = p_state FOR UPDATE)
    SELECT o.conversation_id, o.last_sequence INTO v_conversation, v_last
    FROM turn JOIN campaigns c USING (conversation_id) JOIN conversations o USING (conversation_id)
    FOR UPDATE OF c FOR NO KEY UPDATE OF o;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'turn % is no longer held with fence %', p_turn, p_fence USING ERRCODE = 'L3001';
    END IF;
    IF v_last <> p_after THEN
        RAISE EXCEPTION 'conversation % has gone on from event %', v_conversation, p_after USING ERRCODE = 'L3014';
    END IF;
    RETURN v_conversation;
END $$;

-- Ends a call of a cycle as `end_call` does, in one transaction with its effect in the campaign. An
-- artifact whose number is 0 gets one. The last row is the end of the call, and has no event: the
-- program knows it.
CREATE FUNCTION end_call_in_cycle(
    p_turn BIGINT, p_fence BIGINT, p_call BIGINT, p_ok BOOLEAN, p_result TEXT, p_logs JSONB, p_proposal_sha256 BYTEA, p_verdict TEXT,
    p_at TIMESTAMPTZ, p_refusal TEXT, p_account JSONB, p_after BIGINT, p_events JSONB[], p_rows JSONB
) RETURNS TABLE (sequence BIGINT, event JSONB, approval BIGINT, kept BIGINT)
LANGUAGE plpgsql SET search_path = level3, pg_temp AS $$
#variable_conflict use_column
DECLARE
    v_conversation CONSTANT BIGINT := hold_cycle(p_turn, p_fence, 'running', p_after);
    v_events JSONB[] := p_events;
    v_rows JSONB := p_rows;
    v_number JSONB;
BEGIN
    IF p_rows #>> '{artifacts,0,id}' = '0' THEN
        v_number := to_jsonb(nextval(pg_get_serial_sequence('artifacts', 'id')));
        v_rows := jsonb_set(p_rows, '{artifacts,0,id}', v_number);
        v_events := ARRAY(
            SELECT CASE WHEN u.fact ->> 'kind' = 'artifact_kept' THEN jsonb_set(u.fact, '{artifact,id}', v_number) ELSE u.fact END
            FROM unnest(p_events) WITH ORDINALITY u (fact, place) ORDER BY u.place);
    END IF;
    RETURN QUERY SELECT r.sequence, r.event, NULL::bigint, NULL::bigint
    FROM record_campaign(v_conversation, v_events, v_rows, p_at) r;
    RETURN QUERY SELECT e.sequence, NULL::jsonb, e.approval, e.kept
    FROM end_call(p_turn, p_fence, p_call, p_ok, p_result, p_logs, p_proposal_sha256, p_verdict, p_at, p_refusal, p_account) e;
END $$;

-- Ends a cycle: facts of its campaign, the answer that ends its turn, and the next cycle if there
-- is one (`p_queued`), which is taken up for `p_owner`. Raises L3006 as `store_step` does, and also
-- if the turn would go on: then nothing was written, and the caller goes the long way.
CREATE FUNCTION end_cycle(
    p_turn BIGINT, p_fence BIGINT, p_from TEXT, p_after BIGINT, p_events JSONB[], p_rows JSONB, p_answered JSONB, p_ended JSONB,
    p_actions TEXT[], p_queued JSONB, p_first TEXT, p_owner TEXT, p_taken TEXT, p_at TIMESTAMPTZ
) RETURNS SETOF recorded
LANGUAGE plpgsql SET search_path = level3, pg_temp AS $$
DECLARE
    v_conversation CONSTANT BIGINT := hold_cycle(p_turn, p_fence, p_from, p_after);
BEGIN
    RETURN QUERY SELECT r.sequence, r.event FROM record_campaign(v_conversation, p_events, p_rows, p_at) r;
    RETURN QUERY SELECT s.sequence, s.event
    FROM store_step(p_turn, p_fence, p_from, p_answered, '{}', NULL, NULL, p_ended, p_actions, p_at) s;
    IF EXISTS (SELECT FROM turns WHERE turn_id = p_turn AND ended_at IS NULL) THEN
        RAISE EXCEPTION 'turn % has more to do at its end', p_turn USING ERRCODE = 'L3006';
    END IF;
    IF p_queued IS NOT NULL THEN
        RETURN QUERY SELECT q.sequence, q.event
        FROM queue_turn(v_conversation, p_queued, p_first, p_at, p_owner, p_taken) q;
    END IF;
END $$;

REVOKE ALL ON FUNCTION record_campaign, hold_cycle, end_call_in_cycle, end_cycle FROM PUBLIC;
