//! A backup that is made in the middle of a conversation, and the conversation that goes on from it
//! in another place.

use std::fs;

use reqwest::Method;
use serde_json::{Value, json};

use super::ANNA;
use crate::support::api::{ask_at, level3_with};
use crate::support::{ModelServer, Server, asks_for, in_time};

/// No gaps and no quiet hours: this story runs by the real clock.
const PACE: &str = r#"{"contact_gap_seconds": 0, "quiet_from": "08:00", "quiet_until": "08:00", "i_know": true}"#;

/// Waits until a conversation has so many messages, the last of them delivered.
async fn transcript(server: &Server, id: i64, count: usize) -> Vec<Value> {
    let url = format!("http://{}/api/relay/instances/{id}/transcript", server.address);
    let looked = async {
        loop {
            let (_, shown) = ask_at(&url, Method::GET, None).await;
            let messages = shown["messages"].as_array().unwrap().clone();
            if messages.len() == count && messages.last().is_some_and(|message| message["delivery"] == "delivered") {
                return messages;
            }
            tokio::task::yield_now().await;
        }
    };
    in_time("a message to be delivered", looked).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_conversation_goes_on_from_a_backup_made_in_its_middle() {
    let model = ModelServer::start(|_, body| {
        let messages = body["messages"].as_array().unwrap();
        let written =
            messages.iter().rev().take_while(|message| message["role"] != "user").any(|message| message["role"] == "tool");
        match written {
            true => json!({"role": "assistant", "content": "Nothing more."}),
            false => asks_for("send_message", &json!({"text": "Is Friday fine?"})),
        }
    })
    .await;
    let base_url = model.base_url();
    let settings = [("LLM_BASE_URL", base_url.as_str()), ("LLM_MODEL", "scripted"), ("LEVEL3_RELAY_PACE", PACE)];
    let place = tempfile::tempdir().unwrap();
    let [data, fresh] = ["data", "fresh"].map(|name| place.path().join(name));
    let file = place.path().join("middle.l3");
    let server = Server::start(&data, &settings).await;
    let order = json!({"objective": "Arrange a viewing", "contact": ANNA, "todos": ["Ask for a time"]});
    let (_, made) = ask_at(&format!("http://{}/api/relay/instances", server.address), Method::POST, Some(order)).await;
    let id = made["id"].as_i64().unwrap();
    let before = transcript(&server, id, 1).await;
    // A file of a contact, by the name that its bytes give it.
    let image = "media/5f70bf18a086007016e948b04aed3b82103a36bea41755b6cddfaf10ace3c6ef";
    fs::create_dir_all(data.join("media")).unwrap();
    fs::write(data.join(image), [0]).unwrap();
    for (folder, arguments) in [(&data, ["backup", file.to_str().unwrap()]), (&fresh, ["restore", file.to_str().unwrap()])] {
        let ran = level3_with(&[("LEVEL3_DATA_DIR", folder.to_str().unwrap())], &arguments, "").await;
        assert_eq!(ran.code, 0, "{ran:?}");
    }
    server.kill().await;
    let server = Server::start(&fresh, &settings).await;
    assert_eq!(fs::read(fresh.join(image)).unwrap(), [0]);
    assert_eq!(transcript(&server, id, 1).await, before);
    let said = json!({"address": ANNA, "text": "Yes", "id": "peer-1"});
    let (_, came) = ask_at(&format!("http://{}/api/relay/loopback", server.address), Method::POST, Some(said)).await;
    assert_eq!(came, json!({"came": "kept", "instance": id}));
    let after = transcript(&server, id, 3).await;
    assert_eq!((&after[0], &after[1]["text"]), (&before[0], &json!("Yes")));
    let ran = level3_with(&[("LEVEL3_LISTEN", &server.address.to_string())], &["replay", "--check"], "").await;
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(server.terminate().await, Some(0));
}
