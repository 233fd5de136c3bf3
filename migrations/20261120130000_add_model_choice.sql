-- Which model works: a profile may have models of its own, in the order they are asked, and a task may name one for the turn it wakes. A
-- turn keeps what its task named, so that it goes on with the same model after a restart, whatever became of the task.
ALTER TABLE profile_policies ADD COLUMN models TEXT[] NOT NULL DEFAULT '{}';
ALTER TABLE tasks ADD COLUMN model TEXT;
ALTER TABLE turns ADD COLUMN task_model TEXT;

CREATE OR REPLACE VIEW shared.tasks AS
SELECT task_id AS id, conversation_id, title, details, status, due_at, created_at, updated_at, model FROM tasks;

-- What a request costs where the table of rates says so, and else at the rate the program knows of that model's maker. NULL: neither knows.
CREATE FUNCTION cost_at(p_model TEXT, p_input BIGINT, p_output BIGINT, p_input_micros BIGINT, p_output_micros BIGINT) RETURNS BIGINT
LANGUAGE sql STABLE SET search_path = level3, pg_temp AS $$
    SELECT CASE WHEN p_model = 'level3' OR p_input_micros IS NULL OR EXISTS (SELECT FROM model_rates WHERE model = p_model)
        THEN cost_of(p_model, p_input, p_output)
        ELSE least(ceil((p_input::numeric * p_input_micros + p_output::numeric * p_output_micros) / 1000000), 9223372036854775807)::bigint END
$$;
REVOKE ALL ON FUNCTION cost_at FROM PUBLIC;
