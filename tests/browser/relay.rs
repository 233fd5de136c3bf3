//! Relay's place in the page: a conversation that waits for a person is seen, taken over, answered
//! from the test phone, and ends.

use serde_json::{Value, json};

use crate::driver::Page;
use crate::support::{TestApp, call, text};

const ANNA: &str = "+491701234567";

/// Asks the server from the page itself, as its own modules do.
async fn post(page: &Page, path: &str, body: Value) {
    let asked = format!(
        "fetch('/api/relay{path}', {{method: 'POST', headers: {{'content-type': 'application/json'}}, body: {}}})",
        json!(body.to_string())
    );
    page.run(&asked).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_conversation_that_needs_a_person_is_taken_over_and_ends() {
    let app = TestApp::start().await;
    let Some(page) = Page::open(&app).await else { return };
    page.go("relay").await;
    page.see("[data-testid=relay] [data-testid=empty]", "No conversations with contacts").await;
    page.see("[data-channel=loopback]", "Online").await;

    app.script([call("request_human_intervention", json!({"reason": "They want a discount."}))]);
    let order = json!({"objective": "Arrange a viewing", "contact": ANNA, "todos": ["Ask for a time"]});
    post(&page, "/instances", order).await;
    page.see("l3-relay-instance", "Needs you").await;
    page.click("l3-relay-instance a").await;
    page.see("[data-testid=relay-detail]", "They want a discount.").await;

    // The agent goes on from what a person said in its place.
    app.script([call("send_message", json!({"text": "Shall I put you down for Friday?"})), text("")]);
    page.find("[data-testid=relay-text]").await.send_keys("Ten percent, and Friday?").await.unwrap();
    page.click("[data-testid=relay-send]").await;
    page.see("l3-relay-message[data-by=operator]", "Ten percent, and Friday?").await;
    page.see("l3-relay-message[data-by=agent]", "Shall I put you down for Friday?").await;
    page.see("[data-testid=relay-state]", "Waiting for a reply").await;
    app.script([
        call("mark_todo_item", json!({"todo_id": 1, "status": "done"})),
        call("end_conversation", json!({"reason": "Friday suits them."})),
        text(""),
    ]);
    post(&page, "/loopback", json!({"address": ANNA, "text": "<b>Friday</b> is fine."})).await;
    page.see("l3-relay-message[data-by=contact]", "<b>Friday</b> is fine.").await;
    page.see("[data-testid=relay-state]", "Completed").await;
    page.see("[data-testid=relay-todos] [data-status=done]", "Ask for a time").await;
    page.see("[data-testid=relay-no-send]", "It has ended").await;
    page.picture("relay").await;
    app.script.forget();
    page.close().await;
}
