//! The end of a story: nothing is left over, and all tables follow from events.

use std::sync::atomic::Ordering;

use level3::clock::SeededRandom;
use level3::postgres::Database;
use level3::store::Store;

use super::super::{cluster, databases, in_time};
use super::behind::behind;
use super::{FIRST, TestApp};

/// Finds things that are not over, in words. A story that ends with one says why with
/// [`TestApp::leaves`]. A story may end while messages wait or are on their way: its clock stands.
/// A message is left over if its sender, which sends one at a time, has begun another since.
const LEFT: &str = "SELECT 'turn ' || turn_id || ' is ' || state FROM turns WHERE ended_at IS NULL
    UNION ALL SELECT 'turn ' || turn_id || ' is held by ' || lease_owner FROM turns WHERE lease_owner IS NOT NULL AND ended_at IS NOT NULL
    UNION ALL SELECT 'call ' || tool_call_id || ' of ' || name || ' has no outcome' FROM tool_calls WHERE state = 'proposed'
    UNION ALL SELECT 'approval ' || approval_id || ' waits' FROM approvals WHERE state = 'pending'
    UNION ALL SELECT 'operation ' || ordinal || ' of call ' || tool_call_id || ' is ' || state FROM operations WHERE state = 'intended'
    UNION ALL SELECT 'message ' || message_id || ' of ' || channel || ' is sending, and its sender went on' FROM relay_messages m
        WHERE state = 'sending' AND EXISTS (
            SELECT FROM relay_messages n WHERE (n.channel, n.sender) = (m.channel, m.sender) AND n.sending_at > m.sending_at)";
/// How many wake-ups are not those of what is to come.
const ASTRAY: &str = "SELECT count(*) FROM (SELECT kind, subject, at FROM wake_ups) w FULL JOIN to_come USING (kind, subject, at)
    WHERE w IS NULL OR to_come IS NULL";
/// How many running counts of what was spent are not those of the rows.
const MISCOUNTED: &str = "SELECT count(*) FROM (SELECT * FROM spent) s FULL JOIN spent_by_rows r
    USING (day, conversation_id, by_task, steps, input_tokens, output_tokens, cost_micros, unpriced, tool_calls)
    WHERE s IS NULL OR r IS NULL";
/// The same for the counts by user.
const MISCOUNTED_BY_USER: &str = "SELECT count(*) FROM (
        SELECT user_id, day, by_task, sum(steps) AS steps, sum(input_tokens) AS input_tokens, sum(output_tokens) AS output_tokens,
               sum(cost_micros) AS cost_micros, sum(unpriced) AS unpriced, sum(tool_calls) AS tool_calls
        FROM spent_of_users GROUP BY user_id, day, by_task) u
    FULL JOIN (
        SELECT user_id, day, by_task, sum(steps) AS steps, sum(input_tokens) AS input_tokens, sum(output_tokens) AS output_tokens,
               sum(cost_micros) AS cost_micros, sum(unpriced) AS unpriced, sum(tool_calls) AS tool_calls
        FROM spent GROUP BY user_id, day, by_task) s
    USING (user_id, day, by_task, steps, input_tokens, output_tokens, cost_micros, unpriced, tool_calls)
    WHERE u IS NULL OR s IS NULL";
/// The same for the bytes of lost rows that are kept.
const MISKEPT: &str = "SELECT count(*) FROM undo_quota WHERE kept <> (SELECT coalesce(sum(bytes), 0) FROM kept_calls)";

impl TestApp {
    /// Asserts that all tables follow from events, and that no event was changed. For the middle of
    /// a story: its end is looked at anyway.
    pub async fn check_replay(&self) {
        follows_from_events(self.store(), &mut self.behind().await).await;
    }

    /// The story ends with something that is not over, since `_why`.
    pub fn leaves(&self, _why: &str) {
        self.leaves.store(true, Ordering::Relaxed);
    }

    /// The story changes rows behind the server's back, since `_why`: they do not follow from
    /// events.
    pub fn rewrites(&self, _why: &str) {
        self.rewrote.store(true, Ordering::Relaxed);
    }
}

async fn follows_from_events(store: &Store, behind: &mut sqlx::PgConnection) {
    let found = level3::replay::check(store).await.unwrap();
    assert!(found.clean, "what was recorded is not what there is: {found:#?}");
    let astray: i64 = sqlx::query_scalar(ASTRAY).fetch_one(&mut *behind).await.unwrap();
    assert_eq!(astray, 0, "the wake-ups are not those of what is to come");
    for counted in [MISCOUNTED, MISCOUNTED_BY_USER, MISKEPT] {
        let miscounted: i64 = sqlx::query_scalar(counted).fetch_one(&mut *behind).await.unwrap();
        assert_eq!(miscounted, 0, "a running count is not what the rows say: {counted}");
    }
}

/// Looks at the end of a story, on connections of its own: those of the server belong to a runtime
/// that stands still.
async fn look_at_the_end(database: &str, leaves: bool, rewrote: bool) {
    let mut behind = behind(database).await;
    let left: Vec<String> = sqlx::query_scalar(LEFT).fetch_all(&mut behind).await.unwrap();
    assert!(leaves || left.is_empty(), "left over at the end of the story: {left:#?}");
    if !rewrote {
        let look = async {
            let store = Store::open(&Database::inside(cluster(), database), &SeededRandom::new(FIRST)).await.unwrap();
            follows_from_events(&store, &mut behind).await;
            store.close().await;
        };
        in_time("a look at the database", look).await;
    }
}

impl Drop for TestApp {
    fn drop(&mut self) {
        if std::thread::panicking() {
            return; // the test's database stays while the test cluster runs
        }
        assert_eq!(self.script.left(), 0, "replies of the script that nobody asked for");
        let (app, database, seed) = (self.app.take(), self.database.clone(), self.seed);
        let (leaves, rewrote) = (self.leaves.load(Ordering::Relaxed), self.rewrote.load(Ordering::Relaxed));
        // A thread of its own, since the test's runtime is about to end.
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async {
                drop(app);
                if seed != FIRST {
                    return;
                }
                look_at_the_end(&database, leaves, rewrote).await;
                databases::give_back(&database).await;
            });
        })
        .join()
        .unwrap();
    }
}
