-- Postgres parses and plans a function in SQL anew in each statement that calls it, unless it can put the function's text in the place of the
-- call, which it cannot if the function has a search path of its own. One in PL/pgSQL keeps its plans for as long as the connection lasts.
-- These stand on the way of each turn or of each call, and half of the time of the statement that takes a turn up was such planning.
-- They do what they did before.

CREATE OR REPLACE FUNCTION catalogue_version() RETURNS BIGINT
LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN (SELECT version FROM level3.catalogue);
END $$;

CREATE OR REPLACE FUNCTION turn_place(p_turn BIGINT) RETURNS BIGINT
LANGUAGE plpgsql STABLE SET search_path = level3, pg_temp AS $$
BEGIN
    RETURN (SELECT count(*) FROM steps WHERE turn_id = p_turn)
         + (SELECT count(*) FROM tool_calls WHERE turn_id = p_turn AND state <> 'proposed')
         + (SELECT count(*) FROM operations JOIN tool_calls USING (tool_call_id)
            WHERE turn_id = p_turn AND operations.state <> 'intended')
         + (SELECT count(*) FROM approvals JOIN tool_calls USING (tool_call_id)
            WHERE tool_calls.turn_id = p_turn AND approvals.state <> 'pending');
END $$;

CREATE OR REPLACE FUNCTION price_of(p_input BIGINT, p_output BIGINT, p_input_micros BIGINT, p_output_micros BIGINT) RETURNS BIGINT
LANGUAGE plpgsql IMMUTABLE SET search_path = level3, pg_temp AS $$
BEGIN
    RETURN CASE WHEN p_input_micros = 0 AND p_output_micros = 0 THEN 0
        WHEN p_input IS NULL OR p_output IS NULL OR p_input_micros IS NULL OR p_output_micros IS NULL THEN NULL
        ELSE least(ceil((p_input::numeric * p_input_micros + p_output::numeric * p_output_micros) / 1000000), 9223372036854775807)::bigint END;
END $$;

CREATE OR REPLACE FUNCTION cost_of(p_model TEXT, p_input BIGINT, p_output BIGINT) RETURNS BIGINT
LANGUAGE plpgsql STABLE SET search_path = level3, pg_temp AS $$
BEGIN
    RETURN CASE WHEN p_model = 'level3' THEN 0 ELSE (
        SELECT price_of(p_input, p_output, input_micros, output_micros) FROM model_rates WHERE model = p_model) END;
END $$;

CREATE OR REPLACE FUNCTION cost_at(p_model TEXT, p_input BIGINT, p_output BIGINT, p_input_micros BIGINT, p_output_micros BIGINT)
RETURNS BIGINT
LANGUAGE plpgsql STABLE SET search_path = level3, pg_temp AS $$
BEGIN
    RETURN CASE WHEN p_model = 'level3' OR EXISTS (SELECT FROM model_rates WHERE model = p_model)
        THEN cost_of(p_model, p_input, p_output)
        ELSE price_of(p_input, p_output, p_input_micros, p_output_micros) END;
END $$;

CREATE OR REPLACE FUNCTION sql_token(p_fact TEXT, p_fence BIGINT, p_text TEXT) RETURNS BYTEA
LANGUAGE plpgsql STABLE SET search_path = level3, pg_temp AS $$
BEGIN
    RETURN (SELECT sha256(value || convert_to(
        concat_ws(':', p_fact, p_fence, pg_current_xact_id(), encode(sha256(convert_to(p_text, 'UTF8')), 'hex')), 'UTF8') || value)
    FROM server_keys WHERE name = 'sql_token');
END $$;

CREATE OR REPLACE FUNCTION shared.rows_changed() RETURNS TEXT
LANGUAGE plpgsql SECURITY DEFINER SET search_path = level3, pg_temp AS $$
BEGIN
    RETURN (
        SELECT coalesce(jsonb_object_agg(oid, jsonb_build_array(pg_stat_get_xact_tuples_updated(oid), pg_stat_get_xact_tuples_deleted(oid))),
                        '{}')::text
        FROM pg_class WHERE relnamespace = 'agent'::regnamespace AND relkind = 'r');
END $$;

CREATE OR REPLACE FUNCTION shared.catalogue_writes() RETURNS TEXT
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN (
        SELECT sum(pg_stat_get_xact_tuples_inserted(oid) + pg_stat_get_xact_tuples_updated(oid) + pg_stat_get_xact_tuples_deleted(oid))::text
        FROM pg_class WHERE relnamespace = 'pg_catalog'::regnamespace AND relkind = 'r');
END $$;
