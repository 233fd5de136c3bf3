-- A message that is the first of its conversation is taken up by the statement that accepts it, for a server that has a place: a commit, a claim
-- and a reading less in each such turn.

DROP FUNCTION queue_turn(BIGINT, JSONB, TEXT, TIMESTAMPTZ);
-- Queues a turn with its input. The caller holds the conversation's row. With an owner, the turn is taken up at once if none is before it; the
-- state is `p_taken` then.
CREATE FUNCTION queue_turn(
    p_conversation BIGINT, p_queued JSONB, p_first TEXT, p_at TIMESTAMPTZ, p_owner TEXT DEFAULT NULL, p_taken TEXT DEFAULT NULL
) RETURNS SETOF recorded
LANGUAGE plpgsql AS $$
DECLARE
    v_turn BIGINT;
    v_message BIGINT;
    v_events JSONB[];
    v_takes CONSTANT BOOLEAN := p_owner IS NOT NULL
        AND NOT EXISTS (SELECT FROM turns WHERE conversation_id = p_conversation AND ended_at IS NULL);
BEGIN
    INSERT INTO turns (conversation_id, origin, client_id, state, created_at, fence, lease_owner, lease_until, takes)
    VALUES (p_conversation, p_queued ->> 'origin', p_queued ->> 'client_id', CASE WHEN v_takes THEN p_taken ELSE p_first END, p_at,
            v_takes::int, CASE WHEN v_takes THEN p_owner END, CASE WHEN v_takes THEN p_at END, v_takes::int)
    RETURNING turn_id INTO v_turn;
    INSERT INTO messages (conversation_id, turn_id, role, content, images, created_at)
    VALUES (p_conversation, v_turn, 'user', p_queued ->> 'content', coalesce(p_queued -> 'images', '[]'), p_at)
    RETURNING message_id INTO v_message;
    v_events := ARRAY[p_queued || jsonb_build_object('turn', v_turn, 'message', v_message)];
    IF v_takes THEN
        v_events := array_append(v_events, jsonb_build_object('kind', 'turn_started', 'turn', v_turn, 'fence', 1));
    END IF;
    RETURN QUERY SELECT * FROM append_events(p_conversation, v_events, p_at);
END $$;

-- As before. With an owner the turn is taken up, if it can be, and it is read where it stands: `p_reading` has how much, by profile.
DROP FUNCTION accept_message(BIGINT, JSONB, TEXT, BOOLEAN, TEXT[], TEXT[], BYTEA[], TEXT[], TIMESTAMPTZ);
CREATE FUNCTION accept_message(
    p_conversation BIGINT, p_queued JSONB, p_first TEXT, p_unless_asked BOOLEAN,
    p_images TEXT[], p_types TEXT[], p_bytes BYTEA[], p_counted TEXT[], p_at TIMESTAMPTZ, p_owner TEXT, p_taken TEXT, p_reading JSONB
) RETURNS TABLE (came TEXT, turn BIGINT, sequence BIGINT, event JSONB, profile TEXT, stands JSON)
LANGUAGE plpgsql SET search_path = level3, pg_temp AS $$
#variable_conflict use_column
DECLARE
    v_client CONSTANT TEXT := p_queued ->> 'client_id';
    v_profile TEXT;
    v_known BIGINT;
    v_queued JSONB := p_queued;
BEGIN
    -- This puts the turns of a conversation in one order.
    SELECT c.profile INTO v_profile FROM conversations c WHERE conversation_id = p_conversation FOR UPDATE;
    IF NOT FOUND THEN
        RETURN QUERY SELECT 'nowhere', NULL::bigint, NULL::bigint, NULL::jsonb, NULL::text, NULL::json;
        RETURN;
    END IF;
    IF v_client IS NOT NULL THEN
        SELECT turn_id INTO v_known FROM (
            SELECT turn_id FROM turns WHERE conversation_id = p_conversation AND client_id = v_client
            UNION ALL SELECT turn_id FROM messages WHERE conversation_id = p_conversation AND client_id = v_client
            UNION ALL SELECT turn_id FROM approvals WHERE conversation_id = p_conversation AND client_id = v_client) known LIMIT 1;
        IF FOUND THEN
            RETURN QUERY SELECT 'again', v_known, NULL::bigint, NULL::jsonb, NULL::text, NULL::json;
            RETURN;
        END IF;
    END IF;
    IF p_unless_asked AND EXISTS (
        SELECT FROM approvals WHERE conversation_id = p_conversation AND state = 'pending' AND expires_at > p_at) THEN
        RETURN QUERY SELECT 'asked', NULL::bigint, NULL::bigint, NULL::jsonb, NULL::text, NULL::json;
        RETURN;
    END IF;
    IF cardinality(p_counted) > 0 THEN
        v_queued := p_queued || jsonb_strip_nulls(jsonb_build_object('counted', count_message(p_conversation, p_counted, p_at)));
    END IF;
    IF cardinality(p_images) > 0 THEN
        INSERT INTO attachments (sha256, media_type, bytes, created_at)
        SELECT image.*, p_at FROM unnest(p_images, p_types, p_bytes) image ON CONFLICT DO NOTHING;
    END IF;
    RETURN QUERY SELECT 'new', (q.event ->> 'turn')::bigint, q.sequence, q.event, v_profile,
        CASE WHEN q.event ->> 'kind' = 'turn_started' THEN standing((p_reading -> v_profile) || jsonb_build_object(
            'turn', q.event -> 'turn', 'conversation', p_conversation, 'profile', v_profile)) END
    FROM queue_turn(p_conversation, v_queued, p_first, p_at, p_owner, p_taken) q;
END $$;

REVOKE ALL ON FUNCTION queue_turn, accept_message FROM PUBLIC;
