-- Turns as the server recorded them, copied: their rows with new numbers, and their events through the program's own `append_event`, so that
-- every stream stays a chain and replay finds nothing. A column that is added to a table is copied with the rest.

-- The tables grow under the plans.
SET enable_seqscan = off;
SET enable_hashjoin = off;
SET enable_mergejoin = off;

CREATE TEMP TABLE copied (n BIGINT, kind TEXT, old BIGINT, new BIGINT, PRIMARY KEY (kind, old, n));

CREATE FUNCTION pg_temp.renamed(p_kind TEXT, p_n BIGINT, p_old BIGINT) RETURNS BIGINT LANGUAGE sql STABLE AS $$
    SELECT new FROM copied WHERE kind = p_kind AND old = p_old AND n = p_n
$$;

-- The events of a turn in a conversation where no other turn ran at the same time: those of its tasks are between its own.
CREATE FUNCTION pg_temp.told(p_turn BIGINT) RETURNS SETOF events LANGUAGE sql STABLE AS $$
    SELECT e.* FROM events e JOIN (
        SELECT conversation_id, min(sequence) AS first, max(sequence) AS last FROM events JOIN turns USING (conversation_id)
        WHERE turn_id = p_turn AND payload ->> 'turn' = p_turn::text GROUP BY conversation_id) own
    ON e.conversation_id = own.conversation_id AND e.sequence BETWEEN own.first AND own.last
$$;

-- A person has at most 1,000 open tasks, and a copied conversation brings one. So the owner, whose turns are measured, gets a part of them,
-- and other people the rest.
CREATE FUNCTION pg_temp.person() RETURNS BIGINT LANGUAGE plpgsql AS $$
DECLARE
    v_person BIGINT := (SELECT id FROM users ORDER BY id DESC LIMIT 1);
BEGIN
    IF (SELECT count(*) FROM conversations WHERE user_id = v_person) >= (CASE v_person WHEN 1 THEN 400 ELSE 900 END) THEN
        INSERT INTO users (name, name_key, display_name, created_at)
        VALUES ('person ' || v_person, 'person ' || v_person, 'A person', now()) RETURNING id INTO v_person;
    END IF;
    RETURN v_person;
END $$;

CREATE FUNCTION pg_temp.conversation_like(p_like BIGINT) RETURNS BIGINT LANGUAGE sql AS $$
    INSERT INTO conversations
    SELECT r.* FROM conversations c, jsonb_populate_record(c, jsonb_build_object(
        'conversation_id', nextval(pg_get_serial_sequence('conversations', 'conversation_id')), 'is_main', FALSE, 'last_sequence', 0,
        'user_id', pg_temp.person())) r
    WHERE c.conversation_id = p_like RETURNING conversation_id
$$;

-- Returns how many events it wrote.
CREATE FUNCTION pg_temp.copy_turn(p_turn BIGINT, p_into BIGINT, p_copies BIGINT) RETURNS BIGINT LANGUAGE plpgsql AS $$
DECLARE
    v_event RECORD;
    v_count BIGINT := 0;
BEGIN
    TRUNCATE copied;
    INSERT INTO copied
    SELECT n, kind, old, nextval(numbers) FROM (
        SELECT * FROM generate_series(1, p_copies) n, (
            SELECT 'turn' AS kind, pg_get_serial_sequence('turns', 'turn_id') AS numbers, p_turn AS old
            UNION ALL SELECT 'step', pg_get_serial_sequence('steps', 'step_id'), step_id FROM steps WHERE turn_id = p_turn
            UNION ALL SELECT 'call', pg_get_serial_sequence('tool_calls', 'tool_call_id'), tool_call_id
                FROM tool_calls WHERE turn_id = p_turn
            UNION ALL SELECT 'message', pg_get_serial_sequence('messages', 'message_id'), message_id
                FROM messages WHERE turn_id = p_turn
            UNION ALL SELECT 'audit', pg_get_serial_sequence('audit_entries', 'audit_entry_id'), audit_entry_id
                FROM audit_entries WHERE turn_id = p_turn
            UNION ALL SELECT 'task', pg_get_serial_sequence('tasks', 'task_id'), (payload -> 'task' ->> 'id')::bigint
                FROM pg_temp.told(p_turn) WHERE kind = 'task_changed') originals
        ORDER BY n, kind, old) in_order;
    INSERT INTO turns SELECT r.* FROM copied c JOIN turns t ON t.turn_id = c.old, jsonb_populate_record(t, jsonb_build_object(
        'turn_id', c.new, 'conversation_id', p_into)) r WHERE c.kind = 'turn';
    INSERT INTO steps SELECT r.* FROM copied c JOIN steps s ON s.step_id = c.old, jsonb_populate_record(s, jsonb_build_object(
        'step_id', c.new, 'turn_id', pg_temp.renamed('turn', c.n, p_turn))) r WHERE c.kind = 'step';
    INSERT INTO tool_calls SELECT r.* FROM copied c JOIN tool_calls t ON t.tool_call_id = c.old, jsonb_populate_record(t, jsonb_build_object(
        'tool_call_id', c.new, 'turn_id', pg_temp.renamed('turn', c.n, p_turn), 'step_id', pg_temp.renamed('step', c.n, t.step_id))) r
        WHERE c.kind = 'call';
    INSERT INTO messages SELECT r.* FROM copied c JOIN messages m ON m.message_id = c.old, jsonb_populate_record(m, jsonb_build_object(
        'message_id', c.new, 'conversation_id', p_into, 'turn_id', pg_temp.renamed('turn', c.n, p_turn),
        'step_id', pg_temp.renamed('step', c.n, m.step_id), 'tool_call_id', pg_temp.renamed('call', c.n, m.tool_call_id))) r
        WHERE c.kind = 'message';
    INSERT INTO audit_entries SELECT r.* FROM copied c JOIN audit_entries a ON a.audit_entry_id = c.old, jsonb_populate_record(a, jsonb_build_object(
        'audit_entry_id', c.new, 'turn_id', pg_temp.renamed('turn', c.n, p_turn),
        'tool_call_id', pg_temp.renamed('call', c.n, a.tool_call_id))) r WHERE c.kind = 'audit';
    INSERT INTO tasks SELECT r.* FROM copied c JOIN tasks t ON t.task_id = c.old, jsonb_populate_record(t, jsonb_build_object(
        'task_id', c.new, 'conversation_id', p_into, 'user_id', (SELECT user_id FROM conversations WHERE conversation_id = p_into))) r
        WHERE c.kind = 'task';
    FOR v_event IN
        SELECT e.kind, e.created_at, e.payload || jsonb_strip_nulls(jsonb_build_object(
            'turn', turn.new, 'message', message.new, 'step', step.new, 'call', call.new))
            || CASE WHEN task.new IS NULL THEN '{}' ELSE jsonb_build_object('task', e.payload -> 'task' || jsonb_build_object(
                'id', task.new, 'conversation', p_into)) END AS payload
        FROM generate_series(1, p_copies) copies (copy) CROSS JOIN pg_temp.told(p_turn) e
        LEFT JOIN copied turn ON (turn.kind, turn.old, turn.n) = ('turn', (e.payload ->> 'turn')::bigint, copy)
        LEFT JOIN copied message ON (message.kind, message.old, message.n) = ('message', (e.payload ->> 'message')::bigint, copy)
        LEFT JOIN copied step ON (step.kind, step.old, step.n) = ('step', (e.payload ->> 'step')::bigint, copy)
        LEFT JOIN copied call ON (call.kind, call.old, call.n) = ('call', (e.payload ->> 'call')::bigint, copy)
        LEFT JOIN copied task ON (task.kind, task.old, task.n) = ('task', (e.payload -> 'task' ->> 'id')::bigint, copy)
        ORDER BY copy, e.sequence
    LOOP
        PERFORM append_event(p_into, v_event.kind, v_event.payload, v_event.created_at);
        v_count := v_count + 1;
    END LOOP;
    RETURN v_count;
END $$;
