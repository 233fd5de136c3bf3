//! A person decides on the page.

use serde_json::{Value, json};

use crate::driver::{PENDING, Page};
use crate::support::{TestApp, call, of_type, text};

/// A capability that asks for a host; its source has a line that would read otherwise than it runs.
fn reaching(name: &str) -> Value {
    json!({
        "name": name,
        "description": "Looks something up.",
        "code": format!(
            "// \u{202e}not admin\u{2066}\nexport default async function {name}() {{ await host.kv.set('last', 1); return '<img src=x>'; }}"
        ),
        "parameters_schema": {"type": "object", "properties": {}},
        "grants": {"http": {"hosts": ["api.example.com"]}, "kv": {}},
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn a_capability_with_powers_is_read_approved_by_a_click_and_used() {
    let app = TestApp::start().await;
    app.script([call("write_capability", reaching("look_up")), call("look_up", json!({})), text("There it is.")]);
    let Some(page) = Page::open(&app).await else { return };
    page.say("look it up").await;
    page.see("[data-testid=approval-what]", "Installs a new capability, look_up").await;
    page.see("[data-testid=approval-grants]", "Send any request to https://api.example.com.").await;
    page.see("[data-testid=waits]", "Waiting for your approval").await;
    page.find("[data-testid=tool-card][data-tool=write_capability][data-state=waiting]").await;
    assert_eq!(page.run("return document.title").await, "Approval needed · level3");
    let shown = "const card = document.querySelector('[data-testid=approval]'); \
         return [/[\\u202e\\u2066]/.test(card.textContent), card.textContent.includes('U+202E'), card.querySelectorAll('img').length]";
    assert_eq!(page.run(shown).await, json!([false, true, 0]), "what is hidden is written out, and markup is text");
    assert_eq!(app.count("SELECT count(*) FROM capabilities").await, 0);

    page.read_approval().await;
    page.click("[data-testid=approval-approve]").await;
    page.see("[data-testid=approval][data-state=approved]", "You approved this on the page").await;
    page.see("[data-testid=message-assistant][data-final=true]", "There it is.").await;
    page.go("capabilities").await;
    page.find("[data-testid=capabilities] [data-capability=look_up]").await;
    page.go("chat").await;
    page.unfold().await;
    page.click("[data-testid=tool-card][data-tool=look_up] summary").await;
    page.see("[data-testid=operations] [data-state=done]", "set last").await;
    assert_eq!(page.run("return document.title").await, "level3");
    assert_eq!(app.count("SELECT count(*) FROM approvals WHERE channel = 'page' AND used_at IS NOT NULL").await, 1);
    page.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refusal_with_its_reason_reaches_the_model_and_stays_on_the_page() {
    let app = TestApp::start().await;
    app.script([call("write_capability", reaching("look_up")), text("Then not.")]);
    let Some(page) = Page::open(&app).await else { return };
    page.say("look it up").await;
    page.find("[data-testid=approval-reason]").await.send_keys("<b>too wide</b>").await.unwrap();
    page.click("[data-testid=approval-deny]").await;
    page.see("[data-testid=approval][data-state=denied]", "<b>too wide</b>").await;
    page.see_inside("[data-testid=tool-card][data-came=denied]", "Nothing was done.").await;
    page.see("[data-testid=message-assistant][data-final=true]", "Then not.").await;
    page.reload().await;
    page.see("[data-testid=approval][data-state=denied]", "You denied this on the page").await;
    assert_eq!(app.count("SELECT count(*) FROM capabilities").await, 0);
    page.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_waits_survives_a_reload_a_restart_and_stray_keys_and_a_word_decides_it() {
    let mut app = TestApp::start().await;
    app.script([call("write_capability", reaching("look_up"))]);
    let Some(page) = Page::open(&app).await else { return };
    page.say("look it up").await;
    page.find(PENDING).await;
    page.reload().await;
    page.find(PENDING).await;
    app.restart().await;
    page.find("[data-testid=connection][data-state=connected]").await;
    page.read_approval().await;
    // Enter and Space where the focus is: in the message field, and after a click on the header's
    // button on the card's heading.
    page.find("[data-testid=composer]").await.send_keys("\u{e007} ").await.unwrap();
    page.click("[data-testid=waits]").await;
    // Not a button: the code that goes there comes when it is pressed.
    page.find("[data-testid=approval] h2:focus").await.send_keys("\u{e007} ").await.unwrap();
    assert_eq!(app.count("SELECT count(*) FROM approvals WHERE state = 'pending'").await, 1);

    app.script([text("Installed.")]);
    page.say("CONFIRMAR").await;
    page.see("[data-testid=approval][data-state=approved]", "by a word in the conversation").await;
    page.see("[data-testid=message-assistant][data-final=true]", "Installed.").await;
    page.see("[data-testid=message-user][data-status=accepted]", "CONFIRMAR").await;
    let said = "return [...document.querySelectorAll('[data-testid=message-user]')].map(e => e.dataset.status)";
    assert_eq!(page.run(said).await, json!(["accepted", "accepted"]), "the word is shown once, and settled");
    page.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_of_frames_blinds_neither_the_page_nor_what_waits() {
    let app = TestApp::start().await;
    app.script([text("<frameset onload=\"window.hacked=1\"><frame src=\"/\"></frameset>"), text("Next.")]);
    let Some(page) = Page::open(&app).await else { return };
    page.say("frames please").await;
    page.see("[data-testid=message-assistant][data-final=true]", "<frameset onload").await;
    page.say("and then").await;
    page.see("[data-testid=message-assistant][data-final=true]", "Next.").await;
    app.script([call("write_capability", reaching("look_up")), text("Installed.")]);
    page.say("look it up").await;
    page.find(PENDING).await;
    page.reload().await;
    page.see("[data-testid=message-assistant][data-final=true]", "<frameset").await;
    page.see("[data-testid=message-assistant][data-final=true]", "Next.").await;
    page.see("[data-testid=approval-words]", "CONFIRM approves, CANCEL").await;
    page.see("#composer-hint", "A plain yes does not count here.").await;
    page.picture("frames-and-words").await;
    page.read_approval().await;
    page.click("[data-testid=approval-approve]").await;
    page.see("[data-testid=message-assistant][data-final=true]", "Installed.").await;
    assert_eq!(page.run("return typeof window.hacked").await, "undefined");
    page.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn while_one_conversation_waits_another_goes_on_and_a_decision_from_elsewhere_is_seen() {
    let app = TestApp::start().await;
    app.script([call("write_capability", reaching("look_up"))]);
    let Some(page) = Page::open(&app).await else { return };
    page.say("look it up").await;
    page.find(PENDING).await;

    let other = app.store().owners().create_conversation(app.now()).await.unwrap();
    app.script([text("Here I am.")]);
    let mut beside = app.connect().await;
    beside.send(json!({"type": "message", "content": "are you there?", "conversation": other})).await;
    assert_eq!(of_type(&beside.turn().await, "assistant")["content"], "Here I am.");
    page.find(PENDING).await;

    app.script([text("Left as it was.")]);
    let id = app.count("SELECT max(approval_id) FROM approvals").await;
    beside.send(json!({"type": "deny", "approval": id})).await;
    page.find("[data-testid=approval][data-state=denied]").await;
    page.see("[data-testid=message-assistant][data-final=true]", "Left as it was.").await;
    page.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_said_instead_declines_and_the_page_says_so_before() {
    let app = TestApp::start().await;
    app.script([call("write_capability", reaching("look_up")), text("The other one, then.")]);
    let Some(page) = Page::open(&app).await else { return };
    page.say("look it up").await;
    page.see("[data-testid=approval-words]", "Anything else you say here declines it").await;
    page.see("#composer-hint", "The question above waits for you.").await;
    page.see("#composer-hint", "Anything else you say here declines it").await;
    page.picture("talked-over").await;
    page.say("no, the other one").await;
    page.see("[data-testid=approval][data-state=denied]", "You denied this by saying something else").await;
    page.see("[data-testid=message-assistant][data-final=true]", "The other one, then.").await;
    page.gone("[data-testid=message-user]:not([data-status=accepted])").await;
    page.reload().await;
    page.see("[data-testid=approval][data-state=denied]", "You denied this by saying something else").await;
    page.see("[data-testid=messages]", "no, the other one").await;
    assert_eq!(app.count("SELECT count(*) FROM turns").await, 1);
    page.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_nobody_decides_in_time_is_refused_and_says_so() {
    let app = TestApp::start().await;
    app.script([call("write_capability", reaching("look_up")), text("It was not allowed in time.")]);
    let Some(page) = Page::open(&app).await else { return };
    page.say("look it up").await;
    page.find(PENDING).await;
    app.advance(25 * 3600);
    page.see("[data-testid=approval][data-state=expired]", "Nobody answered in time").await;
    page.see("[data-testid=message-assistant][data-final=true]", "It was not allowed in time.").await;
    page.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_waits_in_another_conversation_is_found_there_and_decided_in_the_inbox() {
    let app = TestApp::start().await;
    let Some(page) = Page::open(&app).await else { return };
    let other = app.store().owners().create_conversation(app.now()).await.unwrap();
    app.script([call("write_capability", reaching("look_up")), text("It is there.")]);
    let mut beside = app.connect().await;
    beside.send(json!({"type": "message", "content": "look it up", "conversation": other})).await;
    page.see("[data-testid=dock-entry][data-state=waits]", "waits for your approval").await;
    page.gone("[data-testid=approval]").await;
    page.reload().await;
    // A press goes to the conversation where it waits.
    page.click("[data-testid=waits]").await;
    page.see("[data-testid=approval-grants]", "Send any request to https://api.example.com.").await;
    assert_eq!(page.run("return location.hash").await, format!("#chat/{other}"));
    // The inbox has the same one, and says where it waits.
    page.run("location.hash = '#approvals'").await;
    page.reload().await;
    page.see("[data-testid=approvals-waiting] .approval-where", "in “look it up”").await;
    page.picture("inbox").await;
    page.read_approval().await;
    page.click("[data-testid=approvals-waiting] [data-testid=approval-approve]").await;
    assert_eq!(of_type(&beside.turn().await, "assistant")["content"], "It is there.");
    page.gone("[data-testid=approvals-waiting] [data-testid=approval]").await;
    page.see("[data-testid=decisions]", "by you, on this page").await;
    assert_eq!(page.run("return document.title").await, "Approvals · level3");
    page.close().await;
}
