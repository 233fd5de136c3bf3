//! Many conversations at once: none waits for another, and none makes another dearer.

use std::sync::Arc;

use reqwest::Method;
use tokio::sync::Notify;

use super::{Desk, writes};
use crate::support::{Reply, TestApp, text};

#[tokio::test]
async fn ten_instances_are_answered_side_by_side() {
    let desk = Desk::start().await;
    let contacts: Vec<String> = (0..10).map(|number| format!("+49170123450{number}")).collect();
    let mut ids = Vec::new();
    for contact in &contacts {
        ids.push(desk.begun(contact).await);
    }
    let before = desk.app.script.requests().len();
    let signals: Vec<_> = contacts.iter().map(|_| Arc::new(Notify::new())).collect();
    // Nobody is answered before all ten are asked for: one that waited for another would wait
    // forever.
    desk.app.script(signals.iter().map(|signal| Reply::After(signal.clone(), Box::new(writes("Good")))));
    desk.app.script(contacts.iter().map(|_| text("")));
    for contact in &contacts {
        desk.say(contact, "Yes").await;
    }
    desk.app.script.asked(before + 10).await;
    signals.iter().for_each(|signal| signal.notify_one());
    for id in ids {
        desk.until(id, "WAITING_FOR_REPLY").await;
    }
    desk.app.run_until_idle().await;
}

#[tokio::test]
async fn an_answer_and_a_list_cost_as_many_statements_with_ten_instances_as_with_one() {
    let desk = Desk { app: TestApp::counted().await };
    let mut costs = Vec::new();
    for number in 0..10 {
        let contact = format!("+49170123450{number}");
        let id = desk.begun(&contact).await;
        desk.app.advance(61);
        desk.app.run_until_idle().await;
        desk.app.sent();
        desk.app.script([writes("Good"), text("")]);
        desk.say(&contact, "Yes").await;
        desk.delivered(id, 3).await;
        desk.app.run_until_idle().await;
        let turn = desk
            .app
            .sent()
            .into_iter()
            .filter(|sent| sent.text.contains("store_step") || sent.text.contains("hold_contact"))
            .count();
        desk.done(Method::GET, "/instances", None).await;
        let list = desk.app.sent().into_iter().filter(|sent| sent.text.contains("relay_instances")).count();
        costs.push((turn, list));
    }
    assert!(costs.iter().all(|cost| *cost == costs[0]), "{costs:?}");
    assert!(costs[0].0 > 0 && costs[0].1 > 0, "{costs:?}");
}
