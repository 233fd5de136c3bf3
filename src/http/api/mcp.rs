//! External MCP servers: the operator adds, lists and removes them. The model has no tool for it.

use axum::Json;
use axum::http::StatusCode;

use super::reply::{ApiRefusal, At, Body, Reply};
use crate::domain::{MCP_NAME_RULE, McpFault, McpTransport, valid_mcp_name};
use crate::http::Doors;
use crate::http::visitor::Owner;
use crate::mcp::McpError;
use crate::store::{McpServer, StoreError};
use crate::wire::api::{McpServerEntry, McpServers, McpToolEntry, McpTools, RemovedMcpServer};

/// The most servers.
const MOST_SERVERS: usize = 16;

impl From<McpError> for ApiRefusal {
    fn from(error: McpError) -> Self {
        Self::new(StatusCode::BAD_GATEWAY, error.to_string())
    }
}

pub(super) async fn list(Owner(doors): Owner) -> Reply<McpServers> {
    let (servers, tools) = tokio::try_join!(doors.store.mcp_servers(), doors.store.mcp_tools())?;
    let entry = |server: McpServer| McpServerEntry {
        tools: tools.iter().filter(|tool| tool.server == server.name).count(),
        name: server.name,
        transport: server.transport,
        created_at: server.created_at,
    };
    Ok(Json(McpServers { servers: servers.into_iter().map(entry).collect() }))
}

/// Adds a server if it answers.
pub(super) async fn add(
    Owner(doors): Owner,
    At(name): At<String>,
    Body(transport): Body<McpTransport>,
) -> Result<(StatusCode, Json<McpTools>), ApiRefusal> {
    if !valid_mcp_name(&name) {
        return Err(ApiRefusal::bad(MCP_NAME_RULE).at("name", MCP_NAME_RULE));
    }
    transport.check().map_err(|McpFault { field, why }| ApiRefusal::bad(why.as_str()).at(field, &why))?;
    if matches!(transport, McpTransport::Command { .. }) && !doors.mcp_commands {
        return Err(ApiRefusal::new(StatusCode::FORBIDDEN, NO_COMMANDS).at("command", NO_COMMANDS));
    }
    let servers = doors.store.mcp_servers().await?;
    if servers.iter().any(|server| server.name == name) {
        return Err(there_already(&name));
    }
    if servers.len() >= MOST_SERVERS {
        return Err(ApiRefusal::conflict(format!("there are {MOST_SERVERS} servers already; remove one first")));
    }
    let listed = doors.mcp.list(&name, &transport).await?;
    if !doors.store.add_mcp_server(&name, &transport, &listed, doors.clock.now()).await? {
        return Err(there_already(&name));
    }
    tracing::info!(server = name, "an MCP server was added");
    Ok((StatusCode::CREATED, Json(kept(&doors, name, Vec::new()).await?)))
}

pub(super) async fn tools(Owner(doors): Owner, At(name): At<String>) -> Reply<McpTools> {
    known(&doors, &name).await?;
    Ok(Json(kept(&doors, name, Vec::new()).await?))
}

/// Asks the server for its tools anew.
pub(super) async fn list_tools(Owner(doors): Owner, At(name): At<String>) -> Reply<McpTools> {
    let server = known(&doors, &name).await?;
    let listed = doors.mcp.list(&name, &server.transport).await?;
    let changed = doors.store.list_mcp_tools(&name, &listed, doors.clock.now()).await?;
    Ok(Json(kept(&doors, name, changed).await?))
}

pub(super) async fn remove(Owner(doors): Owner, At(name): At<String>) -> Reply<RemovedMcpServer> {
    let removed = doors.store.remove_mcp_server(&name).await?;
    doors.mcp.forget(&name).await;
    if !removed {
        return Err(unknown(&name));
    }
    tracing::info!(server = name, "an MCP server was removed");
    Ok(Json(RemovedMcpServer { removed: name }))
}

async fn known(doors: &Doors, name: &str) -> Result<McpServer, ApiRefusal> {
    doors.store.mcp_server(name).await?.ok_or_else(|| unknown(name))
}

async fn kept(doors: &Doors, name: String, changed: Vec<String>) -> Result<McpTools, StoreError> {
    let (tools, left_out) = tokio::try_join!(doors.store.mcp_tools(), doors.store.mcp_left_out(&name))?;
    let ours = tools.into_iter().filter(|tool| tool.server == name);
    let tools = ours.map(|tool| McpToolEntry {
        tool: tool.tool,
        name: tool.name,
        description: tool.description,
        parameters: tool.parameters,
        changed_at: tool.changed_at,
    });
    Ok(McpTools { tools: tools.collect(), name, changed, left_out })
}

fn unknown(name: &str) -> ApiRefusal {
    ApiRefusal::unknown(format!("there is no MCP server `{name}`"))
}

fn there_already(name: &str) -> ApiRefusal {
    ApiRefusal::conflict(format!("there is an MCP server `{name}` already; remove it first, or choose another name"))
}

const NO_COMMANDS: &str = "a program would run with all rights of the user level3 runs as, and without a token anybody on this machine could \
     add one: start the server with LEVEL3_TOKEN, or with LEVEL3_MCP_COMMANDS=1 if nobody else uses this machine";
