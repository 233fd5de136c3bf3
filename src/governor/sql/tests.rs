//! The table of statements.

use super::*;

/// The effects as words, in the order of their declaration.
fn effects(statement: &str) -> String {
    classify(statement).effects.iter().map(|effect| effect.as_str()).collect::<Vec<_>>().join(" ")
}

fn assert_all(expected: &str, statements: &[&str]) {
    let wrong: Vec<_> = statements
        .iter()
        .map(|statement| (*statement, classify(statement)))
        .filter(|(statement, _)| effects(statement) != expected)
        .collect();
    assert!(wrong.is_empty(), "not `{expected}`: {wrong:#?}");
}

#[test]
fn what_only_looks_is_a_read() {
    assert_all(
        "read",
        &[
            "SELECT 1",
            "select * from notes where id = 3;",
            "-- a comment\nSELECT 1",
            "/* a /* nested */ comment */ SELECT 1",
            "VALUES (1), (2)",
            "TABLE notes",
            "TABLE notes ORDER BY id LIMIT 3;",
            "SHOW search_path",
            "WITH a AS (SELECT 1 AS n) SELECT * FROM a, notes",
            "WITH RECURSIVE t(n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM t WHERE n < 10) SELECT sum(n) FROM t",
            "SELECT count(*), max(n), avg(n) FILTER (WHERE n > 1), string_agg(a, ',' ORDER BY a) FROM t GROUP BY b HAVING count(*) > 1",
            "SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY n) FROM t",
            "SELECT lower(name), upper(left(name, 1)) || substring(name FROM 2), trim(both ' ' from name), position('a' in name) FROM t",
            "SELECT regexp_replace(a, 'x', 'y', 'g'), split_part(a, ',', 1), format('%s', a), md5(a), encode(sha256(a::bytea), 'hex') FROM t",
            "SELECT now(), current_date, CURRENT_TIMESTAMP, date_trunc('day', at), extract(epoch FROM at), age(at), at + interval '1 day' FROM t",
            "SELECT to_char(at AT TIME ZONE 'UTC', 'YYYY-MM-DD'), make_date(2026, 11, 20), clock_timestamp() FROM t",
            "SELECT doc->'a'->>'b', doc #>> '{a,b}', doc @> '{}', jsonb_build_object('a', 1), jsonb_path_query(doc, '$.a') FROM t",
            "SELECT key, value FROM jsonb_each('{\"a\": 1}') WHERE value IS NOT NULL",
            "SELECT * FROM generate_series(1, 10) AS n CROSS JOIN LATERAL unnest(ARRAY[1, 2]) WITH ORDINALITY AS u(x, i)",
            "SELECT row_number() OVER (PARTITION BY a ORDER BY b), lag(n) OVER w FROM t WINDOW w AS (ORDER BY n)",
            "SELECT ts_rank(to_tsvector('english', body), q) FROM notes, websearch_to_tsquery('rust') q WHERE to_tsvector(body) @@ q",
            "SELECT round(n::numeric, 2), abs(n), power(n, 2), random(), greatest(a, b), coalesce(a, b, 0), nullif(a, 0) FROM t",
            "SELECT CASE WHEN EXISTS (SELECT 1 FROM b WHERE b.id = a.id) THEN 'x' ELSE 'y' END FROM a",
            "SELECT a FROM t WHERE a IN (SELECT b FROM u) UNION SELECT 1 EXCEPT SELECT 2 ORDER BY 1 LIMIT 5 OFFSET 2",
            "SELECT pg_catalog.lower('A'), \"lower\"('A')",
            "SELECT gen_random_uuid(), current_setting('timezone'), version(), pg_typeof(1)",
            "SELECT similarity(body, 'x') FROM notes ORDER BY body <-> 'x'",
            "SELECT 'DROP TABLE notes; --'",
            "SELECT $$ DELETE FROM notes $$",
            "SELECT E'it\\'s; DROP TABLE notes'",
            "SELECT 'it''s\u{a0}here'",
            "EXPLAIN SELECT * FROM notes",
            "EXPLAIN DELETE FROM notes",
            "EXPLAIN (VERBOSE, FORMAT JSON) UPDATE notes SET a = 1",
            "EXPLAIN ANALYZE SELECT * FROM notes",
        ],
    );
}

#[test]
fn what_changes_rows_is_a_write() {
    assert_all(
        "write",
        &[
            "UPDATE notes SET a = 1 WHERE id = 3",
            "UPDATE notes SET a = 1",
            "UPDATE notes SET a = lower(b) FROM other o WHERE o.id = notes.id RETURNING *",
            "DELETE FROM notes WHERE id = 3",
            "DELETE FROM notes WHERE NOT (done OR id < 5)",
            "DELETE FROM notes USING other o WHERE o.id = notes.id",
            "DELETE FROM notes WHERE id = 3 AND true",
            "DELETE FROM notes WHERE true",
            "DELETE FROM notes WHERE now() > '2000-01-01'",
            "DELETE FROM notes",
            "DELETE FROM notes RETURNING *",
            "INSERT INTO notes DEFAULT VALUES",
            "MERGE INTO a USING b ON a.id = b.id WHEN MATCHED THEN UPDATE SET n = b.n",
            "MERGE INTO a USING b ON true WHEN MATCHED THEN DELETE",
        ],
    );
    assert_all(
        "read write",
        &[
            "INSERT INTO notes (a) VALUES (1)",
            "INSERT INTO notes (id, a) VALUES (1, 'x') ON CONFLICT (id) DO UPDATE SET a = excluded.a RETURNING id",
            "INSERT INTO notes SELECT * FROM other",
            "DELETE FROM notes WHERE id IN (SELECT id FROM old)",
            "DELETE FROM notes WHERE EXISTS (SELECT 1 FROM b WHERE b.id = 1)",
            "SELECT * FROM notes FOR UPDATE",
            "TABLE notes FOR UPDATE",
            "SELECT * FROM notes FOR SHARE SKIP LOCKED",
            "WITH n AS (INSERT INTO notes VALUES (1) RETURNING id) SELECT * FROM n",
            "WITH n AS (DELETE FROM notes WHERE id = 3 RETURNING id) SELECT * FROM n",
            "WITH n AS (UPDATE notes SET a = 1 RETURNING id) SELECT * FROM n",
            "WITH gone AS (DELETE FROM notes RETURNING *) SELECT count(*) FROM gone",
            "WITH gone AS (DELETE FROM notes RETURNING *) INSERT INTO archive SELECT * FROM gone",
            "EXPLAIN ANALYZE DELETE FROM notes",
            "EXPLAIN (ANALYZE, VERBOSE) DELETE FROM notes",
            "EXPLAIN ANALYZE UPDATE notes SET a = 1",
            "EXPLAIN (ANALYZE) INSERT INTO notes DEFAULT VALUES",
        ],
    );
}

#[test]
fn what_makes_or_changes_definitions_is_a_definition() {
    assert_all(
        "define",
        &[
            "CREATE TABLE notes (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, body text NOT NULL CHECK (length(body) < 9), at timestamptz DEFAULT now())",
            "CREATE TABLE IF NOT EXISTS t (n int REFERENCES u ON DELETE CASCADE, mood mood, tags text[])",
            "CREATE INDEX ON notes (lower(body))",
            "CREATE UNIQUE INDEX IF NOT EXISTS i ON notes USING gin (to_tsvector('english', body)) WHERE id > 3",
            "CREATE TYPE mood AS ENUM ('calm', 'merry')",
            "CREATE DOMAIN grade AS int CHECK (VALUE BETWEEN 1 AND 6)",
            "CREATE SEQUENCE s",
            "ALTER TABLE notes ADD COLUMN done boolean NOT NULL DEFAULT false",
            "ALTER TABLE notes RENAME COLUMN a TO b",
            "ALTER TABLE notes RENAME TO old_notes",
            "ALTER TABLE notes ALTER COLUMN a TYPE bigint USING a::bigint",
            "ALTER TABLE notes ALTER COLUMN a SET NOT NULL, ADD CONSTRAINT c CHECK (a > 0)",
            "ALTER TABLE notes DROP CONSTRAINT c",
            "CREATE TABLE t (n int DEFAULT nextval('s'), m int GENERATED ALWAYS AS (wipe(n)) STORED)",
            "ALTER INDEX i RENAME TO j",
            "ALTER TYPE mood ADD VALUE 'sad'",
            "COMMENT ON TABLE notes IS 'What I was told'",
            "COMMENT ON COLUMN notes.body IS NULL",
        ],
    );
    assert_all(
        "read define",
        &[
            "CREATE VIEW v AS SELECT * FROM notes",
            "CREATE OR REPLACE VIEW v AS SELECT lower(body) FROM notes",
            "CREATE MATERIALIZED VIEW v AS SELECT count(*) FROM notes",
            "CREATE TABLE t AS SELECT * FROM notes",
            "SELECT * INTO t FROM notes",
        ],
    );
}

#[test]
fn what_deletes_what_cannot_be_brought_back_is_a_deletion() {
    assert_all(
        "delete",
        &[
            "DROP TABLE notes",
            "/* /* */ SELECT 1 /* */ */ DROP TABLE notes",
            "DROP TABLE IF EXISTS a, b CASCADE",
            "DROP VIEW v",
            "DROP MATERIALIZED VIEW v",
            "DROP INDEX i",
            "DROP SCHEMA agent CASCADE",
            "DROP SEQUENCE s",
            "DROP TYPE mood",
            "DROP FUNCTION f(int)",
            "DROP DOMAIN grade",
            "DROP TRIGGER t ON notes",
            "TRUNCATE notes",
            "TRUNCATE TABLE a, b RESTART IDENTITY CASCADE",
            "ALTER TABLE notes DROP COLUMN body",
            "ALTER TABLE notes ADD COLUMN a int, DROP COLUMN body",
        ],
    );
}

#[test]
fn the_relations_that_are_lost_whole_are_named_as_the_catalogue_has_them() {
    let loss = |names: &[&str], if_exists, cascades| {
        Some(WholeLoss { names: names.iter().map(|name| (*name).to_owned()).collect(), if_exists, cascades })
    };
    for (text, lost) in [
        ("DROP TABLE Notes", loss(&["notes"], false, false)),
        ("DROP TABLE IF EXISTS agent.a, \"Big One\" CASCADE; CREATE TABLE a (n int)", loss(&["a", "Big One"], true, false)),
        ("DROP VIEW IF EXISTS v; DROP TABLE t", loss(&["v", "t"], false, false)),
        ("TRUNCATE TABLE a, agent.b CASCADE", loss(&["a", "b"], false, true)),
        ("DELETE FROM a; DROP INDEX IF EXISTS i", loss(&["i"], true, false)),
        // These lose something else, or what they lose is not all of the table.
        ("DELETE FROM a", None),
        ("TRUNCATE ONLY a", None),
        ("DROP TABLE shared.tasks", None),
        ("DROP TABLE a; ALTER TABLE b DROP COLUMN c", None),
        ("DROP SCHEMA agent CASCADE", None),
        ("DROP FUNCTION f", None),
        ("SELECT 1", None),
    ] {
        assert_eq!(whole_loss(text), lost, "{text}");
    }
}

#[test]
fn what_cannot_be_told_is_taken_as_the_worst() {
    let statements = [
        "",
        ";",
        "-- nothing",
        "SELEC 1",
        "SELECT 1; SELEC 1",
        "SELECT 'unfinished",
        "DO $$ BEGIN DELETE FROM notes; END $$",
        "CALL tidy()",
        "EXECUTE p",
        "PREPARE p AS DELETE FROM notes",
        "DEALLOCATE ALL",
        "SET search_path = nowhere",
        "SET LOCAL statement_timeout = 0",
        "SET ROLE postgres",
        "SET SESSION AUTHORIZATION postgres",
        "RESET ROLE",
        "RESET ALL",
        "DISCARD ALL",
        "ALTER ROLE CURRENT_USER SUPERUSER",
        "CREATE ROLE r SUPERUSER",
        "DROP ROLE r",
        "GRANT ALL ON notes TO public",
        "REVOKE ALL ON notes FROM public",
        "ALTER TABLE notes OWNER TO postgres",
        "ALTER TABLE notes DISABLE TRIGGER ALL",
        "CREATE DATABASE d",
        "CREATE EXTENSION dblink",
        "LOCK TABLE notes",
        "LISTEN x",
        "UNLISTEN *",
        "NOTIFY x, 'y'",
        "VACUUM notes",
        "ANALYZE notes",
        "REINDEX TABLE notes",
        "CLUSTER notes",
        "CHECKPOINT",
        "BEGIN",
        "COMMIT",
        "ROLLBACK",
        "SAVEPOINT a",
        "DECLARE c CURSOR FOR SELECT 1",
        "FETCH ALL FROM c",
        "COPY notes TO STDOUT",
        "COPY notes FROM PROGRAM 'id'",
        "COPY (SELECT 1) TO '/tmp/x'",
        "CREATE RULE r AS ON SELECT TO notes DO INSTEAD SELECT 1",
        "CREATE TRIGGER t BEFORE INSERT ON notes FOR EACH ROW EXECUTE FUNCTION f()",
        "CREATE POLICY p ON notes USING (true)",
        "CREATE OPERATOR === (LEFTARG = int, RIGHTARG = int, FUNCTION = f)",
        "CREATE CAST (text AS int) WITH FUNCTION f(text)",
        "CREATE AGGREGATE a (int) (SFUNC = f, STYPE = int)",
        "CREATE PROCEDURE p() LANGUAGE sql AS $$ SELECT 1 $$",
        "ALTER FUNCTION f(int) RENAME TO lower",
        "CREATE FUNCTION add_one(n int) RETURNS int LANGUAGE sql AS $$ SELECT n + 1 $$",
        "CREATE OR REPLACE FUNCTION total() RETURNS bigint LANGUAGE plpgsql AS $$ BEGIN RETURN 1; END $$",
        "EXPLAIN ANALYZE EXECUTE p",
    ];
    let wrong: Vec<_> = statements.iter().filter(|statement| !classify(statement).effects.contains(&Effect::Opaque)).collect();
    assert!(wrong.is_empty(), "not opaque: {wrong:#?}");
    let silent: Vec<_> = statements.iter().filter(|statement| classify(statement).why.is_none()).collect();
    assert!(silent.is_empty(), "without a reason: {silent:#?}");
}

#[test]
fn a_statement_nested_too_deep_is_opaque_and_not_a_crash() {
    let deep = format!("SELECT {}1{}", "(".repeat(10_000), ")".repeat(10_000));
    assert_eq!(effects(&deep), "opaque");
}

#[test]
fn the_verb_and_what_is_named_are_told() {
    for (statement, verb, objects) in [
        ("select * from notes n join agent.other using (id)", "SELECT", &["notes", "agent.other"][..]),
        ("TABLE notes", "TABLE", &["notes"]),
        ("/* a */ -- b\n(select 1 from notes)", "SELECT", &["notes"]),
        ("DROP TABLE a, b", "DROP", &["a", "b"]),
        ("TRUNCATE a", "TRUNCATE", &["a"]),
        ("WITH n AS (DELETE FROM notes RETURNING 1) SELECT * FROM n", "WITH", &["notes"]),
        ("SELECT * FROM generate_series(1, 2)", "SELECT", &[]),
        ("SELECT 1 INTO t", "SELECT", &["t"]),
        ("DROP FUNCTION f", "DROP", &["f"]),
        ("nonsense", "NONSENSE", &[]),
    ] {
        let class = classify(statement);
        assert_eq!(
            (class.verb.as_str(), class.objects),
            (verb, objects.iter().map(|it| (*it).to_owned()).collect()),
            "{statement}"
        );
    }
}

#[test]
fn the_person_is_told_what_will_happen() {
    for (statement, told) in [
        ("DROP TABLE notes", &["Drops the table `notes` with all its rows.", "It cannot be undone."][..]),
        ("DROP TABLE IF EXISTS notes", &["Drops the table `notes` with all its rows, if it is there.", "It cannot be undone."]),
        (
            "DROP TABLE a, b CASCADE",
            &[
                "Drops the table `a` with all its rows.",
                "Drops the table `b` with all its rows.",
                "Everything that depends on it is dropped too.",
                "It cannot be undone.",
            ],
        ),
        ("DROP VIEW v", &["Drops the view `v`."]),
        ("DROP FUNCTION f(int)", &["Drops the function `f`."]),
        ("TRUNCATE a, b", &["Deletes all rows of `a`, `b`.", "It cannot be undone."]),
        ("DELETE FROM notes", &["Deletes all rows of `notes`."]),
        ("DELETE FROM notes WHERE id = 3", &["Deletes the rows of `notes` where id = 3."]),
        ("UPDATE notes SET a = 1, b = 2", &["Changes `a`, `b` in every row of `notes`."]),
        ("UPDATE notes SET a = 1 WHERE id = 3", &["Changes `a` in the rows of `notes` where id = 3."]),
        ("INSERT INTO notes VALUES (1)", &["Adds rows to `notes`."]),
        ("SELECT * FROM notes", &["Reads `notes`."]),
        ("SELECT 1", &["Computes something."]),
        ("ALTER TABLE notes DROP COLUMN body", &["Drops `body` of `notes` with all values in it. It cannot be undone."]),
        ("CREATE OR REPLACE VIEW v AS SELECT 1", &["Makes or replaces the view `v`."]),
        ("EXPLAIN DELETE FROM notes", &["Shows how a statement would be carried out."]),
        ("EXPLAIN ANALYZE DELETE FROM notes", &["Carries a statement out and shows how:", "Deletes all rows of `notes`."]),
        ("WITH gone AS (DELETE FROM notes RETURNING *) SELECT * FROM gone", &["Reads `notes`.", "Deletes all rows of `notes`."]),
        ("SELECT wipe() FROM notes", &["Reads `notes`."]),
        (
            "CREATE FUNCTION f() RETURNS int LANGUAGE sql AS 'SELECT 1'",
            &[
                "Makes the function `f`.",
                "What it does cannot be told beforehand: from then on, other statements may call what it says.",
            ],
        ),
        ("CREATE TABLE a (n int); DELETE FROM b;", &["Makes the table `a`.", "Deletes all rows of `b`."]),
        ("SELEC 1", &["What this does cannot be told beforehand: it is written in a way that level3 does not read."]),
    ] {
        assert_eq!(in_words(statement), told, "{statement}");
    }
}

#[test]
fn several_statements_are_taken_apart_where_each_can_be_read() {
    for (text, parts) in [
        ("SELECT 1", &["SELECT 1"][..]),
        ("SELECT 1;", &["SELECT 1;"]),
        ("SELECT 1; -- and nothing else", &["SELECT 1; -- and nothing else"]),
        ("SELECT 1; SELECT 2", &["SELECT 1", "SELECT 2"]),
        (
            "CREATE TABLE ä (\n n int -- one; two\r\n);\r\n;\n  INSERT INTO ä VALUES (1);\n",
            &["CREATE TABLE ä (\n n int -- one; two\r\n)", "INSERT INTO ä VALUES (1)"],
        ),
        ("SELECT 'a;b', $$;$$, E'\\';', \";\" /* ; */; SELECT 2", &["SELECT 'a;b', $$;$$, E'\\';', \";\" /* ; */", "SELECT 2"]),
        // A text that Postgres reads as one statement, or that nobody can read, stays whole.
        (
            "CREATE FUNCTION f() RETURNS int BEGIN ATOMIC SELECT 1; SELECT 2; END",
            &["CREATE FUNCTION f() RETURNS int BEGIN ATOMIC SELECT 1; SELECT 2; END"],
        ),
        ("SELECT 1; SELEC 2", &["SELECT 1; SELEC 2"]),
        ("SELECT 'open; SELECT 2", &["SELECT 'open; SELECT 2"]),
        ("", &[""]),
    ] {
        assert_eq!(statements(text), parts, "{text:?}");
    }
}

#[test]
fn several_statements_do_what_each_of_them_does() {
    assert_all("read write define", &["CREATE TABLE a (n int); INSERT INTO a VALUES (1)"]);
    assert_all("read delete", &["SELECT 1; DROP TABLE people", "TABLE notes; DROP TABLE notes"]);
    let class = classify("SELECT * FROM a; CALL wipe(); SELECT * FROM b; SELECT * FROM a");
    assert_eq!((class.verb.as_str(), class.objects), ("SELECT", vec!["a".to_owned(), "b".to_owned()]));
    assert!(class.effects.contains(&Effect::Opaque) && class.why.unwrap().contains("CALL"));
    // One statement that the reader does not understand makes all of them unknown.
    assert_all("opaque", &["SELECT 1; SELEC 2", "SELECT 1; COMMIT; BEGIN; DROP TABLE a FROM"]);
}
