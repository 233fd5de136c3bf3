-- A person goes on from an earlier place of a conversation, in another one: the model is shown the turns up to there, and then those of the
-- branch. Nothing is copied, so no call is recorded twice, and nothing that was done is done again.
ALTER TABLE conversations
    ADD COLUMN branch_of BIGINT REFERENCES conversations,
    -- The place that the person named.
    ADD COLUMN branch_sequence BIGINT,
    -- The last turn that had ended there; 0 if none had.
    ADD COLUMN branch_turn BIGINT,
    ADD CHECK (num_nulls(branch_of, branch_sequence, branch_turn) IN (0, 3));

-- The conversations whose turns belong to one: itself, the one that it is a branch of up to a turn, and so on.
CREATE FUNCTION lineage(p_conversation BIGINT) RETURNS TABLE (conversation_id BIGINT, up_to BIGINT)
LANGUAGE sql STABLE ROWS 1 SET search_path = level3, pg_temp AS $$
    WITH RECURSIVE line AS (
        SELECT p_conversation AS here, 9223372036854775807 AS up_to
        UNION ALL
        SELECT c.branch_of, least(c.branch_turn, line.up_to) FROM line JOIN conversations c ON c.conversation_id = line.here
        WHERE c.branch_of IS NOT NULL)
    SELECT here, up_to FROM line
$$;
REVOKE ALL ON FUNCTION lineage FROM PUBLIC;
