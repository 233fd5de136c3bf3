//! Small things around nodes and names.

use wacore_binary::{Jid, Node, NodeContent};

/// A name that is known to be right.
pub fn jid(text: &str) -> Jid {
    text.parse().expect("a jid")
}

/// 32 bytes as an array.
pub fn array(bytes: &[u8]) -> [u8; 32] {
    bytes.try_into().expect("32 bytes")
}

/// The number behind a name: the hidden name of `N` is `9N@lid` here.
pub fn number(jid: &Jid) -> String {
    let user = jid.user.to_string();
    if jid.is_lid() { user.strip_prefix('9').unwrap_or(&user).to_owned() } else { user }
}

/// An attribute as text, empty if it is not there.
pub fn attr(node: &Node, name: &str) -> String {
    node.attrs.get(name).map(|value| value.to_string()).unwrap_or_default()
}

/// A name in an attribute.
pub fn jid_of(node: &Node, name: &str) -> Option<Jid> {
    node.attrs.get(name).and_then(|value| value.to_jid())
}

/// The bytes in a node.
pub fn content(node: &Node) -> Vec<u8> {
    match &node.content {
        Some(NodeContent::Bytes(bytes)) => bytes.to_vec(),
        _ => Vec::new(),
    }
}

/// A node in a line of the log.
pub fn brief(node: &Node) -> String {
    let attrs: Vec<_> = node.attrs.iter().map(|(name, value)| format!("{name}={value}")).collect();
    let children: Vec<_> = node.children().unwrap_or_default().iter().map(|child| child.tag.to_string()).collect();
    format!("<{} {}> {children:?}", node.tag, attrs.join(" "))
}

/// The time as the server writes it.
pub fn now() -> String {
    std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs().to_string()
}
