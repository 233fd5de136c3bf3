-- A proof by a call was lost once 200 calls had come after it: a state read no older ones. The
-- statement that reads it looks for the newest run that fits a condition now, however old it is.

-- True if the arguments of a call are a run of this tool, which was given these arguments at least.
-- A model wrote them, and Postgres cannot hold all that JSON can: such a call is no run of that
-- kind, and the state can be read.
CREATE FUNCTION is_run_of(p_arguments TEXT, p_tool TEXT, p_given JSONB) RETURNS BOOLEAN
LANGUAGE plpgsql IMMUTABLE SET search_path = level3, pg_temp AS $$
DECLARE
    v_run JSONB;
BEGIN
    v_run := p_arguments::jsonb;
    RETURN v_run ->> 'tool' = p_tool AND NOT EXISTS (
        SELECT FROM jsonb_each(p_given) g WHERE v_run -> 'arguments' -> g.key IS DISTINCT FROM g.value);
EXCEPTION WHEN data_exception OR program_limit_exceeded THEN
    RETURN FALSE;
END $$;
REVOKE ALL ON FUNCTION is_run_of FROM PUBLIC;
