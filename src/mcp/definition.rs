//! Puts a server's tools, and a tool's answer, into the words of this house.

use std::collections::BTreeSet;

use rmcp::RoleClient;
use rmcp::model::{
    CallToolResult, ClientRequest, ContentBlock, CustomResult, ListToolsRequest, PaginatedRequestParams, ResourceContents,
    ServerResult, Tool,
};
use rmcp::service::{Peer, ServiceError};
use serde::Deserialize;
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::{McpAnswer, McpError, clean, schema};
use crate::domain::{McpDefinition, McpListing, mcp_tool_name, misfit, without_middle};

/// The most tools of one server.
const MOST_TOOLS: usize = 64;
/// The most pages of a list.
const MOST_PAGES: usize = 16;
/// The longest description of a tool, in characters.
const DESCRIPTION: usize = 1000;
/// The longest answer of a tool, in bytes; a longer one is cut in the middle.
const MAX_ANSWER: usize = 64 << 10;

/// The text for an answer that came and is none of the protocol's: another kind of content, or a
/// text that is none. The server has dealt with the call, so nothing about it is uncertain but the
/// words.
pub(super) const UNREADABLE: &str = "[The MCP server answered this call, so it arrived and was dealt with. The answer is not as the protocol has \
     it and cannot be read: it may also say that the call failed. Calling again would repeat the call.]";

/// One page of a server's list.
#[derive(Default)]
struct Page {
    tools: Vec<Tool>,
    /// The names of definitions that are none, and why not.
    unread: Vec<(String, String)>,
    next: Option<String>,
}

/// Asks for all tools, page by page.
pub(super) async fn list(peer: &Peer<RoleClient>, server: &str) -> Result<McpListing, McpError> {
    let mut all = Page::default();
    for _ in 0..MOST_PAGES {
        let page = page(peer, all.next.take()).await.map_err(|error| McpError::no_list(server, &error))?;
        all.tools.extend(page.tools);
        all.unread.extend(page.unread);
        all.next = page.next;
        if all.next.is_none() || all.tools.len() > MOST_TOOLS {
            break;
        }
    }
    let mut listed = read(server, all.tools);
    let room = MOST_TOOLS.saturating_sub(listed.left_out.len());
    listed.left_out.extend(all.unread.into_iter().take(room));
    if all.next.is_some() {
        let why = format!("the list goes on after {MOST_PAGES} pages or {MOST_TOOLS} tools, and is not read further");
        listed.left_out.insert("further tools".to_owned(), why);
    }
    Ok(listed)
}

/// Asks for one page: the server itself, and never the memory that `rmcp` has of earlier lists. A
/// person decides about the definition that holds now.
async fn page(peer: &Peer<RoleClient>, cursor: Option<String>) -> Result<Page, ServiceError> {
    let request = ListToolsRequest::with_param(PaginatedRequestParams::default().with_cursor(cursor));
    match peer.send_request(ClientRequest::ListToolsRequest(request)).await? {
        ServerResult::ListToolsResult(list) => Ok(Page { tools: list.tools, unread: Vec::new(), next: list.next_cursor }),
        // One definition that is none, and `rmcp` reads none of the list.
        ServerResult::CustomResult(CustomResult(list)) => one_by_one(list).ok_or(ServiceError::UnexpectedResponse),
        _ => Err(ServiceError::UnexpectedResponse),
    }
}

/// Reads each definition of a list for itself; `None` if it is no list of tools.
fn one_by_one(list: Value) -> Option<Page> {
    let next = list["nextCursor"].as_str().map(str::to_owned);
    let mut page = Page { next, ..Page::default() };
    for given in list["tools"].as_array()? {
        match Tool::deserialize(given) {
            Ok(tool) => page.tools.push(tool),
            Err(error) => {
                let name =
                    given["name"].as_str().map_or_else(|| "a tool without a name".to_owned(), |name| clean::line(name, 100));
                let why = clean::line(&error.to_string(), 200);
                page.unread.push((name, format!("its definition is not as the protocol has it: {}", misfit(&why))));
            }
        }
    }
    Some(page)
}

fn read(server: &str, tools: Vec<Tool>) -> McpListing {
    let mut listed = McpListing::default();
    let mut names = BTreeSet::new();
    for tool in tools {
        let shown = clean::line(&tool.name, 100);
        let reason = match define(server, &tool) {
            Ok(_) if listed.tools.len() == MOST_TOOLS => format!("a server may have {MOST_TOOLS} tools"),
            Ok(definition) if !names.insert(definition.tool.clone()) => {
                "another tool of the server has the same name here".to_owned()
            }
            Ok(definition) => {
                listed.tools.push(definition);
                continue;
            }
            Err(reason) => reason,
        };
        if listed.left_out.len() < MOST_TOOLS {
            listed.left_out.insert(shown, reason);
        }
    }
    listed
}

fn define(server: &str, tool: &Tool) -> Result<McpDefinition, String> {
    let description = tool.description.as_deref().unwrap_or_default();
    let raw = serde_json::json!([tool.name, description, *tool.input_schema]).to_string();
    let name = mcp_tool_name(server, &tool.name).ok_or("its name is too long, or has no letter")?;
    Ok(McpDefinition {
        tool: name,
        name: tool.name.to_string(),
        description: clean::plain(description, DESCRIPTION),
        parameters: schema::read(&tool.input_schema)?,
        sha256: hex::encode(Sha256::digest(raw)),
    })
}

/// A tool's answer, as text.
pub(super) fn answer(result: CallToolResult) -> McpAnswer {
    let parts: Vec<_> = result.content.iter().map(part).collect();
    let text = match &result.structured_content {
        Some(structured) if parts.iter().all(|part| part.trim().is_empty()) => structured.to_string(),
        _ => parts.join("\n"),
    };
    let text: String = text.chars().filter(|c| !clean::invisible(*c)).collect();
    McpAnswer { ok: result.is_error != Some(true), text: without_middle(text, MAX_ANSWER) }
}

fn part(block: &ContentBlock) -> String {
    match block {
        ContentBlock::Text(text) => text.text.clone(),
        ContentBlock::Image(image) => format!("[an image, {}, not shown]", clean::line(&image.mime_type, 60)),
        ContentBlock::Audio(audio) => format!("[audio, {}, not shown]", clean::line(&audio.mime_type, 60)),
        ContentBlock::Resource(embedded) => match &embedded.resource {
            ResourceContents::TextResourceContents { text, .. } => text.clone(),
            _ => "[a resource that is no text, not shown]".to_owned(),
        },
        ContentBlock::ResourceLink(link) => format!("[a link: {}]", clean::line(&link.uri, 500)),
        _ => "[something that level3 does not know, not shown]".to_owned(),
    }
}

#[cfg(test)]
mod tests;
