//! Writes the accessibility trees of a page's frames as text with numbered nodes, which is all that
//! a model sees of it.

use std::collections::HashMap;
use std::fmt::Write as _;

use serde_json::Value;

use crate::domain::campaign::page::{MOST_PAGE, PageNode};

/// The most bytes of a name, and of a line of text.
const MOST_NAME: usize = 300;
/// The roles of nodes that are clicked or typed into.
const TOUCHED: [&str; 25] = [
    "button",
    "link",
    "textbox",
    "searchbox",
    "combobox",
    "checkbox",
    "radio",
    "switch",
    "menuitem",
    "menuitemcheckbox",
    "menuitemradio",
    "tab",
    "option",
    "slider",
    "spinbutton",
    "treeitem",
    "listbox",
    "ToggleButton",
    "PopUpButton",
    "DisclosureTriangle",
    "Date",
    "DateTime",
    "InputTime",
    "ColorWell",
    "MenuListPopup",
];

/// A frame with the tree that the browser gave of it.
pub(super) struct FrameTree {
    /// Its address, if it is not the page itself.
    pub(super) address: Option<String>,
    /// The browser's name of the frame.
    pub(super) frame: String,
    /// The name of its document.
    pub(super) loader: String,
    /// False for a frame that can be read and not touched.
    pub(super) touchable: bool,
    /// The nodes.
    pub(super) nodes: Vec<Value>,
}

/// The place of a numbered node in the browser.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct NodePlace {
    pub(super) backend: i64,
    pub(super) frame: String,
    pub(super) loader: String,
}

/// A page in words.
#[derive(Debug, Default)]
pub(super) struct WrittenPage {
    pub(super) text: String,
    pub(super) nodes: Vec<PageNode>,
    pub(super) places: HashMap<u32, NodePlace>,
    /// Lines for which there was no room.
    left_out: usize,
}

/// Writes the frames in their order.
pub(super) fn written(frames: &[FrameTree]) -> WrittenPage {
    let mut page = WrittenPage::default();
    for frame in frames {
        if let Some(address) = &frame.address {
            let how = if frame.touchable { "" } else { " (of another site: it can be read, and not touched)" };
            page.line(&format!("--- frame {}{how}", one_line(address)));
        }
        let by_id: HashMap<&str, &Value> = frame.nodes.iter().filter_map(|node| Some((node["nodeId"].as_str()?, node))).collect();
        let root = frame.nodes.iter().find(|node| node["parentId"].as_str().is_none_or(|parent| !by_id.contains_key(parent)));
        if let Some(root) = root {
            page.write(frame, &by_id, root);
        }
    }
    if page.left_out > 0 {
        let _ = write!(page.text, "[{} lines more are not shown]", page.left_out);
    }
    page
}

impl WrittenPage {
    /// Writes a tree. No recursion: a page may nest as deeply as it likes.
    fn write(&mut self, frame: &FrameTree, by_id: &HashMap<&str, &Value>, root: &Value) {
        // The flag says that the name of a node above holds the text already.
        let mut open = vec![(root, false)];
        let mut visited = 0;
        while let Some((node, said)) = open.pop() {
            visited += 1;
            if visited > frame.nodes.len() {
                return;
            }
            let said = said | self.node(frame, node, said);
            let children = node["childIds"].as_array().into_iter().flatten().rev();
            open.extend(children.filter_map(|child| Some((*by_id.get(child.as_str()?)?, said))));
        }
    }

    /// Writes a node. True if its name holds the text below it.
    fn node(&mut self, frame: &FrameTree, node: &Value, said: bool) -> bool {
        if node["ignored"] == true {
            return false;
        }
        let role = node["role"]["value"].as_str().unwrap_or_default();
        let name = one_line(node["name"]["value"].as_str().unwrap_or_default());
        match role {
            "InlineTextBox" | "RootWebArea" | "LineBreak" => false,
            "StaticText" => {
                if !said && !name.is_empty() {
                    self.line(&name);
                }
                false
            }
            _ if TOUCHED.contains(&role) || is_own_widget(node, role) => {
                self.touched(frame, node, role, name);
                true
            }
            "heading" | "image" | "img" if !name.is_empty() && !said => {
                self.line(&format!("{role} “{name}”"));
                true
            }
            _ => false,
        }
    }

    fn touched(&mut self, frame: &FrameTree, node: &Value, role: &str, name: String) {
        let mut line = format!("{role} “{name}”");
        if let Some(value) = node["value"]["value"].as_str().map(one_line).filter(|value| !value.is_empty()) {
            let _ = write!(line, " = “{value}”");
        }
        for state in ["checked", "selected", "expanded", "disabled"] {
            match property(node, state) {
                Some(Value::Bool(true)) => _ = write!(line, " {state}"),
                Some(Value::String(how)) if how != "false" => _ = write!(line, " {state}"),
                _ => {}
            }
        }
        if let Some(Value::String(address)) = property(node, "url") {
            let _ = write!(line, " → {}", one_line(address));
        }
        let backend = node["backendDOMNodeId"].as_i64();
        let Some(backend) = backend.filter(|_| frame.touchable) else { return self.line(&line) };
        let number = u32::try_from(self.nodes.len() + 1).unwrap_or(u32::MAX);
        let shown = self.left_out;
        self.line(&format!("[{number}] {line}"));
        // A node that is not shown has no number.
        if self.left_out == shown {
            let (frame, loader) = (frame.frame.clone(), frame.loader.clone());
            self.places.insert(number, NodePlace { backend, frame, loader });
            self.nodes.push(PageNode { number, role: role.to_owned(), name });
        }
    }

    fn line(&mut self, line: &str) {
        // Room is kept for the last words.
        if self.left_out > 0 || self.text.len() + line.len() + 1 > MOST_PAGE - 64 {
            self.left_out += 1;
        } else {
            self.text.push_str(line);
            self.text.push('\n');
        }
    }
}

/// Role and name of a node, as a reading has them.
pub(super) fn named(node: &Value) -> (String, String) {
    let role = node["role"]["value"].as_str().unwrap_or_default().to_owned();
    (role, one_line(node["name"]["value"].as_str().unwrap_or_default()))
}

/// True for a widget that a page made of a plain element.
fn is_own_widget(node: &Value, role: &str) -> bool {
    role == "generic" && property(node, "focusable") == Some(&Value::Bool(true))
}

fn property<'a>(node: &'a Value, name: &str) -> Option<&'a Value> {
    let all = node["properties"].as_array()?;
    all.iter().find(|property| property["name"] == name).map(|property| &property["value"]["value"])
}

/// Text as one line, cut. A line of a page can look like no node: its brackets at the beginning are
/// others.
pub(super) fn one_line(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let line = if line.starts_with('[') { line.replacen('[', "(", 1) } else { line };
    crate::domain::shortened(&line, MOST_NAME).into_owned()
}

#[cfg(test)]
mod tests;
