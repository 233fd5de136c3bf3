//! Calls with Law at their edges: a page that dies, a second tab, a person who falls into Law's word, and each state by axe-core and the keyboard.

use std::sync::Arc;

use level3::domain::CallRequest;
use serde_json::json;
use tokio::sync::Notify;

use crate::driver::Page;
use crate::support::people::{PASSWORD, Person};
use crate::support::{Reply, TestApp, text};
use crate::voice::{PUT_IN, calls, says, spoke};

const OPEN: &str = "SELECT count(*) FROM voice_calls WHERE ended_at IS NULL";
const SECONDS: &str = "SELECT coalesce(sum(seconds), 0)::bigint FROM voice_seconds";
const STATE: &str = "[data-testid=voice-state]";
const TAB: &str = "\u{e004}";
const ENTER: &str = "\u{e007}";
const AXE: &str = include_str!("../page/vendor/axe-core-4.14.1.min.js");
const FAULTS: &str = "return axe.run(document, { resultTypes: ['violations'] })
    .then(({ violations }) => violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 160)).join(' | ')}`))";

/// axe-core finds nothing in what is shown.
async fn clean(page: &Page, state: &str) {
    page.run(&format!("{AXE}; window.axe = axe;")).await;
    // Text that fades in has not its contrast yet.
    page.run("document.getAnimations().filter(({ effect }) => effect.getTiming().iterations !== Infinity).forEach(each => each.finish())").await;
    assert_eq!(page.run(FAULTS).await, json!([]), "{state}");
}

/// Goes to it with Tab alone, from the list of places on, and presses Enter.
async fn enters(page: &Page, css: &str) {
    page.run("document.querySelector('[data-testid=place-assistant]').focus()").await;
    let is_there = format!("return document.activeElement?.matches({}) === true", json!(css));
    for _ in 0..80 {
        // Behind the last thing of the page nothing has the focus, and Tab goes on at the first.
        let focus = page.find(":focus, body:not(:has(:focus))").await;
        if page.run(&is_there).await == json!(true) {
            focus.send_keys(ENTER).await.unwrap();
            return;
        }
        focus.send_keys(TAB).await.unwrap();
    }
    panic!("`{css}` is not found with Tab");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_that_dies_in_a_call_costs_no_second_behind_its_last_beat() {
    let app = TestApp::tour().await;
    let Some(page) = Page::open(&app).await else { return };
    calls(&page).await;
    app.advance(20);
    // A word of another tab has the page beat at once.
    page.run("new BroadcastChannel('level3.voice').postMessage('look')").await;
    app.until(SECONDS, 20).await;
    // It dies without a word: nothing of it goes out any more.
    page.run("window.fetch = () => new Promise(() => undefined)").await;
    page.close().await;
    app.advance(29);
    assert_eq!(app.count(OPEN).await, 1, "it may be back");
    app.advance(1);
    app.until(OPEN, 0).await;
    let at_beat = "SELECT count(*) FROM voice_calls WHERE reason = 'silent' AND ended_at = beat_at";
    assert_eq!((app.count(at_beat).await, app.count(SECONDS).await), (1, 20));
    app.check_replay().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_person_who_falls_into_laws_word_hears_no_more_of_it_and_the_next_step_knows_their_words() {
    let app = TestApp::start().await;
    let held = Arc::new(Notify::new());
    let look = CallRequest { id: "call_0".to_owned(), name: "listTasks".to_owned(), arguments: "{}".to_owned() };
    app.script([
        Reply::Answer("Let me look at them. It takes a moment.".to_owned(), vec![look]),
        Reply::After(Arc::clone(&held), Box::new(text("Nothing is on it. Rest well."))),
        text("All right."),
    ]);
    let Some(page) = Page::open(&app).await else { return };
    calls(&page).await;
    page.run("window.slow = true").await;
    says(&page, "list my tasks").await;
    spoke(&page, "Let me look at them.").await;
    app.script.asked(2).await;
    page.run("window.hear('wait', false)").await;
    assert_eq!(page.run("return window.spoken").await, json!(["Let me look at them."]), "one word may be a cough");
    page.run("window.hear('wait a', false)").await;
    assert_eq!(page.run("return window.spoken.at(-1)").await, "(silence)");
    says(&page, "wait a moment").await;
    page.see(".talking [data-testid=message-user][data-status=steering]", "wait a moment").await;
    page.run("window.slow = false").await;
    held.notify_one();
    spoke(&page, "All right.").await;
    let spoken = json!(["Let me look at them.", "(silence)", "All right."]);
    assert_eq!(page.run("return window.spoken").await, spoken, "neither what waited nor the step that had not heard them");
    // The conversation keeps what was not heard.
    page.see(".talking [data-testid=message-assistant] .status", "Not heard.").await;
    let asked: Vec<String> = app.script.requests().iter().map(|request| format!("{:?}", request.entries)).collect();
    let knows: Vec<bool> = asked.iter().map(|entries| entries.contains("wait a moment")).collect();
    assert_eq!(knows, [false, false, true]);
    page.click("[data-testid=voice-end]").await;
    app.until(OPEN, 0).await;
    page.close().await;
    app.check_replay().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_second_tab_shows_the_call_of_the_first_and_takes_it_over() {
    let app = TestApp::tour().await;
    let Some(page) = Page::open(&app).await else { return };
    let [first, second] = page.second(app.address()).await;
    page.run(PUT_IN).await;
    page.go("assistant").await;
    page.click("[data-testid=choose-law]").await;
    page.see(STATE, "Not in a call").await;
    page.show(&first).await;
    calls(&page).await;
    page.show(&second).await;
    page.see(STATE, "You are in a call in another tab").await;
    page.see("[data-testid=voice-call]", "Take over").await;
    clean(&page, "a call in another tab").await;
    page.click("[data-testid=voice-call]").await;
    page.click("dialog[open] [data-testid=confirm]").await;
    page.see(STATE, "Law listens").await;
    page.show(&first).await;
    page.see(STATE, "You are in a call in another tab").await;
    assert_eq!(app.count("SELECT count(*) FROM voice_calls WHERE reason = 'taken_over'").await, 1);
    page.show(&second).await;
    page.click("[data-testid=voice-end]").await;
    app.until(OPEN, 0).await;
    page.close().await;
    app.check_replay().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_state_of_a_call_is_reached_and_left_with_the_keyboard_and_has_no_fault() {
    let app = TestApp::tour().await;
    let Some(page) = Page::open_with(&app, &["--force-prefers-reduced-motion".to_owned()]).await else { return };
    page.run(PUT_IN).await;
    page.go("assistant").await;
    page.see(".character-reason", "Law asks for the microphone").await;
    clean(&page, "picker").await;
    enters(&page, "[data-testid=choose-law]").await;
    page.see(STATE, "Not in a call").await;
    clean(&page, "idle").await;
    page.run("window.holds = true").await;
    enters(&page, "[data-testid=voice-call]").await;
    page.see(STATE, "Connecting…").await;
    clean(&page, "connecting").await;
    page.run("window.holds = false; window.ears.at(-1).onstart()").await;
    page.see(STATE, "Law listens").await;
    clean(&page, "active").await;
    enters(&page, "[data-testid=voice-mute]").await;
    page.see(STATE, "Muted").await;
    clean(&page, "muted").await;
    enters(&page, "[data-testid=voice-mute]").await;
    page.see(STATE, "Law listens").await;
    page.run("window.ears.at(-1).onerror({ error: 'audio-capture' })").await;
    page.see("[data-testid=voice-problem]", "No microphone was found.").await;
    clean(&page, "error").await;

    enters(&page, "[data-testid=voice-call]").await;
    page.see(STATE, "Law listens").await;
    page.go("tasks").await;
    page.see("[data-testid=call-indicator]", "Law listens").await;
    clean(&page, "floating indicator").await;
    enters(&page, "[data-testid=call-mute]").await;
    page.see("[data-testid=call-indicator]", "Muted").await;
    clean(&page, "floating indicator, muted").await;
    enters(&page, "[data-testid=call-back]").await;
    page.see(STATE, "Muted").await;
    enters(&page, "[data-testid=voice-end]").await;
    page.see(STATE, "Call ended").await;

    page.run("window.permission.state = 'denied'").await;
    enters(&page, "[data-testid=voice-call]").await;
    page.see("[data-testid=voice-problem]", "The microphone is not allowed here").await;
    clean(&page, "permission panel").await;
    page.run("window.permission.state = 'granted'; window.permission.onchange()").await;
    page.see(STATE, "Law listens").await;
    enters(&page, "[data-testid=voice-end]").await;
    app.until(OPEN, 0).await;
    page.close().await;
    app.check_replay().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn without_voice_in_the_tier_the_microphone_stays_shut_and_the_prompt_is_left_with_the_keyboard() {
    let app = TestApp::tour().await;
    let owner = Person::owner(&app).await;
    owner.adds(&app, "Ana").await;
    let Some(page) = Page::signed_in(&app, "ana", PASSWORD).await else { return };
    page.run(PUT_IN).await;
    page.go("assistant").await;
    page.see(".character-reason", "part of the paid tier").await;
    enters(&page, "[data-testid=talk-law]").await;
    page.see("[data-testid=voice-upgrade]", "The owner of this server can give you another tier.").await;
    page.picture("law-upgrade").await;
    clean(&page, "upgrade prompt").await;
    page.find("[data-testid=voice-upgrade] :focus").await.send_keys(ENTER).await.unwrap();
    page.gone("dialog[open]").await;
    assert_eq!(page.run("return window.ears.length").await, json!(0));
    assert_eq!(app.count("SELECT count(*) FROM voice_calls").await, 0);
    page.close().await;
    app.check_replay().await;
}
