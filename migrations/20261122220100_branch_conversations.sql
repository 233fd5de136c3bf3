-- A person goes on from an earlier place of a conversation, in another one: the model is shown the turns up to there, and then those of the
-- branch. Nothing is copied, so no call is recorded twice, and nothing that was done is done again.
ALTER TABLE conversations
    ADD COLUMN branch_of BIGINT REFERENCES conversations,
    -- The place that the person named.
    ADD COLUMN branch_sequence BIGINT,
    -- The last turn that had ended there, the one of the other's own branch among them; 0 if none had.
    ADD COLUMN branch_turn BIGINT,
    ADD CHECK (num_nulls(branch_of, branch_sequence, branch_turn) IN (0, 3));

-- The conversations whose turns belong to one: itself, the one that it is a branch of up to a turn, and so on.
CREATE FUNCTION lineage(p_conversation BIGINT) RETURNS TABLE (conversation_id BIGINT, up_to BIGINT)
LANGUAGE sql STABLE ROWS 1 AS $$
    -- No search path of its own, and each conversation looked up by itself: so the planner takes it into the statement of each step.
    WITH RECURSIVE line AS (
        SELECT p_conversation AS here, 9223372036854775807 AS up_to
        UNION ALL
        SELECT c.branch_of, least(c.branch_turn, line.up_to) FROM line CROSS JOIN LATERAL (
            SELECT branch_of, branch_turn FROM level3.conversations
            WHERE conversation_id = line.here AND branch_of IS NOT NULL OFFSET 0) c)
    SELECT here, up_to FROM line
$$;
REVOKE ALL ON FUNCTION lineage FROM PUBLIC;

-- A branch is shown the newest summary that ends before its place, however many the conversation has had since.
CREATE INDEX summaries_by_turn ON summaries (conversation_id, up_to_turn, summary_id) WHERE content IS NOT NULL;
