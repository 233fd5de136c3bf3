//! Messages between clients: acknowledged or refused, each envelope passed on to its device, and
//! kept until that device acknowledges it.

use wacore_binary::Node;
use wacore_binary::builder::NodeBuilder;

use super::nodes::{attr, jid, jid_of, now, number};
use super::{Mock, SERVER, Socket};

impl Mock {
    pub(super) fn message(&self, from: &str, to_client: &Socket, node: &Node) {
        let id = attr(node, "id");
        let to = jid_of(node, "to").map(|jid| number(&jid)).unwrap_or_default();
        let ack = NodeBuilder::new("ack").attrs([
            ("class", "message".to_owned()),
            ("from", attr(node, "to")),
            ("id", id.clone()),
            ("t", now()),
        ]);
        let refusal = self.state().refuses.get(&to).cloned();
        if let Some(code) = refusal {
            self.note(format!("refused {id}"));
            let _ = to_client.send(ack.attr("error", code).build());
            return;
        }
        let sender = from.split(':').next().unwrap_or(from);
        match self.state().silent.get_mut(sender) {
            Some(unsaid) => unsaid.push(ack.build()),
            None => drop(to_client.send(ack.build())),
        }
        self.relay(from, node, &id);
    }

    pub(super) fn acknowledged(&self, device: &str, node: &Node) {
        let id = attr(node, "id");
        if self.state().deaf_to.iter().any(|deaf| deaf == device) {
            self.note(format!("lost what {device} said of {id}"));
            return;
        }
        if let Some(waiting) = self.state().waiting.get_mut(device) {
            waiting.retain(|message| attr(message, "id") != id);
        }
        // A delivery receipt goes on to the writer. The contact is a client that nobody looks at,
        // and its receipts say so; a phone's do not.
        let kind = attr(node, "type");
        let delivery = node.tag == "receipt" && (kind.is_empty() || kind == "inactive");
        let Some(to) = jid_of(node, "to").filter(|_| delivery) else { return };
        let user = device.split(':').next().unwrap_or(device);
        let receipt =
            NodeBuilder::new("receipt").attrs([("id", id), ("t", now())]).attr("from", jid(&format!("{user}@{SERVER}")));
        if let Some(socket) = self.state().online.get(&format!("{}:1", number(&to))) {
            let _ = socket.send(receipt.build());
        }
    }

    /// Passes each envelope on to the device that it is for. To others, an account's client is its
    /// device 0.
    fn relay(&self, from: &str, node: &Node, id: &str) {
        let mut envelopes: Vec<(String, Node)> = Vec::new();
        for to in node.get_optional_child("participants").iter().flat_map(|all| all.get_children_by_tag("to")) {
            if let (Some(jid), Some(envelope)) = (jid_of(to, "jid"), to.get_optional_child("enc")) {
                envelopes.push((number(&jid), envelope.clone()));
            }
        }
        if let (Some(envelope), Some(to)) = (node.get_optional_child("enc"), jid_of(node, "to")) {
            envelopes.push((number(&to), envelope.clone()));
        }
        let identity = node.get_optional_child("device-identity").cloned();
        let user = from.split(':').next().unwrap_or(from);
        for (to, envelope) in envelopes {
            let to = format!("{to}:1");
            if to == from {
                continue;
            }
            let own = to.starts_with(&format!("{user}:")).then(|| jid_of(node, "to")).flatten();
            let mut passed =
                NodeBuilder::new("message").attrs([("id", id.to_owned()), ("t", now()), ("notify", "Mock".to_owned())]);
            passed = passed
                .attr("type", Some(attr(node, "type")).filter(|kind| !kind.is_empty()).unwrap_or_else(|| "text".to_owned()));
            if !attr(node, "edit").is_empty() {
                passed = passed.attr("edit", attr(node, "edit"));
            }
            let mut state = self.state();
            let hidden = state.hidden.iter().any(|hidden| hidden == user);
            if let Some(recipient) = own {
                // The chat of a hidden number with itself goes by the hidden name, too.
                let oneself = hidden && number(&recipient) == user;
                passed = passed.attr("recipient", if oneself { jid(&format!("9{user}@lid")) } else { recipient });
            }
            let name = if hidden {
                if !state.numberless.iter().any(|numberless| numberless == user) {
                    passed = passed.attr("sender_pn", jid(&format!("{user}@{SERVER}")));
                }
                jid(&format!("9{user}@lid"))
            } else {
                jid(&format!("{user}@{SERVER}"))
            };
            passed = match state.in_group.get(user) {
                Some(group) => passed.attr("from", jid(group)).attr("participant", &name),
                None => passed.attr("from", &name),
            };
            let mut children = vec![envelope];
            children.extend(identity.clone());
            let passed = passed.children(children).build();
            if let Some(socket) = state.online.get(&to) {
                let _ = socket.send(passed.clone());
            }
            state.waiting.entry(to).or_default().push(passed);
        }
    }
}
