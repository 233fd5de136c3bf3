-- A question about lost rows knows its tables by their numbers: another table may have the name by the time of the answer.
CREATE OR REPLACE FUNCTION shared.settle_kept(p_token BYTEA, p_fence BIGINT, p_call BIGINT, p_before TEXT, p_at TIMESTAMPTZ) RETURNS TEXT
-- A policy of the agent's must not run with the rights of this function.
LANGUAGE plpgsql SECURITY DEFINER SET search_path = level3, pg_temp SET row_security = off SET enable_seqscan = off AS $$
DECLARE
    v_before CONSTANT JSONB := p_before;
    v_kept BIGINT;
    v_full BOOLEAN;
    v_table RECORD;
    v_rows RECORD;
    v_seen BIGINT;
    v_lost BIGINT;
    v_numbers SMALLINT[];
    v_whole BOOLEAN;
    v_all BOOLEAN;
    v_family OID[];
    v_of_family BIGINT;
    v_left TEXT;
    v_room BIGINT;
    v_tables JSONB := '[]';
    v_total BIGINT := 0;
    v_bytes BIGINT := 0;
BEGIN
    IF p_token IS DISTINCT FROM sql_token('settle:' || p_call, p_fence, p_before) THEN
        RAISE EXCEPTION 'the transaction of tool call % was changed by its statement', p_call USING ERRCODE = 'L3003';
    END IF;
    PERFORM keep_tables();
    SELECT kept_id INTO v_kept FROM kept_calls WHERE transaction = pg_current_xact_id();
    -- Rows behind the last of these were not written, as there was no room.
    SELECT coalesce(total > (SELECT room FROM kept_calls WHERE kept_id = v_kept), FALSE) INTO v_full
    FROM kept_rows WHERE kept_id = v_kept ORDER BY ordinal DESC LIMIT 1;
    FOR v_table IN
        SELECT c.oid, c.relname, c.relispartition, c.relhassubclass, updated, deleted
        FROM pg_class c
        CROSS JOIN LATERAL (SELECT
            pg_stat_get_xact_tuples_updated(c.oid) - coalesce((v_before -> c.oid::text ->> 0)::bigint, 0) AS updated,
            pg_stat_get_xact_tuples_deleted(c.oid) - coalesce((v_before -> c.oid::text ->> 1)::bigint, 0) AS deleted) counted
        WHERE c.relnamespace = 'agent'::regnamespace AND c.relkind = 'r' AND updated + deleted > 0
            -- A table that this transaction made had no rows to lose.
            AND (v_before ? c.oid::text OR NOT is_own(c.xmin))
        ORDER BY c.relname
    LOOP
        SELECT coalesce(sum(seen), 0) + (SELECT count(*) FROM kept_own WHERE kept_id = v_kept AND relation = v_table.oid)
        INTO v_seen FROM kept_rows WHERE kept_id = v_kept AND relation = v_table.oid;
        -- The columns must be those of the first text, or more behind them. A row that went to another partition was deleted in one
        -- and inserted in the other: putting it back would double it.
        SELECT array_agg(attnum ORDER BY attnum) INTO v_numbers FROM pg_attribute
        WHERE attrelid = v_table.oid AND attnum > 0 AND NOT attisdropped;
        v_whole := v_seen = v_table.updated + v_table.deleted AND v_numbers IS NOT NULL
            AND NOT EXISTS (SELECT FROM kept_tables k WHERE k.kept_id = v_kept AND k.relation = v_table.oid
                            AND k.numbers IS DISTINCT FROM v_numbers[:cardinality(k.numbers)])
            AND NOT (v_table.relispartition AND v_table.deleted > 0 AND EXISTS (
                SELECT FROM pg_partition_tree(pg_partition_root(v_table.oid))
                WHERE pg_stat_get_xact_tuples_inserted(relid) > coalesce((v_before -> relid::oid::text ->> 2)::bigint, 0)));
        IF v_whole AND v_table.deleted > 0
            AND pg_stat_get_xact_tuples_inserted(v_table.oid) > coalesce((v_before -> v_table.oid::text ->> 2)::bigint, 0) THEN
            PERFORM pair_replaced(v_kept, v_table.oid);
        END IF;
        -- Nothing is lost by a change that left the row as it was.
        DELETE FROM kept_rows WHERE kept_id = v_kept AND relation = v_table.oid AND new = old;
        SELECT count(*) AS rows, count(*) FILTER (WHERE new IS NULL) AS deleted,
               coalesce(sum(octet_length(old) + coalesce(octet_length(new), 0)), 0)::bigint AS bytes
        INTO v_rows FROM kept_rows WHERE kept_id = v_kept AND relation = v_table.oid;
        CONTINUE WHEN v_whole AND v_rows.rows = 0;
        v_lost := CASE WHEN v_whole THEN v_rows.rows ELSE v_table.updated + v_table.deleted END;
        v_all := FALSE;
        IF v_lost BETWEEN 2 AND 1000 THEN
            EXECUTE format('SELECT NOT EXISTS (SELECT FROM ONLY %s WHERE NOT is_own(xmin))', v_table.oid::regclass) INTO v_all;
        END IF;
        v_of_family := 0;
        IF NOT v_all AND (v_table.relhassubclass OR EXISTS (SELECT FROM pg_inherits WHERE inhrelid = v_table.oid)) THEN
            WITH RECURSIVE above (relation) AS (
                SELECT v_table.oid
                UNION SELECT i.inhparent FROM pg_inherits i JOIN above ON i.inhrelid = above.relation
            ), family (relation) AS (
                SELECT relation FROM above
                UNION SELECT i.inhrelid FROM pg_inherits i JOIN family ON i.inhparent = family.relation
            )
            SELECT array_agg(c.oid), v_lost + coalesce(sum(
                pg_stat_get_xact_tuples_updated(c.oid) - coalesce((v_before -> c.oid::text ->> 0)::bigint, 0)
                + pg_stat_get_xact_tuples_deleted(c.oid) - coalesce((v_before -> c.oid::text ->> 1)::bigint, 0)
            ) FILTER (WHERE c.oid <> v_table.oid), 0)
            INTO v_family, v_of_family FROM family JOIN pg_class c ON c.oid = family.relation WHERE c.relkind = 'r';
        END IF;
        IF v_lost > 0 AND v_of_family BETWEEN 2 AND 1000 THEN
            SELECT string_agg(format('SELECT FROM ONLY %s WHERE NOT is_own(xmin)', relation::regclass), ' UNION ALL ')
            INTO v_left FROM unnest(v_family) AS relation;
            EXECUTE format('SELECT NOT EXISTS (%s)', v_left) INTO v_all;
        END IF;
        v_tables := v_tables || jsonb_build_object(
            'name', v_table.relname, 'relation', v_table.oid::bigint, 'whole', v_whole, 'all', v_all,
            'kept', v_rows.rows, 'bytes', v_rows.bytes,
            'deleted', CASE WHEN v_whole THEN v_rows.deleted ELSE v_table.deleted END,
            'overwritten', CASE WHEN v_whole THEN v_rows.rows - v_rows.deleted ELSE v_table.updated END,
            -- Whether they only gained something is told from the texts.
            'filled', CASE WHEN v_all AND v_rows.deleted = 0 AND v_rows.bytes < 1048576 THEN (
                SELECT jsonb_agg(jsonb_build_array(old, new)) FROM kept_rows WHERE kept_id = v_kept AND relation = v_table.oid) END);
        IF v_whole THEN
            v_total := v_total + v_rows.rows;
            v_bytes := v_bytes + v_rows.bytes;
            UPDATE kept_tables SET name = v_table.relname, columns = (
                SELECT array_agg(attname ORDER BY attnum) FROM pg_attribute
                WHERE attrelid = v_table.oid AND attnum > 0 AND NOT attisdropped)
            WHERE kept_id = v_kept AND relation = v_table.oid;
        ELSE
            DELETE FROM kept_rows WHERE kept_id = v_kept AND relation = v_table.oid;
            DELETE FROM kept_tables WHERE kept_id = v_kept AND relation = v_table.oid;
        END IF;
    END LOOP;
    IF v_kept IS NULL THEN
        RETURN jsonb_build_object('fits', TRUE, 'full', FALSE, 'room', 0, 'tables', v_tables)::text;
    END IF;
    -- The row stays locked until the commit.
    SELECT bytes - kept INTO v_room FROM undo_quota FOR UPDATE;
    IF v_total = 0 OR v_bytes > v_room THEN
        PERFORM forget_kept(ARRAY[v_kept]);
    ELSE
        DELETE FROM kept_own WHERE kept_id = v_kept;
        -- Rows of tables that are gone, by an approved DROP, can be put back nowhere.
        DELETE FROM kept_rows r WHERE kept_id = v_kept
            AND NOT EXISTS (SELECT FROM kept_tables t WHERE t.kept_id = v_kept AND t.relation = r.relation AND t.name IS NOT NULL);
        DELETE FROM kept_tables WHERE kept_id = v_kept AND name IS NULL;
        UPDATE kept_calls SET transaction = NULL, tool_call_id = p_call, rows = v_total, bytes = v_bytes, created_at = p_at
        WHERE kept_id = v_kept;
        UPDATE undo_quota SET kept = kept + v_bytes;
    END IF;
    RETURN jsonb_build_object('fits', v_bytes <= v_room, 'full', coalesce(v_full, FALSE), 'room', v_room, 'tables', v_tables)::text;
END $$;
