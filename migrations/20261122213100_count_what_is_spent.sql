-- Budgets of a day and of a conversation were summed up anew from every step, at every step: the longer the day, the dearer each turn. Now there is
-- a running count for each day of each conversation. One count for the whole day would make all conversations wait for each other's commits; one for
-- a conversation has no such wait, since one turn at a time runs there.
CREATE TABLE spent (
    -- UTC, the day of the request, or of the step that asked for the call.
    day DATE NOT NULL,
    conversation_id BIGINT NOT NULL REFERENCES conversations,
    -- True for turns that tasks began.
    by_task BOOLEAN NOT NULL,
    steps BIGINT NOT NULL,
    -- A provider may claim any count of tokens, so their sum has no bound.
    input_tokens NUMERIC NOT NULL,
    output_tokens NUMERIC NOT NULL,
    cost_micros NUMERIC NOT NULL,
    unpriced BIGINT NOT NULL,
    -- Those that have their outcome.
    tool_calls BIGINT NOT NULL,
    PRIMARY KEY (day, conversation_id, by_task)
) WITH (fillfactor = 50);
CREATE INDEX spent_of_conversation ON spent (conversation_id);

-- The counts follow from these rows.
CREATE VIEW spent_by_rows AS
SELECT (w.created_at AT TIME ZONE 'UTC')::date AS day, t.conversation_id, t.origin = 'task' AS by_task, sum(w.step)::bigint AS steps,
       sum(w.input_tokens) AS input_tokens, sum(w.output_tokens) AS output_tokens, sum(w.cost_micros) AS cost_micros,
       sum(w.unpriced)::bigint AS unpriced, sum(w.called)::bigint AS tool_calls
FROM (SELECT turn_id, created_at, step, coalesce(input_tokens, 0) AS input_tokens, coalesce(output_tokens, 0) AS output_tokens,
             coalesce(cost_micros, 0) AS cost_micros, (cost_micros IS NULL)::int AS unpriced, 0 AS called FROM model_requests
      UNION ALL
      SELECT turn_id, created_at, 0, 0, 0, 0, 0, 1 FROM tool_calls WHERE state <> 'proposed') w
JOIN turns t USING (turn_id)
GROUP BY 1, 2, 3;

INSERT INTO spent (day, conversation_id, by_task, steps, input_tokens, output_tokens, cost_micros, unpriced, tool_calls)
SELECT day, conversation_id, by_task, steps, input_tokens, output_tokens, cost_micros, unpriced, tool_calls FROM spent_by_rows;

-- Each count is made in the transaction of what it counts, at the commit: the lock on it is then among the last that the transaction takes, and no two
-- wait for each other in a circle. The agent's login ends calls of its own and has no right here, so the functions are the server's.
CREATE FUNCTION count_spent() RETURNS TRIGGER
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
    INSERT INTO spent AS s (day, conversation_id, by_task, steps, input_tokens, output_tokens, cost_micros, unpriced, tool_calls)
    SELECT (NEW.created_at AT TIME ZONE 'UTC')::date, conversation_id, origin = 'task', v_step, v_input, v_output, v_cost, v_unpriced, v_call
    FROM turns WHERE turn_id = NEW.turn_id
    ON CONFLICT (day, conversation_id, by_task) DO UPDATE
    SET steps = s.steps + EXCLUDED.steps, input_tokens = s.input_tokens + EXCLUDED.input_tokens,
        output_tokens = s.output_tokens + EXCLUDED.output_tokens, cost_micros = s.cost_micros + EXCLUDED.cost_micros,
        unpriced = s.unpriced + EXCLUDED.unpriced, tool_calls = s.tool_calls + EXCLUDED.tool_calls;
    RETURN NULL;
END $$;
REVOKE ALL ON FUNCTION count_spent() FROM PUBLIC;

DO $$
DECLARE
    v_table TEXT;
BEGIN
    FOREACH v_table IN ARRAY ARRAY['steps', 'reviews', 'summaries', 'broken_answers'] LOOP
        EXECUTE format('CREATE CONSTRAINT TRIGGER count_spent AFTER INSERT OR DELETE ON %I DEFERRABLE INITIALLY DEFERRED
                        FOR EACH ROW EXECUTE FUNCTION count_spent()', v_table);
    END LOOP;
END $$;
CREATE CONSTRAINT TRIGGER count_spent AFTER UPDATE OF state ON tool_calls DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW WHEN (OLD.state = 'proposed' AND NEW.state <> 'proposed') EXECUTE FUNCTION count_spent();

-- The newest start of a turn in a conversation, without a look at all of its events.
CREATE INDEX events_of_starts ON events (conversation_id, sequence) WHERE kind IN ('turn_started', 'turn_resumed');
-- The newest turns of a conversation, without a look at those of all others.
CREATE INDEX turns_of_conversation ON turns (conversation_id, turn_id);
-- The limit that a client of /v1 set for answers is looked up by its turn, at each beginning of one.
CREATE INDEX v1_requests_of_turn ON v1_requests (turn_id);
-- The end of a turn looks for its approvals, and the end of a call for its own: neither reads all there ever were.
CREATE INDEX approvals_of_turn ON approvals (turn_id);
CREATE INDEX approvals_of_call ON approvals (tool_call_id);
