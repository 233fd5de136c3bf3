//! The JSON of `/api/mcp`: external MCP servers and their tools.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::domain::McpTransport;

/// `GET /api/mcp`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct McpServers {
    /// By name.
    pub servers: Vec<McpServerEntry>,
}

/// A server.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct McpServerEntry {
    /// Its name.
    pub name: String,
    /// How it is reached, secrets by name.
    pub transport: McpTransport,
    /// How many tools it listed last.
    pub tools: usize,
    /// When it was added.
    pub created_at: DateTime<Utc>,
}

/// `GET` and `POST /api/mcp/{name}/tools`, and the answer to adding a server.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct McpTools {
    /// The server.
    pub name: String,
    /// The tools of it that a model is offered.
    pub tools: Vec<McpToolEntry>,
    /// Tools that changed since they were listed before; rules that let them be called without
    /// asking are gone.
    #[serde(default)]
    pub changed: Vec<String>,
    /// Tools that cannot be offered, and why.
    #[serde(default)]
    pub left_out: BTreeMap<String, String>,
}

/// A tool of a server.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct McpToolEntry {
    /// As models call it, and rules name it.
    pub tool: String,
    /// As the server calls it.
    pub name: String,
    /// The server's words about it.
    pub description: String,
    /// JSON Schema of its arguments.
    pub parameters: Value,
    /// When its definition last changed.
    pub changed_at: Option<DateTime<Utc>>,
}

/// `DELETE /api/mcp/{name}`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RemovedMcpServer {
    /// The server's name.
    pub removed: String,
}
