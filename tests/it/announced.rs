//! A commit is announced even if its caller is dropped in that very moment, so that no page stays
//! in the dark.

use std::pin::pin;

use futures::FutureExt;
use level3::domain::{OperationKind, Outcome};
use level3::facts::Event;
use level3::store::{AgentLogin, CallEnd, Judgement};
use serde_json::json;
use sqlx::AssertSqlSafe;

use crate::operations::Held;
use crate::support::{TestApp, in_time};

/// Polls `caller` until `query` counts the row that it commits, and drops it without another poll.
async fn dropped_as_it_commits(app: &TestApp, caller: impl Future, query: &str) {
    // In one statement: between two, the other connections could commit and fall idle.
    let look = format!(
        "SELECT ({query}) > 0, EXISTS (SELECT FROM pg_stat_activity
             WHERE datname = current_database() AND backend_type = 'client backend' AND state = 'active' AND pid <> pg_backend_pid())"
    );
    let mut behind = app.behind().await;
    let mut caller = pin!(caller);
    loop {
        assert!(caller.as_mut().now_or_never().is_none(), "it was not seen to commit before it heard of it");
        // Postgres gets all the time it needs for the statement that it got last. It may not have
        // read it yet, so one look at connections that do nothing is not enough.
        let mut idle = 0;
        while idle < 10 {
            let looking = sqlx::query_as::<_, (bool, bool)>(AssertSqlSafe(look.clone()));
            let (committed, busy) = looking.fetch_one(&mut behind).await.unwrap();
            if committed {
                return;
            }
            idle = if busy { 0 } else { idle + 1 };
        }
    }
}

async fn heard<T>(waiting: impl Future<Output = T>) -> T {
    in_time("a word to the others", waiting).await
}

#[tokio::test]
async fn the_end_of_a_turn_is_told_although_the_runner_let_go_of_it_in_that_moment() {
    let held = Held::start().await;
    let (now, mut events) = (held.app.now(), held.store.signals().events());
    let end = CallEnd { judged: Judgement::Permitted(&held.permit), tool: "mine", outcome: Outcome::ok("1") };
    let ending = held.store.end_call(&held.lease, end, now);
    dropped_as_it_commits(&held.app, ending, "SELECT count(*) FROM tool_calls WHERE state = 'done'").await;
    assert!(matches!(&heard(events.recv()).await.unwrap().event, Event::ToolCallEnded(ended) if ended.call == held.call));
    let failing = held.store.fail_turn(&held.lease, level3::domain::Failure::Server, "over", now);
    dropped_as_it_commits(&held.app, failing, "SELECT count(*) FROM turns WHERE state = 'failed'").await;
    let ended = async { while !matches!(events.recv().await.unwrap().event, Event::TurnEnded(_)) {} };
    heard(ended).await;
    assert!(level3::replay::check(&held.store).await.unwrap().clean);
}

#[tokio::test]
async fn a_statement_that_commits_without_its_caller_makes_everybody_read_on() {
    let held = Held::start().await;
    let (now, mut elsewhere) = (held.app.now(), held.store.signals().elsewhere());
    let text = "CREATE TABLE t (id int)";
    let request = json!({ "sql": text });
    let operation = held.operation(1, OperationKind::Sql, &request);
    let running = held.store.run_operation_sql(&held.lease, operation, text, &[], AgentLogin::Tables, now);
    dropped_as_it_commits(&held.app, running, "SELECT count(*) FROM operations WHERE state = 'done'").await;
    assert_eq!(heard(elsewhere.next()).await, None, "anything may have happened");
}
