//! A call with Law in a real browser on the real server. The recogniser and the voice are put in:
//! the test is the person's mouth and ears.

use serde_json::json;

use crate::driver::Page;
use crate::support::TestApp;

/// Ears that hear what `hear` is given, a voice that says each sentence in a moment and notes it in
/// `spoken`, and a microphone that is allowed. While `holds` is true the ears are not ready.
pub const PUT_IN: &str = "
    window.ears = [];
    window.spoken = [];
    window.SpeechRecognition = class {
        static async available() { return 'available'; }
        constructor() { window.ears.push(this); }
        start() { this.isOn = true; if (!window.holds) setTimeout(() => this.onstart()); }
        abort() { this.isOn = false; setTimeout(() => this.onend()); }
    };
    window.hear = (transcript, isFinal) => window.ears.findLast(({ isOn }) => isOn)
        .onresult({ resultIndex: 0, results: [Object.assign([{ transcript, confidence: 0.9 }], { isFinal })] });
    navigator.mediaDevices.enumerateDevices = async () => [{ kind: 'audioinput' }];
    window.slow = false;
    window.permission = Object.assign(new EventTarget(), { state: 'granted' });
    Object.defineProperty(navigator, 'permissions', { value: { query: async () => window.permission } });
    window.SpeechSynthesisUtterance = class { constructor(text) { this.text = text; } };
    Object.defineProperty(window, 'speechSynthesis', { value: {
        getVoices: () => [{ lang: 'en-US', localService: true }],
        speak(utterance) { window.spoken.push(utterance.text); if (!window.slow) setTimeout(() => utterance.onend(), 5); },
        cancel() { window.spoken.push('(silence)'); },
    } });";
const QUESTION: &str = "Should I create a task called “buy milk”?";

/// The person says this.
pub async fn says(page: &Page, words: &str) {
    page.run(&format!("window.hear({}, true)", json!(words))).await;
}

/// Waits until a sentence that begins so was spoken.
pub async fn spoke(page: &Page, words: &str) {
    let wait = "new Promise(done => { const look = () => window.spoken.some(text => text.startsWith(WORDS)) ? done(true) : setTimeout(look, 20); look(); })";
    page.run(&format!("return {}", wait.replace("WORDS", &json!(words).to_string()))).await;
}

/// Calls from the picker, until Law listens.
pub async fn calls(page: &Page) {
    page.run(PUT_IN).await;
    page.go("assistant").await;
    page.click("[data-testid=talk-law]").await;
    page.see("[data-testid=voice-state]", "Law listens").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_task_is_made_by_talking_and_the_audit_says_voice() {
    let app = TestApp::tour().await;
    let Some(page) = Page::open(&app).await else { return };
    calls(&page).await;
    page.see("[data-testid=voice-where]", "on this device").await;
    page.run("window.hear('add buy', false)").await;
    page.see("[data-testid=voice-interim]", "add buy").await;
    says(&page, "add buy milk").await;
    page.see("[data-testid=question]", QUESTION).await;
    page.picture("law-call").await;
    spoke(&page, QUESTION).await;
    assert_eq!(page.run("return window.spoken").await, json!([QUESTION]), "nothing else is said");
    assert_eq!(app.count("SELECT count(*) FROM tasks").await, 0, "nothing is there before the yes");
    says(&page, "go ahead").await;
    page.see(".todos l3-todo", "buy milk").await;
    page.see(".talking [data-testid=message-assistant]", "Created the task “buy milk”").await;
    assert_eq!(app.count("SELECT count(*) FROM approvals WHERE channel = 'voice' AND state = 'approved'").await, 1);
    spoke(&page, "Created the task “buy milk”").await;

    // Words that are typed in a call are answered aloud, too.
    page.find(".talking [data-testid=composer]").await.send_keys("list").await.unwrap();
    page.click(".talking [data-testid=send]").await;
    spoke(&page, "You have 1 active task").await;
    page.see(".talking [data-testid=message-assistant][data-final=true]", "You have 1 active task").await;
    page.run("window.spoken = []").await;

    // Elsewhere in the page the call goes on, above the focus timer.
    says(&page, "timer 25 minutes").await;
    page.find("l3-dock l3-timer").await;
    page.go("tasks").await;
    page.see("[data-testid=call-indicator]", "Law listens").await;
    page.picture("law-indicator").await;
    let below = "const [call, timer] = ['[data-testid=call-indicator]', 'l3-timer'].map(css => document.querySelector(css).getBoundingClientRect());
                 return call.height > 0 && call.bottom <= timer.top + 1;";
    assert_eq!(page.run(below).await, json!(true));
    says(&page, "list").await;
    spoke(&page, "You have 1 active task").await;
    page.click("[data-testid=call-back]").await;

    // The person falls into its word.
    page.run("window.slow = true; window.spoken = []").await;
    says(&page, "list").await;
    spoke(&page, "You have").await;
    page.run("window.hear('wait', false)").await;
    assert_ne!(page.run("return window.spoken.at(-1)").await, "(silence)");
    page.run("window.hear('wait a', false)").await;
    assert_eq!(page.run("return window.spoken.at(-1)").await, "(silence)");
    page.see("[data-testid=voice-unheard]", "Not heard: You have").await;
    page.see(".talking [data-testid=message-assistant] .status", "Not heard from “You have").await;

    page.click("[data-testid=voice-end]").await;
    page.see("[data-testid=voice-state]", "Call ended").await;
    app.until("SELECT count(*) FROM voice_calls WHERE ended_at IS NULL", 0).await;
    assert_eq!(app.count("SELECT count(*) FROM voice_calls WHERE reason = 'hung_up'").await, 1);
    assert_eq!(page.run("return window.ears.some(({ isOn }) => isOn)").await, json!(false));
    page.close().await;
    app.check_replay().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_microphone_that_is_denied_is_explained_and_the_call_goes_on_once_it_is_allowed() {
    let app = TestApp::tour().await;
    let Some(page) = Page::open(&app).await else { return };
    page.run(PUT_IN).await;
    page.run("window.permission.state = 'denied'").await;
    page.go("assistant").await;
    page.click("[data-testid=talk-law]").await;
    page.see("[data-testid=voice-problem]", "The microphone is not allowed here").await;
    page.picture("law-permission").await;
    assert_eq!(app.count("SELECT count(*) FROM voice_calls").await, 0);
    page.run("window.permission.state = 'granted'; window.permission.onchange()").await;
    page.see("[data-testid=voice-state]", "Law listens").await;
    page.click("[data-testid=voice-end]").await;
    app.until("SELECT count(*) FROM voice_calls WHERE ended_at IS NULL", 0).await;
    page.close().await;
    app.check_replay().await;
}
