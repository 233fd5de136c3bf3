-- A server that ends in the middle of a call often took the turn up at an earlier place, and came to
-- the call by itself. Its end counts, too: a turn that is still held was taken up at this place once.
CREATE OR REPLACE FUNCTION claim_turns(p_owner TEXT, p_gone TEXT[], p_before TEXT[], p_after TEXT, p_most INTEGER, p_at TIMESTAMPTZ)
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
               takes = CASE WHEN taken_at = place THEN takes + 1 WHEN turns.lease_owner IS NOT NULL THEN 2 ELSE 1 END,
               taken_at = place
        FROM next JOIN conversations USING (conversation_id)
        WHERE turns.turn_id = next.turn_id
        RETURNING turns.turn_id, turns.conversation_id, turns.fence, turns.origin, turns.takes, conversations.profile
    LOOP
        RETURN QUERY SELECT v_turn.conversation_id, v_turn.profile, v_turn.origin, v_turn.takes, r.sequence, r.event
        FROM append_events(v_turn.conversation_id, ARRAY[
            jsonb_build_object('kind', 'turn_started', 'turn', v_turn.turn_id, 'fence', v_turn.fence)], p_at) r;
    END LOOP;
END $$;
