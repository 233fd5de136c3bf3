//! kill -9 while messages of a contact come in and ours go out: none that was accepted is lost, the
//! loopback peer gets none twice, and each of which nobody knows is shown as `unknown`.

use std::os::unix::process::ExitStatusExt;
use std::process::Stdio;

use reqwest::Method;
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;
use tokio::task::JoinHandle;

use crate::database::elsewhere;
use crate::number;
use crate::rig::Rig;
use crate::support::api::{ask_at, client};

/// The place to die at, the hit, and what brings a server there: an order, or a contact's words and
/// the answer to them.
pub const DEATHS: [(&str, u32, &str); 15] = [
    ("after-accept", 1, "order"),
    ("mid-incoming", 1, "reply"),
    ("after-accept", 1, "reply"),
    ("after-claim", 1, "reply"),
    ("mid-briefing", 1, "reply"),
    ("first-byte", 1, "reply"),
    ("after-step", 1, "reply"),
    ("mid-outgoing", 1, "reply"),
    ("after-done", 1, "reply"),
    ("after-step", 2, "reply"),
    ("mid-attempt", 1, "reply"),
    ("after-intent", 1, "reply"),
    ("after-send", 1, "reply"),
    ("mid-delivery", 1, "reply"),
    ("mid-delivery", 2, "reply"),
];
const ANNA: &str = "+491701234567";
/// No limit: the deaths are tried here, not the pace.
const PACE: &str = r#"{"contact_gap_seconds": 0, "contact_per_10_minutes": 9999, "channel_per_minute": 9999, "channel_per_day": 99999,
    "first_contacts_per_day": 9999, "quiet_from": "08:00", "quiet_until": "08:00", "i_know": true}"#;

/// The model's answer in a contact's conversation: it answers each line of the contact's that has
/// no answer yet. `None` if it is asked elsewhere.
pub fn answer(messages: &[Value]) -> Option<Value> {
    let mut shown = messages.iter().filter_map(|message| message["content"].as_str());
    let transcript = shown.rfind(|content| content.starts_with("The transcript, a JSON object a line"))?;
    let lines: Vec<Value> = transcript.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let texts = |by: &str| -> Vec<String> {
        let of = lines.iter().filter(|line| line["said_by"] == by);
        of.filter_map(|line| line["text"].as_str()).map(str::to_owned).collect()
    };
    let (said, answered) = (texts("contact"), texts("you"));
    let mut due: Vec<_> = said.iter().map(|text| format!("re: {text}")).filter(|text| !answered.contains(text)).collect();
    if said.is_empty() && answered.is_empty() {
        due.push("Hello".to_owned());
    }
    let call = |(n, text): (usize, String)| {
        let function = json!({"name": "send_message", "arguments": json!({"text": text}).to_string()});
        json!({"id": format!("call_{n}"), "type": "function", "function": function})
    };
    let calls: Vec<_> = due.into_iter().enumerate().map(call).collect();
    Some(match calls.is_empty() {
        true => json!({"role": "assistant", "content": "Nothing more."}),
        false => json!({"role": "assistant", "content": "Let me see.", "tool_calls": calls}),
    })
}

/// Asks again and again until the server has it: so does a channel that was not told that we have a
/// message, and an orderer with a key.
fn insists(rig: &Rig, path: String, body: Value) -> JoinHandle<Value> {
    let mut address = rig.address.subscribe();
    tokio::spawn(async move {
        loop {
            let Ok(Some(here)) = address.wait_for(Option::is_some).await.map(|address| *address) else {
                panic!("no more servers")
            };
            let sent = client().post(format!("http://{here}/api/relay{path}")).json(&body).send().await;
            if let Ok(answer) = sent
                && answer.status() == 200
                && let Ok(answer) = answer.json().await
            {
                return answer;
            }
            tokio::task::yield_now().await;
        }
    })
}

/// Waits until a query counts so many. Nothing tells a client of the outbox.
async fn until(rig: &Rig, query: &'static str, wanted: i64) {
    let mut behind = rig.behind().await;
    let counted = async {
        while sqlx::query_scalar::<_, i64>(query).fetch_one(&mut behind).await.unwrap() != wanted {
            tokio::task::yield_now().await;
        }
    };
    crate::support::in_time(query, counted).await;
}

async fn counts(rig: &Rig, query: &'static str) -> i64 {
    sqlx::query_scalar(query).fetch_one(&mut rig.behind().await).await.unwrap()
}

const OPEN: &str = "SELECT (SELECT count(*) FROM turns WHERE ended_at IS NULL)
    + (SELECT count(*) FROM relay_messages WHERE state IN ('queued', 'sending') OR said_by = 'contact' AND turn_id IS NULL)";

#[tokio::test(flavor = "multi_thread")]
async fn death_at_every_point_of_receiving_and_sending_loses_nothing_and_sends_nothing_twice() {
    let mut rig = Rig::on(elsewhere("relay").await).await;
    let (mut orders, mut replies, mut deaths) = (0, 0, 0);
    for round in 0..number("CHAOS_POINTS", 1) {
        let mut open = None;
        for (place, (point, hit, word)) in DEATHS.iter().enumerate() {
            let armed = format!("{point}:abort:{hit}");
            rig.start(&[("LEVEL3_FAILPOINT", &armed), ("LEVEL3_RELAY_PACE", PACE)]).await;
            let asking = if *word == "order" {
                orders += 1;
                let order = json!({"objective": "Talk", "contact": ANNA, "key": format!("order-{round}-{place}"), "heartbeat_seconds": 86_400});
                insists(&rig, "/instances".into(), order)
            } else {
                replies += 1;
                let id = format!("peer-{round}-{place}");
                insists(&rig, "/loopback".into(), json!({"address": ANNA, "text": format!("word {id}"), "id": id}))
            };
            let (ended, log) = rig.wait_for_end().await;
            assert_eq!(ended.signal(), Some(libc::SIGKILL), "{armed}: {log}");
            deaths += 1;
            if round == 0 {
                rig.check_replay().await;
            }
            // A client that was not told that it is there brings it again.
            assert!(rig.start(&[("LEVEL3_RELAY_PACE", PACE)]).await, "{}", rig.process().log());
            let answer = crate::support::in_time("the server to have it", asking).await.unwrap();
            if *word == "order" {
                open = answer["id"].as_i64();
            } else {
                assert!(["kept", "again"].contains(&answer["came"].as_str().unwrap()), "{armed}: {answer}");
            }
            until(&rig, OPEN, 0).await;
            rig.kill().await;
        }
        assert!(rig.start(&[("LEVEL3_RELAY_PACE", PACE)]).await, "{}", rig.process().log());
        let url = format!("http://{}/api/relay/instances/{}/cancel", rig.address.borrow().unwrap(), open.unwrap());
        assert_eq!(ask_at(&url, Method::POST, Some(json!({}))).await.0, 200);
        rig.kill().await;
    }
    assert!(rig.start(&[("LEVEL3_RELAY_PACE", PACE)]).await, "{}", rig.process().log());
    let unknown = judge(&rig, orders, replies).await;
    let wanted = 3 * i64::try_from(number("CHAOS_POINTS", 1)).unwrap();
    // A death at another place may meet a message on its way, too.
    assert!(
        unknown >= wanted,
        "after the intent, after the sending and before its end is recorded nobody knows: {unknown} of {wanted}"
    );
    shown_unknown(&rig, unknown).await;
    rig.replays().await;
    crate::tell(&format!(
        "Relay: {deaths} deaths at {} places of receiving and sending, {orders} orders, {replies} messages in: none lost, none sent twice, {unknown} unknown",
        DEATHS.len()
    ));
    rig.stop().await;
}

/// Counts what is in the database and on the phone; gives how many messages are unknown.
async fn judge(rig: &Rig, orders: i64, replies: i64) -> i64 {
    for (what, query, wanted) in [
        ("instances, each order once", "SELECT count(*) FROM relay_instances", orders),
        ("messages of the contact, each once", "SELECT count(DISTINCT peer_id) FROM relay_messages WHERE said_by = 'contact'", replies),
        ("rows of them", "SELECT count(*) FROM relay_messages WHERE said_by = 'contact'", replies),
        (
            "answers, one to each",
            "SELECT count(*) FROM relay_messages c JOIN relay_messages a USING (instance_id)
             WHERE c.said_by = 'contact' AND a.said_by = 'agent' AND a.text = 're: ' || c.text",
            replies,
        ),
        ("messages of ours", "SELECT count(*) FROM relay_messages WHERE said_by = 'agent'", orders + replies),
        ("messages that came twice", "SELECT count(*) FROM loopback_messages WHERE NOT mine AND arrivals <> 1", 0),
        (
            "messages that are said to be there and are not",
            "SELECT count(*) FROM relay_messages m WHERE state IN ('sent', 'delivered', 'read')
               AND NOT EXISTS (SELECT FROM loopback_messages l WHERE NOT l.mine AND l.text = m.text)",
            0,
        ),
        ("messages that failed or wait", "SELECT count(*) FROM relay_messages WHERE state IN ('failed', 'queued', 'sending')", 0),
        (
            "messages on the phone that are neither there nor unknown",
            "SELECT count(*) FROM loopback_messages l WHERE NOT mine
               AND NOT EXISTS (SELECT FROM relay_messages m WHERE m.text = l.text AND m.state IN ('sent', 'delivered', 'unknown'))",
            0,
        ),
    ] {
        assert_eq!(counts(rig, query).await, wanted, "{what}");
    }
    counts(rig, "SELECT count(*) FROM relay_messages WHERE state = 'unknown'").await
}

/// Each unknown message is so in the interface that the page reads, and in what the command line
/// prints.
async fn shown_unknown(rig: &Rig, unknown: i64) {
    let address = rig.address.borrow().unwrap();
    let (_, listed) = ask_at(&format!("http://{address}/api/relay/unknown"), Method::GET, None).await;
    assert_eq!(i64::try_from(listed["messages"].as_array().unwrap().len()).unwrap(), unknown, "{listed}");
    let home = tempfile::tempdir().unwrap();
    let server = format!("http://{address}");
    relay(home.path(), &["init", "--server", &server], "any token\n").await;
    let status: Value = serde_json::from_str(&relay(home.path(), &["status", "--json"], "").await).unwrap();
    assert_eq!(status["unknown"], unknown, "{status}");
    for message in listed["messages"].as_array().unwrap() {
        let instance = message["instance"].to_string();
        let transcript = relay(home.path(), &["transcript", &instance], "").await;
        let line = transcript.lines().find(|line| line.contains(&format!("[message {}]", message["id"])));
        assert!(line.is_some_and(|line| line.contains("unknown")), "{message}: {transcript}");
    }
}

/// The output of the command `relay`.
async fn relay(home: &std::path::Path, arguments: &[&str], input: &str) -> String {
    let mut command = tokio::process::Command::new(env!("CARGO_BIN_EXE_relay"));
    command.args(arguments).env_clear().env("RELAY_HOME", home.join("relay")).kill_on_drop(true);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes()).await;
    let ran = crate::support::in_time("the command relay", child.wait_with_output()).await.unwrap();
    assert!(ran.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&ran.stderr));
    String::from_utf8(ran.stdout).unwrap()
}
