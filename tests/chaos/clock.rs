//! The clock jumps while turns run: a day ahead, and an hour back. A real process has the machine's
//! clock, which is not ours to turn, so this is told inside the test, with the server whole and a
//! clock turned by hand.

use level3::domain::{Budget, Budgets, Mode};
use serde_json::json;

use crate::support::{Reply, TestApp, call, text};

#[tokio::test]
async fn a_clock_that_jumps_ahead_and_back_in_a_turn_runs_nothing_twice() {
    let app = TestApp::start().await;
    // A turn has half an hour, and a day would be over it.
    let turn = Budget { wall_seconds: None, ..Budget::default() };
    let budgets = Budgets { turn, ..Budgets::default() };
    app.store().set_profile_policy("builder", Mode::Smart, false, &budgets, app.now()).await.unwrap();
    let mut client = app.connect().await;
    app.script([call("execute_sql", json!({"query": "CREATE TABLE log (n int)"})), text("ready")]);
    client.ask("prepare").await;
    let due = (app.now() + chrono::TimeDelta::hours(2)).to_rfc3339();
    let create = json!({"action": "create", "title": "once", "due_at": due});
    app.script([call("manage_tasks", create), text("noted")]);
    client.ask("remind me").await;

    let late = std::sync::Arc::<tokio::sync::Notify>::default();
    let insert = |n: i32| call("execute_sql", json!({"query": format!("INSERT INTO log VALUES ({n})")}));
    app.script([Reply::After(late.clone(), Box::new(insert(1))), insert(2), insert(3)]);
    app.script((0..9).map(|_| text("done")));
    let asked = app.script.requests().len();
    client.say("write").await;
    app.script.asked(asked + 1).await;
    // A day at once: the lease is long over, and the task falls due; its turn queues behind. The
    // turn is in hand here, so it is not taken up again, and the late answer counts.
    app.advance(24 * 3600);
    app.advance(-3600);
    late.notify_one();
    client.until(|frame| frame["type"] == "turn" && frame["origin"] == "task").await;
    app.run_until_idle().await;
    // Back to before it was due, and past it again: it does not fall due twice.
    app.advance(-24 * 3600);
    app.advance(48 * 3600);
    app.run_until_idle().await;
    app.script.forget();
    let rows = app.count("SELECT count(*) FROM agent.log").await;
    let done = app.count("SELECT count(*) FROM tool_calls WHERE state = 'done' AND arguments LIKE '%INTO log%'").await;
    assert_eq!((rows, done), (3, 3), "each call once");
    assert_eq!(app.count("SELECT count(*) FROM turns WHERE fence > 1").await, 0, "no turn was taken up twice");
    assert_eq!(app.count("SELECT count(*) FROM (SELECT n FROM agent.log GROUP BY n HAVING count(*) > 1) x").await, 0);
    assert_eq!(app.count("SELECT count(*) FROM events WHERE kind = 'tasks_fired'").await, 1);
    assert_eq!(app.count("SELECT count(*) FROM turns WHERE state <> 'completed'").await, 0);
}
