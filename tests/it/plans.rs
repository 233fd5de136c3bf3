//! A turn does not read more because there is more: at a hundred times the data of a day no table
//! that grows is read from end to end, and the long conversation reads what a short one reads.

use std::collections::BTreeMap;

use reqwest::Method;
use serde_json::{Value, json};
use sqlx::{AssertSqlSafe, Executor, PgConnection, query_as, query_scalar};

use crate::support::{TestApp, api, call, kinds, text};
use crate::undo::{made, ran};

/// The tables that grow with every turn.
const GROW: [&str; 17] = [
    "approvals",
    "audit_entries",
    "broken_answers",
    "conversations",
    "events",
    "messages",
    "operations",
    "reviews",
    "spent",
    "spent_of_users",
    "steps",
    "summaries",
    "tasks",
    "tool_calls",
    "turns",
    "v1_requests",
    "wake_ups",
];

/// The statement that every step runs as the body of a function, with arguments for its variables.
const STANDING: (&str, &str) = (
    "standing",
    "{turn}, {conversation}, 51, '2026-11-20T09:00:00Z', 10, '2026-11-08', '2026-11-20T08:00:00Z', TRUE, 7, 'builder', NULL, {known}",
);

/// The messages that the caller of it has: none, or all but those of the last turn.
const KNOWN: [&str; 2] = ["NULL, NULL", "{turn} - 1, 1000000000"];

/// The others, by a part of their text, with arguments for a turn `{turn}` of a conversation
/// `{conversation}`.
const HOT: [(&str, &str); 5] = [
    ("SELECT catalogue_version() AS \"version!\"\0", ""),
    ("payload, created_at FROM events WHERE conversation_id = $1 AND sequence > $2", "{conversation}, 1000000, 200"),
    ("AND sequence > greatest($2, (SELECT anew_sequence", "{conversation}, 1000000, 200"),
    ("SELECT c.request_id AS \"request_id!\"", "{turn}, {conversation}, FALSE"),
    ("SELECT last_sequence FROM conversations", "{conversation}"),
];

/// 30,000 turns, every sixth of them in the main conversation, eight in each other one; a task for
/// each, of which the owner has those that are done and 500 open ones. The others are of people who
/// do not exist: with other people, nobody would come in without a password.
const DATA: &str = "
    SET session_replication_role = replica;
    CREATE TEMP TABLE main AS SELECT conversation_id AS id FROM conversations WHERE is_main AND profile = 'builder';
    INSERT INTO conversations (conversation_id, profile, created_at) SELECT 1000 + g, 'builder', now() FROM generate_series(0, 2999) g;
    CREATE TEMP TABLE t AS
        SELECT g, 1000 + g AS turn, CASE WHEN g % 6 = 0 THEN (SELECT id FROM main) ELSE 1000 + g % 3000 END AS conversation,
               '2026-01-01T00:00:00Z'::timestamptz + g * interval '15 minutes' AS at
        FROM generate_series(0, 29999) g;
    INSERT INTO turns (turn_id, conversation_id, origin, state, fence, created_at, ended_at)
        SELECT turn, conversation, 'message', 'completed', 1, at, at FROM t;
    INSERT INTO steps (step_id, turn_id, number, model, finish_reason, input_tokens, output_tokens, created_at)
        SELECT 100000 + 2 * g + n, turn, n + 1, 'm', 'stop', 10, 10, at FROM t, generate_series(0, 1) n;
    INSERT INTO tool_calls (tool_call_id, turn_id, step_id, position, request_id, name, arguments, state, created_at, ended_at)
        SELECT 100000 + g, turn, 100000 + 2 * g, 0, 'c', 'execute_sql', '{}', 'done', at, at FROM t;
    INSERT INTO messages (message_id, conversation_id, turn_id, role, content, step_id, tool_call_id, created_at)
        SELECT 1000000 + 4 * g + n, conversation, turn, (ARRAY['user', 'assistant', 'tool', 'assistant'])[n + 1], 'words of ' || g,
               CASE n WHEN 1 THEN 100000 + 2 * g WHEN 3 THEN 100001 + 2 * g END, CASE n WHEN 2 THEN 100000 + g END, at
        FROM t, generate_series(0, 3) n;
    INSERT INTO events (conversation_id, sequence, position, kind, payload, created_at, hash)
        SELECT conversation, 1000 + 4 * g + n, 1000000 + 4 * g + n,
               (ARRAY['turn_queued', 'turn_started', 'step_answered', 'turn_ended'])[n + 1], '{}', at, ''
        FROM t, generate_series(0, 3) n;
    UPDATE conversations c SET last_sequence = (SELECT max(sequence) FROM events e WHERE e.conversation_id = c.conversation_id)
        WHERE EXISTS (SELECT FROM events e WHERE e.conversation_id = c.conversation_id);
    INSERT INTO audit_entries (turn_id, tool_call_id, tool, proposal_sha256, verdict, outcome, created_at)
        SELECT turn, 100000 + g, 'execute_sql', '', 'allow', 'done', at FROM t;
    INSERT INTO operations (tool_call_id, ordinal, kind, class, request_sha256, request, state, created_at, ended_at)
        SELECT 100000 + g, 1, 'sql', 'T', '', '{}', 'done', at, at FROM t WHERE g % 3 = 0;
    INSERT INTO reviews (tool_call_id, turn_id, model, created_at) SELECT 100000 + g, turn, 'm', at FROM t WHERE g % 5 = 0;
    INSERT INTO broken_answers (turn_id, model, input_tokens, output_tokens, counted, created_at)
        SELECT turn, 'm', 1, 1, TRUE, at FROM t WHERE g % 5 = 0;
    INSERT INTO summaries (conversation_id, turn_id, up_to_turn, content, model, created_at)
        SELECT conversation, turn, turn - 6, CASE WHEN g % 24 = 0 THEN 'said' END, 'm', at FROM t WHERE g % 12 = 0;
    INSERT INTO approvals (turn_id, tool_call_id, conversation_id, proposal_sha256, shown, state, expires_at, created_at, decided_at)
        SELECT turn, 100000 + g, conversation, '', '{}', 'denied', at, at, at FROM t WHERE g % 5 = 0;
    INSERT INTO v1_requests (conversation_id, turn_id, accepted_sequence, asked, instructions, stated, created_at)
        SELECT conversation, turn, 1, '', '', FALSE, at FROM t WHERE g % 5 = 1;
    INSERT INTO tasks (conversation_id, user_id, title, status, due_at, created_at, updated_at)
        SELECT conversation, CASE WHEN g % 3 = 0 THEN 1 + g / 3 % 20 ELSE 1 END, 'a task', CASE WHEN g % 3 = 0 THEN 'pending' ELSE 'done' END,
               at + interval '2 years', at, at FROM t;
    INSERT INTO wake_ups (kind, subject, at) SELECT kind, subject, at FROM to_come;
    INSERT INTO spent SELECT * FROM spent_by_rows;
    INSERT INTO spent_of_users SELECT user_id, day, by_task, conversation_id % 8, sum(steps), sum(input_tokens), sum(output_tokens),
        sum(cost_micros), sum(unpriced), sum(tool_calls) FROM spent GROUP BY 1, 2, 3, 4;
    SELECT setval(pg_get_serial_sequence('turns', 'turn_id'), 100000), setval(pg_get_serial_sequence('steps', 'step_id'), 1000000),
           setval(pg_get_serial_sequence('tool_calls', 'tool_call_id'), 1000000), setval('event_positions', 10000000),
           setval(pg_get_serial_sequence('messages', 'message_id'), 10000000),
           setval(pg_get_serial_sequence('conversations', 'conversation_id'), 100000);
    SET session_replication_role = origin;
    ANALYZE;";

/// A server with much data, stopped.
async fn filled() -> TestApp {
    fill(TestApp::start().await).await
}

/// The same of a server that runs.
pub async fn fill(mut app: TestApp) -> TestApp {
    app.leaves("the rows were not made by turns");
    app.rewrites("the rows were not made by turns");
    drop(app.connect().await); // the main conversation is there from now on
    app.stop().await;
    app.behind().await.execute(DATA).await.unwrap();
    app
}

/// Waits until the server's connections have said what they read. They say it when they end.
async fn quiet(behind: &mut PgConnection) {
    let others = "SELECT count(*) FROM pg_stat_activity
                  WHERE datname = current_database() AND backend_type = 'client backend' AND pid <> pg_backend_pid()";
    while query_scalar::<_, i64>(others).fetch_one(&mut *behind).await.unwrap() > 0 {
        tokio::task::yield_now().await;
    }
}

/// How many rows of a table were read.
async fn rows_read(behind: &mut PgConnection, table: &str) -> i64 {
    quiet(behind).await;
    let read = "SELECT (seq_tup_read + coalesce(idx_tup_fetch, 0))::bigint FROM pg_stat_user_tables
                WHERE schemaname = 'level3' AND relname = $1";
    query_scalar(read).bind(table).fetch_one(behind).await.unwrap()
}

/// How many rows of a table a server reads for this, beyond those that it reads at its start. It
/// is stopped before and after.
pub async fn reads(app: &mut TestApp, table: &str, deed: impl AsyncFnOnce(&TestApp)) -> i64 {
    let mut behind = app.behind().await;
    let before = rows_read(&mut behind, table).await;
    app.start_again().await;
    app.stop().await;
    let start = rows_read(&mut behind, table).await - before;
    app.start_again().await;
    deed(&*app).await;
    app.stop().await;
    rows_read(&mut behind, table).await - before - 2 * start
}

/// How often each of the tables was read from end to end.
async fn scans(behind: &mut PgConnection) -> BTreeMap<String, i64> {
    quiet(behind).await;
    let scans = "SELECT relname::text, seq_scan FROM pg_stat_user_tables WHERE schemaname = 'level3' AND relname = ANY($1)";
    query_as(scans).bind(GROW.map(str::to_owned).to_vec()).fetch_all(behind).await.unwrap().into_iter().collect()
}

/// The scans between two counts.
fn between(before: &BTreeMap<String, i64>, after: &BTreeMap<String, i64>) -> BTreeMap<String, i64> {
    after.iter().map(|(table, count)| (table.clone(), count - before[table])).filter(|(_, count)| *count > 0).collect()
}

#[tokio::test]
async fn a_turn_reads_no_table_that_grows_from_end_to_end() {
    let mut app = filled().await;
    let mut behind = app.behind().await;
    let mut counts = vec![scans(&mut behind).await];
    for turns in [false, true] {
        app.start_again().await;
        let mut client = app.connect().await;
        if turns {
            app.script([
                call("execute_sql", json!({"query": "SELECT 1 AS one"})),
                call("manage_tasks", json!({"action": "create", "title": "Water the plants"})),
                text("done"),
            ]);
            assert_eq!(kinds(&client.ask("three things").await).last().unwrap(), "turn completed");
        }
        drop(client);
        app.stop().await;
        counts.push(scans(&mut behind).await);
    }
    // A start looks at more than a turn does.
    let (start, turn) = (between(&counts[0], &counts[1]), between(&counts[1], &counts[2]));
    let more: Vec<_> = turn.iter().filter(|(table, count)| start.get(*table).is_none_or(|started| started < *count)).collect();
    assert!(more.is_empty(), "read from end to end in a turn, and not at a start: {more:?}; at a start: {start:?}");
}

/// The text of the statement that has this part; a part that ends with a zero is the whole text.
fn statement(part: &str) -> String {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(".sqlx");
    let read = |file: std::io::Result<std::fs::DirEntry>| -> String {
        let described: Value = serde_json::from_slice(&std::fs::read(file.unwrap().path()).unwrap()).unwrap();
        described["query"].as_str().unwrap().to_owned()
    };
    let fits = |text: &String| part.strip_suffix('\0').map_or_else(|| text.contains(part), |whole| text == whole);
    let found: Vec<_> = std::fs::read_dir(folder).unwrap().map(read).filter(fits).collect();
    assert_eq!(found.len(), 1, "{part} stands for one statement");
    found.into_iter().next().unwrap()
}

/// The text of a function that is one statement, as a statement of its own: its variables, in their
/// order, are parameters.
async fn body(behind: &mut PgConnection, function: &str) -> (String, String) {
    let source: String =
        query_scalar("SELECT prosrc FROM pg_proc WHERE proname = $1").bind(function).fetch_one(behind).await.unwrap();
    let (declared, rest) = source.split_once("BEGIN\n    RETURN (").expect("it returns a statement");
    let mut text = rest.rsplit_once(");\nEND").expect("the statement ends").0.to_owned();
    let mut types = Vec::new();
    for line in declared.lines().filter(|line| line.contains(" CONSTANT ")) {
        let (name, rest) = line.trim().split_once(" CONSTANT ").unwrap();
        types.push(rest.split_once(" :=").unwrap().0);
        text = text.replace(name, &format!("${}", types.len()));
    }
    assert!(!text.contains("v_"), "a variable of {function} is no parameter: {text}");
    (text, format!("({})", types.join(", ")))
}

/// The parts of a plan whose cost may grow with the data, as they were carried out.
#[derive(Debug, Default)]
pub struct Looked {
    /// The tables that grow and were read from end to end.
    pub scanned: Vec<String>,
    /// The most rows that one part read of a table that grows, those included that it left out.
    pub read: f64,
    /// The most rows that were sorted.
    pub sorted: f64,
    /// How often a conversation was looked up.
    looked_up: f64,
}

impl Looked {
    /// A look at a plan of `EXPLAIN (ANALYZE, FORMAT JSON)`.
    pub fn at(plan: &Value) -> Self {
        let mut looked = Self::default();
        looked.look(plan);
        looked
    }

    fn look(&mut self, plan: &Value) {
        // A part that is not wanted stands in the plan and is not run.
        if plan["Actual Loops"] == 0 {
            return;
        }
        let number = |name: &str| plan[name].as_f64().unwrap_or_default();
        let table = plan["Relation Name"].as_str().unwrap_or_default();
        if table == "conversations" {
            self.looked_up = self.looked_up.max(number("Actual Loops"));
        }
        if GROW.contains(&table) {
            // Postgres counts these for each time that the part was run.
            let rows = number("Actual Rows") + number("Rows Removed by Filter") + number("Rows Removed by Index Recheck");
            self.read = self.read.max(rows * number("Actual Loops"));
            if plan["Node Type"] == "Seq Scan" {
                self.scanned.push(table.to_owned());
            }
        }
        let sorts = plan["Node Type"].as_str().is_some_and(|kind| kind.ends_with("Sort"));
        for part in plan["Plans"].as_array().into_iter().flatten() {
            // A sort for the first few of many gives few, and sorts all that it is given.
            if sorts {
                self.sorted = self.sorted.max(part["Actual Rows"].as_f64().unwrap_or_default());
            }
            self.look(part);
        }
    }
}

#[tokio::test]
async fn a_step_of_a_long_conversation_reads_what_one_of_a_short_one_reads() {
    let app = filled().await;
    let mut behind = app.behind().await;
    behind.execute("SET plan_cache_mode = force_generic_plan").await.unwrap();
    // The newest turn of the main conversation, and of one that has eight turns.
    let newest = "SELECT max(turn_id), conversation_id FROM turns WHERE conversation_id IN (
                      SELECT conversation_id FROM conversations WHERE is_main OR conversation_id = 1001) GROUP BY 2 ORDER BY 2";
    let turns: Vec<(i64, i64)> = query_as(newest).fetch_all(&mut behind).await.unwrap();
    let standing = body(&mut behind, STANDING.0).await;
    let hot = HOT.into_iter().map(|(part, arguments)| (part, (statement(part), String::new()), arguments));
    let standing = KNOWN.map(|known| (STANDING.0, standing.clone(), STANDING.1.replace("{known}", known)));
    let all = standing.into_iter().chain(hot.map(|(part, statement, arguments)| (part, statement, arguments.to_owned())));
    for (n, (part, (text, types), arguments)) in all.enumerate() {
        behind.execute(AssertSqlSafe(format!("PREPARE hot{n}{types} AS {text}"))).await.unwrap();
        let mut pages = Vec::new();
        for (turn, conversation) in &turns {
            let arguments = arguments.replace("{turn}", &turn.to_string()).replace("{conversation}", &conversation.to_string());
            let arguments = if arguments.is_empty() { arguments } else { format!("({arguments})") };
            let explain = format!("EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) EXECUTE hot{n}{arguments}");
            // The first run brings pages in and plans.
            behind.execute(AssertSqlSafe(explain.clone())).await.unwrap();
            let plan: Value = query_scalar(AssertSqlSafe(explain)).fetch_one(&mut behind).await.unwrap();
            let plan = &plan[0]["Plan"];
            let Looked { scanned, sorted, looked_up, .. } = Looked::at(plan);
            assert!(looked_up <= 4.0, "{part} looks {looked_up} conversations up, one for each row of something\n{plan:#}");
            assert!(scanned.is_empty(), "{part} reads from end to end: {scanned:?}\n{plan:#}");
            assert!(sorted <= 100.0, "{part} sorts {sorted} rows\n{plan:#}");
            pages.push(plan["Shared Hit Blocks"].as_u64().unwrap() + plan["Shared Read Blocks"].as_u64().unwrap());
        }
        // The short one has 32 messages, and a step reads 51 at most.
        assert!(
            pages[0] <= 2 * pages[1] + 40,
            "{part}: {} pages in the long conversation, {} in the short one",
            pages[0],
            pages[1]
        );
    }
}

#[tokio::test]
async fn a_stop_in_a_long_chat_does_not_look_through_it_for_the_beginning_of_a_call() {
    let mut app = filled().await;
    // Other conversations have beginnings, and the long one has none.
    let elsewhere = "SET session_replication_role = replica;
        UPDATE events SET kind = 'call_begun' WHERE kind = 'step_answered'
            AND conversation_id <> (SELECT conversation_id FROM conversations WHERE is_main AND profile = 'builder');
        SET session_replication_role = origin;
        ANALYZE";
    app.behind().await.execute(elsewhere).await.unwrap();
    let read = reads(&mut app, "events", async |app: &TestApp| {
        app.script([call("execute_sql", json!({"query": "DROP FUNCTION IF EXISTS notes()"}))]);
        let mut client = app.connect().await;
        client.say("tidy up").await;
        client.asked().await;
        client.stop().await;
        client.turn().await;
    });
    let read = read.await;
    assert!(read < 5_000, "{read} of the 20000 events were read");
}

#[tokio::test]
async fn a_call_that_loses_rows_does_not_add_up_all_that_was_kept_before() {
    let mut app = TestApp::start().await;
    app.rewrites("no call lost most of the rows that are kept");
    made(&app, &["CREATE TABLE seen (n int)", "INSERT INTO seen VALUES (1), (2)"]).await;
    app.stop().await;
    let kept = "SET session_replication_role = replica;
        INSERT INTO kept_calls (kept_id, room, tool_call_id, rows, bytes, created_at)
            SELECT 1000 + g, 0, 1000 + g, 1, 10, now() FROM generate_series(1, 20000) g;
        UPDATE undo_quota SET kept = 200000;
        SET session_replication_role = origin;
        ANALYZE";
    app.behind().await.execute(kept).await.unwrap();
    let read = reads(&mut app, "kept_calls", async |app: &TestApp| {
        let mut client = app.connect().await;
        assert_eq!(ran(app, &mut client, "UPDATE seen SET n = 3 WHERE n = 1").await["kept"], 1);
    });
    let read = read.await;
    assert!(read < 1_000, "{read} of the 20000 calls with kept rows were read");
}

#[tokio::test]
async fn the_list_of_conversations_does_not_read_the_words_of_turns_that_began_by_themselves() {
    let mut app = filled().await;
    let tasks = "SET session_replication_role = replica;
        UPDATE turns SET origin = 'task'
            WHERE conversation_id = (SELECT conversation_id FROM conversations WHERE is_main AND profile = 'builder');
        SET session_replication_role = origin;
        ANALYZE";
    app.behind().await.execute(tasks).await.unwrap();
    let read = reads(&mut app, "messages", async |app: &TestApp| {
        let (status, listed) = api::ask(app, Method::GET, "/api/conversations", None).await;
        let listed = listed["conversations"].as_array().unwrap();
        let titles = |main: bool| listed.iter().filter(move |one| one["main"] == main).map(|one| &one["title"]);
        assert!(status == 200 && titles(true).any(Value::is_null) && titles(false).any(Value::is_string), "{listed:?}");
    });
    let read = read.await;
    assert!(read < 2_000, "{read} of the 20000 messages were read");
}
