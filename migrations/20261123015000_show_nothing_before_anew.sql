-- The agent that writes SQL is shown nothing from before a conversation was begun anew, either: no model is. The chain of events keeps it.
CREATE OR REPLACE VIEW shared.messages WITH (security_barrier) AS
SELECT message_id, conversation_id, turn_id, role, content, tool_call_id, created_at,
       -- Line by line, NULL if nothing was logged. It is put together only for who asks for it.
       (SELECT string_agg(line, E'\n' ORDER BY place)
        FROM tool_calls c, jsonb_array_elements_text(c.logs) WITH ORDINALITY AS logged (line, place)
        WHERE c.tool_call_id = m.tool_call_id) AS logs
FROM messages m
WHERE EXISTS (SELECT FROM conversations o
              WHERE o.conversation_id = m.conversation_id AND o.user_id = 1 AND m.turn_id > coalesce(o.anew_after, 0));
