-- A person has at most 1,000 open tasks. Only the orders were counted against that when they were given, so those that waited in a queue
-- made more of them. Now it is looked at where tasks are written, under the lock of the person, whichever way they come.

-- Changes a person's to-dos as a call has decided, in its order, records it, and gives the place of the first event. The call was decided by what it
-- had read: by all to-dos (`p_stamp`), or by single tasks (`seen`, the transaction that wrote the row). Raises L3009 if somebody has changed that
-- since; then nothing was written, and the call is decided anew. Raises L3012, with the number of open tasks as the first word, if there would be more of
-- them than a person may have. A person who has more already may change them, as long as they do not become more.
CREATE OR REPLACE FUNCTION change_todos(p_conversation BIGINT, p_stamp TEXT, p_changes JSONB[], p_events JSONB[], p_at TIMESTAMPTZ) RETURNS BIGINT
LANGUAGE plpgsql SET search_path = level3, pg_temp AS $$
DECLARE
    v_user BIGINT;
    v_stamp TEXT;
    v_change JSONB;
    v_seen TEXT;
    v_first BIGINT;
    v_opens BOOLEAN;
    v_before BIGINT;
    v_open BIGINT;
BEGIN
    -- Nobody else changes the person's to-dos until the end of the transaction.
    SELECT u.id INTO STRICT v_user FROM users u JOIN conversations c ON c.user_id = u.id
    WHERE c.conversation_id = p_conversation FOR NO KEY UPDATE OF u;
    IF p_stamp IS NOT NULL THEN
        SELECT todos_stamp(v_user) INTO v_stamp;
        IF v_stamp <> p_stamp THEN
            RAISE EXCEPTION 'the to-dos of user % were changed meanwhile', v_user USING ERRCODE = 'L3009';
        END IF;
    END IF;
    v_opens := EXISTS (SELECT FROM unnest(p_changes) c
        WHERE c ->> 'do' IN ('make', 'change') AND c -> 'row' ->> 'status' IN ('pending', 'in_progress'));
    IF v_opens THEN
        SELECT count(*) INTO v_before FROM tasks WHERE user_id = v_user AND status IN ('pending', 'in_progress');
    END IF;
    FOREACH v_change IN ARRAY p_changes LOOP
        v_seen := v_change ->> 'seen';
        CASE v_change ->> 'do'
        WHEN 'make' THEN
            INSERT INTO tasks (task_id, conversation_id, user_id, title, details, status, due_at, created_at, updated_at, model,
                               subtasks, remind_at, recurrence)
            SELECT n.task_id, p_conversation, v_user, n.title, n.details, n.status, n.due_at, n.created_at, n.updated_at, n.model,
                   n.subtasks, n.remind_at, n.recurrence
            FROM jsonb_populate_record(NULL::tasks, v_change -> 'row') n;
        WHEN 'change' THEN
            UPDATE tasks t SET title = n.title, details = n.details, status = n.status, due_at = n.due_at, updated_at = n.updated_at,
                   model = n.model, subtasks = n.subtasks, remind_at = n.remind_at, recurrence = n.recurrence
            FROM jsonb_populate_record(NULL::tasks, v_change -> 'row') n
            WHERE t.task_id = n.task_id AND t.user_id = v_user AND (v_seen IS NULL OR t.xmin::text = v_seen);
        WHEN 'delete' THEN
            DELETE FROM tasks t WHERE t.task_id = (v_change ->> 'task')::bigint AND t.user_id = v_user
                AND (v_seen IS NULL OR t.xmin::text = v_seen);
        WHEN 'name' THEN
            INSERT INTO last_named (user_id, task_id, subtask_id)
            VALUES (v_user, (v_change ->> 'task')::bigint, (v_change ->> 'subtask')::bigint)
            ON CONFLICT (user_id) DO UPDATE SET task_id = EXCLUDED.task_id, subtask_id = EXCLUDED.subtask_id;
        WHEN 'timer' THEN
            INSERT INTO timers (user_id, conversation_id, state, minutes, task_id, ends_at, left_ms)
            SELECT v_user, p_conversation, n.state, n.minutes, n.task_id, n.ends_at, n.left_ms
            FROM jsonb_populate_record(NULL::timers, v_change -> 'row') n
            ON CONFLICT (user_id) DO UPDATE SET conversation_id = EXCLUDED.conversation_id, state = EXCLUDED.state,
                minutes = EXCLUDED.minutes, task_id = EXCLUDED.task_id, ends_at = EXCLUDED.ends_at, left_ms = EXCLUDED.left_ms;
        END CASE;
        IF NOT FOUND THEN
            RAISE EXCEPTION 'a task of user % was changed meanwhile', v_user USING ERRCODE = 'L3009';
        END IF;
    END LOOP;
    IF v_opens THEN
        SELECT count(*) INTO v_open FROM tasks WHERE user_id = v_user AND status IN ('pending', 'in_progress');
        IF v_open > greatest(v_before, 1000) THEN
            RAISE EXCEPTION '% open tasks are the most of user %', v_before, v_user USING ERRCODE = 'L3012';
        END IF;
    END IF;
    SELECT min(r.sequence) INTO v_first FROM append_events(p_conversation, p_events, p_at) r;
    RETURN v_first;
END $$;
