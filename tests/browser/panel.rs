//! The places beside Chat in a person's hands: secrets, the life of capabilities, and usage.

use serde_json::json;

use crate::driver::Page;
use crate::support::{TestApp, call, text};

const CANARY: &str = "canary-5e1d-value";

/// Everything the page holds that could keep a value: markup, fields, storage.
const HELD: &str = "return document.documentElement.outerHTML + [...document.querySelectorAll('input, textarea')].map(e => e.value) \
     + JSON.stringify({...sessionStorage}) + JSON.stringify({...localStorage}) + document.cookie";

#[tokio::test(flavor = "multi_thread")]
async fn a_secret_is_set_and_removed_and_its_value_stays_nowhere_on_the_page() {
    let app = TestApp::start().await;
    let Some(page) = Page::open(&app).await else { return };
    page.go("settings").await;
    page.see("[data-testid=secrets] .none:not([hidden])", "None yet").await;
    page.find("[data-testid=secret-name]").await.send_keys("api_key").await.unwrap();
    page.find("[data-testid=secret-value]").await.send_keys(CANARY).await.unwrap();
    page.click("[data-testid=secret-save]").await;
    page.see("[data-secret=API_KEY]", "Set ").await;
    let held = page.run(HELD).await;
    assert!(!held.as_str().unwrap().contains(CANARY));
    assert_eq!(app.count("SELECT count(*) FROM secrets WHERE name = 'API_KEY'").await, 1);

    page.click("[data-secret=API_KEY] [data-testid=secret-remove]").await;
    page.see("dialog", "Nothing uses it.").await;
    assert_eq!(app.count("SELECT count(*) FROM secrets").await, 1, "it is asked first");
    page.click("dialog [data-testid=confirm]").await;
    page.see("[data-testid=secrets] .none:not([hidden])", "None yet").await;
    assert_eq!(app.count("SELECT count(*) FROM secrets").await, 0);
    page.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_secret_that_is_refused_says_why_and_leaves_the_field_empty() {
    let app = TestApp::start().await;
    let Some(page) = Page::open(&app).await else { return };
    page.go("settings").await;
    page.find("[data-testid=secret-name]").await.send_keys("API_KEY").await.unwrap();
    page.find("[data-testid=secret-value]").await.send_keys("x").await.unwrap();
    // Past the browser's own check of the field.
    page.run("document.querySelector('[data-testid=secret-name]').removeAttribute('pattern')").await;
    page.find("[data-testid=secret-name]").await.send_keys("-9").await.unwrap();
    page.click("[data-testid=secret-save]").await;
    page.see("[data-testid=secrets] .problem", "API_KEY-9").await;
    assert_eq!(page.run("return document.querySelector('[data-testid=secret-value]').value").await, "");
    assert_eq!(app.count("SELECT count(*) FROM secrets").await, 0);
    page.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_capability_is_looked_at_tried_disabled_and_enabled_again() {
    let app = TestApp::start().await;
    app.script([
        call(
            "write_capability",
            json!({
                "name": "shout", "description": "Says it <b>louder</b>.",
                "code": "export default function shout({ text }) { return text.toUpperCase(); } // \u{202e}",
                "parameters_schema": {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]},
            }),
        ),
        text("Written."),
    ]);
    let Some(page) = Page::open(&app).await else { return };
    page.say("write it").await;
    page.see("[data-testid=message-assistant][data-final=true]", "Written.").await;
    page.go("capabilities").await;
    page.see("l3-capability[data-capability=shout]", "Says it <b>louder</b>.").await;
    page.see("l3-capability[data-capability=shout]", "Reaches nothing outside its sandbox.").await;
    page.click("l3-capability[data-capability=shout] a").await;
    page.find("[data-testid=schema-form] [data-field=text] textarea").await.send_keys("hello").await.unwrap();
    page.click("[data-testid=schema-submit]").await;
    page.see("[data-testid=try-result] [data-testid=result]", "HELLO").await;
    assert_eq!(app.count("SELECT count(*) FROM turns WHERE origin = 'command'").await, 1);
    page.see("[data-testid=source]", "toUpperCase").await;
    page.see("[data-testid=source]", "U+202E").await;

    page.click("[data-action=toggle]").await;
    page.find("[data-testid=capability-detail][data-enabled=false]").await;
    assert_eq!(app.count("SELECT count(*) FROM capabilities WHERE state = 'disabled'").await, 1);
    page.reload().await;
    page.find("[data-testid=capability-detail][data-enabled=false]").await;
    page.click("[data-action=toggle]").await;
    page.find("[data-testid=capability-detail][data-enabled=true]").await;
    page.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_task_is_added_moved_by_keyboard_and_ticked() {
    let app = TestApp::start().await;
    let Some(page) = Page::open(&app).await else { return };
    page.go("tasks").await;
    page.find("[data-testid=task-new]").await.send_keys("Water the plants").await.unwrap();
    page.click("[data-testid=task-add]").await;
    page.see("[data-group=undated] l3-task:not([data-saving])", "Water the plants").await;
    assert_eq!(app.count("SELECT count(*) FROM tasks WHERE due_at IS NULL").await, 1);
    let shifted = "const key = { key: 'ArrowRight', shiftKey: true, bubbles: true, cancelable: true };
        document.querySelector('l3-task [data-part=box]').dispatchEvent(new KeyboardEvent('keydown', key))";
    page.run(shifted).await;
    page.find("l3-task:not([data-saving]) time").await;
    assert_eq!(app.count("SELECT count(*) FROM tasks WHERE due_at IS NOT NULL").await, 1);
    page.click("l3-task [data-part=box]").await;
    page.find("[data-group=done] l3-task:not([data-saving])").await;
    assert_eq!(app.count("SELECT count(*) FROM tasks WHERE status = 'done'").await, 1);
    assert_eq!(app.count("SELECT count(*) FROM audit_entries WHERE tool = 'manage_tasks' AND verdict = 'allow'").await, 3);
    page.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn usage_is_a_table_and_what_has_no_rate_is_unknown_and_not_free() {
    let app = TestApp::start().await;
    app.script([call("execute_sql", json!({"query": "SELECT 1 AS one"})), text("One."), text("Two.")]);
    let Some(page) = Page::open(&app).await else { return };
    let usage = "location.hash = '#activity/usage'";
    page.run(usage).await;
    page.see("[data-testid=usage]", "Nothing has been used yet").await;
    page.go("chat").await;
    page.say("count").await;
    page.see("[data-testid=message-assistant][data-final=true]", "One.").await;
    page.run(usage).await;
    page.see("[data-testid=usage] td", "unknown").await;
    page.see("[data-testid=usage]", "Tokens read").await;
    page.go("chat").await;
    page.say("again").await;
    page.see("[data-testid=message-assistant][data-final=true]", "Two.").await;
    page.run(usage).await;
    let requests = "return document.querySelector('[data-testid=usage] tbody td').textContent";
    page.see("[data-testid=usage] tbody td", "3").await;
    assert_eq!(page.run(requests).await, "3");
    page.close().await;
}
