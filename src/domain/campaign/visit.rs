//! A proposal about a page, as it may be carried out: by the newest reading, and by the hosts that
//! a person wrote.

use serde_json::{Map, Value};
use url::Url;

use super::artifact::check_key;
use super::page::{CLICK, OPEN, PageHosts, PageNode, PageReading, PageTouch, Pages, READ, SCREENSHOT, SCROLL, TYPE};
use super::proposal::ExecuteTool;
use super::state::CampaignState;
use crate::domain::OperationState;

/// The most characters that are typed at once.
const MOST_TYPED: usize = 4_000;

/// A proposal about a page that may be carried out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PagePlan {
    /// Opens a page.
    Open {
        /// Its address.
        address: Url,
    },
    /// Reads it.
    Read,
    /// Clicks a node.
    Click {
        /// The reading.
        reading: String,
        /// The address that was read.
        address: String,
        /// The node.
        node: PageNode,
    },
    /// Types into a field.
    Type {
        /// The reading.
        reading: String,
        /// The address that was read.
        address: String,
        /// The node.
        node: PageNode,
        /// The text.
        text: String,
    },
    /// Scrolls.
    Scroll {
        /// The address of the page, as it was last known.
        address: String,
        /// Up, and not down.
        up: bool,
    },
    /// Keeps a picture.
    Screenshot {
        /// The key of the artifact.
        key: String,
    },
}

impl PagePlan {
    /// The plan of a proposal, by a state.
    ///
    /// # Errors
    /// The sentence for the model.
    pub fn of(state: &CampaignState, proposal: &ExecuteTool) -> Result<Self, String> {
        let ExecuteTool { tool, arguments, .. } = proposal;
        let pages = &state.pages;
        let opened = || match &pages.touch {
            None => Err(format!("no page is open yet; propose {OPEN}")),
            Some((_, touch)) => Ok(touch.now_at.clone().unwrap_or_else(|| touch.address.clone())),
        };
        match tool.as_str() {
            OPEN => {
                given(tool, arguments, &["address"])?;
                let address = text(arguments, "address", "the address of a page, with https://")?;
                let hosts = PageHosts::of(state.environment().hosts);
                hosts.read(address).map(|address| Self::Open { address }).map_err(|why| format!("arguments.address: {why}"))
            }
            READ => {
                given(tool, arguments, &[])?;
                opened().map(|_| Self::Read)
            }
            CLICK => {
                given(tool, arguments, &["node"])?;
                let (reading, node) = node(pages, arguments)?;
                Ok(Self::Click { reading: reading.reading.clone(), address: reading.address.clone(), node })
            }
            TYPE => {
                given(tool, arguments, &["node", "text"])?;
                let (reading, node) = node(pages, arguments)?;
                let text = text(arguments, "text", "the text to type")?.to_owned();
                if text.chars().count() > MOST_TYPED {
                    return Err(format!("arguments.text: has {} characters; {MOST_TYPED} are allowed", text.chars().count()));
                }
                Ok(Self::Type { reading: reading.reading.clone(), address: reading.address.clone(), node, text })
            }
            SCROLL => {
                given(tool, arguments, &["direction"])?;
                let up = match arguments.get("direction").and_then(Value::as_str) {
                    Some("up") => true,
                    Some("down") | None => false,
                    Some(other) => return Err(format!("arguments.direction: is `{other}`; it is up or down")),
                };
                opened().map(|address| Self::Scroll { address, up })
            }
            SCREENSHOT => {
                given(tool, arguments, &["key"])?;
                let key = text(arguments, "key", "a short name for the picture")?;
                check_key(key).map_err(|why| format!("arguments.key: {why}"))?;
                opened().map(|_| Self::Screenshot { key: key.to_owned() })
            }
            other => Err(format!("{other} is no tool of the browser")),
        }
    }

    /// True if it does something to a page, and does not only look.
    pub fn touches(&self) -> bool {
        !matches!(self, Self::Read | Self::Screenshot { .. })
    }

    /// The touch as it begins: nobody knows its end.
    pub fn touch(&self, tool: &str) -> PageTouch {
        let (address, node, text) = match self {
            Self::Open { address } => (address.to_string(), None, None),
            Self::Click { address, node, .. } => (address.clone(), Some(node.clone()), None),
            Self::Type { address, node, text, .. } => (address.clone(), Some(node.clone()), Some(text.clone())),
            Self::Scroll { address, up } => (address.clone(), None, Some(if *up { "up" } else { "down" }.to_owned())),
            Self::Read | Self::Screenshot { .. } => (String::new(), None, None),
        };
        let tool = tool.to_owned();
        PageTouch {
            tool,
            address,
            node,
            text,
            state: OperationState::Unknown,
            told: String::new(),
            now_at: None,
            left: true,
            tab: None,
        }
    }

    /// The words for the person who decides.
    pub fn card(&self) -> Vec<String> {
        match self {
            Self::Open { address } => vec![format!("Opens in your browser, in the campaign's own tab: {address}")],
            Self::Read => vec!["Reads the page that is open.".to_owned()],
            Self::Click { address, node, .. } => vec![format!("Clicks {node} on {address}"), ONCE.to_owned()],
            Self::Type { address, node, text, .. } => {
                vec![
                    format!("Types into {node} on {address}:"),
                    text.clone(),
                    "It replaces the field's text and sends nothing.".to_owned(),
                ]
            }
            Self::Scroll { address, up } => {
                vec![format!("Scrolls {} on {address}; a page may load more, or tell its site.", if *up { "up" } else { "down" })]
            }
            Self::Screenshot { key } => vec![format!("Keeps a picture of the page as {key}.")],
        }
    }
}

/// The sentence about a click.
const ONCE: &str = "It may send something. It is done once, and never repeated by itself.";

fn given(tool: &str, arguments: &Map<String, Value>, allowed: &[&str]) -> Result<(), String> {
    let takes = if allowed.is_empty() { "none".to_owned() } else { allowed.join(", ") };
    match arguments.keys().find(|name| !allowed.contains(&name.as_str())) {
        Some(other) => Err(format!("arguments.{other}: {tool} takes no such argument; it takes: {takes}")),
        None => Ok(()),
    }
}

fn text<'a>(arguments: &'a Map<String, Value>, name: &str, expected: &str) -> Result<&'a str, String> {
    arguments.get(name).and_then(Value::as_str).ok_or_else(|| format!("arguments.{name}: expected {expected}"))
}

/// The node of the reading as it is now.
fn node<'a>(pages: &'a Pages, arguments: &Map<String, Value>) -> Result<(&'a PageReading, PageNode), String> {
    let Some(reading) = pages.current() else {
        return Err(match pages.reading {
            Some(_) => format!("the page was left since it was read, and its numbers are void; propose {READ}"),
            None => format!("no page was read yet; propose {READ}"),
        });
    };
    let number = arguments.get("node").and_then(Value::as_u64).ok_or("arguments.node: expected the number of a node")?;
    let node = reading.nodes.iter().find(|node| u64::from(node.number) == number);
    let node = node.ok_or_else(|| format!("arguments.node: the page as it was read has no node {number}"))?;
    Ok((reading, node.clone()))
}

#[cfg(test)]
mod tests;
