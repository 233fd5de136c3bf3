//! A channel that is another program, here a script of the shell: what it gets and says, its death,
//! and what nobody knows.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use reqwest::Method;
use serde_json::{Value, json};

use super::{ANNA, Desk, writes};
use crate::support::{TestApp, in_time, text};

/// A program that goes online and keeps all that it is told. `answers` is what it does about a line
/// with `send`; `$id` is the message's.
fn program(folder: &Path, answers: &str) -> PathBuf {
    let path = folder.join("program.sh");
    let script = format!(
        r#"#!/bin/sh
env > environment
cat /proc/$$/stat > stat
echo '{{"kind":"status","state":"online","address":"+491711111111"}}'
while read -r line; do
  echo "$line" >> lines
  case "$line" in
    *'"kind":"send"'*) id=$(echo "$line" | sed 's/.*"id":"\([0-9A-F]*\)".*/\1/'); {answers} ;;
  esac
done
"#
    );
    fs::write(&path, script).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o700)).unwrap();
    path
}

/// A server whose channel is this program.
pub async fn desk(folder: &Path, answers: &str) -> Desk {
    desk_named(&program(folder, answers)).await
}

/// The same of a program that is named so.
async fn desk_named(program: &Path) -> Desk {
    let search = std::env::var("PATH").unwrap();
    let settings = [("LEVEL3_WHATSAPP", program.to_str().unwrap()), ("PATH", &search)];
    let desk = Desk { app: TestApp::with(&settings).await };
    online(&desk).await;
    desk
}

async fn channel(desk: &Desk) -> Value {
    desk.done(Method::GET, "/channels", None).await["channels"][0].clone()
}

/// Waits until the channel is online. Its status is no event, so it is asked for again and again.
async fn online(desk: &Desk) {
    let asked = async {
        while channel(desk).await["state"] != "online" {
            tokio::task::yield_now().await;
        }
    };
    in_time("the channel to be online", asked).await;
}

/// Lets time go on until a message has this delivery: typing is shown for a while before each.
pub async fn goes(desk: &Desk, id: i64, seq: usize, delivery: &str) -> Value {
    let gone = async {
        loop {
            if let Some(message) = desk.transcript(id).await.get(seq - 1)
                && message["delivery"] == delivery
            {
                return message.clone();
            }
            desk.app.clock.advance(chrono::TimeDelta::milliseconds(100));
            tokio::task::yield_now().await;
        }
    };
    in_time(&format!("message {seq} to be {delivery}"), gone).await
}

pub async fn ordered(desk: &Desk) -> i64 {
    desk.app.script([writes("Is Friday fine?"), text("")]);
    let id = desk.order(ANNA).await;
    desk.until(id, "WAITING_FOR_REPLY").await;
    desk.app.run_until_idle().await;
    id
}

#[tokio::test]
async fn a_program_gets_what_it_needs_and_no_environment_of_ours() {
    let folder = tempfile::tempdir().unwrap();
    let says = r#"echo "{\"kind\":\"sent\",\"id\":\"$id\"}"; echo "{\"kind\":\"receipt\",\"id\":\"$id\",\"state\":\"read\"}""#;
    let desk = desk(folder.path(), says).await;
    assert_eq!(channel(&desk).await["address"], "+491711111111");
    let id = ordered(&desk).await;
    let read = goes(&desk, id, 1, "read").await;
    assert!(read["sent_at"].is_string() && read["read_at"].is_string(), "{read}");
    let own = desk.app.data().join("channels/whatsapp");
    let lines = fs::read_to_string(own.join("lines")).unwrap();
    let first: Value = serde_json::from_str(lines.lines().next().unwrap()).unwrap();
    assert_eq!((first["kind"].as_str(), first["version"].as_i64()), (Some("start"), Some(1)));
    assert!(lines.contains(r#""kind":"typing""#) && lines.contains(r#""text":"Is Friday fine?""#), "{lines}");
    let environment = fs::read_to_string(own.join("environment")).unwrap();
    assert!(!environment.contains("CARGO") && environment.contains("HOME="), "{environment}");
    // It leads a group of its own (proc_pid_stat(5): id, name, state, parent, group), so that
    // Ctrl-C reaches the server alone.
    if cfg!(target_os = "linux") {
        let stat = fs::read_to_string(own.join("stat")).unwrap();
        let fields: Vec<&str> = stat.split(' ').collect();
        assert_eq!(fields[0], fields[4], "{stat}");
    }
}

#[tokio::test]
async fn a_program_may_be_named_from_the_folder_of_the_start() {
    let folder = tempfile::tempdir().unwrap();
    let whole = program(folder.path(), ":");
    let here = std::env::current_dir().unwrap();
    let up = Path::new("..").join("../".repeat(here.components().count()));
    let desk = desk_named(&up.join(whole.strip_prefix("/").unwrap())).await;
    assert_eq!(channel(&desk).await["state"], "online");
}

#[tokio::test]
async fn a_zero_character_in_the_words_of_a_program_stops_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let says = r#"printf '{"kind":"sent","id":"%s","peer_id":"P\\u0000%s"}\n' "$id" "$id"; \
printf '{"kind":"message","id":"M\\u0000","from":"+491701234567","text":"Yes"}\n'"#;
    let desk = desk(folder.path(), says).await;
    let id = ordered(&desk).await;
    desk.app.script([writes("Thank you"), text("")]);
    goes(&desk, id, 1, "sent").await;
    goes(&desk, id, 3, "sent").await;
    desk.app.run_until_idle().await;
    assert_eq!(desk.transcript(id).await[1]["text"], "Yes");
    // The third message came behind it, so the program has read it.
    let lines = fs::read_to_string(desk.app.data().join("channels/whatsapp/lines")).unwrap();
    assert!(lines.contains(r#""kind":"accepted""#) && lines.contains("\"id\":\"M\u{FFFD}\""), "{lines}");
}

#[tokio::test]
async fn an_attempt_whose_end_nobody_knows_is_unknown_until_a_person_decides() {
    let folder = tempfile::tempdir().unwrap();
    let mut desk = desk(folder.path(), ":").await;
    let id = ordered(&desk).await;
    goes(&desk, id, 1, "sending").await;
    desk.app.crash().await;
    desk.app.start_again().await;
    let unknown = goes(&desk, id, 1, "unknown").await;
    let listed = desk.done(Method::GET, "/unknown", None).await;
    assert_eq!(listed["messages"][0]["id"], unknown["id"]);
    let message = &unknown["id"];
    // Under the same id as before.
    let sent = desk.done(Method::POST, &format!("/messages/{message}/resend"), Some(json!({}))).await;
    assert_eq!(sent["delivery"], "queued");
    online(&desk).await;
    goes(&desk, id, 1, "sending").await;
    let lines = fs::read_to_string(desk.app.data().join("channels/whatsapp/lines")).unwrap();
    let ids: Vec<Value> = lines
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok())
        .filter(|line| line["kind"] == "send")
        .map(|line| line["id"].clone())
        .collect();
    assert!(ids.windows(2).all(|pair| pair[0] == pair[1]), "{ids:?}");
    desk.app.crash().await;
    desk.app.start_again().await;
    goes(&desk, id, 1, "unknown").await;
    let settled = desk.done(Method::POST, &format!("/messages/{message}/settle"), Some(json!({"as": "lost"}))).await;
    assert_eq!(
        (settled["delivery"].as_str(), settled["reason"].as_str()),
        (Some("failed"), Some("a person says that it is lost"))
    );
}

#[tokio::test]
async fn a_refusal_of_first_contacts_stops_them_until_a_person_says_otherwise() {
    let folder = tempfile::tempdir().unwrap();
    let says = r#"echo "{\"kind\":\"refused\",\"id\":\"$id\",\"code\":\"463\",\"reason\":\"restricted\"}""#;
    let desk = desk(folder.path(), says).await;
    let id = ordered(&desk).await;
    let failed = goes(&desk, id, 1, "failed").await;
    assert_eq!(failed["reason"], "463: restricted");
    let told = channel(&desk).await["no_first_contacts"].clone();
    assert!(told.as_str().unwrap().contains("unlock the channel"), "{told}");
    let unlocked = desk.done(Method::POST, "/channels/whatsapp/unlock", Some(json!({}))).await;
    assert_eq!(unlocked["no_first_contacts"], Value::Null);
}

#[tokio::test]
async fn a_refusal_that_says_that_the_account_is_locked_stops_everything_until_the_program_says_otherwise() {
    let folder = tempfile::tempdir().unwrap();
    // It refuses the first message; asked to log out it says first that it is locked, then that it
    // is online.
    let says = r#"if [ -e refused ]; then echo "{\"kind\":\"sent\",\"id\":\"$id\"}"; else touch refused; \
echo "{\"kind\":\"refused\",\"id\":\"$id\",\"code\":\"403\",\"reason\":\"account locked\",\"left\":true}"; fi ;;
    *'"kind":"logout"'*) if [ -e banned ]; then echo '{"kind":"status","state":"online"}'; else touch banned; \
echo '{"kind":"status","state":"locked","code":"402","until":"2026-11-29T00:00:00Z"}'; fi"#;
    let desk = desk(folder.path(), says).await;
    let id = ordered(&desk).await;
    goes(&desk, id, 1, "failed").await;
    let locked = channel(&desk).await;
    assert_eq!((&locked["state"], &locked["reason"]), (&json!("locked"), &json!("403: account locked")), "{locked}");
    assert_eq!(locked["no_first_contacts"], Value::Null);
    desk.done(Method::POST, &format!("/instances/{id}/send"), Some(json!({"text": "Still there?"}))).await;
    desk.app.advance(600);
    let waits = json!({"why": "not_online", "until": null});
    assert_eq!((&desk.instance(id).await["waits"], &desk.transcript(id).await[1]["waits"]), (&waits, &waits));
    let logout = async || desk.done(Method::POST, "/channels/whatsapp/logout", Some(json!({}))).await;
    logout().await;
    let banned = async {
        while channel(&desk).await["until"].is_null() {
            tokio::task::yield_now().await;
        }
    };
    in_time("the ban", banned).await;
    assert_eq!(desk.instance(id).await["waits"], json!({"why": "not_online", "until": "2026-11-29T00:00:00Z"}));
    // A person's rest is the nearer reason.
    desk.post(id, "pause").await;
    assert_eq!(desk.instance(id).await["waits"]["why"], "paused");
    desk.post(id, "resume").await;
    logout().await;
    goes(&desk, id, 2, "sent").await;
}

#[tokio::test]
async fn a_late_word_that_nothing_left_has_the_message_wait_again() {
    let folder = tempfile::tempdir().unwrap();
    // It answers nothing; asked to log out it says of the last message that it never left.
    let says = r#"if [ -e late ]; then echo "{\"kind\":\"sent\",\"id\":\"$id\"}"; fi ;;
    *'"kind":"logout"'*) touch late; id=$(grep '"kind":"send"' lines | tail -n 1 | sed 's/.*"id":"\([0-9A-F]*\)".*/\1/'); \
echo "{\"kind\":\"refused\",\"id\":\"$id\",\"code\":\"offline\",\"left\":false}""#;
    let mut desk = desk(folder.path(), says).await;
    let id = ordered(&desk).await;
    goes(&desk, id, 1, "sending").await;
    desk.app.crash().await;
    desk.app.start_again().await;
    goes(&desk, id, 1, "unknown").await;
    online(&desk).await;
    desk.done(Method::POST, "/channels/whatsapp/logout", Some(json!({}))).await;
    goes(&desk, id, 1, "sent").await;
}

#[tokio::test]
async fn an_answer_that_a_service_kept_while_it_was_away_is_no_silence() {
    let folder = tempfile::tempdir().unwrap();
    // Asked to log out it goes away at first, and then comes back with what was kept for it.
    let says = r#"echo "{\"kind\":\"sent\",\"id\":\"$id\"}" ;;
    *'"kind":"logout"'*) if [ -e away ]; then echo '{"kind":"status","state":"online"}'; \
echo '{"kind":"message","id":"M1","from":"+491701234567","text":"Yes"}'; else touch away; \
echo '{"kind":"status","state":"connecting"}'; fi"#;
    let desk = desk(folder.path(), says).await;
    let id = ordered(&desk).await;
    goes(&desk, id, 1, "sent").await;
    let logout = async || desk.done(Method::POST, "/channels/whatsapp/logout", Some(json!({}))).await;
    logout().await;
    let away = async {
        while channel(&desk).await["state"] != "connecting" {
            tokio::task::yield_now().await;
        }
    };
    in_time("the service to be away", away).await;
    desk.app.advance(3_600);
    assert_eq!(desk.instance(id).await["state"], "WAITING_FOR_REPLY");
    desk.app.script([writes("Good"), text("")]);
    logout().await;
    goes(&desk, id, 3, "sent").await;
    desk.app.run_until_idle().await;
    let shown = desk.instance(id).await;
    assert_eq!((&shown["state"], &shown["follow_ups"]), (&json!("WAITING_FOR_REPLY"), &json!(0)), "{shown}");
    assert_eq!(desk.transcript(id).await[1]["text"], "Yes");
}
