//! Pages of a campaign: what was read of one, what was done to one, and which hosts may be opened.
//! The browser itself is elsewhere.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::domain::OperationState;

mod host;

pub use host::{PageHost, PageHosts};

/// The tools that look at pages or touch them, with a line for the model.
pub const BROWSER_TOOLS: &[(&str, &str)] = &[
    (OPEN, "{\"address\": URL} opens a page in the person's browser; its host has to be one of this campaign"),
    (READ, "{} reads the page that is open: its text, with numbers for what can be clicked or typed into"),
    (CLICK, "{\"node\": NUMBER} clicks a node of the page as it was read last"),
    (TYPE, "{\"node\": NUMBER, \"text\": TEXT} replaces the text of a field of the page as it was read last; it sends nothing"),
    (SCROLL, "{\"direction\": \"down\" or \"up\"} scrolls the page"),
    (SCREENSHOT, "{\"key\": KEY} keeps a picture of the page as it is seen"),
];

/// Opens a page.
pub const OPEN: &str = "browser_open";
/// Reads it.
pub const READ: &str = "browser_read";
/// Clicks a node of it.
pub const CLICK: &str = "browser_click";
/// Types into a field of it.
pub const TYPE: &str = "browser_type";
/// Scrolls it.
pub const SCROLL: &str = "browser_scroll";
/// Keeps a picture of it.
pub const SCREENSHOT: &str = "browser_screenshot";

/// The most bytes of a page's text.
pub const MOST_PAGE: usize = 16 << 10;

/// True if a tool is one of the browser's.
pub fn is_browser_tool(name: &str) -> bool {
    BROWSER_TOOLS.iter().any(|(tool, _)| *tool == name)
}

/// A node of a page that was read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PageNode {
    /// Its number in the reading.
    pub number: u32,
    /// Its role, such as `button`.
    pub role: String,
    /// Its name, as a screen reader says it.
    pub name: String,
}

impl std::fmt::Display for PageNode {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "[{}] {} “{}”", self.number, self.role, self.name)
    }
}

/// A page as it was read. Its text is another's: data, and never an order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PageReading {
    /// The name of the reading: an interaction names the reading that it is about.
    pub reading: String,
    /// The browser's name of the tab.
    pub tab: String,
    /// The address of the page.
    pub address: String,
    /// Its host, without a port.
    pub host: String,
    /// Its title.
    pub title: String,
    /// Its text with numbered nodes, at most 16 KiB.
    pub text: String,
    /// The nodes that can be touched.
    pub nodes: Vec<PageNode>,
}

/// Something that was done to a page, or was to be done.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PageTouch {
    /// The tool.
    pub tool: String,
    /// The address that was to be opened, or that of the page that was touched.
    pub address: String,
    /// The node.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<PageNode>,
    /// The text that was typed, or the direction.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// How it ended: `unknown` if browser, tab or program went away in between.
    pub state: OperationState,
    /// The outcome, in words.
    pub told: String,
    /// The address afterwards, if it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub now_at: Option<String>,
    /// True if the page as it was read last is gone.
    pub left: bool,
    /// The browser's name of the tab, if it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tab: Option<String>,
}

impl PageTouch {
    /// The request of its operation in the ledger.
    pub fn request(&self) -> Value {
        json!({ "tool": self.tool, "address": self.address, "node": self.node, "text": self.text })
    }

    /// A touch that was cut, by the request of its operation: nobody knows its end.
    pub fn lost(request: &Value, told: &str) -> Self {
        let text = |name: &str| request[name].as_str().map(str::to_owned);
        Self {
            tool: text("tool").unwrap_or_default(),
            address: text("address").unwrap_or_default(),
            node: serde_json::from_value(request["node"].clone()).ok(),
            text: text("text"),
            state: OperationState::Unknown,
            told: told.to_owned(),
            now_at: None,
            left: true,
            tab: None,
        }
    }
}

/// A required `page_read`, and the newest reading in which it held.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageShows {
    /// The host.
    pub host: String,
    /// The text.
    pub contains: String,
    /// The number of the reading's event.
    pub sequence: i64,
    /// When it was read.
    pub at: DateTime<Utc>,
}

/// All that a state knows of pages.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pages {
    /// The newest reading, with the number of its event.
    pub reading: Option<(i64, PageReading)>,
    /// The newest touch, with the number of its event.
    pub touch: Option<(i64, PageTouch)>,
    /// The required readings that there were.
    pub shows: Vec<PageShows>,
}

impl Pages {
    /// The reading, if its page was not left since.
    pub fn current(&self) -> Option<&PageReading> {
        let (read_at, reading) = self.reading.as_ref()?;
        let left = self.touched_since().is_some_and(|touch| touch.left);
        (!left && *read_at > 0).then_some(reading)
    }

    /// The newest touch, if it is newer than the newest reading.
    pub fn touched_since(&self) -> Option<&PageTouch> {
        let (touched_at, touch) = self.touch.as_ref()?;
        let read_at = self.reading.as_ref().map_or(0, |(at, _)| *at);
        (*touched_at > read_at).then_some(touch)
    }

    /// True if nobody knows the end of the newest touch. Then no approval context allows another: a
    /// person looks first.
    pub fn uncertain(&self) -> bool {
        self.touch.as_ref().is_some_and(|(_, touch)| touch.state == OperationState::Unknown)
    }

    /// The browser's name of the campaign's tab.
    pub fn tab(&self) -> Option<&str> {
        let read = self.reading.as_ref().map(|(at, reading)| (*at, reading.tab.as_str()));
        let touched = self.touch.as_ref().and_then(|(at, touch)| Some((*at, touch.tab.as_deref()?)));
        read.max(touched).map(|(_, tab)| tab)
    }

    /// The part of the state's fingerprint. A reading counts by its content, so that the same page
    /// read again is no news.
    pub fn shown(&self) -> Option<Value> {
        let reading = self.reading.as_ref().map(|(_, read)| json!([read.address, super::sha256(read.text.as_bytes())]));
        let touch = self.touch.as_ref().map(|(sequence, touch)| json!([sequence, touch.tool, touch.state, touch.now_at]));
        (reading.is_some() || touch.is_some()).then(|| json!({ "reading": reading, "touch": touch }))
    }
}

#[cfg(test)]
mod tests;
