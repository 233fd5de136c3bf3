//! `level3 mcp`: other agents' way in over standard input and output. Each line is carried to `/mcp` of the running server and back;
//! nothing is decided here.

use clap::{Args, Subcommand};
use futures::StreamExt;
use futures::stream::FuturesUnordered;
use rmcp::model::{ClientJsonRpcMessage, ErrorData, RequestId, ServerJsonRpcMessage};
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rmcp::transport::{StreamableHttpClientTransport, Transport};
use rmcp::{RoleClient, RoleServer};
use secrecy::ExposeSecret;
use tokio::io::{AsyncRead, AsyncWrite};

use super::client::{self, Client};
use super::{CliError, Screen};
use crate::wire::api::Rates;

/// The longest line from the other agent, in bytes.
const MAX_LINE_BYTES: usize = 4 << 20;

/// What can be done about MCP.
#[derive(Debug, Args)]
pub struct Mcp {
    #[command(subcommand)]
    ask: Option<McpAsk>,
}

/// What can be asked about MCP servers.
#[derive(Debug, Subcommand)]
enum McpAsk {}

pub(super) async fn run(ask: Mcp, client: &Client, _screen: &mut Screen<'_>) -> Result<(), CliError> {
    match ask.ask {
        None => serve(client).await,
        Some(ask) => match ask {},
    }
}

/// Speaks MCP on standard input and output until the input ends.
async fn serve(client: &Client) -> Result<(), CliError> {
    // A server that is not there, or wants another token, is told on standard error before anything is promised.
    let _: Rates = client.get(&["rates"], &[]).await?;
    let mut config = StreamableHttpClientTransportConfig::with_uri(client.address(&["mcp"]).as_str());
    config.auth_header = client.token().map(|token| token.expose_secret().to_owned());
    let server = StreamableHttpClientTransport::with_client(client::patient(client.server())?, config);
    carry(tokio::io::stdin(), tokio::io::stdout(), server).await;
    Ok(())
}

/// Carries messages both ways until either side ends.
async fn carry<R, W>(input: R, output: W, mut server: impl Transport<RoleClient>)
where
    R: AsyncRead + Send + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
{
    let mut agent = AsyncRwTransport::<RoleServer, _, _>::new(input, output).with_max_line_length(MAX_LINE_BYTES);
    let mut sending = FuturesUnordered::new();
    loop {
        tokio::select! {
            message = agent.receive() => {
                let Some(message) = message else { break };
                let (id, sent) = (asked(&message), server.send(message));
                sending.push(async move { (id, sent.await) });
            }
            Some((id, sent)) = sending.next() => {
                let Err(error) = sent else { continue };
                let told = format!("level3 could not be reached: {error}. Call again with the same arguments; nothing happens twice.");
                let Some(id) = id else { continue };
                let refusal = ServerJsonRpcMessage::error(ErrorData::internal_error(told, None), Some(id));
                if agent.send(refusal).await.is_err() {
                    break;
                }
            }
            message = server.receive() => {
                let Some(message) = message else { break };
                if agent.send(message).await.is_err() {
                    break;
                }
            }
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
