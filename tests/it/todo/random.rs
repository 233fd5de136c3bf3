//! A long life: a thousand calls that a model makes up, and the server dies in the middle of some.

use level3::domain::{Channel, ConversationId, Decision};
use level3::model::Request;
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::TestRunner;

use super::properties::any_call;
use super::{STEPS, breakdown};
use crate::support::{Reply, TestApp, calls, in_time, text};

/// The turns, each with [`CALLS`] calls.
const TURNS: usize = 100;
const CALLS: usize = 10;

/// A model that breaks tasks down, and else says nothing that matters.
fn answered(request: &Request) -> Reply {
    if request.tools.is_empty() { breakdown(&STEPS) } else { text("I see.") }
}

/// Answers every question until no turn is left: two of three with a yes.
async fn settle(app: &TestApp) {
    let mut events = app.store().signals().events();
    while app.store().open_turns().await.unwrap() > 0 {
        let waiting: Vec<(_, ConversationId)> = app.store().owners().waiting_approvals().await.unwrap();
        match waiting.first() {
            Some((id, _)) => {
                let decision = if id.0 % 3 == 0 { Decision::Deny { reason: None } } else { Decision::Approve { always: false } };
                app.store().owners().decide(*id, decision, Channel::Api, app.now()).await.unwrap();
            }
            None => {
                in_time("progress of the turns", events.recv()).await.ok();
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_thousand_calls_of_any_kind_with_kills_between_leave_what_was_recorded() {
    let mut app = TestApp::start().await;
    let mut runner = TestRunner::deterministic();
    let lea = app.store().owners().main_conversation_of("lea", app.now()).await.unwrap();
    for turn in 0..TURNS {
        let asked: Vec<_> = (0..CALLS).map(|_| any_call().new_tree(&mut runner).unwrap().current()).collect();
        app.script([calls(&asked)]);
        app.script((0..6 * CALLS).map(|_| Reply::By(answered)));
        let before = app.script.requests().len();
        app.store().owners().accept_message(lea, None, "go on", app.now()).await.unwrap();
        if turn % 10 == 9 {
            app.script.asked(before + 1).await;
            app.crash().await;
            app.start_again().await;
        }
        settle(&app).await;
        app.script.forget();
        app.advance(97);
    }
    assert_eq!(app.count("SELECT count(*) FROM turns WHERE state <> 'completed'").await, 0);
    assert!(app.count("SELECT count(*) FROM tool_calls").await >= 900, "a kill may lose a step that was not stored");
    let kinds = ["task_changed", "item_named", "timer_changed", "task_broken_down"];
    let recorded =
        "SELECT string_agg(kind || ' ' || times, ', ') FROM (SELECT kind, count(*) AS times FROM events GROUP BY 1) kinds";
    let recorded: String = sqlx::query_scalar(recorded).fetch_one(&mut app.behind().await).await.unwrap();
    assert!(kinds.iter().all(|kind| recorded.contains(kind)), "{recorded}");
    app.check_replay().await;
}
