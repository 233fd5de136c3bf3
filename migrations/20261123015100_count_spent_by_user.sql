-- What a day cost a user was summed up with a look at the user of each conversation of that day, in each step. The count says it now; the key says
-- that it is the conversation's.
ALTER TABLE spent ADD COLUMN user_id BIGINT NOT NULL DEFAULT 1;
UPDATE spent s SET user_id = c.user_id FROM conversations c WHERE c.conversation_id = s.conversation_id AND c.user_id <> 1;
ALTER TABLE spent ADD FOREIGN KEY (conversation_id, user_id) REFERENCES conversations (conversation_id, user_id);
CREATE INDEX spent_of_user ON spent (user_id, day);
CREATE OR REPLACE FUNCTION count_spent() RETURNS TRIGGER
LANGUAGE plpgsql SECURITY DEFINER SET search_path = level3, pg_temp AS $$
DECLARE
    v_step BIGINT := 0;
    v_call BIGINT := 0;
    v_unpriced BIGINT := 0;
    v_input NUMERIC := 0;
    v_output NUMERIC := 0;
    v_cost NUMERIC := 0;
BEGIN
    -- A summary may be deleted without loss; then it costs nothing any more.
    IF TG_OP = 'DELETE' THEN
        NEW := OLD;
    END IF;
    IF TG_TABLE_NAME = 'tool_calls' THEN
        v_call := 1;
    ELSE
        v_input := coalesce(NEW.input_tokens, 0);
        v_output := coalesce(NEW.output_tokens, 0);
        v_cost := coalesce(NEW.cost_micros, 0);
        v_unpriced := (NEW.cost_micros IS NULL)::int;
        v_step := (TG_TABLE_NAME = 'steps' AND NEW.model <> 'level3')::int;
    END IF;
    IF TG_OP = 'DELETE' THEN
        SELECT -v_step, -v_input, -v_output, -v_cost, -v_unpriced INTO v_step, v_input, v_output, v_cost, v_unpriced;
    END IF;
    INSERT INTO spent AS s
        (day, conversation_id, by_task, steps, input_tokens, output_tokens, cost_micros, unpriced, tool_calls, user_id)
    SELECT (NEW.created_at AT TIME ZONE 'UTC')::date, t.conversation_id, t.origin = 'task', v_step, v_input, v_output, v_cost, v_unpriced,
           v_call, c.user_id
    FROM turns t JOIN conversations c USING (conversation_id) WHERE t.turn_id = NEW.turn_id
    ON CONFLICT (day, conversation_id, by_task) DO UPDATE
    SET steps = s.steps + EXCLUDED.steps, input_tokens = s.input_tokens + EXCLUDED.input_tokens,
        output_tokens = s.output_tokens + EXCLUDED.output_tokens, cost_micros = s.cost_micros + EXCLUDED.cost_micros,
        unpriced = s.unpriced + EXCLUDED.unpriced, tool_calls = s.tool_calls + EXCLUDED.tool_calls;
    RETURN NULL;
END $$;
