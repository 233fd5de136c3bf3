WITH line AS MATERIALIZED (
    SELECT conversation_id, up_to,
           (SELECT coalesce(anew_after, 0) FROM conversations c WHERE c.conversation_id = l.conversation_id) AS anew
    FROM lineage($2) l),
latest AS MATERIALIZED (
    SELECT newest.* FROM line CROSS JOIN LATERAL (
        SELECT summary_id, up_to_turn, content FROM summaries
        WHERE conversation_id = line.conversation_id AND content IS NOT NULL AND up_to_turn < $1 AND up_to_turn <= line.up_to
        ORDER BY up_to_turn DESC, summary_id DESC LIMIT 1) newest
    ORDER BY up_to_turn DESC LIMIT 1)
SELECT catalogue_version() AS "catalogue!",
    (SELECT coalesce(max(number), 0) FROM steps WHERE turn_id = $1) AS "steps!",
    (SELECT coalesce(json_agg(json_build_object('call', tool_call_id, 'id', request_id, 'name', name, 'arguments', arguments)
                              ORDER BY step_id, position), '[]')
     FROM tool_calls WHERE turn_id = $1 AND state = 'proposed') AS "open!: Json<Vec<Open>>",
    EXISTS (SELECT FROM tool_calls c WHERE c.turn_id = $1 AND (c.state = 'done' OR (c.state = 'failed' AND EXISTS (
        SELECT FROM operations o WHERE o.tool_call_id = c.tool_call_id AND o.state IN ('done', 'unknown'))))) AS "acted!",
    CASE WHEN $8 THEN (
        SELECT json_agg(json_build_array(name, arguments) ORDER BY tool_call_id)
        FROM tool_calls WHERE turn_id = $1 AND state <> 'proposed') END AS "made?: Json<Vec<(String, String)>>",
    CASE WHEN $8 THEN (SELECT task_model FROM turns WHERE turn_id = $1) END AS task_model,
    CASE WHEN $8 THEN (
        SELECT answer_tokens FROM v1_requests WHERE turn_id = $1 LIMIT 1) END AS answer_tokens,
    -- Each message is joined by itself, by a key: nothing else of the conversation is read, however long it is.
    (SELECT coalesce(json_agg(row_to_json(h)), '[]') FROM (
        SELECT m.turn_id, t.state, t.reason, m.role, m.content, m.created_at, m.tool_call_id, m.steered, m.from_step, m.images,
               c.request_id, c.undone_at, c.refusal, coalesce(c.logged, 0) AS logged,
               m.step_id IS NOT NULL AND coalesce(s.unproven, FALSE) AS unproven,
               CASE WHEN m.step_id IS NOT NULL THEN (
                   SELECT json_agg(json_build_object('id', k.request_id, 'name', k.name, 'arguments', k.arguments)
                                   ORDER BY k.position)
                   FROM tool_calls k WHERE k.step_id = m.step_id) END AS calls
        FROM ((SELECT earlier.* FROM line CROSS JOIN LATERAL (
                   SELECT * FROM messages WHERE conversation_id = line.conversation_id AND turn_id < $1 AND turn_id <= line.up_to
                   ORDER BY message_id DESC LIMIT $3) earlier
               -- Outside: a range of turns inside would be looked up by turn, and all of it read.
               WHERE earlier.turn_id > line.anew
               ORDER BY message_id DESC LIMIT $3)
              UNION ALL
              (SELECT * FROM messages WHERE turn_id = $1)) m
        CROSS JOIN LATERAL (SELECT state, reason FROM turns WHERE turn_id = m.turn_id OFFSET 0) t
        LEFT JOIN LATERAL (
            SELECT request_id, undone_at, refusal, step_id, jsonb_array_length(logs) AS logged
            FROM tool_calls WHERE tool_call_id = m.tool_call_id OFFSET 0) c ON TRUE
        LEFT JOIN LATERAL (
            SELECT number, unproven FROM steps WHERE step_id = coalesce(m.step_id, c.step_id) OFFSET 0) s ON TRUE
        -- What was said into a turn stands before the step that was the first to be shown it, and behind all until there
        -- is one.
        ORDER BY m.turn_id, coalesce(s.number, m.from_step, CASE WHEN m.steered THEN 2147483647 ELSE 0 END),
                 s.number IS NOT NULL, m.message_id) h) AS "history!: Json<Vec<Message>>",
    (SELECT json_agg(json_build_array(conversation_id, up_to)) FROM line WHERE conversation_id <> $2)
        AS "earlier?: Json<Vec<(ConversationId, TurnId)>>",
    (SELECT json_build_object('up_to', up_to_turn, 'content', content) FROM latest) AS "summary?: Json<SummaryRow>",
    EXISTS (SELECT FROM summaries f WHERE f.conversation_id = $2 AND f.content IS NULL
            AND f.summary_id > coalesce((SELECT summary_id FROM latest), 0)
            AND f.turn_id BETWEEN coalesce((
                SELECT turn_id FROM turns WHERE conversation_id = $2 AND turn_id <= $1
                ORDER BY turn_id DESC OFFSET $9 LIMIT 1), 0) AND $1) AS "failed!",
    (SELECT coalesce(json_agg(row_to_json(d)), '[]') FROM (
        SELECT task_id, conversation_id, title, details, status, due_at, created_at, updated_at, model, subtasks, remind_at, recurrence
        FROM tasks
        WHERE status IN ('pending', 'in_progress') AND due_at <= $4
          AND user_id = (SELECT user_id FROM conversations WHERE conversation_id = $2) ORDER BY due_at, task_id LIMIT $5) d)
        AS "due!: Json<Vec<tasks::Row>>",
    (SELECT count(*) FROM tasks WHERE status IN ('pending', 'in_progress') AND due_at <= $4
     AND user_id = (SELECT user_id FROM conversations WHERE conversation_id = $2)) AS "all_due!",
    (SELECT row_to_json(u) FROM (
        SELECT coalesce(sum(step), 0) AS steps, least(coalesce(sum(input_tokens), 0), 9223372036854775807) AS input,
               least(coalesce(sum(output_tokens), 0), 9223372036854775807) AS output,
               least(coalesce(sum(cost_micros), 0), 9223372036854775807) AS cost,
               count(*) FILTER (WHERE cost_micros IS NULL) AS unpriced,
               (SELECT count(*) FROM tool_calls WHERE turn_id = $1 AND state <> 'proposed') AS called
        FROM model_requests WHERE turn_id = $1) u) AS "in_turn!: Json<Sums>",
    -- Few conversations have a budget, and this one may be years old.
    CASE WHEN EXISTS (SELECT FROM profile_policies
                      WHERE profile = $10 AND jsonb_strip_nulls(budgets -> 'conversation') <> '{}')
    THEN (SELECT row_to_json(u) FROM (
        SELECT coalesce(sum(s.steps), 0) AS steps, least(coalesce(sum(s.input_tokens), 0), 9223372036854775807) AS input,
               least(coalesce(sum(s.output_tokens), 0), 9223372036854775807) AS output,
               least(coalesce(sum(s.cost_micros), 0), 9223372036854775807) AS cost,
               coalesce(sum(s.unpriced), 0) AS unpriced, coalesce(sum(s.tool_calls), 0) AS called
        FROM spent s WHERE s.conversation_id = $2) u) END AS "in_conversation?: Json<Sums>",
    -- What the conversation's user has spent. Tomorrow as well: a clock that was set back counts what it dated then.
    (SELECT coalesce(json_object_agg(u.by_task::text, row_to_json(u)), '{}') FROM (
        SELECT s.by_task, sum(s.steps) AS steps, least(sum(s.input_tokens), 9223372036854775807) AS input,
               least(sum(s.output_tokens), 9223372036854775807) AS output,
               least(sum(s.cost_micros), 9223372036854775807) AS cost, sum(s.unpriced) AS unpriced, sum(s.tool_calls) AS called
        FROM spent s
        WHERE s.day BETWEEN $6 AND $6 + 1 AND s.user_id = (SELECT user_id FROM conversations WHERE conversation_id = $2)
        GROUP BY s.by_task) u) AS "in_day!: Json<Days>",
    -- Only one turn of a conversation runs at a time: what was started last is this one. A clock that jumps while a
    -- runner claims it dates its start before the decision that let it go on; that time was a person's.
    (SELECT coalesce(floor(extract(epoch FROM $7 - max(created_at)))::bigint, 0)
     FROM (SELECT created_at FROM events WHERE conversation_id = $2 AND kind IN ('turn_started', 'turn_resumed')
           ORDER BY sequence DESC LIMIT 2) lately) AS "seconds!"
