-- A person's messages to Lea and Law are counted by the person's own day, in the transaction that accepts them, and have a limit that the tier says.

CREATE TABLE tiers (
    tier TEXT PRIMARY KEY CHECK (tier IN ('free', 'paid')),
    -- NULL: no limit.
    messages_per_day INTEGER CHECK (messages_per_day >= 0),
    voice_minutes_per_month INTEGER CHECK (voice_minutes_per_month >= 0)
);
INSERT INTO tiers (tier, messages_per_day, voice_minutes_per_month) VALUES ('free', 100, 0), ('paid', 500, 60);

CREATE TABLE message_counts (
    user_id BIGINT NOT NULL REFERENCES users ON DELETE CASCADE,
    -- By the clock of the person's zone.
    day DATE NOT NULL,
    messages INTEGER NOT NULL CHECK (messages > 0),
    PRIMARY KEY (user_id, day)
);

-- Counts a message, if the conversation's profile is one of those whose messages are counted, and gives the count; else NULL. Raises L3008 if the
-- tier allows no more: then nothing of the message is kept.
CREATE FUNCTION count_message(p_conversation BIGINT, p_counted TEXT[], p_at TIMESTAMPTZ) RETURNS JSONB
LANGUAGE plpgsql SET search_path = level3, pg_temp AS $$
DECLARE
    v_user BIGINT;
    v_day DATE;
    v_most INTEGER;
    v_messages INTEGER;
BEGIN
    SELECT u.id, (p_at AT TIME ZONE u.time_zone)::date, t.messages_per_day INTO v_user, v_day, v_most
    FROM conversations c JOIN users u ON u.id = c.user_id LEFT JOIN tiers t ON t.tier = u.tier
    WHERE c.conversation_id = p_conversation AND c.profile = ANY(p_counted);
    IF NOT FOUND THEN
        RETURN NULL;
    END IF;
    INSERT INTO message_counts AS m (user_id, day, messages) VALUES (v_user, v_day, 1)
    ON CONFLICT (user_id, day) DO UPDATE SET messages = m.messages + 1
    RETURNING messages INTO v_messages;
    IF v_messages > v_most THEN
        RAISE EXCEPTION 'user % has no message left on %', v_user, v_day USING ERRCODE = 'L3008';
    END IF;
    RETURN jsonb_build_object('user', v_user, 'day', v_day, 'messages', v_messages);
END $$;

-- As before, and the message is counted.
DROP FUNCTION accept_message(BIGINT, JSONB, TEXT, BOOLEAN, TEXT[], TEXT[], BYTEA[], TIMESTAMPTZ);
CREATE FUNCTION accept_message(
    p_conversation BIGINT, p_queued JSONB, p_first TEXT, p_unless_asked BOOLEAN,
    p_images TEXT[], p_types TEXT[], p_bytes BYTEA[], p_counted TEXT[], p_at TIMESTAMPTZ
) RETURNS TABLE (came TEXT, turn BIGINT, sequence BIGINT, event JSONB)
LANGUAGE plpgsql SET search_path = level3, pg_temp AS $$
#variable_conflict use_column
DECLARE
    v_client CONSTANT TEXT := p_queued ->> 'client_id';
    v_known BIGINT;
    v_queued JSONB := p_queued;
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
    IF cardinality(p_counted) > 0 THEN
        v_queued := p_queued || jsonb_strip_nulls(jsonb_build_object('counted', count_message(p_conversation, p_counted, p_at)));
    END IF;
    IF cardinality(p_images) > 0 THEN
        INSERT INTO attachments (sha256, media_type, bytes, created_at)
        SELECT image.*, p_at FROM unnest(p_images, p_types, p_bytes) image ON CONFLICT DO NOTHING;
    END IF;
    RETURN QUERY SELECT 'new', (q.event ->> 'turn')::bigint, q.sequence, q.event
    FROM queue_turn(p_conversation, v_queued, p_first, p_at) q;
END $$;

REVOKE ALL ON FUNCTION count_message, accept_message FROM PUBLIC;
