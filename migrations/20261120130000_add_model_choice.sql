-- Which model works: a profile may have models of its own, in the order they are asked, and a task may name one for the turn it wakes. A
-- turn keeps what its task named, so that it goes on with the same model after a restart, whatever became of the task.
ALTER TABLE profile_policies ADD COLUMN models TEXT[] NOT NULL DEFAULT '{}';
ALTER TABLE tasks ADD COLUMN model TEXT;
ALTER TABLE turns ADD COLUMN task_model TEXT;

CREATE OR REPLACE VIEW shared.tasks AS
SELECT task_id AS id, conversation_id, title, details, status, due_at, created_at, updated_at, model FROM tasks;

-- least() passes over NULL: without tokens the cost was the largest there is, and now it is unknown, as it was always meant to be.
CREATE FUNCTION price_of(p_input BIGINT, p_output BIGINT, p_input_micros BIGINT, p_output_micros BIGINT) RETURNS BIGINT
LANGUAGE sql IMMUTABLE SET search_path = level3, pg_temp AS $$
    SELECT CASE WHEN p_input_micros = 0 AND p_output_micros = 0 THEN 0
        WHEN p_input IS NULL OR p_output IS NULL OR p_input_micros IS NULL OR p_output_micros IS NULL THEN NULL
        ELSE least(ceil((p_input::numeric * p_input_micros + p_output::numeric * p_output_micros) / 1000000), 9223372036854775807)::bigint END
$$;
REVOKE ALL ON FUNCTION price_of FROM PUBLIC;

CREATE OR REPLACE FUNCTION cost_of(p_model TEXT, p_input BIGINT, p_output BIGINT) RETURNS BIGINT
LANGUAGE sql STABLE SET search_path = level3, pg_temp AS $$
    SELECT CASE WHEN p_model = 'level3' THEN 0 ELSE (
        SELECT price_of(p_input, p_output, input_micros, output_micros) FROM model_rates WHERE model = p_model) END
$$;

-- What a request costs where the table of rates says so, and else at the rate the program knows of that model's maker. NULL: neither knows.
CREATE FUNCTION cost_at(p_model TEXT, p_input BIGINT, p_output BIGINT, p_input_micros BIGINT, p_output_micros BIGINT) RETURNS BIGINT
LANGUAGE sql STABLE SET search_path = level3, pg_temp AS $$
    SELECT CASE WHEN p_model = 'level3' OR EXISTS (SELECT FROM model_rates WHERE model = p_model)
        THEN cost_of(p_model, p_input, p_output)
        ELSE price_of(p_input, p_output, p_input_micros, p_output_micros) END
$$;
REVOKE ALL ON FUNCTION cost_at FROM PUBLIC;
