//! Why a server of other people's tools gave no answer.

use std::time::Duration;

use rmcp::service::{ClientInitializeError, ServiceError};
use rmcp::transport::DynamicTransportError;
use rmcp::transport::streamable_http_client::StreamableHttpError;

use super::clean;
use crate::secrets::SecretError;
use crate::telemetry::chain;

/// The longest text of an error, in characters.
const MAX_SAID: usize = 500;

/// Why there is no answer, in words for the operator and for the model.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text}")]
pub struct McpError {
    text: String,
    may_have_happened: bool,
}

impl McpError {
    fn nothing_happened(text: String) -> Self {
        Self { text, may_have_happened: false }
    }

    /// There is no connection. `said` is what came instead, from the server or the machine.
    pub(super) fn unreachable(server: &str, said: &str) -> Self {
        let said = if said.trim().is_empty() { String::new() } else { format!(": {}", said.trim()) };
        Self::nothing_happened(format!("the MCP server `{server}` cannot be reached{said}"))
    }

    /// The server said no, or makes no sense.
    pub(super) fn refused(server: &str, said: &str) -> Self {
        Self::nothing_happened(format!("the MCP server `{server}` refused: {said}"))
    }

    /// It does not say which tools it has.
    pub(super) fn no_list(server: &str, error: &ServiceError) -> Self {
        match error {
            ServiceError::McpError(error) => Self::refused(server, &error_words(&error.message)),
            ServiceError::UnexpectedResponse => {
                Self::nothing_happened(format!("the MCP server `{server}` does not list its tools as the protocol has it"))
            }
            error => Self::unreachable(server, &request_words(error)),
        }
    }

    /// It took too long before anything was asked of it.
    pub(super) fn slow(server: &str, what: &str, limit: Duration) -> Self {
        Self::nothing_happened(format!("the MCP server `{server}` did not {what} within {} seconds", limit.as_secs_f32()))
    }

    /// A secret is not there.
    pub(super) fn no_secret(server: &str, secret: &str) -> Self {
        Self::nothing_happened(format!(
            "the MCP server `{server}` needs the secret {secret}, which is not set; the operator can set it with `level3 secret set {secret}`"
        ))
    }

    /// A secret cannot be opened.
    pub(super) fn secret(server: &str, secret: &str, error: &SecretError) -> Self {
        tracing::warn!(server, secret, error = error as &dyn std::error::Error, "a secret cannot be used");
        Self::nothing_happened(format!("the MCP server `{server}` needs the secret {secret}, which cannot be opened"))
    }

    /// The connection ended in the middle of a call.
    pub(super) fn lost(server: &str, said: &str) -> Self {
        let text = format!("the connection to the MCP server `{server}` ended in the middle of the call ({said})");
        Self { text, may_have_happened: true }
    }

    /// No answer in time.
    pub(super) fn late(server: &str, limit: Duration) -> Self {
        let text = format!("the MCP server `{server}` gave no answer within {} seconds", limit.as_secs_f32());
        Self { text, may_have_happened: true }
    }

    /// True when the call may have been carried out all the same.
    pub fn may_have_happened(&self) -> bool {
        self.may_have_happened
    }

    /// The same in other words.
    pub(super) fn reworded(self, reword: impl FnOnce(&str) -> String) -> Self {
        Self { text: reword(&self.text), ..self }
    }
}

/// Words of a server in an error.
pub(super) fn error_words(text: &str) -> String {
    clean::line(text, MAX_SAID)
}

/// The reason why a greeting failed.
pub(super) fn greeting_words(error: &ClientInitializeError) -> String {
    error_words(&match error {
        ClientInitializeError::TransportError { error, .. } => cause(error),
        // In these `rmcp` shows its own types.
        ClientInitializeError::ExpectedInitResponse(_) | ClientInitializeError::ExpectedInitResult(_) => {
            "it does not answer a greeting as the protocol has it".to_owned()
        }
        other => other.to_string(),
    })
}

/// The reason why a request failed.
pub(super) fn request_words(error: &ServiceError) -> String {
    error_words(&match error {
        ServiceError::TransportSend(error) => cause(error),
        other => other.to_string(),
    })
}

/// The failure inside: around it `rmcp` writes the names of its types, and leaves out why a request
/// over HTTP could not be sent.
fn cause(error: &DynamicTransportError) -> String {
    match error.error.downcast_ref::<StreamableHttpError<reqwest::Error>>() {
        Some(StreamableHttpError::Client(request)) => chain(request),
        _ => chain(&*error.error),
    }
}
