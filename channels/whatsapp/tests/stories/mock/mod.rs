//! A WhatsApp Web server for the stories, on loopback: Noise XX and IK as the responder, pairing by
//! a phone that is handed the QR text or on which the pairing code is typed, login, the queries
//! that a client makes when it starts, prekeys, messages between clients, an offline queue,
//! refusals, and a server for files. It knows nothing of Signal: it stores bundles and passes
//! envelopes on, as the real one does, and the peer in a story is a real client too.

mod answers;
mod code;
mod connection;
mod media;
mod nodes;
mod noise;
mod phone;
mod relay;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard};

use tokio::net::TcpListener;
use tokio::sync::mpsc;
use wacore::libsignal::protocol::KeyPair;
use wacore_binary::Node;
use wacore_binary::builder::NodeBuilder;

pub use media::Files;
pub use nodes::attr;

/// The server part of people's names.
pub const SERVER: &str = "s.whatsapp.net";

/// The way to a client's socket.
type Socket = mpsc::UnboundedSender<Node>;

/// The keys that one paired device published.
#[derive(Default, Clone)]
struct Bundle {
    registration: Vec<u8>,
    identity: Vec<u8>,
    signed: Option<Node>,
    keys: Vec<Node>,
}

/// Why a device is turned away when it logs in.
type Failure = Vec<(&'static str, String)>;

#[derive(Default)]
struct State {
    /// By `number:device`, as the other maps but those that say otherwise.
    bundles: HashMap<String, Bundle>,
    online: HashMap<String, Socket>,
    /// Messages that a device has not acknowledged yet.
    waiting: HashMap<String, Vec<Node>>,
    /// The sockets of devices that show a QR code, by their public key.
    pairing: HashMap<[u8; 32], Socket>,
    /// The devices that show a pairing code, by the number of the account that is to type it.
    offers: HashMap<String, code::Offer>,
    failures: HashMap<String, Failure>,
    /// Numbers to whom nothing can be sent, with the code of the refusal.
    refuses: HashMap<String, String>,
    /// Numbers whose messages are taken and passed on, and never acknowledged; with what would have
    /// been said.
    silent: HashMap<String, Vec<Node>>,
    /// Numbers whose messages are passed on as if they had been written in this group.
    in_group: HashMap<String, String>,
    /// Numbers that are shown by their hidden name.
    hidden: Vec<String>,
    /// Those of them that are not even told beside it.
    numberless: Vec<String>,
    /// Devices whose acknowledgements are lost on the way.
    deaf_to: Vec<String>,
    /// How many QR codes there are for a new device, if not six.
    codes: Option<usize>,
    log: Vec<String>,
}

/// The server.
#[derive(Clone)]
pub struct Mock {
    port: u16,
    identity: Arc<KeyPair>,
    certificates: Arc<Vec<u8>>,
    state: Arc<Mutex<State>>,
    /// The files that were uploaded.
    pub files: Files,
}

impl Mock {
    /// Starts the server.
    pub async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let identity = KeyPair::generate(&mut rand::rng());
        let certificates = Arc::new(noise::certificates(&nodes::array(identity.public_key.public_key_bytes())));
        let port = listener.local_addr().unwrap().port();
        let mock = Self { port, identity: Arc::new(identity), certificates, state: Arc::default(), files: Files::start().await };
        let server = mock.clone();
        tokio::spawn(async move {
            while let Ok((socket, _)) = listener.accept().await {
                let server = server.clone();
                tokio::spawn(async move {
                    if let Err(error) = server.connection(socket).await {
                        server.note(format!("a connection ended: {error}"));
                    }
                });
            }
        });
        mock
    }

    /// The address for clients.
    pub fn url(&self) -> String {
        format!("ws://127.0.0.1:{}/ws/chat", self.port)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }

    fn note(&self, line: String) {
        self.state().log.push(line);
    }

    /// The lines of the log that hold this text.
    pub fn seen(&self, text: &str) -> usize {
        self.state().log.iter().filter(|line| line.contains(text)).count()
    }

    /// The whole log, for a story that failed.
    pub fn log(&self) -> String {
        self.state().log.join("\n")
    }

    /// Sends a node to a device that is logged in.
    pub fn push(&self, device: &str, node: Node) {
        let sent = self.state().online.get(device).is_some_and(|socket| socket.send(node).is_ok());
        assert!(sent, "{device} is not online\n{}", self.log());
    }

    /// Cuts a device's connection, as the real server does now and then.
    pub fn cut(&self, device: &str) {
        self.push(device, NodeBuilder::new("xmlstreamend").build());
    }

    /// Logs a device out, as a person does on the phone.
    pub fn remove(&self, device: &str) {
        let conflict = NodeBuilder::new("conflict").attr("type", "device_removed").build();
        self.push(device, NodeBuilder::new("stream:error").attr("code", "401").children([conflict]).build());
    }

    /// Turns a device away when it logs in, or lets it in again.
    pub fn fail(&self, device: &str, failure: Option<Failure>) {
        match failure {
            Some(failure) => self.state().failures.insert(device.to_owned(), failure),
            None => self.state().failures.remove(device),
        };
    }

    /// Refuses messages to this number.
    pub fn refuse(&self, number: &str, code: &str) {
        self.state().refuses.insert(number.to_owned(), code.to_owned());
    }

    /// Acknowledges nothing that this number sends.
    pub fn be_silent(&self, number: &str) {
        self.state().silent.insert(number.to_owned(), Vec::new());
    }

    /// Says what it was silent about.
    pub fn speak(&self, number: &str) {
        let acks = self.state().silent.remove(number).unwrap_or_default();
        acks.into_iter().for_each(|ack| self.push(&format!("{number}:1"), ack));
    }

    /// Passes the messages of a number on as if they came from a group.
    pub fn in_group(&self, number: &str, group: &str) {
        self.state().in_group.insert(number.to_owned(), group.to_owned());
    }

    /// Shows a number by its hidden name from now on.
    pub fn hide(&self, number: &str) {
        self.state().hidden.push(number.to_owned());
    }

    /// The same, and its number is told nowhere.
    pub fn hide_number(&self, number: &str) {
        self.hide(number);
        self.state().numberless.push(number.to_owned());
    }

    /// Hands out so many QR codes to a new device.
    pub fn codes(&self, many: usize) {
        self.state().codes = Some(many);
    }

    /// Loses the acknowledgements of a device, or loses them no longer.
    pub fn be_deaf_to(&self, device: &str, deaf: bool) {
        let mut state = self.state();
        state.deaf_to.retain(|other| other != device);
        if deaf {
            state.deaf_to.push(device.to_owned());
        }
    }

    /// How many messages a device has not acknowledged.
    pub fn unacknowledged(&self, device: &str) -> usize {
        self.state().waiting.get(device).map_or(0, Vec::len)
    }

    /// Delivers again what a device was sent last, as a server does that lost the acknowledgement.
    pub fn deliver_again(&self, device: &str, id: &str) {
        let again = self.state().waiting.get(device).and_then(|all| all.iter().find(|node| attr(node, "id") == id).cloned());
        self.push(device, again.expect("a message that was not acknowledged"));
    }
}
