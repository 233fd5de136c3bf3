-- What a call of a capability logged can be read where its result is: the agent looks for its own mistakes with it. The view shows one
-- column more and nothing else; of `tool_calls` the agent still sees nothing.

CREATE OR REPLACE VIEW shared.messages AS
SELECT message_id, conversation_id, turn_id, role, content, tool_call_id, created_at,
       -- Line by line, NULL where nothing was logged. It is put together only for who asks for it.
       (SELECT string_agg(line, E'\n' ORDER BY place)
        FROM tool_calls c, jsonb_array_elements_text(c.logs) WITH ORDINALITY AS logged (line, place)
        WHERE c.tool_call_id = m.tool_call_id) AS logs
FROM messages m;
