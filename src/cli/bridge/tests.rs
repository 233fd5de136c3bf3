//! Tests of `cli::bridge`.

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, BufReader, DuplexStream};
use tokio::sync::mpsc;

use super::*;
use crate::wire::MAX_MCP_BYTES;

/// A server on channels.
struct Server {
    hears: mpsc::UnboundedSender<ClientJsonRpcMessage>,
    says: mpsc::UnboundedReceiver<ServerJsonRpcMessage>,
}

impl Transport<RoleClient> for Server {
    type Error = std::io::Error;

    fn send(&mut self, message: ClientJsonRpcMessage) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        let heard = self.hears.send(message);
        async { heard.map_err(std::io::Error::other) }
    }

    async fn receive(&mut self) -> Option<ServerJsonRpcMessage> {
        self.says.recv().await
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        Ok(())
    }
}

struct Bridge {
    input: DuplexStream,
    output: BufReader<DuplexStream>,
    hears: mpsc::UnboundedReceiver<ClientJsonRpcMessage>,
    says: mpsc::UnboundedSender<ServerJsonRpcMessage>,
    carrying: tokio::task::JoinHandle<()>,
}

impl Bridge {
    fn new(patience: Duration) -> Self {
        let ((input, reads), (writes, output)) = (tokio::io::duplex(1 << 16), tokio::io::duplex(1 << 16));
        let ((heard, hears), (says, said)) = (mpsc::unbounded_channel(), mpsc::unbounded_channel());
        let carrying = tokio::spawn(carry(reads, writes, Server { hears: heard, says: said }, patience));
        Self { input, output: BufReader::new(output), hears, says, carrying }
    }

    /// Writes these messages, and closes the input.
    async fn write(&mut self, messages: &[Value]) {
        for message in messages {
            self.input.write_all(format!("{message}\n").as_bytes()).await.unwrap();
        }
        self.input.shutdown().await.unwrap();
    }

    /// Waits until the server heard so many messages.
    async fn heard(&mut self, many: usize) {
        for _ in 0..many {
            self.hears.recv().await.unwrap();
        }
    }

    fn answer(&self, id: i64) {
        self.say(json!({"jsonrpc": "2.0", "id": id, "result": {"tools": [], "resultType": "complete"}}));
    }

    fn say(&self, message: Value) {
        self.says.send(serde_json::from_value(message).unwrap()).unwrap();
    }

    /// Everything that came out, once the bridge has ended.
    async fn end(self) -> Vec<Value> {
        let Self { output, carrying, .. } = self;
        carrying.await.unwrap();
        let mut lines = output.lines();
        let mut told = Vec::new();
        while let Some(line) = lines.next_line().await.unwrap() {
            told.push(serde_json::from_str(&line).unwrap());
        }
        told
    }
}

fn lists(id: i64) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/list"})
}

#[tokio::test]
async fn everything_that_was_asked_is_answered_after_the_input_has_ended() {
    let mut bridge = Bridge::new(PATIENCE);
    bridge.write(&[lists(1), lists(2), json!({"jsonrpc": "2.0", "method": "notifications/initialized"})]).await;
    bridge.heard(3).await;
    bridge.answer(2);
    bridge.answer(1);
    let told = bridge.end().await;
    assert_eq!(told.iter().map(|message| &message["id"]).collect::<Vec<_>>(), [2, 1]);
    assert!(told.iter().all(|message| message["result"].is_object()), "{told:?}");
}

#[tokio::test]
async fn a_last_line_without_its_end_is_carried_too() {
    let mut bridge = Bridge::new(PATIENCE);
    bridge.input.write_all(format!("{}\n{}", lists(1), lists(2)).as_bytes()).await.unwrap();
    bridge.input.shutdown().await.unwrap();
    bridge.heard(2).await;
    bridge.answer(1);
    bridge.answer(2);
    let told = bridge.end().await;
    assert_eq!(told.iter().map(|message| &message["id"]).collect::<Vec<_>>(), [1, 2]);
}

#[tokio::test]
async fn a_request_that_is_not_carried_is_answered_by_its_id() {
    let mut bridge = Bridge::new(PATIENCE);
    let long = "y".repeat(MAX_MCP_BYTES);
    let large =
        |id| json!({"jsonrpc": "2.0", "method": "tools/call", "params": {"name": "t", "arguments": {"x": long}}, "id": id});
    let notifies = json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": {"message": long}});
    let answers = json!({"jsonrpc": "2.0", "id": 9, "result": {"x": long}});
    let batch = json!([lists(3), {"jsonrpc": "2.0", "method": "notifications/initialized"}, lists(4)]);
    let odd = json!({"jsonrpc": "1.0", "id": "odd", "method": "tools/list"});
    bridge.write(&[large(json!(1)), notifies, answers, batch, odd, lists(2)]).await;
    bridge.heard(1).await;
    bridge.answer(2);
    let told = bridge.end().await;
    let of = |id: Value| told.iter().find(|message| message["id"] == id).unwrap_or_else(|| panic!("{id} in {told:?}"));
    assert!(told.len() == 5 && of(json!(2))["result"].is_object(), "{told:?}");
    for (id, why) in
        [(json!(1), "4194304 is the most"), (json!(3), "no batches"), (json!(4), "no batches"), (json!("odd"), "no message")]
    {
        let error = &of(id)["error"];
        assert!(error["code"] == -32600 && error["message"].as_str().unwrap().contains(why), "{error}");
    }
}

#[tokio::test]
async fn what_was_taken_back_or_never_ends_is_not_waited_for() {
    let mut bridge = Bridge::new(PATIENCE);
    let cancelled = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}});
    let listens = json!({"jsonrpc": "2.0", "id": 2, "method": "subscriptions/listen", "params": {"notifications": {"toolsListChanged": true}}});
    bridge.write(&[lists(1), cancelled, listens]).await;
    assert_eq!(bridge.end().await, Vec::<Value>::new());
}

#[tokio::test]
async fn what_the_transport_lost_is_told_in_our_words_and_an_error_of_level3_in_its_own() {
    let mut bridge = Bridge::new(PATIENCE);
    bridge.write(&[lists(1), lists(2)]).await;
    bridge.heard(2).await;
    for (id, code) in [(1, -32603), (2, -32000)] {
        bridge.say(json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": "no answer"}}));
    }
    let told = bridge.end().await;
    assert!(told[0]["error"]["message"].as_str().unwrap().starts_with("The connection to level3 ended."), "{told:?}");
    assert_eq!(told[1]["error"], json!({"code": -32000, "message": "no answer"}));
}

#[tokio::test]
async fn a_server_that_ends_or_is_silent_is_told_for_every_request() {
    let mut bridge = Bridge::new(PATIENCE);
    bridge.input.write_all(format!("{}\n{}\n", lists(1), lists(2)).as_bytes()).await.unwrap();
    bridge.heard(2).await;
    bridge.answer(1);
    let (gone, _) = mpsc::unbounded_channel();
    bridge.says = gone;
    let told = bridge.end().await;
    assert!(told[0]["result"].is_object() && told[1]["id"] == 2 && told.len() == 2, "{told:?}");
    assert!(told[1]["error"]["message"].as_str().unwrap().starts_with("The connection to level3 ended."), "{told:?}");

    let mut silent = Bridge::new(Duration::ZERO);
    silent.write(&[lists(7)]).await;
    let told = silent.end().await;
    assert_eq!(told[0]["id"], 7);
    let message = told[0]["error"]["message"].as_str().unwrap();
    assert!(message.contains("in time") && message.contains("nothing happens twice"), "{told:?}");
}
