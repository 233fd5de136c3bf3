//! Other agents' way in over standard input and output: each line is carried to `/mcp` of the running server, and each answer back.
//! Nothing is decided here.

use std::collections::HashSet;
use std::time::Duration;

use futures::StreamExt;
use futures::stream::FuturesUnordered;
use rmcp::model::{ClientJsonRpcMessage, ClientNotification, ClientRequest, ErrorData, RequestId, ServerJsonRpcMessage};
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rmcp::transport::{StreamableHttpClientTransport, Transport};
use rmcp::{RoleClient, RoleServer};
use secrecy::ExposeSecret;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::{Instant, sleep_until};

use super::CliError;
use super::client::{self, Client};
use crate::wire::api::McpServers;

/// The longest line from the other agent, in bytes.
const MAX_LINE_BYTES: usize = 4 << 20;

/// How long the next answer is waited for once the input has ended. Real time: the server answers every call within 50 seconds.
const PATIENCE: Duration = Duration::from_secs(60);

/// Speaks MCP on standard input and output, until the input has ended and everything that was asked is answered, or the server is gone.
pub(super) async fn serve(client: &Client) -> Result<(), CliError> {
    // A server that is not there, or wants another token, is told on standard error before anything is promised.
    let _: McpServers = client.get(&["mcp"], &[]).await?;
    let mut config = StreamableHttpClientTransportConfig::with_uri(client.address(&["mcp"]).as_str());
    config.auth_header = client.token().map(|token| token.expose_secret().to_owned());
    let server = StreamableHttpClientTransport::with_client(client::patient(client.server())?, config);
    carry(tokio::io::stdin(), tokio::io::stdout(), server, PATIENCE).await;
    Ok(())
}

/// Carries messages both ways. Ends with the server, with an output that nobody reads, or behind the input: then once everything is
/// answered, or no answer came for so long.
async fn carry<R, W>(input: R, output: W, mut server: impl Transport<RoleClient>, patience: Duration)
where
    R: AsyncRead + Send + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
{
    let mut agent = AsyncRwTransport::<RoleServer, _, _>::new(input, output).with_max_line_length(MAX_LINE_BYTES);
    let mut sending = FuturesUnordered::new();
    // The requests that the server has not answered yet.
    let mut open = HashSet::new();
    // Set once the input has ended.
    let mut until: Option<Instant> = None;
    let why = loop {
        if until.is_some() && open.is_empty() && sending.is_empty() {
            break None;
        }
        let told = tokio::select! {
            message = agent.receive(), if until.is_none() => {
                let Some(message) = message else {
                    until = Some(Instant::now() + patience);
                    continue;
                };
                let id = asked(&message);
                open.extend(id.clone().filter(|_| !listens(&message)));
                if let Some(id) = taken_back(&message) {
                    open.remove(id);
                }
                let sent = server.send(message);
                sending.push(async move { (id, sent.await) });
                continue;
            }
            Some((id, sent)) = sending.next() => {
                let (Err(error), Some(id)) = (sent, id) else { continue };
                unanswered(&format!("level3 could not be reached: {error}."), id)
            }
            message = server.receive() => match message {
                Some(message) => message,
                None => break Some("The connection to level3 ended."),
            },
            () = sleep_until(until.unwrap_or_else(Instant::now)), if until.is_some() => {
                break Some("level3 did not answer in time.");
            }
        };
        if let Some(id) = answered(&told)
            && open.remove(id)
        {
            until = until.map(|_| Instant::now() + patience);
        }
        if agent.send(told).await.is_err() {
            // Nobody is there to be told anything.
            open.clear();
            break None;
        }
    };
    for id in open {
        if agent.send(unanswered(why.unwrap_or_default(), id)).await.is_err() {
            break;
        }
    }
    // Lets the server forget the connection; it would after a while anyway.
    let _ = server.close().await;
}

/// The request that waits for an answer to this message.
fn asked(message: &ClientJsonRpcMessage) -> Option<RequestId> {
    match message {
        ClientJsonRpcMessage::Request(request) => Some(request.id.clone()),
        _ => None,
    }
}

/// True for a request that is answered only when nobody listens any more.
fn listens(message: &ClientJsonRpcMessage) -> bool {
    let ClientJsonRpcMessage::Request(request) = message else { return false };
    matches!(request.request, ClientRequest::SubscriptionsListenRequest(_))
}

/// The request whose answer is not wanted any more: it gets none.
fn taken_back(message: &ClientJsonRpcMessage) -> Option<&RequestId> {
    match message {
        ClientJsonRpcMessage::Notification(notification) => match &notification.notification {
            ClientNotification::CancelledNotification(cancelled) => cancelled.params.request_id.as_ref(),
            _ => None,
        },
        _ => None,
    }
}

/// The request that this message answers.
fn answered(message: &ServerJsonRpcMessage) -> Option<&RequestId> {
    match message {
        ServerJsonRpcMessage::Response(response) => Some(&response.id),
        ServerJsonRpcMessage::Error(error) => error.id.as_ref(),
        _ => None,
    }
}

/// An answer that says why there is none.
fn unanswered(why: &str, id: RequestId) -> ServerJsonRpcMessage {
    let told = format!("{why} Call again with the same arguments; nothing happens twice.");
    ServerJsonRpcMessage::error(ErrorData::internal_error(told, None), Some(id))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};
    use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream};
    use tokio::sync::mpsc;

    use super::*;

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
            let answer = json!({"jsonrpc": "2.0", "id": id, "result": {"tools": [], "resultType": "complete"}});
            self.says.send(serde_json::from_value(answer).unwrap()).unwrap();
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
    async fn what_was_taken_back_or_never_ends_is_not_waited_for() {
        let mut bridge = Bridge::new(PATIENCE);
        let cancelled = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}});
        let listens = json!({"jsonrpc": "2.0", "id": 2, "method": "subscriptions/listen", "params": {"notifications": {"toolsListChanged": true}}});
        bridge.write(&[lists(1), cancelled, listens]).await;
        assert_eq!(bridge.end().await, Vec::<Value>::new());
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
}
