-- A task, a timer or a capability that changed wrote an event that names no turn, and the next step read all messages of its conversation again. Of
-- the events that name no turn, two change what a conversation shows a model: one lets it begin anew, the other takes messages away. A test beside
-- the events (`src/facts/tests.rs`) finds them by what replay makes of each kind.
--
-- As before, but for `known`.
CREATE OR REPLACE FUNCTION standing(p_wanted JSONB) RETURNS JSON
LANGUAGE plpgsql STRICT SET search_path = level3, pg_temp AS $$
DECLARE
    v_turn CONSTANT BIGINT := p_wanted ->> 'turn';
    v_conversation CONSTANT BIGINT := p_wanted ->> 'conversation';
    -- One more than wanted: the oldest tells whether its turn is whole.
    v_history CONSTANT BIGINT := p_wanted ->> 'history';
    v_due CONSTANT TIMESTAMPTZ := p_wanted ->> 'due';
    v_tasks CONSTANT BIGINT := p_wanted ->> 'tasks';
    v_today CONSTANT DATE := p_wanted ->> 'today';
    v_now CONSTANT TIMESTAMPTZ := p_wanted ->> 'now';
    v_begins CONSTANT BOOLEAN := p_wanted ->> 'begins';
    v_tries CONSTANT BIGINT := p_wanted ->> 'tries';
    v_profile CONSTANT TEXT := p_wanted ->> 'profile';
    -- The most to-dos that a model is told of; NULL if it is told of none.
    v_todos CONSTANT BIGINT := p_wanted ->> 'todos';
    -- The caller has the messages of turns up to this one, as they were at that event; NULL if it has none.
    v_through CONSTANT BIGINT := p_wanted #>> '{known,through}';
    v_sequence CONSTANT BIGINT := p_wanted #>> '{known,sequence}';
BEGIN
    RETURN (
WITH line AS MATERIALIZED (
    SELECT conversation_id, up_to,
           (SELECT coalesce(anew_after, 0) FROM conversations c WHERE c.conversation_id = l.conversation_id) AS anew
    FROM lineage(v_conversation) l),
known AS MATERIALIZED (
    SELECT last_sequence, CASE WHEN NOT EXISTS (
        SELECT FROM events e WHERE e.conversation_id = v_conversation AND e.sequence > v_sequence
            AND ((e.payload ->> 'turn')::bigint <= v_through OR e.kind IN ('begun_anew', 'chat_forgotten'))) THEN v_through END AS through
    FROM conversations WHERE conversation_id = v_conversation),
latest AS MATERIALIZED (
    SELECT newest.* FROM line CROSS JOIN LATERAL (
        SELECT summary_id, up_to_turn, content FROM summaries
        WHERE conversation_id = line.conversation_id AND content IS NOT NULL AND up_to_turn < v_turn AND up_to_turn <= line.up_to
        ORDER BY up_to_turn DESC, summary_id DESC LIMIT 1) newest
    ORDER BY up_to_turn DESC LIMIT 1)
SELECT json_build_object(
    'catalogue', catalogue_version(),
    'last_sequence', (SELECT last_sequence FROM known),
    'goes_on', (SELECT through IS NOT NULL FROM known),
    'steps', (SELECT coalesce(max(number), 0) FROM steps WHERE turn_id = v_turn),
    'open', (SELECT coalesce(json_agg(json_build_object('call', tool_call_id, 'id', request_id, 'name', name, 'arguments', arguments)
                                      ORDER BY step_id, position), '[]')
             FROM tool_calls WHERE turn_id = v_turn AND state = 'proposed'),
    'acted', EXISTS (SELECT FROM tool_calls c WHERE c.turn_id = v_turn AND (c.state = 'done' OR (c.state = 'failed' AND EXISTS (
        SELECT FROM operations o WHERE o.tool_call_id = c.tool_call_id AND o.state IN ('done', 'unknown'))))),
    'made', CASE WHEN v_begins THEN (
        SELECT json_agg(json_build_array(name, arguments) ORDER BY tool_call_id)
        FROM tool_calls WHERE turn_id = v_turn AND state <> 'proposed') END,
    'task_model', CASE WHEN v_begins THEN (SELECT task_model FROM turns WHERE turn_id = v_turn) END,
    'answer_tokens', CASE WHEN v_begins THEN (
        SELECT answer_tokens FROM v1_requests WHERE turn_id = v_turn LIMIT 1) END,
    -- Each message is joined by itself, by a key: nothing else of the conversation is read, however long it is. Written as text, without what a
    -- message does not have: `row_to_json` looks each column's type up for each row, which took a sixth of this statement.
    'history', (SELECT coalesce('[' || string_agg('{' || concat_ws(',',
            '"turn_id":' || h.turn_id, '"message_id":' || h.message_id, '"state":"' || h.state || '"',
            '"reason":' || to_json(h.reason)::text, '"role":"' || h.role || '"',
            '"content":' || to_json(h.content)::text, '"created_at":' || to_json(h.created_at)::text,
            '"tool_call_id":' || h.tool_call_id, CASE WHEN h.steered THEN '"steered":true' END, '"from_step":' || h.from_step,
            CASE WHEN h.images <> '[]' THEN '"images":' || h.images::text END, '"request_id":' || to_json(h.request_id)::text,
            '"undone_at":' || to_json(h.undone_at)::text, '"refusal":"' || h.refusal || '"',
            '"logged":' || nullif(h.logged, 0), CASE WHEN h.unproven THEN '"unproven":true' END, '"calls":' || h.calls::text)
            || '}', ',') || ']', '[]')::json FROM (
        SELECT m.turn_id, m.message_id, t.state, t.reason, m.role, m.content, m.created_at, m.tool_call_id, m.steered, m.from_step,
               m.images,
               c.request_id, c.undone_at, c.refusal, c.logged, m.step_id IS NOT NULL AND s.unproven AS unproven,
               CASE WHEN m.step_id IS NOT NULL THEN (
                   SELECT json_agg(json_build_object('id', k.request_id, 'name', k.name, 'arguments', k.arguments)
                                   ORDER BY k.position)
                   FROM tool_calls k WHERE k.step_id = m.step_id) END AS calls
        FROM ((SELECT earlier.* FROM line CROSS JOIN LATERAL (
                   SELECT * FROM messages WHERE conversation_id = line.conversation_id AND turn_id < v_turn AND turn_id <= line.up_to
                   ORDER BY message_id DESC LIMIT v_history) earlier
               -- Outside: a range of turns inside would be looked up by turn, and all of it read.
               WHERE earlier.turn_id > greatest(line.anew, (SELECT through FROM known))
               ORDER BY message_id DESC LIMIT v_history)
              UNION ALL
              (SELECT * FROM messages WHERE turn_id = v_turn)) m
        CROSS JOIN LATERAL (SELECT state, reason FROM turns WHERE turn_id = m.turn_id OFFSET 0) t
        LEFT JOIN LATERAL (
            SELECT request_id, undone_at, refusal, step_id, jsonb_array_length(logs) AS logged
            FROM tool_calls WHERE tool_call_id = m.tool_call_id OFFSET 0) c ON TRUE
        LEFT JOIN LATERAL (
            SELECT number, unproven FROM steps WHERE step_id = coalesce(m.step_id, c.step_id) OFFSET 0) s ON TRUE
        -- What was said into a turn stands before the step that was the first to be shown it, and behind all until there
        -- is one.
        ORDER BY m.turn_id, coalesce(s.number, m.from_step, CASE WHEN m.steered THEN 2147483647 ELSE 0 END),
                 s.number IS NOT NULL, m.message_id) h),
    'earlier', (SELECT json_agg(json_build_array(conversation_id, up_to)) FROM line WHERE conversation_id <> v_conversation),
    'summary', (SELECT json_build_object('up_to', up_to_turn, 'content', content) FROM latest),
    'failed', EXISTS (SELECT FROM summaries f WHERE f.conversation_id = v_conversation AND f.content IS NULL
        AND f.summary_id > coalesce((SELECT summary_id FROM latest), 0)
        AND f.turn_id BETWEEN coalesce((
            SELECT turn_id FROM turns WHERE conversation_id = v_conversation AND turn_id <= v_turn
            ORDER BY turn_id DESC OFFSET v_tries LIMIT 1), 0) AND v_turn),
    'due', (SELECT coalesce(json_agg(row_to_json(d)), '[]') FROM (
        SELECT task_id, conversation_id, title, details, status, due_at, created_at, updated_at, model, subtasks, remind_at, recurrence
        FROM tasks
        WHERE status IN ('pending', 'in_progress') AND due_at <= v_due
          AND user_id = (SELECT user_id FROM conversations WHERE conversation_id = v_conversation)
        ORDER BY due_at, task_id LIMIT v_tasks) d),
    'all_due', (SELECT count(*) FROM tasks WHERE status IN ('pending', 'in_progress') AND due_at <= v_due
        AND user_id = (SELECT user_id FROM conversations WHERE conversation_id = v_conversation)),
    'in_turn', (SELECT row_to_json(u) FROM (
        SELECT coalesce(sum(step), 0) AS steps, least(coalesce(sum(input_tokens), 0), 9223372036854775807) AS input,
               least(coalesce(sum(output_tokens), 0), 9223372036854775807) AS output,
               least(coalesce(sum(cost_micros), 0), 9223372036854775807) AS cost,
               count(*) FILTER (WHERE cost_micros IS NULL) AS unpriced,
               (SELECT count(*) FROM tool_calls WHERE turn_id = v_turn AND state <> 'proposed') AS called
        FROM model_requests WHERE turn_id = v_turn) u),
    -- Few conversations have a budget, and this one may be years old.
    'in_conversation', CASE WHEN EXISTS (SELECT FROM profile_policies
                                         WHERE profile = v_profile AND jsonb_strip_nulls(budgets -> 'conversation') <> '{}')
    THEN (SELECT row_to_json(u) FROM (
        SELECT coalesce(sum(s.steps), 0) AS steps, least(coalesce(sum(s.input_tokens), 0), 9223372036854775807) AS input,
               least(coalesce(sum(s.output_tokens), 0), 9223372036854775807) AS output,
               least(coalesce(sum(s.cost_micros), 0), 9223372036854775807) AS cost,
               coalesce(sum(s.unpriced), 0) AS unpriced, coalesce(sum(s.tool_calls), 0) AS called
        FROM spent s WHERE s.conversation_id = v_conversation) u) END,
    -- What the conversation's user has spent. Tomorrow as well: a clock that was set back counts what it dated then.
    'in_day', (SELECT coalesce(json_object_agg(u.by_task::text, row_to_json(u)), '{}') FROM (
        SELECT s.by_task, sum(s.steps) AS steps, least(sum(s.input_tokens), 9223372036854775807) AS input,
               least(sum(s.output_tokens), 9223372036854775807) AS output,
               least(sum(s.cost_micros), 9223372036854775807) AS cost, sum(s.unpriced) AS unpriced, sum(s.tool_calls) AS called
        FROM spent_of_users s
        WHERE s.user_id = (SELECT user_id FROM conversations WHERE conversation_id = v_conversation)
          AND s.day BETWEEN v_today AND v_today + 1
        GROUP BY s.by_task) u),
    -- Only one turn of a conversation runs at a time: what was started last is this one. A clock that jumps while a
    -- runner claims it dates its start before the decision that let it go on; that time was a person's.
    'seconds', (SELECT coalesce(floor(extract(epoch FROM v_now - max(created_at)))::bigint, 0)
        FROM (SELECT created_at FROM events WHERE conversation_id = v_conversation AND kind IN ('turn_started', 'turn_resumed')
              ORDER BY sequence DESC LIMIT 2) lately),
    'todos', CASE WHEN v_todos IS NOT NULL THEN (
        SELECT json_build_object('zone', u.time_zone,
            'tasks', (SELECT coalesce(json_agg(row_to_json(d)), '[]') FROM (
                SELECT task_id, conversation_id, title, details, status, due_at, created_at, updated_at, model, subtasks, remind_at, recurrence
                FROM tasks WHERE user_id = u.id AND status IN ('pending', 'in_progress')
                ORDER BY updated_at DESC, task_id DESC LIMIT v_todos) d),
            'active', (SELECT count(*) FROM tasks WHERE user_id = u.id AND status IN ('pending', 'in_progress')),
            'timer', (SELECT row_to_json(d) FROM (
                SELECT state, minutes, task_id, ends_at, left_ms FROM timers WHERE user_id = u.id) d),
            'timed', (SELECT title FROM tasks t JOIN timers w USING (task_id) WHERE w.user_id = u.id AND t.user_id = u.id))
        FROM users u JOIN conversations c ON c.user_id = u.id WHERE c.conversation_id = v_conversation) END));
END $$;
