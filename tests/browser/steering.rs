//! A person who speaks while a turn runs is heard, a stop leaves what was written, and no draft is
//! lost.

use std::sync::Arc;

use serde_json::json;
use tokio::sync::Notify;

use crate::driver::Page;
use crate::support::{Reply, TestApp, call, text};

const SHIFT: char = '\u{e008}';
const ALT: char = '\u{e00a}';
const ENTER: char = '\u{e007}';
const NULL: char = '\u{e000}';
const COMPOSER: &str = "[data-testid=composer]";
/// Reads what is in the field.
pub const VALUE: &str = "return document.querySelector('[data-testid=composer]').value";
/// Reads what a person and the assistant said, in order.
pub const SAID: &str = "return [...document.querySelectorAll('[data-testid=message-user] .bubble > :not(.visually-hidden), [data-testid=message-assistant] .markdown')]\
                    .map(e => e.innerText.trim())";

async fn types(page: &Page, keys: impl Into<String>) {
    page.find(COMPOSER).await.send_keys(&keys.into()).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn shift_and_enter_show_a_message_to_the_running_turn_and_are_a_new_line_otherwise() {
    let app = TestApp::start().await;
    let signal = Arc::new(Notify::new());
    app.script([Reply::After(Arc::clone(&signal), Box::new(text("First."))), text("In German: zwei.")]);
    let Some(page) = Page::open(&app).await else { return };
    types(&page, format!("one{SHIFT}{ENTER}{NULL}two")).await;
    assert_eq!(page.run(VALUE).await, "one\ntwo");
    types(&page, format!("{ENTER}")).await;
    app.script.asked(1).await;

    types(&page, "in German").await;
    page.find("[data-testid=steer]:not([hidden])").await;
    page.see("#composer-hint", "Shift + Enter").await;
    types(&page, format!("{ALT}{ENTER}{NULL}please")).await;
    page.picture("steering").await;
    types(&page, format!("{SHIFT}{ENTER}{NULL}")).await;
    page.see("[data-testid=message-user][data-status=steering]", "in German\nplease").await;
    assert_eq!(page.run(VALUE).await, "");
    signal.notify_one();
    page.see("[data-testid=message-assistant][data-final=true]", "zwei").await;
    let wanted = json!(["one\ntwo", "First.", "in German\nplease", "In German: zwei."]);
    assert_eq!(page.run(SAID).await, wanted);
    assert_eq!(app.count("SELECT count(*) FROM turns").await, 1);
    page.reload().await;
    page.see("[data-testid=messages]", "zwei").await;
    assert_eq!(page.run(SAID).await, wanted);
    page.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_button_does_the_same_and_enter_alone_waits_its_turn() {
    let app = TestApp::start().await;
    let signal = Arc::new(Notify::new());
    let held = Reply::After(Arc::clone(&signal), Box::new(call("execute_sql", json!({"query": "SELECT 1 AS one"}))));
    app.script([held, text("With that."), text("And the other.")]);
    let Some(page) = Page::open(&app).await else { return };
    page.say("go").await;
    app.script.asked(1).await;
    page.say("later").await;
    page.see("[data-testid=message-user][data-status=queued]", "later").await;
    types(&page, "at once").await;
    page.click("[data-testid=steer]").await;
    page.see("[data-testid=message-user][data-status=steering]", "at once").await;
    signal.notify_one();
    page.see("[data-testid=messages]", "And the other.").await;
    assert_eq!(page.run(SAID).await, json!(["go", "at once", "With that.", "later", "And the other."]));
    page.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_said_until_a_stop_stays_in_sight_and_so_does_the_draft() {
    let mut app = TestApp::start().await;
    app.script([Reply::Hang("I am still writing this".into())]);
    let Some(page) = Page::open(&app).await else { return };
    page.say("a long story please").await;
    page.see("[data-testid=message-assistant][data-streaming=true]", "still writing").await;
    types(&page, "half a thought").await;
    page.click("[data-testid=stop]").await;
    page.see("[data-testid=message-assistant][data-stopped=true]", "I am still writing this").await;
    page.see("[data-testid=message-assistant] .status", "Stopped here.").await;
    page.picture("stopped").await;
    assert_eq!(page.run(VALUE).await, "half a thought", "after the stop");

    page.reload().await;
    page.see("[data-testid=message-assistant][data-stopped=true]", "I am still writing this").await;
    assert_eq!(page.run(VALUE).await, "half a thought", "after a reload");

    app.stop().await;
    page.find("[data-testid=connection]:not([data-state=connected])").await;
    types(&page, ", and more").await;
    app.start_again().await;
    page.find("[data-testid=connection][data-state=connected]").await;
    assert_eq!(page.run(VALUE).await, "half a thought, and more", "after a restart of the server");
    page.reload().await;
    page.find("[data-testid=connection][data-state=connected]").await;
    assert_eq!(page.run(VALUE).await, "half a thought, and more");
    page.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refused_message_comes_back_without_pushing_out_the_draft() {
    let app = TestApp::start().await;
    let Some(page) = Page::open(&app).await else { return };
    // Too long, which the page itself would not have sent.
    let kept = "[{id: 'm1', content: 'refuse me' + '!'.repeat(1200000), status: 'sending'}]";
    page.run(&format!("sessionStorage.setItem('level3.outbox', JSON.stringify({kept}))")).await;
    page.reload().await;
    page.find("[data-testid=message-user][data-status=refused]").await;
    types(&page, "begun meanwhile").await;
    page.run("document.querySelector('[data-status=refused] .status button').click()").await;
    let value = page.run(VALUE).await;
    let value = value.as_str().unwrap();
    assert!(value.starts_with("refuse me!") && value.ends_with("!\n\nbegun meanwhile"), "{}", value.len());
    page.close().await;
}
