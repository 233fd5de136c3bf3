//! Other agents' way in over standard input and output: each line is carried to `/mcp` of the
//! running server, and each answer back. Nothing is decided here.

mod lines;

use std::collections::HashSet;
use std::error::Error;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use futures::stream::FuturesUnordered;
use rmcp::RoleClient;
use rmcp::model::{
    ClientJsonRpcMessage, ClientNotification, ClientRequest, ErrorCode, ErrorData, JsonRpcError, RequestId, ServerJsonRpcMessage,
};
use rmcp::transport::common::client_side_sse::NeverRetry;
use rmcp::transport::streamable_http_client::{StreamableHttpClientTransportConfig, StreamableHttpError};
use rmcp::transport::{StreamableHttpClientTransport, Transport};
use secrecy::ExposeSecret;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};
use tokio::time::{Instant, sleep_until, timeout};

use super::CliError;
use super::client::{self, Client};
use crate::wire::api::McpServers;
use lines::{Line, Lines};

/// How long the next answer is waited for once the input has ended. Real time: the server answers
/// every call within 50 seconds.
const PATIENCE: Duration = Duration::from_secs(60);

/// How long the server gets to hear that the bridge ends. Real time: it guards against a server
/// that hangs.
const PARTING: Duration = Duration::from_secs(1);

/// The words for every request that a server leaves open when it goes away.
const GONE: &str = "The connection to level3 ended. It went away before it answered.";

/// Speaks MCP on standard input and output, until the input has ended and everything that was asked
/// is answered, or the server is gone.
pub(super) async fn serve(client: &Client) -> Result<(), CliError> {
    // A server that is not there, or wants another token, is told on standard error before anything
    // is promised.
    let _: McpServers = client.get(&["mcp"], &[]).await?;
    let mut config = StreamableHttpClientTransportConfig::with_uri(client.address(&["mcp"]).as_str());
    // A server that was killed knows no connection of before. More than the one attempt that is
    // always made would only hide that.
    config.retry_config = Arc::new(NeverRetry::default());
    config.auth_header = client.token().map(|token| token.expose_secret().to_owned());
    let server = StreamableHttpClientTransport::with_client(client::patient(client.server())?, config);
    carry(tokio::io::stdin(), tokio::io::stdout(), server, PATIENCE).await;
    Ok(())
}

/// Carries messages both ways. Ends with the server, with an output that nobody reads, or behind
/// the input: then once everything is answered, or no answer came for so long.
async fn carry<R, W>(input: R, mut output: W, mut server: impl Transport<RoleClient>, patience: Duration)
where
    R: AsyncRead + Unpin,
    W: AsyncWrite + Unpin,
{
    let mut lines = Lines::new(input);
    let mut sending = FuturesUnordered::new();
    // The requests that the server has not answered yet.
    let mut open = HashSet::new();
    // Set once the input has ended.
    let mut until: Option<Instant> = None;
    let why = loop {
        if until.is_some() && open.is_empty() && sending.is_empty() {
            break None;
        }
        let said = tokio::select! {
            // A request that was refused may end the connection: its reason comes before the end.
            biased;
            Some((id, sent)) = sending.next() => {
                let (Err(error), Some(id)) = (sent, id) else { continue };
                vec![unanswered(&unsent(&error), id)]
            }
            message = server.receive() => match message {
                Some(message) => vec![in_our_words(message)],
                None => break Some(GONE),
            },
            line = lines.next(), if until.is_none() => match line {
                Some(Line::Message(message)) => {
                    let id = asked(&message);
                    open.extend(id.clone().filter(|_| !listens(&message)));
                    if let Some(id) = taken_back(&message) {
                        open.remove(id);
                    }
                    let sent = server.send(*message);
                    sending.push(async move { (id, sent.await) });
                    continue;
                }
                Some(Line::Refused(errors)) => errors,
                None => {
                    until = Some(Instant::now() + patience);
                    continue;
                }
            },
            () = sleep_until(until.unwrap_or_else(Instant::now)), if until.is_some() => {
                break Some("level3 did not answer in time.");
            }
        };
        let answers = said.iter().filter_map(answered).filter(|id| open.remove(id)).count();
        until = until.map(|until| if answers > 0 { Instant::now() + patience } else { until });
        if say(&mut output, &said).await.is_err() {
            // Nobody is there to be told anything.
            open.clear();
            break None;
        }
    };
    let rest: Vec<_> = open.into_iter().map(|id| unanswered(why.unwrap_or_default(), id)).collect();
    let _ = say(&mut output, &rest).await;
    // Lets the server forget the connection; it would after a while anyway. A transport over which
    // nobody has greeted does not hear that it is to end: it ends when it is dropped.
    let _ = timeout(PARTING, server.close()).await;
}

/// Writes messages, each on a line.
async fn say(output: &mut (impl AsyncWrite + Unpin), messages: &[ServerJsonRpcMessage]) -> io::Result<()> {
    for message in messages {
        let mut line = serde_json::to_vec(message)?;
        line.push(b'\n');
        output.write_all(&line).await?;
    }
    output.flush().await
}

/// Why a message did not get an answer, or not even there.
fn unsent(error: &(dyn Error + 'static)) -> String {
    match error.downcast_ref() {
        Some(StreamableHttpError::<reqwest::Error>::UnexpectedServerResponse(said)) => {
            format!("level3 refused the request: {said}.")
        }
        Some(StreamableHttpError::HttpStatus(status)) => format!("level3 refused the request: {status}."),
        Some(StreamableHttpError::AuthRequired(_)) => "level3 refused the request: it wants another LEVEL3_TOKEN.".to_owned(),
        _ => format!("level3 could not be reached: {error}."),
    }
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

/// The message as the other agent hears it: it need not know what lies between it and level3.
/// Errors of level3 have other codes; an internal error is the transport's own, about an answer
/// that a connection did not bring.
fn in_our_words(message: ServerJsonRpcMessage) -> ServerJsonRpcMessage {
    match message {
        ServerJsonRpcMessage::Error(JsonRpcError { id: Some(id), error, .. }) if error.code == ErrorCode::INTERNAL_ERROR => {
            unanswered(GONE, id)
        }
        message => message,
    }
}

/// An answer that says why there is none.
fn unanswered(why: &str, id: RequestId) -> ServerJsonRpcMessage {
    let told = format!("{why} Call again with the same arguments; nothing happens twice.");
    ServerJsonRpcMessage::error(ErrorData::internal_error(told, None), Some(id))
}

#[cfg(test)]
mod tests;
