//! The rights of the agent's logins, tried with a reader of SQL that is wrong about everything.
//! Each attack runs as if it had been read as a read, then as a write, then as a definition.
//! Nothing may be lost in any of the three.

use std::collections::BTreeMap;

use level3::domain::{CallRequest, Effect, Outcome};
use level3::governor::sql;
use level3::store::{AgentLogin, AgentSql, NewStep, OpenCall, RowLimits, SqlEnd};
use serde_json::Value;
use sqlx::{AssertSqlSafe, Connection, Executor, PgConnection};

use crate::fence_attacks::ATTACKS;
use crate::operations::Held;
use crate::support::permit;

/// The targets of the attacks. A person approved all of it, except what [`SLEEPERS`] adds.
const VICTIMS: &[&str] = &[
    "CREATE TABLE notes (id int PRIMARY KEY, body text NOT NULL)",
    "INSERT INTO notes SELECT n, 'note ' || n FROM generate_series(1, 5) n",
    "CREATE TABLE marks (id int PRIMARY KEY, note int REFERENCES notes ON DELETE CASCADE, stars int DEFAULT 1)",
    "INSERT INTO marks SELECT n, n, n FROM generate_series(1, 5) n",
    "CREATE TABLE days (day int, what text) PARTITION BY RANGE (day)",
    "CREATE TABLE days_1 PARTITION OF days FOR VALUES FROM (0) TO (100)",
    "INSERT INTO days SELECT n, 'day ' || n FROM generate_series(1, 5) n",
    "CREATE VIEW titles AS SELECT id, upper(body) AS title FROM notes",
    "CREATE INDEX notes_by_body ON notes (body)",
    "CREATE SEQUENCE numbers",
    "CREATE TYPE mood AS ENUM ('good', 'bad')",
    "CREATE DOMAIN positive AS int CHECK (VALUE > 0)",
    "CREATE TABLE log (what text)",
    "CREATE FUNCTION told() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO agent.log VALUES (TG_OP); RETURN NULL; END $$",
    "CREATE TRIGGER told AFTER INSERT ON marks FOR EACH ROW EXECUTE FUNCTION told()",
    "CREATE FUNCTION double(n int) RETURNS int IMMUTABLE LANGUAGE sql AS 'SELECT n * 2'",
];

/// Functions that nobody approved, as the one login of earlier versions made them. Only a trick
/// reaches them.
const SLEEPERS: &str = "
    CREATE FUNCTION agent.tidy() RETURNS int LANGUAGE plpgsql AS
        $f$ BEGIN EXECUTE 'TRUNCATE agent.notes CASCADE'; RETURN 1; END $f$;
    CREATE FUNCTION agent.openjson(text) RETURNS SETOF int LANGUAGE plpgsql AS
        $f$ BEGIN EXECUTE 'DELETE FROM agent.notes'; RETURN NEXT 1; END $f$;
    CREATE FUNCTION agent.lower(int) RETURNS text LANGUAGE plpgsql AS
        $f$ BEGIN EXECUTE 'DELETE FROM agent.notes'; RETURN 'x'; END $f$;
    CREATE FUNCTION agent.wipe(agent.notes) RETURNS int LANGUAGE plpgsql AS
        $f$ BEGIN EXECUTE 'DELETE FROM agent.notes'; RETURN 1; END $f$;
    CREATE FUNCTION agent.sweep() RETURNS trigger LANGUAGE plpgsql AS
        $f$ BEGIN EXECUTE 'TRUNCATE agent.marks'; RETURN NULL; END $f$;
    CREATE FUNCTION agent.defined() RETURNS int LANGUAGE plpgsql SECURITY DEFINER AS
        $f$ BEGIN EXECUTE 'TRUNCATE agent.notes CASCADE'; RETURN 1; END $f$;
    CREATE FUNCTION agent.less(int, int) RETURNS bool LANGUAGE plpgsql AS
        $f$ BEGIN EXECUTE 'DELETE FROM agent.notes'; RETURN true; END $f$;
    CREATE PROCEDURE agent.purge() LANGUAGE plpgsql AS $f$ BEGIN EXECUTE 'DELETE FROM agent.notes'; END $f$;
    CREATE TYPE agent.string AS (n int);
    CREATE FUNCTION agent.neat(agent.string) RETURNS int LANGUAGE plpgsql AS
        $f$ BEGIN EXECUTE 'DELETE FROM agent.notes'; RETURN 1; END $f$;
    CREATE TABLE agent.strings OF agent.string; INSERT INTO agent.strings VALUES (1);";

/// One call for each try, on a store whose server is stopped.
struct Tries {
    held: Held,
    open: Vec<OpenCall>,
    behind: PgConnection,
}

impl Tries {
    async fn start() -> Self {
        let held = Held::start().await;
        let calls =
            vec![CallRequest { id: "a".into(), name: "execute_sql".into(), arguments: "{}".into() }; ATTACKS.len() * 3 + 100];
        let step = NewStep { number: 2, model: "m", finish_reason: "tool_calls", calls: &calls, ..NewStep::default() };
        let open = held.store.store_step(&held.lease, step, held.app.now()).await.unwrap().calls;
        let behind = held.app.behind().await;
        let mut tries = Self { held, open, behind };
        for text in VICTIMS {
            tries.approved(text).await;
        }
        let code = format!("{}_agent_code", tries.held.app.database());
        let tables = format!("{}_agent_tables", tries.held.app.database());
        let sleepers = format!(
            "SET search_path = agent; {SLEEPERS}
             DO $$ DECLARE f regprocedure; BEGIN
                 FOR f IN SELECT oid FROM pg_proc WHERE pronamespace = 'agent'::regnamespace AND proowner = 10 LOOP
                     EXECUTE 'ALTER ROUTINE ' || f || ' OWNER TO \"{code}\"; REVOKE ALL ON ROUTINE ' || f || ' FROM PUBLIC';
                 END LOOP;
                 ALTER TYPE agent.string OWNER TO \"{tables}\"; ALTER TABLE agent.strings OWNER TO \"{tables}\";
             END $$; RESET search_path"
        );
        tries.behind.execute(AssertSqlSafe(sleepers)).await.unwrap();
        tries
    }

    /// Runs a text as the server does, with this login.
    async fn run(&mut self, text: &str, login: AgentLogin) -> SqlEnd {
        let call = self.open.pop().expect("enough calls").call;
        let permit = permit(call);
        // The reader cannot part every text. These are parted as a model would send them: one by
        // one.
        let plain = !["$$", "AS '", "E'", "$€$", "ATOMIC"].iter().any(|mark| text.contains(mark));
        let statements = if plain { text.split("; ").collect() } else { sql::statements(text) };
        let limits = RowLimits::default();
        let sql = AgentSql { statements: &statements, params: &[], limits, login, promised: false, shown: &[] };
        self.held.store.run_agent_sql(&self.held.lease, &permit, "execute_sql", sql, self.held.app.now()).await.unwrap()
    }

    async fn approved(&mut self, text: &str) {
        let ended = self.run(text, AgentLogin::Full).await;
        assert!(matches!(&ended, SqlEnd::Outcome(outcome) if outcome.ok), "{text}: {ended:?}");
    }

    /// Runs a text as a write. Returns the effects it asks for, and none if it ended.
    async fn asks(&mut self, text: &str, login: AgentLogin) -> Vec<Effect> {
        match self.run(text, login).await {
            SqlEnd::Asks(finding) => finding.effects.into_iter().collect(),
            SqlEnd::Outcome(_) => Vec::new(),
        }
    }

    /// Everything that could be lost: the rows of the victims, and the things of the schema with
    /// their rights.
    async fn state(&mut self) -> BTreeMap<String, String> {
        let rows = "SELECT concat_ws('|', (SELECT string_agg(n::text, ',' ORDER BY id) FROM agent.notes n),
            (SELECT string_agg(m::text, ',' ORDER BY id) FROM agent.marks m),
            (SELECT string_agg(d::text, ',' ORDER BY day) FROM agent.days d), (SELECT string_agg(s::text, ',') FROM agent.strings s))";
        let rows: String = sqlx::query_scalar(rows).fetch_one(&mut self.behind).await.unwrap();
        let image: String = sqlx::query_scalar("SELECT shared.agent_image(false)").fetch_one(&mut self.behind).await.unwrap();
        let image: BTreeMap<String, Value> = serde_json::from_str(&image).unwrap();
        let things = image.into_iter().map(|(key, thing)| (key, format!("{} {}", thing["what"], thing["mark"])));
        things.chain([("the rows".to_owned(), rows)]).collect()
    }

    async fn end(self) {
        self.behind.close().await.unwrap();
        self.held.end().await;
    }
}

#[tokio::test]
async fn nothing_is_lost_when_everything_is_taken_for_a_read_a_write_or_a_definition() {
    let mut tries = Tries::start().await;
    assert!(ATTACKS.len() >= 100, "{}", ATTACKS.len());
    for login in [AgentLogin::Reader, AgentLogin::Writer, AgentLogin::Tables] {
        let before = tries.state().await;
        for attack in ATTACKS {
            let ended = tries.run(attack, login).await;
            let after = tries.state().await;
            for (key, was) in &before {
                assert_eq!(after.get(key), Some(was), "{key} was lost to {login:?} by\n{attack}\n{ended:?}");
            }
            let code = after.iter().find(|(key, what)| {
                // The program's own triggers keep lost rows.
                let ours = what.contains("`0_level3_keep`");
                !ours
                    && !before.contains_key(*key)
                    && ["code", "trigger", "rule", "policy"].iter().any(|kind| key.starts_with(kind))
            });
            assert_eq!(code, None, "{login:?} made code unasked by\n{attack}\n{ended:?}");
        }
    }
    tries.end().await;
}

#[tokio::test]
async fn what_was_approved_cannot_change_its_meaning_unasked() {
    let mut tries = Tries::start().await;
    // Each use of an approved function, once.
    for text in [
        "CREATE FUNCTION kind(n int) RETURNS int IMMUTABLE LANGUAGE sql AS 'SELECT n + 1'",
        "CREATE TABLE over (n int, by_default int DEFAULT kind(1), made int GENERATED ALWAYS AS (kind(n)) STORED, CHECK (kind(n) > 0))",
        "CREATE VIEW shows AS SELECT kind(n) AS k FROM over",
        "CREATE INDEX over_kind ON over (kind(n))",
        "CREATE FUNCTION told_over() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END'",
        "CREATE TRIGGER told_over BEFORE INSERT ON over FOR EACH ROW EXECUTE FUNCTION told_over()",
    ] {
        tries.approved(text).await;
    }
    let uses = ["INSERT INTO over (n) VALUES (1)", "SELECT k FROM shows"];
    for text in uses {
        let ended = tries.run(text, AgentLogin::Writer).await;
        assert!(matches!(&ended, SqlEnd::Outcome(outcome) if outcome.ok), "an approved function works: {text}: {ended:?}");
    }
    let harm = "LANGUAGE plpgsql AS $$ BEGIN DELETE FROM agent.notes; RETURN";
    let replaced = [
        format!("CREATE OR REPLACE FUNCTION kind(n int) RETURNS int IMMUTABLE {harm} 1; END $$"),
        format!("CREATE OR REPLACE FUNCTION told_over() RETURNS trigger {harm} NEW; END $$"),
        "ALTER FUNCTION kind(int) RENAME TO other".to_owned(),
        "ALTER FUNCTION kind(int) SET search_path = public".to_owned(),
        "ALTER FUNCTION kind(int) OWNER TO CURRENT_USER".to_owned(),
        "ALTER FUNCTION kind(int) SECURITY DEFINER".to_owned(),
        "DROP FUNCTION kind(int) CASCADE".to_owned(),
        format!("DO $d$ BEGIN EXECUTE 'CREATE OR REPLACE FUNCTION kind(n int) RETURNS int IMMUTABLE {harm} 1; END $$'; END $d$"),
        // The attack puts another function in the place of the approved one.
        format!("CREATE FUNCTION kind(n bigint) RETURNS int IMMUTABLE {harm} 1; END $$"),
        "ALTER TABLE over ALTER by_default SET DEFAULT tidy()".to_owned(),
        "CREATE OR REPLACE TRIGGER told_over BEFORE INSERT ON over FOR EACH ROW EXECUTE FUNCTION sweep()".to_owned(),
        "ALTER TABLE over DISABLE TRIGGER told_over".to_owned(),
    ];
    let before = tries.state().await;
    for text in &replaced {
        for login in [AgentLogin::Writer, AgentLogin::Tables] {
            let asked = tries.asks(text, login).await;
            // Postgres refuses a default over a forbidden function only when the default is used.
            assert!(!asked.is_empty() || text.contains("SET DEFAULT"), "{login:?} {text}");
            for text in uses {
                tries.run(text, AgentLogin::Writer).await;
            }
            let after = tries.state().await;
            assert_eq!(after["the rows"], before["the rows"], "{text}");
            assert!(before.iter().all(|(key, was)| after.get(key) == Some(was)), "{text}");
        }
    }
    // A person approves it, it is replaced, and the next time a person is asked again.
    tries.approved("CREATE OR REPLACE FUNCTION kind(n int) RETURNS int IMMUTABLE LANGUAGE sql AS 'SELECT n + 2'").await;
    let ended = tries.run("SELECT kind(1) AS k", AgentLogin::Reader).await;
    assert_eq!(ended, SqlEnd::Outcome(Outcome::ok(r#"[{"k":3}]"#)));
    assert!(!tries.asks(&replaced[0], AgentLogin::Tables).await.is_empty());
    tries.end().await;
}

#[tokio::test]
async fn ordinary_work_is_done_on_the_least_login_without_a_question() {
    let mut tries = Tries::start().await;
    for (login, text) in [
        (AgentLogin::Reader, "SELECT body, double(notes.id) FROM notes JOIN marks ON note = notes.id ORDER BY 1 LIMIT 2"),
        (AgentLogin::Reader, "SELECT title FROM titles WHERE id IN (SELECT day FROM days)"),
        (
            AgentLogin::Writer,
            "INSERT INTO notes VALUES (6, 'six') ON CONFLICT (id) DO UPDATE SET body = EXCLUDED.body RETURNING id",
        ),
        (AgentLogin::Writer, "UPDATE days SET what = 'later' WHERE day = 2"),
        (AgentLogin::Writer, "DELETE FROM notes WHERE id = 6"),
        (AgentLogin::Writer, "INSERT INTO marks (id, note) VALUES (nextval('numbers') + 10, 1)"),
        (
            AgentLogin::Tables,
            "CREATE TABLE fresh (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, n serial, m mood, p positive)",
        ),
        (AgentLogin::Writer, "INSERT INTO fresh (m, p) VALUES ('good', 1)"),
        (AgentLogin::Tables, "ALTER TABLE fresh ADD COLUMN note int REFERENCES notes, ALTER p DROP NOT NULL"),
        (AgentLogin::Tables, "ALTER TABLE fresh RENAME COLUMN n TO number"),
        (
            AgentLogin::Tables,
            "CREATE INDEX ON fresh (m); CREATE VIEW fresher AS SELECT * FROM fresh; COMMENT ON TABLE fresh IS 'new'",
        ),
        (AgentLogin::Tables, "CREATE TABLE days_2 PARTITION OF days FOR VALUES FROM (100) TO (200)"),
        (AgentLogin::Tables, "CREATE MATERIALIZED VIEW seen AS SELECT count(*) FROM notes"),
        (AgentLogin::Tables, "REFRESH MATERIALIZED VIEW seen"),
        (AgentLogin::Tables, "CREATE TYPE span AS RANGE (subtype = int)"),
        (AgentLogin::Tables, "CREATE TABLE brief (n int); DROP TABLE brief"),
        (AgentLogin::Tables, "CREATE TABLE empty (n int)"),
        (AgentLogin::Tables, "ALTER TABLE empty ALTER n TYPE text"),
        (AgentLogin::Reader, "SELECT * FROM fresher"),
    ] {
        let ended = tries.run(text, login).await;
        assert!(matches!(&ended, SqlEnd::Outcome(outcome) if outcome.ok), "{login:?} {text}: {ended:?}");
    }
    tries.end().await;
}

#[tokio::test]
async fn a_lack_of_rights_becomes_a_question_only_where_a_person_could_give_them() {
    let mut tries = Tries::start().await;
    for (login, text, asked) in [
        (AgentLogin::Reader, "INSERT INTO notes VALUES (7, 'x')", Some(Effect::Write)),
        (AgentLogin::Reader, "SELECT tidy()", Some(Effect::Opaque)),
        (AgentLogin::Writer, "CREATE TABLE more (n int)", Some(Effect::Define)),
        (AgentLogin::Writer, "TRUNCATE notes CASCADE", Some(Effect::Opaque)),
        (AgentLogin::Writer, "DROP TABLE marks", Some(Effect::Opaque)),
        (AgentLogin::Tables, "DROP TABLE marks", Some(Effect::Delete)),
        (AgentLogin::Tables, "ALTER TABLE marks DROP COLUMN stars", Some(Effect::Delete)),
        (AgentLogin::Tables, "ALTER TABLE marks ALTER stars TYPE text USING NULL", Some(Effect::Delete)),
        (AgentLogin::Tables, "CREATE FUNCTION mine() RETURNS int LANGUAGE sql AS 'SELECT 1'", Some(Effect::Opaque)),
        (AgentLogin::Writer, "SELECT * FROM level3.turns", None),
        (AgentLogin::Writer, "UPDATE tasks SET title = 'x'", None),
        (AgentLogin::Tables, "CREATE ROLE mine", None),
        (AgentLogin::Writer, "SELECT pg_read_file('PG_VERSION')", None),
        (AgentLogin::Full, "CREATE EXTENSION pgcrypto", None),
    ] {
        let found = match tries.run(text, login).await {
            SqlEnd::Asks(finding) => Some(finding),
            SqlEnd::Outcome(outcome) => {
                assert!(!outcome.ok && outcome.result.contains("42501"), "{login:?} {text}: {outcome:?}");
                None
            }
        };
        let effects = found.as_ref().map(|finding| finding.effects.iter().copied().collect::<Vec<_>>());
        assert_eq!(effects, asked.map(|effect| vec![effect]), "{login:?} {text}: {found:?}");
        assert!(found.is_none_or(|finding| finding.sentences().all(|why| why.ends_with('.'))), "{text}");
    }
    tries.end().await;
}

#[tokio::test]
async fn a_default_that_the_agent_gives_its_login_is_undone_before_the_next_call() {
    let mut tries = Tries::start().await;
    for login in [AgentLogin::Writer, AgentLogin::Tables, AgentLogin::Full] {
        for default in ["work_mem = '2GB'", "enable_hashjoin = off", "search_path = nowhere", "statement_timeout = 0"] {
            for place in ["", " IN DATABASE {}"] {
                let place = place.replace("{}", tries.held.app.database());
                tries.run(&format!("ALTER ROLE CURRENT_USER{place} SET {default}"), login).await;
                let ended = tries
                    .run(
                        "SELECT current_setting('work_mem') <> '2GB' AND current_setting('enable_hashjoin') = 'on' AND
                    current_setting('statement_timeout') = '15s' AS fine",
                        login,
                    )
                    .await;
                assert_eq!(ended, SqlEnd::Outcome(Outcome::ok(r#"[{"fine":true}]"#)), "{login:?}{place} {default}");
                let left = "SELECT count(*) FROM pg_db_role_setting, unnest(setconfig) line
                    WHERE setrole IN (SELECT oid FROM pg_roles WHERE rolname LIKE current_database() || '_agent%')
                      AND (setdatabase = 0 OR line ~ '^(work_mem|enable_hashjoin)|nowhere|^statement_timeout=0')";
                assert_eq!(tries.held.app.count(left).await, 0, "{login:?}{place} {default}");
            }
        }
    }
    tries.end().await;
}
