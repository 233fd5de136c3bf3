-- A turn that is taken up again and again and comes no further is ended, and the agent's tables have a quota.
-- How often a turn was taken up at one place belongs to its lease: no event says it, and a new step or outcome begins a new count.
ALTER TABLE turns
    ADD COLUMN takes INTEGER NOT NULL DEFAULT 0,
    ADD COLUMN taken_at BIGINT NOT NULL DEFAULT 0;

-- How far a turn has come; it only grows.
CREATE FUNCTION turn_place(p_turn BIGINT) RETURNS BIGINT
LANGUAGE sql STABLE SET search_path = level3, pg_temp AS $$
    SELECT (SELECT count(*) FROM steps WHERE turn_id = p_turn)
         + (SELECT count(*) FROM tool_calls WHERE turn_id = p_turn AND state <> 'proposed')
         + (SELECT count(*) FROM operations JOIN tool_calls USING (tool_call_id)
            WHERE turn_id = p_turn AND operations.state <> 'intended')
         + (SELECT count(*) FROM approvals JOIN tool_calls USING (tool_call_id)
            WHERE tool_calls.turn_id = p_turn AND approvals.state <> 'pending')
$$;

-- What the agent's tables take, with indexes and all. A table that a statement holds for itself is waited for: nobody may write past the
-- quota by holding one.
CREATE FUNCTION agent_size() RETURNS BIGINT
LANGUAGE plpgsql STABLE SET search_path = level3, pg_temp SET lock_timeout = '5s' AS $$
BEGIN
    RETURN (SELECT coalesce(sum(pg_total_relation_size(oid)), 0)::bigint FROM pg_class
            WHERE relnamespace = 'agent'::regnamespace AND relkind IN ('r', 'm', 'S'));
END $$;

REVOKE ALL ON FUNCTION turn_place(BIGINT), agent_size() FROM PUBLIC;
