-- A user is removed with all that is theirs. Keys refuse to leave a row behind that hangs on one of these: a table that is forgotten here
-- makes the removal fail, and nothing is removed. A stream of events goes as a whole, so the chain of every other one stays.
CREATE FUNCTION remove_user(p_user BIGINT) RETURNS BIGINT
LANGUAGE plpgsql SET search_path = level3, pg_temp AS $$
DECLARE
    v_turns BIGINT[];
    v_calls BIGINT[];
    v_conversations BIGINT[];
    v_images TEXT[];
BEGIN
    IF p_user = 1 THEN
        RAISE EXCEPTION 'the owner stays' USING ERRCODE = '23514';
    END IF;
    -- From here on they cannot come in. The order of locks is the same everywhere: the turns, then the conversations; so nobody writes on.
    PERFORM FROM users WHERE id = p_user FOR UPDATE;
    PERFORM FROM turns WHERE conversation_id IN (SELECT conversation_id FROM conversations WHERE user_id = p_user)
    ORDER BY turn_id FOR UPDATE;
    PERFORM FROM conversations WHERE user_id = p_user ORDER BY conversation_id FOR UPDATE;
    SELECT coalesce(array_agg(conversation_id), '{}') INTO v_conversations FROM conversations WHERE user_id = p_user;
    SELECT coalesce(array_agg(turn_id), '{}') INTO v_turns FROM turns WHERE conversation_id = ANY(v_conversations);
    SELECT coalesce(array_agg(tool_call_id), '{}') INTO v_calls FROM tool_calls WHERE turn_id = ANY(v_turns);
    SELECT coalesce(array_agg(DISTINCT image ->> 'sha256'), '{}') INTO v_images
    FROM messages m, jsonb_array_elements(m.images) image WHERE m.conversation_id = ANY(v_conversations) AND m.images <> '[]';

    DELETE FROM operations WHERE tool_call_id = ANY(v_calls);
    DELETE FROM capability_crashes WHERE tool_call_id = ANY(v_calls);
    DELETE FROM reviews WHERE turn_id = ANY(v_turns);
    DELETE FROM broken_answers WHERE turn_id = ANY(v_turns);
    DELETE FROM summaries WHERE conversation_id = ANY(v_conversations);
    DELETE FROM audit_entries WHERE turn_id = ANY(v_turns);
    DELETE FROM approvals WHERE turn_id = ANY(v_turns);
    DELETE FROM messages WHERE conversation_id = ANY(v_conversations);
    DELETE FROM tool_calls WHERE turn_id = ANY(v_turns);
    DELETE FROM steps WHERE turn_id = ANY(v_turns);
    DELETE FROM tasks WHERE conversation_id = ANY(v_conversations);
    DELETE FROM spent WHERE conversation_id = ANY(v_conversations);
    DELETE FROM events WHERE conversation_id = ANY(v_conversations);
    DELETE FROM turns WHERE conversation_id = ANY(v_conversations);
    -- A branch goes before the one it is a branch of, since all are of this user: one statement takes them all.
    DELETE FROM conversations WHERE conversation_id = ANY(v_conversations);
    DELETE FROM attachments a WHERE a.sha256 = ANY(v_images) AND NOT EXISTS (
        SELECT FROM messages m WHERE m.images <> '[]' AND m.images @> jsonb_build_array(jsonb_build_object('sha256', a.sha256)));
    -- Sessions, tokens and links go with the row.
    DELETE FROM users WHERE id = p_user;
    RETURN cardinality(v_conversations);
END $$;
REVOKE ALL ON FUNCTION remove_user(BIGINT) FROM PUBLIC;
