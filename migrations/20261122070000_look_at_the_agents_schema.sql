-- Before a call of the agent commits, what nobody approved is looked for in the catalogue: what is gone, whose rights or protection are
-- other than before, which code is new. No reading of a statement's text can miss it.

-- How often this connection has changed the catalogue; nothing but the server's own counters, which no statement can set. A transaction in
-- which it stays the same has changed no definition.
CREATE FUNCTION shared.catalogue_writes() RETURNS TEXT
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT sum(pg_stat_get_xact_tuples_inserted(oid) + pg_stat_get_xact_tuples_updated(oid) + pg_stat_get_xact_tuples_deleted(oid))::text
    FROM pg_class WHERE relnamespace = 'pg_catalog'::regnamespace AND relkind = 'r'
$$;

-- Schema `agent` as this transaction sees it: each thing under a key, with the words for it, the effect of losing it, a mark that is other
-- when it was changed, and whether it has to be asked about when it is new. Before a call, only tables with rows in them have `rows`.
CREATE FUNCTION shared.agent_image(p_before BOOLEAN) RETURNS TEXT
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
WITH logins AS (
    SELECT oid FROM pg_roles
    WHERE rolname IN (SELECT current_database() || '_agent' || which
                      FROM unnest(ARRAY['', '_reader', '_writer', '_tables', '_code', '_full']) which)
), relations AS (
    SELECT *, CASE relkind WHEN 'S' THEN 'sequence' WHEN 'v' THEN 'view' WHEN 'm' THEN 'materialized view' WHEN 'c' THEN 'type'
                    WHEN 'i' THEN 'index' WHEN 'I' THEN 'index' ELSE 'table' END AS kind
    FROM pg_class WHERE relnamespace = 'agent'::regnamespace
), things (key, what, effect, mark, new) AS (
    SELECT 'relation ' || oid, format('the %s `%s`', kind, relname), 'delete', relkind::text, FALSE FROM relations WHERE kind <> 'index'
    -- A rebuilt index has another number.
    UNION ALL SELECT format('index %s %s', indrelid, relname), format('the index `%s`', relname), 'delete', '', FALSE
    FROM relations r JOIN pg_index ON indexrelid = r.oid
    UNION ALL SELECT 'rights ' || oid, format('the rights on `%s`', relname), 'opaque', concat_ws(' ', relowner, relacl), FALSE
    FROM relations WHERE kind NOT IN ('index', 'type')
    UNION ALL SELECT 'rows ' || oid, format('the rows of `%s`', relname), 'delete', relfilenode::text, FALSE
    FROM relations WHERE relkind = 'r' AND (NOT p_before OR pg_relation_size(oid) > 0)
    UNION ALL SELECT 'protection ' || oid, format('the row security of `%s`', relname), 'opaque',
        concat_ws(' ', relrowsecurity, relforcerowsecurity), FALSE FROM relations WHERE relkind IN ('r', 'p')
    UNION ALL SELECT format('column %s %s', r.oid, attnum), format('the column `%s` of `%s`', attname, relname), 'delete', '', FALSE
    FROM relations r JOIN pg_attribute ON attrelid = r.oid
    WHERE relkind IN ('r', 'p', 'c', 'm') AND attnum > 0 AND NOT attisdropped
    UNION ALL SELECT 'type ' || oid, format('the type `%s`', typname), 'delete', '', FALSE FROM pg_type
    WHERE typnamespace = 'agent'::regnamespace AND typtype IN ('e', 'd', 'r') AND typrelid = 0
    UNION ALL SELECT 'code ' || p.oid, format('the function `%s`', p.oid::regprocedure), 'opaque', md5(p::text),
        -- Those of a new range type are the server's own.
        prolang <> (SELECT oid FROM pg_language WHERE lanname = 'internal') OR prokind = 'a'
    FROM pg_proc p WHERE pronamespace = 'agent'::regnamespace
    -- New ones of the program are put on tables by the program.
    UNION ALL SELECT format('trigger %s %s', r.oid, t.oid), format('the trigger `%s` on `%s`', tgname, relname), 'opaque', md5(t::text),
        tgparentid = 0 AND pronamespace = 'agent'::regnamespace
    FROM pg_trigger t JOIN relations r ON tgrelid = r.oid JOIN pg_proc p ON p.oid = tgfoid WHERE NOT tgisinternal
    UNION ALL SELECT format('rule %s %s', r.oid, w.oid), format('the rule `%s` on `%s`', rulename, relname), 'opaque', md5(w::text), TRUE
    FROM pg_rewrite w JOIN relations r ON ev_class = r.oid WHERE ev_type <> '1'
    UNION ALL SELECT format('policy %s %s', r.oid, y.oid), format('the policy `%s` on `%s`', polname, relname), 'opaque', md5(y::text), TRUE
    FROM pg_policy y JOIN relations r ON polrelid = r.oid
    UNION ALL SELECT 'default ' || oid, 'the rights on what will be made', 'opaque', defaclacl::text, TRUE
    FROM pg_default_acl WHERE defaclrole IN (SELECT oid FROM logins)
    UNION ALL SELECT format('thing %s %s', classid::bigint, objid), 'the ' || pg_describe_object(classid, objid, 0), 'delete',
        refobjid::text, FALSE
    FROM pg_shdepend WHERE refclassid = 'pg_authid'::regclass AND refobjid IN (SELECT oid FROM logins) AND deptype = 'o'
        AND dbid = (SELECT oid FROM pg_database WHERE datname = current_database())
        AND classid NOT IN ('pg_class'::regclass, 'pg_proc'::regclass, 'pg_type'::regclass, 'pg_default_acl'::regclass)
)
SELECT coalesce(jsonb_object_agg(key, jsonb_build_object('what', what, 'effect', effect, 'mark', mark, 'new', new)), '{}')::text FROM things
$$;

DO $$ BEGIN
    EXECUTE format('GRANT EXECUTE ON FUNCTION shared.catalogue_writes, shared.agent_image TO %I', current_database() || '_agent');
END $$;
REVOKE ALL ON FUNCTION shared.catalogue_writes, shared.agent_image FROM PUBLIC;
