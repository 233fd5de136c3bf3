-- A person whose messages of the day are used up was told to take another tier, also if none allows more.

-- Counts a message, if the conversation's profile is one of those whose messages are counted, and gives the count; else NULL. Raises L3008 if the
-- tier allows no more, and L3013 if it does not and another tier would: then nothing of the message is kept.
CREATE OR REPLACE FUNCTION count_message(p_conversation BIGINT, p_counted TEXT[], p_at TIMESTAMPTZ) RETURNS JSONB
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
        IF EXISTS (SELECT FROM tiers WHERE messages_per_day IS NULL OR messages_per_day >= v_messages) THEN
            RAISE EXCEPTION 'user % has no message left on % in this tier', v_user, v_day USING ERRCODE = 'L3013';
        END IF;
        RAISE EXCEPTION 'user % has no message left on %', v_user, v_day USING ERRCODE = 'L3008';
    END IF;
    RETURN jsonb_build_object('user', v_user, 'day', v_day, 'messages', v_messages);
END $$;
