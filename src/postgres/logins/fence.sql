-- Made anew at each start, by the login of the program: whose things in schema `agent` are whose. The names of the logins follow from that
-- of the database.

-- Hands what a login made to those that own such things: routines to `code`, which may do nothing
-- but own them, the rest to `tables`. Approved routines may then be called; others only by what a
-- person approves. A routine that an approval replaced counts as approved.
CREATE OR REPLACE FUNCTION level3.adopt(p_from TEXT, p_approved BOOLEAN) RETURNS VOID
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    v_agent CONSTANT TEXT := current_database() || '_agent';
    v_app CONSTANT TEXT := current_database() || '_app';
    v_from CONSTANT OID := (SELECT oid FROM pg_roles WHERE rolname = p_from);
    v_relations OID[];
    v_thing RECORD;
BEGIN
    FOR v_thing IN
        SELECT oid::regprocedure AS name, proowner = v_from AS owned FROM pg_proc
        WHERE pronamespace = 'agent'::regnamespace AND (proowner = v_from OR (p_approved AND xmin = pg_current_xact_id()::xid))
    LOOP
        IF v_thing.owned THEN
            EXECUTE format('ALTER ROUTINE %s OWNER TO %I', v_thing.name, v_agent || '_code');
        END IF;
        EXECUTE format('REVOKE ALL ON ROUTINE %s FROM PUBLIC', v_thing.name);
        IF p_approved THEN
            EXECUTE format('GRANT EXECUTE ON ROUTINE %s TO %I, %I, %I', v_thing.name, v_agent || '_reader', v_agent || '_writer',
                           v_agent || '_tables');
        END IF;
    END LOOP;
    IF NOT EXISTS (SELECT FROM pg_shdepend WHERE refclassid = 'pg_authid'::regclass AND refobjid = v_from AND deptype = 'o'
                   AND dbid = (SELECT oid FROM pg_database WHERE datname = current_database())) THEN
        RETURN;
    END IF;
    v_relations := ARRAY(SELECT oid FROM pg_class WHERE relnamespace = 'agent'::regnamespace AND relowner = v_from);
    EXECUTE format('REASSIGN OWNED BY %I TO %I', p_from, v_agent || '_tables');
    FOR v_thing IN SELECT oid::regclass AS name, relkind FROM pg_class WHERE oid = ANY (v_relations) LOOP
        IF v_thing.relkind = 'S' THEN
            EXECUTE format('REVOKE ALL ON SEQUENCE %s FROM PUBLIC', v_thing.name);
            EXECUTE format('GRANT SELECT ON SEQUENCE %s TO %I, %I', v_thing.name, v_agent || '_reader', v_app);
            EXECUTE format('GRANT USAGE, SELECT ON SEQUENCE %s TO %I', v_thing.name, v_agent || '_writer');
        ELSIF v_thing.relkind IN ('r', 'p', 'v', 'm', 'f') THEN
            EXECUTE format('REVOKE ALL ON TABLE %s FROM PUBLIC', v_thing.name);
            EXECUTE format('REVOKE TRUNCATE, TRIGGER ON TABLE %s FROM %I', v_thing.name, v_agent || '_tables');
            EXECUTE format('GRANT SELECT ON TABLE %s TO %I', v_thing.name, v_agent || '_reader');
            EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON TABLE %s TO %I', v_thing.name, v_agent || '_writer');
            EXECUTE format('GRANT TRUNCATE, TRIGGER ON TABLE %s TO %I', v_thing.name, v_agent || '_full');
            EXECUTE format('GRANT SELECT, TRIGGER ON TABLE %s TO %I', v_thing.name, v_app);
        END IF;
    END LOOP;
END $$;

-- For the login `full`, before what was approved commits.
CREATE OR REPLACE FUNCTION shared.adopt_approved() RETURNS VOID
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT level3.adopt(current_database() || '_agent_full', TRUE)
$$;

REVOKE ALL ON FUNCTION level3.adopt, shared.adopt_approved FROM PUBLIC;
DO $$ BEGIN
    EXECUTE format('GRANT EXECUTE ON FUNCTION shared.adopt_approved TO %I', current_database() || '_agent_full');
END $$;
