//! An approval holds for the rows that were shown: a call that would lose more by the time it goes
//! on is asked about again.

use level3::domain::{Budgets, Mode};
use serde_json::{Value, json};

use crate::support::{Client, TestApp, of_type};
use crate::undo::{asked, decided, made, ran, words};

/// Approves, and returns the question that comes in place of the deed.
async fn asked_again(client: &mut Client, asking: &Value) -> Value {
    client.send(json!({ "type": "approve", "approval": asking["id"] })).await;
    let pending = |frame: &Value| frame["type"] == "approval" && frame["state"] == "pending";
    let ends = |frame: &Value| frame["type"] == "turn" && frame["state"] == "completed";
    let frames = client.until(|frame| pending(frame) || ends(frame)).await;
    let last = frames.last().unwrap().clone();
    assert!(pending(&last) && last["id"] != asking["id"], "{frames:#?}");
    last
}

/// Makes a table with two rows, as another call of the agent would.
const LATE: &str = "DO $$ BEGIN
        EXECUTE format('SET LOCAL ROLE %I', current_database() || '_agent_tables');
        CREATE TABLE agent.late AS SELECT 1 AS i UNION SELECT 2;
    END $$";

/// Somebody else does this meanwhile.
async fn meanwhile(app: &TestApp, sql: &'static str) {
    sqlx::raw_sql(sql).execute(&mut app.behind().await).await.unwrap();
}

#[tokio::test]
async fn rows_of_another_table_than_was_shown_are_asked_about_again() {
    let app = TestApp::start().await;
    let mut client = app.connect().await;
    made(
        &app,
        &[
            "CREATE TABLE v1 (i int)",
            "CREATE TABLE v2 (i int)",
            "INSERT INTO v1 SELECT generate_series(1, 2000)",
            "INSERT INTO v2 SELECT generate_series(1, 1500)",
            "CREATE VIEW vv AS SELECT * FROM v1",
        ],
    )
    .await;
    let asking = asked(&app, &mut client, "DELETE FROM vv WHERE i > 10").await;
    assert!(words(&asking).contains("It deletes 1990 rows of `v1`."), "{asking}");
    meanwhile(&app, "CREATE OR REPLACE VIEW agent.vv AS SELECT * FROM agent.v2").await;
    let again = asked_again(&mut client, &asking).await;
    assert!(words(&again).contains("It deletes 1490 rows of `v2`.") && !words(&again).contains("`v1`"), "{again}");
    assert_eq!(app.count("SELECT count(*) FROM agent.v2").await, 1500, "nothing happened yet");
    let frames = decided(&mut client, &again, "approve").await;
    assert_eq!(of_type(&frames, "tool_result")["kept"], 1490);
    assert_eq!(app.count("SELECT count(*) FROM agent.v1").await, 2000);
    assert_eq!(app.count("SELECT count(*) FROM agent.v2").await, 10);
    app.check_replay().await;
}

#[tokio::test]
async fn another_table_under_the_name_that_was_shown_is_asked_about_again() {
    let app = TestApp::start().await;
    let mut client = app.connect().await;
    for statement in ["DELETE FROM shown", "DROP TABLE shown"] {
        made(
            &app,
            &[
                "CREATE TABLE shown (id int PRIMARY KEY, v text)",
                "CREATE TABLE other (id int PRIMARY KEY, v text)",
                "INSERT INTO shown SELECT n, 'a' FROM generate_series(1, 5) n",
                "INSERT INTO other SELECT n, 'precious' FROM generate_series(1, 5) n",
            ],
        )
        .await;
        let asking = asked(&app, &mut client, statement).await;
        assert!(words(&asking).contains("It deletes all 5 rows of `shown`."), "{asking}");
        meanwhile(&app, "ALTER TABLE agent.shown RENAME TO gone; ALTER TABLE agent.other RENAME TO shown").await;
        let again = asked_again(&mut client, &asking).await;
        assert!(words(&again).contains("or rows of another table:"), "{again}");
        assert_eq!(app.count("SELECT count(*) FROM agent.shown WHERE v = 'precious'").await, 5, "nothing happened yet");
        decided(&mut client, &again, "deny").await;
        assert_eq!(app.count("SELECT count(*) FROM agent.shown").await, 5);
        meanwhile(&app, "DROP TABLE agent.shown, agent.gone").await;
    }
    app.check_replay().await;
}

#[tokio::test]
async fn rows_that_a_cascade_takes_besides_are_asked_about_again() {
    let app = TestApp::start().await;
    let mut client = app.connect().await;
    made(
        &app,
        &[
            "CREATE TABLE pa (id int PRIMARY KEY)",
            "CREATE TABLE kid (id int PRIMARY KEY, pa int REFERENCES pa ON DELETE CASCADE)",
            "INSERT INTO pa SELECT generate_series(1, 1490)",
        ],
    )
    .await;
    let asking = asked(&app, &mut client, "DELETE FROM pa WHERE id > 0").await;
    assert!(words(&asking).contains("1490 rows of `pa`"), "{asking}");
    meanwhile(&app, "INSERT INTO agent.kid SELECT n, n FROM generate_series(1, 1490) n").await;
    let again = asked_again(&mut client, &asking).await;
    assert!(words(&again).contains("1490 rows of `kid`") && words(&again).contains("1490 rows of `pa`"), "{again}");
    decided(&mut client, &again, "deny").await;
    assert_eq!(app.count("SELECT count(*) FROM agent.kid").await, 1490);
    assert_eq!(app.count("SELECT count(*) FROM agent.pa").await, 1490);
    app.check_replay().await;
}

#[tokio::test]
async fn whole_tables_are_asked_about_with_their_rows_and_again_if_they_grew() {
    let app = TestApp::start().await;
    let mut client = app.connect().await;
    made(
        &app,
        &[
            "CREATE TABLE \"Big one\" (i int PRIMARY KEY)",
            "INSERT INTO \"Big one\" SELECT generate_series(1, 12)",
            "CREATE TABLE kid (i int REFERENCES \"Big one\")",
            "INSERT INTO kid VALUES (1), (2), (3)",
            "CREATE TABLE bare (i int)",
        ],
    )
    .await;
    let emptied = "TRUNCATE agent.\"Big one\" CASCADE";
    let (big, kid, none) = ("It deletes all 12 rows of `Big one`.", "It deletes all 3 rows of `kid`.", "`bare` has no rows.");
    let dropped = "DROP TABLE \"Big one\" CASCADE";
    for (query, told, with_kid) in [(dropped, big, false), (emptied, big, true), ("DROP TABLE bare", none, false)] {
        let asking = asked(&app, &mut client, query).await;
        assert!(words(&asking).contains(told) && words(&asking).contains(kid) == with_kid, "{query}: {asking}");
        decided(&mut client, &asking, "deny").await;
    }
    for (query, more, told) in [
        (emptied, "INSERT INTO agent.kid VALUES (4)", "It deletes all 4 rows of `kid`."),
        (
            "DROP TABLE IF EXISTS bare -- with its rows\n; CREATE TABLE other (i int)",
            "INSERT INTO agent.bare VALUES (1)",
            "It deletes 1 row of `bare`.",
        ),
    ] {
        let asking = asked(&app, &mut client, query).await;
        meanwhile(&app, more).await;
        let again = asked_again(&mut client, &asking).await;
        assert!(words(&again).contains(told) && words(&again).contains("It cannot be undone"), "{query}: {again}");
        decided(&mut client, &again, "approve").await;
    }
    let left = "SELECT (SELECT count(*) FROM agent.\"Big one\") + (SELECT count(*) FROM agent.kid)
                       + (SELECT count(*) FROM pg_class WHERE relname = 'bare')";
    assert_eq!(app.count(left).await, 0, "each of them happened");
    app.check_replay().await;
}

#[tokio::test]
async fn all_rows_of_a_table_are_asked_about_also_if_each_of_its_parts_had_one() {
    let app = TestApp::start().await;
    let mut client = app.connect().await;
    made(
        &app,
        &[
            "CREATE TABLE day (n int) PARTITION BY LIST (n)",
            "CREATE TABLE day_1 PARTITION OF day FOR VALUES IN (1)",
            "CREATE TABLE day_2 PARTITION OF day FOR VALUES IN (2)",
            "CREATE TABLE day_3 PARTITION OF day FOR VALUES IN (3)",
            "INSERT INTO day VALUES (1), (2), (3)",
            "CREATE TABLE elder (i int)",
            "CREATE TABLE heir () INHERITS (elder)",
            "INSERT INTO elder VALUES (1)",
            "INSERT INTO heir VALUES (2)",
        ],
    )
    .await;
    for (query, part) in [("DELETE FROM day", "`day_2`"), ("DELETE FROM elder", "`heir`")] {
        let asking = asked(&app, &mut client, query).await;
        assert!(words(&asking).contains(part), "{query}: {asking}");
        decided(&mut client, &asking, "deny").await;
    }
    ran(&app, &mut client, "DELETE FROM day WHERE n = 1").await;
    // Rows that an earlier call inserted by the same session did not come from another partition.
    for _ in 0..4 {
        ran(&app, &mut client, "INSERT INTO day VALUES (1)").await;
        ran(&app, &mut client, "DELETE FROM day WHERE n = 1").await;
    }
    ran(&app, &mut client, "DELETE FROM ONLY elder").await;
    assert_eq!(app.count("SELECT (SELECT count(*) FROM agent.day) + (SELECT count(*) FROM agent.elder)").await, 3);
    app.check_replay().await;
}

#[tokio::test]
async fn nobody_is_asked_about_dropping_what_is_not_there() {
    let app = TestApp::start().await;
    let mut client = app.connect().await;
    let anew = "DROP TABLE IF EXISTS plan, draft CASCADE; CREATE TABLE plan (i int)";
    ran(&app, &mut client, "DROP VIEW IF EXISTS plan").await;
    ran(&app, &mut client, anew).await;
    assert_eq!(app.count("SELECT count(*) FROM pg_class WHERE relname = 'plan'").await, 1);
    let asking = asked(&app, &mut client, anew).await;
    assert!(words(&asking).contains("`plan` has no rows."), "{asking}");
    decided(&mut client, &asking, "approve").await;
    app.check_replay().await;
}

#[tokio::test]
async fn what_another_makes_while_a_statement_runs_is_not_dropped_unasked() {
    let app = TestApp::start().await;
    let mut client = app.connect().await;
    made(&app, &["CREATE TABLE gate (i int)", "INSERT INTO gate VALUES (1)"]).await;
    let mut holder = app.behind().await;
    sqlx::raw_sql("BEGIN; SELECT FROM agent.gate FOR UPDATE").execute(&mut holder).await.unwrap();
    let meanwhile = async {
        let waits = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()";
        app.until(waits, 1).await;
        for sql in [LATE, "COMMIT"] {
            sqlx::raw_sql(sql).execute(&mut holder).await.unwrap();
        }
    };
    let (asking, ()) = tokio::join!(asked(&app, &mut client, "UPDATE gate SET i = 3; DROP TABLE IF EXISTS late"), meanwhile);
    assert!(words(&asking).contains("Drops the table `late`."), "{asking}");
    assert_eq!(app.count("SELECT count(*) FROM agent.late").await, 2, "nothing happened");
    decided(&mut client, &asking, "deny").await;
    app.check_replay().await;
}

#[tokio::test]
async fn a_yes_to_dropping_what_is_not_there_is_none_to_what_came_meanwhile() {
    let app = TestApp::start().await;
    let mut client = app.connect().await;
    app.store().set_profile_policy("builder", Mode::Ask, false, &Budgets::default(), app.now()).await.unwrap();
    let asking = asked(&app, &mut client, "DROP TABLE IF EXISTS late").await;
    meanwhile(&app, LATE).await;
    let again = asked_again(&mut client, &asking).await;
    assert!(words(&again).contains("It deletes all 2 rows of `late`."), "{again}");
    meanwhile(&app, "INSERT INTO agent.late VALUES (3)").await;
    let more = asked_again(&mut client, &again).await;
    assert!(words(&more).contains("It deletes all 3 rows of `late`."), "{more}");
    decided(&mut client, &more, "approve").await;
    assert_eq!(app.count("SELECT count(*) FROM pg_class WHERE relname = 'late'").await, 0);
    app.check_replay().await;
}

#[tokio::test]
async fn an_empty_table_that_came_meanwhile_does_not_undo_a_yes() {
    let app = TestApp::start().await;
    let mut client = app.connect().await;
    let partitioned = ["CREATE TABLE log (i int) PARTITION BY LIST (i)", "CREATE TABLE log_1 PARTITION OF log FOR VALUES IN (1)"];
    made(&app, &partitioned).await;
    made(&app, &["INSERT INTO log VALUES (1), (1), (1)"]).await;
    let asking = asked(&app, &mut client, "DROP TABLE log").await;
    assert!(words(&asking).contains("It deletes all 3 rows of `log_1`."), "{asking}");
    let further = "DO $$ BEGIN
            EXECUTE format('SET LOCAL ROLE %I', current_database() || '_agent_tables');
            CREATE TABLE agent.log_2 PARTITION OF agent.log FOR VALUES IN (2);
        END $$";
    meanwhile(&app, further).await;
    decided(&mut client, &asking, "approve").await;
    assert_eq!(app.count("SELECT count(*) FROM pg_class WHERE relname IN ('log', 'log_1', 'log_2')").await, 0);
    app.check_replay().await;
}

#[tokio::test]
async fn rows_that_a_policy_hides_are_not_said_to_be_none() {
    let app = TestApp::start().await;
    let mut client = app.connect().await;
    made(&app, &["CREATE TABLE hidden (i int)", "INSERT INTO hidden VALUES (1), (2)"]).await;
    let hides = "ALTER TABLE agent.hidden ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
        CREATE POLICY nobody ON agent.hidden USING (false)";
    meanwhile(&app, hides).await;
    let asking = asked(&app, &mut client, "DROP TABLE hidden").await;
    assert!(words(&asking).contains("Drops the table `hidden`") && !words(&asking).contains("no rows"), "{asking}");
    decided(&mut client, &asking, "approve").await;
    assert_eq!(app.count("SELECT count(*) FROM pg_class WHERE relname = 'hidden'").await, 0);
    app.check_replay().await;
}

#[tokio::test]
async fn more_rows_than_were_shown_are_asked_about_again_and_fewer_are_not() {
    let app = TestApp::start().await;
    let mut client = app.connect().await;
    made(&app, &["CREATE TABLE k (i int)", "INSERT INTO k SELECT generate_series(1, 1900)"]).await;
    let asking = asked(&app, &mut client, "DELETE FROM k WHERE i > 10").await;
    assert!(words(&asking).contains("It deletes 1890 rows of `k`."), "{asking}");
    meanwhile(&app, "INSERT INTO agent.k SELECT generate_series(2001, 2100)").await;
    let again = asked_again(&mut client, &asking).await;
    assert!(words(&again).contains("It deletes 1990 rows of `k`.") && !words(&again).contains("1890"), "{again}");
    meanwhile(&app, "TRUNCATE agent.k; INSERT INTO agent.k SELECT generate_series(1, 1500)").await;
    let frames = decided(&mut client, &again, "approve").await;
    assert_eq!(of_type(&frames, "tool_result")["kept"], 1490, "fewer rows are within the yes");
    assert_eq!(app.count("SELECT count(*) FROM agent.k").await, 10);
    app.check_replay().await;
}
