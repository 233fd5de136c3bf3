//! The database lets a row change its state only as the state machines say, whatever statement
//! writes it.

use std::collections::BTreeSet;

use level3::domain::{ApprovalState, CallState, Machine, OperationState, TurnState};
use sqlx::Executor;

use crate::support::{TestApp, text};

/// The transitions between two states that the machine knows.
fn ways<M: Machine>() -> BTreeSet<String> {
    let all = M::STATES.iter().flat_map(|from| M::INPUTS.iter().filter_map(|input| Some((*from, from.next(*input).ok()?.0))));
    all.filter(|(from, to)| from != to).map(|(from, to)| format!("{from} → {to}")).collect()
}

/// The transitions that the guard of its table allows.
async fn guarded<M: Machine>(app: &TestApp) -> BTreeSet<String> {
    let guard = "SELECT pg_get_triggerdef(oid) FROM pg_trigger WHERE tgname = 'guard_transitions' AND tgrelid = $1::regclass";
    let guard: String = sqlx::query_scalar(guard).bind(M::TABLE).fetch_one(&mut app.behind().await).await.unwrap();
    guard.split('\'').filter(|text| text.contains(" → ") && *text != " → ").map(str::to_owned).collect()
}

#[tokio::test]
async fn each_guard_knows_the_ways_of_its_machine() {
    let app = TestApp::start().await;
    assert_eq!(guarded::<TurnState>(&app).await, ways::<TurnState>());
    assert_eq!(guarded::<CallState>(&app).await, ways::<CallState>());
    assert_eq!(guarded::<ApprovalState>(&app).await, ways::<ApprovalState>());
    assert_eq!(guarded::<OperationState>(&app).await, ways::<OperationState>());
}

#[tokio::test]
async fn no_statement_takes_a_turn_a_way_that_there_is_not() {
    let app = TestApp::start().await;
    app.script([text("Hello.")]);
    app.connect().await.ask("hello").await;
    for (to, also) in [("queued", ""), ("running", ", lease_until = now()"), ("aborted", ""), ("failed", "")] {
        let back = format!("UPDATE turns SET state = '{to}'{also} WHERE turn_id = 1");
        let refused = app.behind().await.execute(sqlx::AssertSqlSafe(back)).await.unwrap_err();
        assert_eq!(refused.as_database_error().unwrap().code().as_deref(), Some("L3005"), "{refused}");
        assert!(refused.to_string().contains(&format!("turns: no way leads from completed to {to}")), "{refused}");
    }
    assert_eq!(app.count("SELECT count(*) FROM turns WHERE state = 'completed'").await, 1);
    app.check_replay().await;
}
