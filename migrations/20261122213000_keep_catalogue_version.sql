-- Policies, rules for tools, capabilities and external tools change rarely and are needed at every step, so each server keeps them in memory. This
-- number says whether what a server keeps is still what stands here, and a server compares it before it decides anything by what it keeps.
CREATE TABLE catalogue (
    only_row BOOLEAN PRIMARY KEY DEFAULT TRUE CHECK (only_row),
    version BIGINT NOT NULL
);
INSERT INTO catalogue (version) VALUES (1);

CREATE FUNCTION catalogue_version() RETURNS BIGINT
LANGUAGE sql STABLE AS $$ SELECT version FROM level3.catalogue $$;

CREATE FUNCTION count_catalogue() RETURNS TRIGGER
LANGUAGE plpgsql SECURITY DEFINER SET search_path = level3, pg_temp AS $$
BEGIN
    UPDATE catalogue SET version = version + 1;
    RETURN NULL;
END $$;
REVOKE ALL ON FUNCTION catalogue_version(), count_catalogue() FROM PUBLIC;

-- Triggers, so that no writer can forget to count. They wait for the commit: the row that all writers share is then the last lock that each of them
-- takes, so none of them waits for another in a circle. So a transaction that changes the catalogue sees the old number until it has committed.
DO $$
DECLARE
    v_table TEXT;
BEGIN
    FOREACH v_table IN ARRAY ARRAY['profile_policies', 'tool_rules', 'capabilities', 'capability_versions', 'mcp_servers', 'mcp_tools'] LOOP
        -- A version that is not live changes nothing; `capabilities` says which one is.
        EXECUTE format('CREATE CONSTRAINT TRIGGER count_catalogue AFTER %s ON %I DEFERRABLE INITIALLY DEFERRED
                        FOR EACH ROW EXECUTE FUNCTION count_catalogue()',
                       CASE v_table WHEN 'capability_versions' THEN 'UPDATE' ELSE 'INSERT OR UPDATE OR DELETE' END, v_table);
        EXECUTE format('CREATE TRIGGER count_emptied AFTER TRUNCATE ON %I FOR EACH STATEMENT EXECUTE FUNCTION count_catalogue()', v_table);
    END LOOP;
END $$;
