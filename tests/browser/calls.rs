//! Calls with Law at their edges: a page that dies, a server that is killed, the end of the
//! minutes, a second tab, a person who falls into Law's word, and each state by axe-core and the
//! keyboard.

use std::sync::Arc;
use std::time::{Duration, Instant};

use level3::domain::CallRequest;
use reqwest::Method;
use serde_json::{Value, json};
use sqlx::Executor;
use tokio::sync::Notify;

use crate::driver::Page;
use crate::support::api::{ask, ask_at};
use crate::support::people::{PASSWORD, Person};
use crate::support::{Reply, Server, TestApp, reserved_port, text};
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

/// A word of another tab has the page beat at once.
async fn beats(page: &Page) {
    page.run("new BroadcastChannel('level3.voice').postMessage('look')").await;
}

/// Waits until the server says this of the person's `line`; gives all that it says.
async fn line(page: &Page, wanted: &str) -> Value {
    let wait = "return new Promise(done => { const look = async () => {
        const line = await fetch('/api/voice').then(answer => answer.json()).catch(() => ({}));
        if (WANTED) done(line); else setTimeout(look, 50); }; look(); })";
    page.run(&wait.replace("WANTED", wanted)).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_that_dies_in_a_call_costs_no_second_behind_its_last_beat() {
    let app = TestApp::tour().await;
    let Some(page) = Page::open(&app).await else { return };
    calls(&page).await;
    app.advance(20);
    beats(&page).await;
    app.until(SECONDS, 20).await;
    page.crash().await;
    app.advance(29);
    assert_eq!(app.count(OPEN).await, 1, "it may be back");
    app.advance(1);
    app.until(OPEN, 0).await;
    let at_beat = "SELECT count(*) FROM voice_calls WHERE reason = 'silent' AND ended_at = beat_at";
    assert_eq!((app.count(at_beat).await, app.count(SECONDS).await), (1, 20));
    app.check_replay().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tab_that_is_closed_hangs_up() {
    let app = TestApp::tour().await;
    let Some(page) = Page::open(&app).await else { return };
    // A browser that loses its last tab ends.
    let [first, second] = page.second(app.address()).await;
    page.show(&first).await;
    calls(&page).await;
    app.advance(7);
    page.close_tab().await;
    // No time passes: nothing but the page's own word ends the call.
    app.until(OPEN, 0).await;
    assert_eq!(app.count("SELECT count(*) FROM voice_calls WHERE reason = 'hung_up'").await, 1);
    assert_eq!(app.count(SECONDS).await, 7);
    page.show(&second).await;
    page.close().await;
    app.check_replay().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_goes_on_behind_kill_9_and_its_question_is_answered_by_voice() {
    const NOBODY: &str = "http://127.0.0.1:9";
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    // The page looks for the server where it was.
    let (_port, address) = reserved_port();
    let listen = address.to_string();
    // The tour plays Law.
    let nobody = ["OLLAMA_BASE_URL", "LMSTUDIO_BASE_URL", "LLAMACPP_BASE_URL"].map(|name| (name, NOBODY));
    let settings = [&[("LEVEL3_LISTEN", &*listen)][..], &nobody[..]].concat();
    let server = Server::start(&data, &settings).await;
    let Some(page) = Page::open_at(server.address).await else { return };
    calls(&page).await;
    let connected = Instant::now();
    let before = line(&page, "line.call?.state === 'active'").await["call"]["call"].clone();
    says(&page, "add buy milk").await;
    page.see("[data-testid=question]", "buy milk").await;
    let until_kill = connected.elapsed();
    server.kill().await;
    page.find("[data-testid=connection]:not([data-state=connected])").await;

    let server = Server::start(&data, &settings).await;
    page.find("[data-testid=connection][data-state=connected]").await;
    beats(&page).await;
    // The call goes on, or it was silent for too long and the page has begun another one, once.
    let call = line(&page, "line.call?.state === 'active'").await["call"]["call"].clone();
    let again = Instant::now();
    page.see(STATE, "Law").await;
    says(&page, "go ahead").await;
    page.see(".todos l3-todo", "buy milk").await;
    let (_, listed) = ask_at(&format!("http://{address}/api/approvals"), Method::GET, None).await;
    let made = |approval: &&Value| approval["shown"]["tool"] == "createTask";
    let milk = listed["approvals"].as_array().unwrap().iter().find(made).unwrap();
    assert_eq!((&milk["state"], &milk["channel"]), (&json!("approved"), &json!("voice")), "{milk}");
    page.click("[data-testid=voice-end]").await;
    page.see(STATE, "Call ended").await;
    let over = line(&page, "line.call === null").await;
    let counted = Duration::from_secs(3600 - over["seconds_left"].as_u64().unwrap());
    let talked = if call == before { connected.elapsed() } else { until_kill + again.elapsed() };
    assert!(counted.abs_diff(talked) <= Duration::from_secs(10), "{counted:?} of {talked:?}");
    page.close().await;
    assert_eq!(server.terminate().await, Some(0));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_last_half_minute_is_told_its_end_is_spoken_and_the_next_call_is_refused() {
    const USED_UP: &str = "You've used your voice minutes for this month.";
    let app = TestApp::tour().await;
    let Some(page) = Page::open(&app).await else { return };
    app.rewrites("an earlier call of 59 minutes and a half is made up");
    let (_, earlier) = ask(&app, Method::POST, "/api/voice/calls", Some(json!({"adapter": "browser"}))).await;
    ask(&app, Method::DELETE, &format!("/api/voice/calls/{}", earlier["call"]), None).await;
    let used = format!("INSERT INTO voice_seconds VALUES ({}, 1, '2026-11', 3570)", earlier["call"]);
    app.behind().await.execute(sqlx::AssertSqlSafe(used)).await.unwrap();
    calls(&page).await;
    spoke(&page, "30 seconds of voice are left for this month.").await;
    app.advance(30);
    beats(&page).await;
    spoke(&page, USED_UP).await;
    page.see(STATE, USED_UP).await;
    assert_eq!(page.run("return window.ears.some(({ isOn }) => isOn)").await, json!(false));
    assert_eq!(app.count("SELECT count(*) FROM voice_calls WHERE reason = 'minutes'").await, 1);
    assert_eq!(app.count(SECONDS).await, 3600);
    page.click("[data-testid=voice-call]").await;
    page.see(".toast", USED_UP).await;
    assert_eq!(app.count("SELECT count(*) FROM voice_calls").await, 2, "the next call is none");
    page.close().await;
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
    page.see(".character-reason", "not part of your tier").await;
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
