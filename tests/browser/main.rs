//! The page in a real Chromium, against the real server. Skipped, loudly, if there is no Chromium;
//! never under CI.

#![allow(clippy::disallowed_methods, reason = "tests read CI and PATH themselves")]

mod approvals;
mod calls;
mod canary;
mod driver;
mod images;
mod lines;
mod panel;
mod places;
mod real_speech;
mod relay;
mod search;
mod speech;
mod steering;
#[path = "../it/support/mod.rs"]
#[allow(dead_code, unused_imports, reason = "shared with the other test binary, which uses the rest")]
mod support;
mod todos;
mod undo;
mod voice;

use std::sync::Arc;

use level3::model::ModelErrorKind;
use serde_json::json;
use tokio::sync::Notify;

use driver::Page;
use support::{Reply, TestApp, call, text};

#[tokio::test(flavor = "multi_thread")]
async fn a_newcomer_without_a_model_is_shown_the_real_thing() {
    let app = TestApp::tour().await;
    let Some(page) = Page::open(&app).await else { return };
    page.see("[data-testid=banner][data-banner=tour]", "not a language model").await;
    page.say("Show me everything").await;
    page.find("[data-testid=tool-card][data-tool=write_capability][data-state=ok]").await;
    page.find("[data-testid=tool-card][data-tool=roman_numeral][data-state=ok]").await;
    page.find("[data-testid=tool-card][data-tool=manage_tasks][data-state=ok]").await;
    page.find("[data-testid=message-assistant][data-final=true]").await;
    page.go("capabilities").await;
    page.find("[data-testid=capabilities] [data-capability=roman_numeral]").await;
    page.go("chat").await;
    app.advance(60);
    page.find("[data-testid=note-due]").await;
    page.go("tasks").await;
    page.find("[data-testid=tasks] l3-task[data-status=done]").await;
    page.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_is_seen_while_it_is_written_and_can_be_stopped() {
    let app = TestApp::start().await;
    app.script([Reply::Hang("I am still writing this".into())]);
    let Some(page) = Page::open(&app).await else { return };
    page.say("a long story please").await;
    page.see("[data-testid=message-assistant][data-streaming=true]", "still writing").await;
    page.click("[data-testid=stop]").await;
    page.see("[data-testid=messages]", "Stopped here.").await;
    app.script([text("A fresh start.")]);
    page.say("again").await;
    page.see("[data-testid=message-assistant][data-final=true]", "A fresh start.").await;
    page.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn tool_calls_are_cards_with_arguments_and_result() {
    let app = TestApp::start().await;
    app.script([
        call("execute_sql", json!({"query": "SELECT 6 * 7 AS answer"})),
        call("execute_sql", json!({"query": "SELECT nothing"})),
        text("The answer is **42**."),
    ]);
    let Some(page) = Page::open(&app).await else { return };
    page.say("compute").await;
    page.see("[data-testid=messages] strong", "42").await;
    page.unfold().await;
    page.click("[data-testid=tool-card][data-state=ok] summary").await;
    page.see("[data-testid=tool-card][data-state=ok]", "SELECT 6 * 7 AS answer").await;
    page.find("[data-testid=tool-card][data-state=failed]").await;
    page.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_model_writes_cannot_run_or_reach_out() {
    let app = TestApp::start().await;
    let hostile = "<img src=x onerror=\"window.hacked=1\"><script>window.hacked=1</script>\n\n[click](javascript:window.hacked=1) \
         ![spy](http://example.com/pixel.png) <a href=\"data:text/html,x\">data</a>\n\nthe end";
    app.script([text(hostile)]);
    let Some(page) = Page::open(&app).await else { return };
    page.say("attack").await;
    page.see("[data-testid=message-assistant][data-final=true]", "the end").await;
    let bad = "return [typeof window.hacked, document.querySelectorAll('[data-testid=messages] img, [data-testid=messages] script').length, \
         [...document.querySelectorAll('[data-testid=messages] a[href]')].filter(a => !/^https?:/.test(a.href)).length]";
    assert_eq!(page.run(bad).await, json!(["undefined", 0, 0]));
    page.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn errors_are_shown_and_the_page_comes_back_by_itself() {
    let mut app = TestApp::start().await;
    app.script([Reply::Fail(ModelErrorKind::Unreachable, "Nobody answers at LLM_BASE_URL.".into())]);
    let Some(page) = Page::open(&app).await else { return };
    page.say("hello").await;
    page.see("[data-testid=error]", "Nobody answers at LLM_BASE_URL.").await;
    page.see("[data-testid=banner][data-banner=model]", "LLM_PROVIDER").await;
    app.stop().await;
    page.find("[data-testid=connection]:not([data-state=connected])").await;
    // A message that a person writes while the server is away is sent when it is back.
    page.say("are you there?").await;
    app.script([text("Back again.")]);
    app.start_again().await;
    page.see("[data-testid=message-assistant][data-final=true]", "Back again.").await;
    page.find("[data-testid=connection][data-state=connected]").await;
    page.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reload_shows_the_same_conversation() {
    let app = TestApp::start().await;
    let signal = Arc::new(Notify::new());
    app.script([text("First answer."), Reply::After(Arc::clone(&signal), Box::new(text("Second answer.")))]);
    let Some(page) = Page::open(&app).await else { return };
    page.say("one").await;
    page.see("[data-testid=message-assistant]", "First answer.").await;
    page.say("two").await;
    app.script.asked(2).await;
    page.reload().await;
    page.see("[data-testid=message-assistant]", "First answer.").await;
    signal.notify_one();
    page.see("[data-testid=messages]", "Second answer.").await;
    page.close().await;
}
