//! The database lets a row change its state only as the state machines say, whatever statement
//! writes it.

use std::collections::BTreeSet;

use level3::domain::campaign::CampaignStatus;
use level3::domain::relay::DeliveryState;
use level3::domain::{ApprovalState, CallState, InstanceState, Machine, OperationState, TimerState, TurnState, VoiceState};
use level3::store::NewStep;
use sqlx::Executor;

use crate::operations::Held;
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
    assert_eq!(guarded::<TimerState>(&app).await, ways::<TimerState>());
    assert_eq!(guarded::<InstanceState>(&app).await, ways::<InstanceState>());
    assert_eq!(guarded::<DeliveryState>(&app).await, ways::<DeliveryState>());
    assert_eq!(guarded::<CampaignStatus>(&app).await, ways::<CampaignStatus>());
    assert_eq!(guarded::<VoiceState>(&app).await, ways::<VoiceState>());
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

#[tokio::test]
async fn the_end_of_a_turn_cuts_an_open_call_although_one_statement_does_not() {
    let held = Held::start().await;
    let step = NewStep { number: 2, model: "m", finish_reason: "stop", content: "done", last: true, ..NewStep::default() };
    let stored = held.store.store_step(&held.lease, step, held.app.now()).await.unwrap();
    assert!(stored.over && stored.calls.is_empty());
    assert_eq!(held.app.count("SELECT count(*) FROM tool_calls WHERE state = 'failed'").await, 1);
    let once = "SELECT count(*) FROM steps JOIN turns USING (turn_id) WHERE number = 2 AND state = 'completed'";
    assert_eq!(held.app.count(once).await, 1, "nothing of the first try is left");
    held.end().await;
}
