//! The server's answers to the queries of a client.

use wacore_binary::Node;
use wacore_binary::builder::NodeBuilder;

use super::nodes::{attr, content, jid_of, number};
use super::{Mock, State};

impl Mock {
    pub(super) fn answer(&self, device: Option<&str>, node: &Node) -> Vec<Node> {
        let mut state = self.state();
        let device = device.unwrap_or_default();
        match attr(node, "xmlns").as_str() {
            "encrypt" if attr(node, "type") == "set" => publish(&mut state, device, node),
            "encrypt" if node.get_optional_child("count").is_some() => {
                let count = state.bundles.get(device).map_or(0, |bundle| bundle.keys.len());
                vec![NodeBuilder::new("count").attr("value", count.to_string()).build()]
            }
            "encrypt" => bundles(&mut state, device, node),
            "usync" => devices(node),
            "w:sync:app:state" => collections(node),
            "w:m" => {
                let host = NodeBuilder::new("host").attr("hostname", self.files.host()).build();
                vec![
                    NodeBuilder::new("media_conn")
                        .attrs([("auth", "mock"), ("ttl", "3600"), ("max_buckets", "12")])
                        .children([host])
                        .build(),
                ]
            }
            "abt" => vec![NodeBuilder::new("props").build()],
            "blocklist" => vec![NodeBuilder::new("list").build()],
            "privacy" => vec![NodeBuilder::new("privacy").build()],
            _ => Vec::new(),
        }
    }
}

/// A device publishes its keys.
fn publish(state: &mut State, device: &str, node: &Node) -> Vec<Node> {
    if let Some(list) = node.get_optional_child("list") {
        let bundle = state.bundles.entry(device.to_owned()).or_default();
        bundle.registration = node.get_optional_child("registration").map(content).unwrap_or_default();
        bundle.identity = node.get_optional_child("identity").map(content).unwrap_or_default();
        bundle.signed = node.get_optional_child("skey").cloned();
        bundle.keys.extend(list.get_children_by_tag("key").cloned());
    }
    Vec::new()
}

/// The keys of people's devices. The phone behind a device's own account is not there.
fn bundles(state: &mut State, device: &str, node: &Node) -> Vec<Node> {
    let mut users = Vec::new();
    for user in node.get_optional_child("key").iter().flat_map(|asked| asked.get_children_by_tag("user")) {
        let Some(jid) = jid_of(user, "jid") else { continue };
        let wanted = format!("{}:1", number(&jid));
        let bundle = state.bundles.get_mut(&wanted).filter(|_| wanted != device);
        let children = match bundle {
            Some(bundle) => {
                let mut children = vec![
                    NodeBuilder::new("registration").bytes(bundle.registration.clone()).build(),
                    NodeBuilder::new("type").bytes(vec![5u8]).build(),
                    NodeBuilder::new("identity").bytes(bundle.identity.clone()).build(),
                ];
                if !bundle.keys.is_empty() {
                    children.push(bundle.keys.remove(0));
                }
                children.extend(bundle.signed.clone());
                children
            }
            None => vec![NodeBuilder::new("error").attrs([("code", "404"), ("text", "item-not-found")]).build()],
        };
        users.push(NodeBuilder::new("user").attr("jid", &jid).children(children).build());
    }
    vec![NodeBuilder::new("list").children(users).build()]
}

/// Everybody has one device.
fn devices(node: &Node) -> Vec<Node> {
    let asked = node.get_optional_child("usync").and_then(|usync| usync.get_optional_child("list"));
    let mut users = Vec::new();
    for user in asked.iter().flat_map(|list| list.get_children_by_tag("user")) {
        let Some(jid) = jid_of(user, "jid") else { continue };
        let list = NodeBuilder::new("device-list").children([NodeBuilder::new("device").attr("id", "0").build()]).build();
        let children =
            [NodeBuilder::new("contact").attr("type", "in").build(), NodeBuilder::new("devices").children([list]).build()];
        users.push(NodeBuilder::new("user").attr("jid", &jid).children(children).build());
    }
    vec![NodeBuilder::new("usync").children([NodeBuilder::new("list").children(users).build()]).build()]
}

/// Settings of the account: none.
fn collections(node: &Node) -> Vec<Node> {
    let asked = node.get_optional_child("sync");
    let collections = asked.iter().flat_map(|sync| sync.get_children_by_tag("collection"));
    let empty = collections
        .map(|one| NodeBuilder::new("collection").attrs([("name", attr(one, "name")), ("version", "0".to_owned())]).build());
    vec![NodeBuilder::new("sync").children(empty.collect::<Vec<_>>()).build()]
}
