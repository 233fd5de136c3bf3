-- The undo puts back what stood there before a call, whatever the call itself left in its place. Until now it knew of rows that the call added
-- only if it had deleted a row with their key, in the same transaction: each `host.sql` of a capability is one of its own, and a row can also
-- free its key by moving to another one. Such an undo was refused as if somebody had changed the tables since.

-- NULL: the call added this row under the key of a kept one, and it goes when that one is put back.
ALTER TABLE kept_rows ALTER COLUMN old DROP NOT NULL;

DROP FUNCTION pair_replaced;

-- Finds the rows that this transaction added, and that have by a unique index the key of a row which the call deleted or moved away from it, in
-- this transaction or an earlier one. The one takes the place of the other; where it cannot, it is kept that it was added. If a key was freed
-- several times, it is the last time that counts: the undo goes backwards. Keys are compared as texts, which are made by the types' own
-- output functions: an operator of the agent would run with the rights of this function. An identity that no UPDATE can change has to be
-- the same, or the old row could not take the place of the new one. Returns the bytes that earlier transactions keep more.
CREATE FUNCTION pair_added(p_kept BIGINT, p_call BIGINT, p_before JSONB) RETURNS BIGINT
LANGUAGE plpgsql SET search_path = level3, pg_temp AS $$
DECLARE
    v_earlier CONSTANT BIGINT[] := array(SELECT kept_id FROM kept_calls WHERE tool_call_id = p_call);
    v_all CONSTANT BIGINT[] := array_remove(v_earlier || p_kept, NULL);
    v_kept CONSTANT BIGINT := (SELECT sum(bytes) FROM kept_calls WHERE kept_id = ANY(v_earlier));
    v_table REGCLASS;
    v_numbers SMALLINT[];
    v_fixed INTEGER[];
    v_key INTEGER[];
    v_grown BIGINT;
BEGIN
    -- The places are those of this transaction.
    UPDATE kept_rows SET place = NULL WHERE kept_id = ANY(v_earlier) AND place IS NOT NULL;
    FOR v_table IN
        SELECT c.oid FROM pg_class c
        WHERE c.oid IN (SELECT relation FROM kept_tables WHERE kept_id = ANY(v_all))
            AND c.relnamespace = 'agent'::regnamespace AND c.relkind = 'r'
            AND pg_stat_get_xact_tuples_inserted(c.oid) > coalesce((p_before -> c.oid::text ->> 2)::bigint, 0)
    LOOP
        v_numbers := array(
            SELECT attnum FROM pg_attribute WHERE attrelid = v_table AND attnum > 0 AND NOT attisdropped ORDER BY attnum);
        v_fixed := array(
            SELECT array_position(v_numbers, attnum) FROM pg_attribute
            WHERE attrelid = v_table AND attnum > 0 AND NOT attisdropped AND attidentity = 'a');
        FOR v_key IN
            SELECT array(SELECT array_position(v_numbers, number) FROM unnest((i.indkey::smallint[])[0:i.indnkeyatts - 1]) AS number)
            FROM pg_index i
            WHERE i.indrelid = v_table AND i.indisunique AND i.indisvalid AND i.indpred IS NULL AND i.indexprs IS NULL
            ORDER BY i.indisprimary DESC, i.indexrelid
        LOOP
            EXECUTE format($statement$
                WITH lost AS MATERIALIZED (
                    SELECT kept_id, ordinal, gone, fields, array(SELECT fields[at] FROM unnest($3) AS at) AS key
                    FROM (SELECT kept_id, ordinal, new IS NULL AS gone, row_fields(old) AS fields, row_fields(new) AS left_ FROM kept_rows
                          WHERE kept_id = ANY($1) AND relation = $2 AND octet_length(old) <= 1048576
                            AND coalesce(octet_length(new), 0) <= 1048576) AS read
                    WHERE gone OR EXISTS (SELECT FROM unnest($3) AS at WHERE fields[at] IS DISTINCT FROM left_[at])
                ), added AS MATERIALIZED (
                    SELECT place, body, fields, array(SELECT fields[at] FROM unnest($3) AS at) AS key
                    FROM (SELECT place, body, row_fields(body) AS fields
                          FROM (SELECT t.ctid AS place, format('%%s', ROW(t.*)) AS body FROM ONLY %s AS t
                                -- That alone would be called for each row of the table.
                                WHERE (SELECT count(*) > 0 FROM lost) AND (t.xmin = $5 OR age(t.xmin) < 0 AND is_own(t.xmin))) AS own
                          WHERE octet_length(body) <= 1048576
                            AND NOT EXISTS (SELECT FROM kept_rows k
                                            WHERE k.kept_id = ANY($1) AND k.relation = $2 AND k.place = own.place)) AS read
                ), found AS MATERIALIZED (
                    SELECT DISTINCT ON (place) kept_id, ordinal, place, body,
                        gone AND NOT EXISTS (SELECT FROM unnest($4) AS at WHERE lost.fields[at] <> added.fields[at]) AS takes_its_place
                    FROM lost JOIN added USING (key)
                    WHERE '' <> ALL (key) AND cardinality(lost.fields) = cardinality(added.fields)
                    ORDER BY place, kept_id DESC, ordinal DESC
                ), paired AS (
                    UPDATE kept_rows k SET new = body, place = found.place
                    FROM found WHERE takes_its_place AND k.kept_id = found.kept_id AND k.ordinal = found.ordinal
                )
                INSERT INTO kept_rows (kept_id, ordinal, relation, new, place, seen, total)
                SELECT kept_id, (SELECT max(k.ordinal) FROM kept_rows k WHERE k.kept_id = found.kept_id) + row_number() OVER (PARTITION BY kept_id),
                       $2, body, place, 0, 0
                FROM found WHERE NOT takes_its_place
            $statement$, v_table) USING v_all, v_table::oid, v_key, v_fixed, pg_current_xact_id()::xid;
        END LOOP;
    END LOOP;
    IF v_earlier = '{}' THEN
        RETURN 0;
    END IF;
    UPDATE kept_calls c SET bytes = k.bytes
    FROM (SELECT kept_id, sum(coalesce(octet_length(old), 0) + coalesce(octet_length(new), 0)) AS bytes FROM kept_rows
          WHERE kept_id = ANY(v_earlier) GROUP BY kept_id) k
    WHERE c.kept_id = k.kept_id AND c.bytes <> k.bytes;
    v_grown := (SELECT sum(bytes) FROM kept_calls WHERE kept_id = ANY(v_earlier)) - v_kept;
    IF v_grown > 0 THEN
        UPDATE undo_quota SET kept = kept + v_grown;
    END IF;
    RETURN v_grown;
-- A row that is too large to be written as text is not paired, and its call can still be recorded.
EXCEPTION WHEN program_limit_exceeded OR out_of_memory OR internal_error THEN
    RETURN 0;
END $$;

-- As before, but for the rows that the call added.
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
    v_grown BIGINT;
BEGIN
    IF p_token IS DISTINCT FROM sql_token('settle:' || p_call, p_fence, p_before) THEN
        RAISE EXCEPTION 'the transaction of tool call % was changed by its statement', p_call USING ERRCODE = 'L3003';
    END IF;
    PERFORM keep_tables();
    SELECT kept_id INTO v_kept FROM kept_calls WHERE transaction = pg_current_xact_id();
    -- Rows behind the last of these were not written, as there was no room.
    SELECT coalesce(total > (SELECT room FROM kept_calls WHERE kept_id = v_kept), FALSE) INTO v_full
    FROM kept_rows WHERE kept_id = v_kept ORDER BY ordinal DESC LIMIT 1;
    v_grown := pair_added(v_kept, p_call, v_before);
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
        -- Nothing is lost by a change that left the row as it was.
        DELETE FROM kept_rows WHERE kept_id = v_kept AND relation = v_table.oid AND new = old;
        SELECT count(old) AS rows, count(*) FILTER (WHERE new IS NULL) AS deleted,
               coalesce(sum(coalesce(octet_length(old), 0) + coalesce(octet_length(new), 0)), 0)::bigint AS bytes
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
                SELECT jsonb_agg(jsonb_build_array(old, new)) FROM kept_rows
                WHERE kept_id = v_kept AND relation = v_table.oid AND old IS NOT NULL) END);
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
    IF v_kept IS NULL AND v_grown = 0 THEN
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

REVOKE ALL ON FUNCTION pair_added FROM PUBLIC;
