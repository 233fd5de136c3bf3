//! One client's connection: the handshake, pairing or login, then nodes until it ends.

use futures::{SinkExt, StreamExt};
use tokio::net::TcpStream;
use tokio::sync::mpsc;
use tokio_tungstenite::tungstenite::Message as Ws;
use wacore::noise::NoiseCipher;
use wacore_binary::Node;
use wacore_binary::builder::NodeBuilder;

use super::nodes::{attr, brief, jid, now};
use super::noise::{self, Frames, Out};
use super::{Mock, SERVER, Socket};

impl Mock {
    pub(super) async fn connection(&self, socket: TcpStream) -> anyhow::Result<()> {
        socket.set_nodelay(true)?;
        let (mut out, input) = tokio_tungstenite::accept_async(socket).await?.split();
        let mut frames = Frames::new(input);
        let agreed = noise::handshake(&mut frames, &mut out, &self.identity, &self.certificates).await?;
        self.note(agreed.pattern.to_owned());
        let (to_client, outgoing) = mpsc::unbounded_channel();
        tokio::spawn(write(out, agreed.write, outgoing));
        let device = agreed.payload.username.map(|user| format!("{user}:{}", agreed.payload.device.unwrap_or_default()));
        match &device {
            None => self.offer_pairing(agreed.device, &to_client)?,
            Some(device) => {
                if !self.login(device, &to_client)? {
                    // The client closes: it has read why.
                    while frames.next().await?.is_some() {}
                    return Ok(());
                }
            }
        }
        let mut counter = 0;
        while let Some(mut frame) = frames.next().await? {
            agreed.read.decrypt_in_place_with_counter(counter, &mut frame)?;
            counter += 1;
            let unpacked = wacore_binary::util::unpack(&frame)?;
            let node = wacore_binary::marshal::unmarshal_ref(&unpacked)?.to_owned();
            self.node(device.as_deref(), &to_client, &node);
        }
        if let Some(device) = device {
            self.note(format!("{device} is gone"));
            let mut state = self.state();
            if state.online.get(&device).is_some_and(|socket| socket.same_channel(&to_client)) {
                state.online.remove(&device);
            }
        }
        Ok(())
    }

    fn offer_pairing(&self, key: [u8; 32], to_client: &Socket) -> anyhow::Result<()> {
        self.note("a device wants to be paired".into());
        self.state().pairing.insert(key, to_client.clone());
        let codes = self.state().codes.unwrap_or(6);
        let refs = (0..codes).map(|n| NodeBuilder::new("ref").bytes(format!("2@mock-ref-{n}").into_bytes()).build());
        let pair = NodeBuilder::new("iq")
            .attrs([("from", SERVER), ("id", "pair-0"), ("type", "set"), ("xmlns", "md")])
            .children([NodeBuilder::new("pair-device").children(refs).build()])
            .build();
        Ok(to_client.send(pair)?)
    }

    /// True if the device was let in.
    fn login(&self, device: &str, to_client: &Socket) -> anyhow::Result<bool> {
        let failure = self.state().failures.get(device).cloned();
        if let Some(failure) = failure {
            self.note(format!("{device} was turned away"));
            to_client.send(NodeBuilder::new("failure").attrs(failure).build())?;
            return Ok(false);
        }
        self.note(format!("login of {device}"));
        let user = device.split(':').next().unwrap_or_default();
        let success = NodeBuilder::new("success")
            .attrs([
                ("t", now()),
                ("props", "1".to_owned()),
                ("companion_enc_static", String::new()),
                ("location", "lo".to_owned()),
            ])
            .attr("lid", jid(&format!("9{user}@lid")))
            .build();
        to_client.send(success)?;
        self.state().online.insert(device.to_owned(), to_client.clone());
        Ok(true)
    }

    fn node(&self, device: Option<&str>, to_client: &Socket, node: &Node) {
        self.note(format!("{} -> {}", device.unwrap_or("unpaired"), brief(node)));
        match (&*node.tag, device) {
            ("iq", _) => self.query(device, to_client, node),
            ("message", Some(device)) => self.message(device, to_client, node),
            ("receipt" | "ack", Some(device)) => self.acknowledged(device, node),
            _ => {}
        }
    }

    fn query(&self, device: Option<&str>, to_client: &Socket, node: &Node) {
        if attr(node, "type") == "result" {
            if node.get_optional_child("pair-device-sign").is_some() {
                // As the real server: paired, now come again.
                let _ = to_client.send(NodeBuilder::new("stream:error").attr("code", "515").build());
            }
            return;
        }
        if let Some(said) = node.get_optional_child("link_code_companion_reg") {
            self.link_by_code(to_client, node, said);
            return;
        }
        let answer = NodeBuilder::new("iq")
            .attrs([("from", SERVER.to_owned()), ("id", attr(node, "id")), ("type", "result".to_owned())])
            .children(self.answer(device, node))
            .build();
        let _ = to_client.send(answer);
        if let (Some(device), "passive") = (device, attr(node, "xmlns").as_str()) {
            let offline = NodeBuilder::new("offline").attr("count", "0").build();
            let _ = to_client.send(NodeBuilder::new("ib").attr("from", SERVER).children([offline]).build());
            let waiting = self.state().waiting.get(device).cloned().unwrap_or_default();
            waiting.into_iter().for_each(|node| drop(to_client.send(node)));
        }
    }
}

/// Writes nodes until one that ends the stream.
async fn write(mut out: Out, cipher: NoiseCipher, mut outgoing: mpsc::UnboundedReceiver<Node>) {
    let mut counter = 0;
    while let Some(node) = outgoing.recv().await {
        let Ok(frame) = noise::sealed(&cipher, &mut counter, &node) else { break };
        let last = node.tag == "xmlstreamend" || node.tag == "stream:error";
        if out.send(Ws::Binary(frame.into())).await.is_err() || last {
            break;
        }
    }
    let _ = out.close().await;
}
