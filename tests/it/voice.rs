//! Calls with Law: one at a time, counted by the server's clock, ended by themselves; what is
//! spoken decides as such.

use level3::domain::UserId;
use reqwest::Method;
use serde_json::{Value, json};
use sqlx::Executor;

use crate::support::people::{Person, two_people};
use crate::support::{Peer, TestApp, api, call, text};
use crate::todo::breakdown;

const USED_UP: &str = "You've used your voice minutes for this month.";
const OPEN: &str = "SELECT count(*) FROM voice_calls WHERE ended_at IS NULL";
const SECONDS: &str = "SELECT coalesce(sum(seconds), 0)::bigint FROM voice_seconds";

/// The owner's browser, as it speaks with the server in a call.
struct Line<'a>(&'a TestApp);

impl Line<'_> {
    async fn begin(&self, take_over: bool) -> (u16, Value) {
        let body = json!({"adapter": "browser", "take_over": take_over});
        api::ask(self.0, Method::POST, "/api/voice/calls", Some(body)).await
    }

    /// A call that was begun and is connected.
    async fn connected(&self) -> i64 {
        let (status, begun) = self.begin(false).await;
        assert_eq!((status, &begun["state"]), (200, &json!("connecting")), "{begun}");
        let call = begun["call"].as_i64().unwrap();
        assert_eq!(self.beat(call).await.1["state"], "active");
        call
    }

    async fn beat(&self, call: i64) -> (u16, Value) {
        api::ask(self.0, Method::POST, &format!("/api/voice/calls/{call}/beat"), Some(json!({}))).await
    }

    /// Ten seconds pass, and the page beats, so many times.
    async fn beats(&self, call: i64, times: usize) {
        for _ in 0..times {
            self.0.advance(10);
            assert_eq!(self.beat(call).await.0, 200);
        }
    }

    async fn end(&self, call: i64, how: &str) -> (u16, Value) {
        api::ask(self.0, Method::DELETE, &format!("/api/voice/calls/{call}{how}"), None).await
    }

    async fn line(&self) -> Value {
        api::ask(self.0, Method::GET, "/api/voice", None).await.1
    }
}

/// The owner has talked so many seconds this month.
async fn has_talked(app: &TestApp, seconds: i64) {
    app.rewrites("an earlier call is made up");
    let line = Line(app);
    let call = line.connected().await;
    line.end(call, "").await;
    let used = format!("INSERT INTO voice_seconds VALUES ({call}, 1, '2026-11', {seconds})");
    app.behind().await.execute(sqlx::AssertSqlSafe(used)).await.unwrap();
}

#[tokio::test]
async fn a_call_counts_from_its_first_beat_to_the_hand_that_hangs_up() {
    let app = TestApp::start().await;
    let line = Line(&app);
    let none = json!({"hears": null, "speaks": null, "vapi": false});
    assert_eq!(line.line().await, json!({"voice": true, "seconds_left": 3600, "call": null, "servers": none}));
    let (_, begun) = line.begin(false).await;
    let call = begun["call"].as_i64().unwrap();
    assert_eq!((&begun["seconds_left"], &begun["beat_seconds"]), (&json!(3600), &json!(10)));
    // A person looks for the microphone: nothing counts yet.
    app.advance(20);
    assert_eq!(line.beat(call).await.1["seconds_left"], 3600);
    line.beats(call, 2).await;
    assert_eq!(line.line().await["call"]["seconds_left"], 3580, "each beat counts");
    app.advance(7);
    let (status, ended) = line.end(call, "").await;
    assert_eq!((status, ended), (200, json!({"call": call, "reason": "hung_up"})));
    assert_eq!((app.count(SECONDS).await, app.count(OPEN).await), (27, 0));
    // Said again, it is the same; and a beat that comes late changes nothing.
    assert_eq!(line.end(call, "?failed=true").await.1["reason"], "hung_up");
    let (status, over) = line.beat(call).await;
    assert_eq!((status, &over["error"]), (410, &json!("Call ended")));
    assert_eq!(app.count(SECONDS).await, 27);
    app.check_replay().await;
}

#[tokio::test]
async fn without_a_beat_for_thirty_seconds_a_call_ends_at_its_last_one() {
    let app = TestApp::start().await;
    let line = Line(&app);
    let call = line.connected().await;
    line.beats(call, 1).await;
    app.advance(29);
    assert_eq!(line.beat(call).await.0, 200);
    assert_eq!(app.count(SECONDS).await, 39);
    app.advance(30);
    app.until(OPEN, 0).await;
    let at_beat = "SELECT count(*) FROM voice_calls WHERE reason = 'silent' AND state = 'idle' AND ended_at = beat_at";
    assert_eq!((app.count(at_beat).await, app.count(SECONDS).await), (1, 39));
    assert_eq!(line.beat(call).await, (410, json!({"error": "Call ended"})));
    // One that never connected goes the same way, and costs nothing.
    line.begin(false).await;
    app.advance(30);
    app.until(OPEN, 0).await;
    assert_eq!(app.count(SECONDS).await, 39);
    app.check_replay().await;
}

#[tokio::test]
async fn a_server_that_dies_in_a_call_loses_no_second_that_it_heard_of() {
    let mut app = TestApp::start().await;
    let call = Line(&app).connected().await;
    Line(&app).beats(call, 3).await;
    app.crash().await;
    app.advance(15);
    app.start_again().await;
    // The page is still there: the call goes on.
    assert_eq!(Line(&app).beat(call).await.1["seconds_left"], 3600 - 45);
    app.crash().await;
    app.advance(300);
    app.start_again().await;
    app.until(OPEN, 0).await;
    assert_eq!(app.count(SECONDS).await, 45);
    assert_eq!(Line(&app).beat(call).await.0, 410);
    app.check_replay().await;
}

#[tokio::test]
async fn at_the_end_of_the_minutes_a_call_is_warned_and_ended_and_the_next_one_refused() {
    let app = TestApp::start().await;
    let line = Line(&app);
    has_talked(&app, 3480).await;
    let call = line.connected().await;
    line.beats(call, 5).await;
    let left = line.line().await["call"].clone();
    assert_eq!((&left["seconds_left"], &left["warned"]), (&json!(70), &json!(false)));
    app.advance(10);
    let warned = line.beat(call).await.1;
    assert_eq!((&warned["seconds_left"], &warned["warned"]), (&json!(60), &json!(true)));
    line.beats(call, 5).await;
    // The page is late, and the server does not wait for it.
    app.advance(11);
    app.until(OPEN, 0).await;
    assert_eq!(app.count("SELECT count(*) FROM voice_calls WHERE reason = 'minutes'").await, 1);
    assert_eq!(app.count(SECONDS).await, 3600);
    assert_eq!(line.beat(call).await, (410, json!({"error": USED_UP})));
    assert_eq!(line.begin(false).await, (429, json!({"error": USED_UP})));
    // The month of the person's own clock: in Auckland December begins at 11:00 on the 30th.
    app.behind().await.execute("UPDATE users SET time_zone = 'Pacific/Auckland'").await.unwrap();
    app.advance(10 * 24 * 3600 + 2 * 3600);
    assert_eq!(line.begin(false).await.0, 429);
    app.advance(3600);
    assert_eq!(line.line().await["seconds_left"], 3600);
    let call = line.connected().await;
    line.end(call, "").await;
}

#[tokio::test]
async fn a_call_in_the_last_half_minute_is_warned_at_once() {
    let app = TestApp::start().await;
    let line = Line(&app);
    has_talked(&app, 3570).await;
    let call = line.connected().await;
    let left = line.line().await["call"].clone();
    assert_eq!((&left["seconds_left"], &left["warned"]), (&json!(30), &json!(true)));
    line.beats(call, 2).await;
    app.advance(10);
    app.until(OPEN, 0).await;
    assert_eq!((app.count(SECONDS).await, line.beat(call).await), (3600, (410, json!({"error": USED_UP}))));
    assert_eq!(line.begin(false).await, (429, json!({"error": USED_UP})));
}

#[tokio::test]
async fn a_call_over_the_end_of_a_month_counts_in_both() {
    let app = TestApp::start().await;
    let line = Line(&app);
    app.behind().await.execute("UPDATE users SET time_zone = 'UTC'").await.unwrap();
    let to_midnight = "SELECT extract(epoch FROM '2026-12-01T00:00Z'::timestamptz)::bigint";
    app.advance(app.count(to_midnight).await - app.now().timestamp() - 15);
    let call = line.connected().await;
    line.beats(call, 3).await;
    line.end(call, "").await;
    let of = async |month: &'static str| app.count(month).await;
    assert_eq!(of("SELECT seconds FROM voice_seconds WHERE month = '2026-11'").await, 10);
    assert_eq!(of("SELECT seconds FROM voice_seconds WHERE month = '2026-12'").await, 20);
    app.check_replay().await;
}

#[tokio::test]
async fn one_call_a_person_and_a_second_tab_takes_it_over() {
    let app = TestApp::start().await;
    let line = Line(&app);
    let first = line.connected().await;
    let mut tab = app.connect().await;
    let law = line.line().await["call"]["conversation"].clone();
    tab.send(json!({"type": "resume", "after": 0, "conversation": law})).await;
    let (status, busy) = line.begin(false).await;
    assert_eq!((status, &busy["error"]), (409, &json!("You are in a call already, in another tab; it can be taken over")));
    assert_eq!(line.line().await["call"]["call"], first);
    app.advance(4);
    let (status, second) = line.begin(true).await;
    assert_eq!(status, 200, "{second}");
    let told = tab.until(|frame| frame["reason"] == "taken_over").await.pop().unwrap();
    assert_eq!((&told["type"], &told["call"], &told["state"]), (&json!("voice"), &json!(first), &json!("idle")));
    let (status, over) = line.beat(first).await;
    assert_eq!((status, &over["error"]), (410, &json!("Call ended here: it goes on in another tab")));
    assert_eq!((app.count(OPEN).await, app.count(SECONDS).await), (1, 4));
    // A call whose page is gone is in nobody's way.
    app.behind().await.execute("DELETE FROM wake_ups").await.unwrap();
    app.advance(31);
    assert_eq!(line.begin(false).await.0, 200);
    assert_eq!(app.count(OPEN).await, 1);
    app.check_replay().await;
}

#[tokio::test]
async fn two_tabs_that_call_at_once_are_one_call() {
    let app = TestApp::start().await;
    let line = Line(&app);
    let began = futures::future::join_all((0..6).map(|_| line.begin(false))).await;
    let mut statuses: Vec<_> = began.iter().map(|(status, _)| *status).collect();
    statuses.sort_unstable();
    assert_eq!((statuses, app.count(OPEN).await), (vec![200, 409, 409, 409, 409, 409], 1));
    app.check_replay().await;
}

#[tokio::test]
async fn who_has_no_voice_is_refused_and_nobody_ends_anothers_call() {
    let (app, owner, ana): (TestApp, Person, Person) = two_people().await;
    let begin = async |who: &Person| who.ask(Method::POST, "/api/voice/calls", Some(json!({"adapter": "browser"}))).await;
    let (status, refused) = begin(&ana).await;
    assert_eq!((status, &refused["error"]), (403, &json!("Talking with Law is not part of your tier.")));
    let (_, line) = ana.ask(Method::GET, "/api/voice", None).await;
    assert_eq!((&line["voice"], &line["seconds_left"], &line["call"]), (&json!(false), &json!(0), &Value::Null));
    // Nor do they hear of a setting that is missing, which the owner does.
    for adapter in ["own", "vapi"] {
        let begin = async |who: &Person| who.ask(Method::POST, "/api/voice/calls", Some(json!({"adapter": adapter}))).await;
        assert_eq!(begin(&ana).await, (403, refused.clone()), "{adapter}");
        assert_eq!(begin(&owner).await.0, 409, "{adapter}");
    }
    assert_eq!(app.count("SELECT count(*) FROM voice_calls").await, 0);
    let call = begin(&owner).await.1["call"].clone();
    let beat = ana.ask(Method::POST, &format!("/api/voice/calls/{call}/beat"), Some(json!({}))).await;
    let end = ana.ask(Method::DELETE, &format!("/api/voice/calls/{call}"), None).await;
    let unknown = json!({"error": format!("there is no call {call}")});
    assert_eq!((beat, end), ((404, unknown.clone()), (404, unknown)));
    assert_eq!(app.count(OPEN).await, 1);
    let (status, wrong) = owner.ask(Method::POST, "/api/voice/calls", Some(json!({"adapter": "telepathy"}))).await;
    assert_eq!(status, 400, "{wrong}");
    // A tier that is given voice has it at once.
    let paid = json!({"messages_per_day": 100, "voice_minutes_per_month": 1});
    owner.ask(Method::PUT, "/api/tiers/free", Some(paid)).await;
    assert_eq!(begin(&ana).await.1["seconds_left"], 60);
    assert!(app.store().of(UserId(2)).voice_line(app.now()).await.unwrap().voice);
    app.check_replay().await;
}

#[tokio::test]
async fn a_spoken_yes_decides_by_voice_and_a_yes_of_a_call_that_is_over_by_words() {
    let app = TestApp::start().await;
    let line = Line(&app);
    let talking = line.connected().await;
    let mut client = app.connect().await;
    let say = |words: &str, call: i64| json!({"type": "message", "content": words, "profile": "law", "call": call});
    for (title, ended, channel) in [("milk", false, "voice"), ("bread", true, "words")] {
        app.script([call("createTask", json!({"description": title, "confirmed": false}))]);
        client.send(say(&format!("add buy {title}"), talking)).await;
        assert_eq!(client.asked().await["tool"], "createTask");
        if ended {
            line.end(talking, "?failed=true").await;
        }
        app.script([breakdown(&["shop"]), text("Done!")]);
        client.send(say("go ahead", talking)).await;
        client.turn().await;
        let last: String = sqlx::query_scalar("SELECT channel FROM approvals ORDER BY approval_id DESC LIMIT 1")
            .fetch_one(&mut app.behind().await)
            .await
            .unwrap();
        assert_eq!(last, channel);
    }
    assert_eq!(app.count("SELECT count(*) FROM tasks").await, 2);
    assert_eq!(app.count("SELECT count(*) FROM voice_calls WHERE state = 'error' AND reason = 'failed'").await, 1);
    // Other words decline, spoken or not.
    let again = line.connected().await;
    app.script([call("createTask", json!({"description": "cake", "confirmed": false}))]);
    client.send(say("add buy cake", again)).await;
    client.asked().await;
    app.script([text("No biggie!")]);
    client.send(say("what is the time", again)).await;
    client.turn().await;
    assert_eq!(app.count("SELECT count(*) FROM approvals WHERE channel = 'instead'").await, 1);
    assert_eq!(app.count("SELECT count(*) FROM tasks").await, 2);
    line.end(again, "").await;
    app.check_replay().await;
}

#[tokio::test]
async fn sound_that_is_sent_counts_also_if_the_page_never_beats() {
    let peer = Peer::start().await;
    let app = TestApp::with(&[("VOICE_STT_URL", &format!("{}/inference", peer.host()))]).await;
    let sends = async || {
        let sound = [b"RIFF\0\0\0\0WAVE".as_slice(), &[0; 32]].concat();
        let url = format!("http://{}/api/voice/transcriptions", app.address());
        let sent = api::client().post(url).header("content-type", "audio/wav").body(sound).send().await.unwrap();
        sent.status().as_u16()
    };
    let paid = json!({"messages_per_day": null, "voice_minutes_per_month": 1});
    assert_eq!(api::ask(&app, Method::PUT, "/api/tiers/paid", Some(paid)).await.0, 200);
    peer.always_answers(200, "application/json", r#"{"text": "milk"}"#);
    let begin = async || api::ask(&app, Method::POST, "/api/voice/calls", Some(json!({"adapter": "own"}))).await;
    assert_eq!(begin().await.1["state"], "connecting");
    for seconds in [0, 20, 40] {
        assert_eq!((sends().await, app.count(SECONDS).await), (200, seconds));
        assert_eq!(app.count("SELECT count(*) FROM voice_calls WHERE state = 'active'").await, 1);
        app.advance(20);
    }
    app.until(OPEN, 0).await;
    assert_eq!((app.count(SECONDS).await, sends().await, peer.arrived().len()), (60, 409, 3));
    assert_eq!(begin().await, (429, json!({"error": USED_UP})));
    app.check_replay().await;
}
