//! The phone on which a pairing code is typed. The device and the phone show each other by keys
//! made for this one time that they have the same code; the server between them carries their
//! words, and never sees it.

use wacore::crypto::hkdf_sha256_into;
use wacore::libsignal::crypto::aes_256_gcm_decrypt;
use wacore::libsignal::protocol::{KeyPair, PublicKey};
use wacore::pair_code::PairCodeUtils;
use wacore_binary::Node;
use wacore_binary::builder::NodeBuilder;

use super::nodes::{array, attr, content, jid_of, number};
use super::phone::{paired, sealed, signed};
use super::{Mock, SERVER, Socket};

/// A device that shows a code.
pub struct Offer {
    socket: Socket,
    /// The server's name for it.
    reference: Vec<u8>,
    /// Its key for this one time, sealed with the code.
    key: Vec<u8>,
    typed: Option<Typed>,
}

/// A code that was typed.
struct Typed {
    /// The phone's key for this one time, and that of its account.
    once: KeyPair,
    account: KeyPair,
    /// The device's key, as the typed code opens it.
    theirs: [u8; 32],
    /// The device's number, if the code is the right one.
    device: u16,
}

impl Mock {
    /// Types a code on the phone of this account, which gives the device this number if the code is
    /// the one that it shows.
    pub async fn types(&self, account: &str, code: &str, device: u16) {
        let code = code.replace('-', "");
        let key = self.state().offers.get(account).expect("a device that shows a code").key.clone();
        let (once, ours) = (KeyPair::generate(&mut rand::rng()), KeyPair::generate(&mut rand::rng()));
        let public = array(once.public_key.public_key_bytes());
        // A code is slow to try, on purpose, and the server's other connections do not wait for
        // that.
        let tried = tokio::task::spawn_blocking(move || {
            let theirs = PairCodeUtils::decrypt_primary_ephemeral_pub(&key, &code).unwrap();
            (theirs, PairCodeUtils::encrypt_ephemeral_pub(&public, &code))
        });
        let (theirs, key) = tried.await.unwrap();
        let identity = ours.public_key.public_key_bytes().to_vec();
        let mut state = self.state();
        let offer = state.offers.get_mut(account).expect("a device that shows a code");
        offer.typed = Some(Typed { once, account: ours, theirs, device });
        let said = stage("primary_hello").children([
            leaf("link_code_pairing_wrapped_primary_ephemeral_pub", key.to_vec()),
            leaf("primary_identity_pub", identity),
            leaf("link_code_pairing_ref", offer.reference.clone()),
        ]);
        offer.socket.send(notice(said.build())).unwrap();
    }

    /// Lets the code that a device shows for this account be no good any more. `by_hand`: a person
    /// has to ask for the next one.
    pub fn ends_code(&self, account: &str, by_hand: bool) {
        let state = self.state();
        let offer = state.offers.get(account).expect("a device that shows a code");
        let said = stage("refresh_code")
            .attr("force_manual_refresh", by_hand)
            .children([leaf("link_code_pairing_ref", offer.reference.clone())]);
        offer.socket.send(notice(said.build())).unwrap();
    }

    /// Cuts the connection of the device that shows a code for this account, as a server does that
    /// goes down.
    pub fn cut_unpaired(&self, account: &str) {
        let state = self.state();
        let offer = state.offers.get(account).expect("a device that shows a code");
        offer.socket.send(NodeBuilder::new("stream:error").attr("code", "503").build()).unwrap();
    }

    /// Answers a device that wants to be linked by a code.
    pub(super) fn link_by_code(&self, to_client: &Socket, query: &Node, said: &Node) {
        let account = jid_of(said, "jid").map(|jid| number(&jid)).unwrap_or_default();
        let result =
            NodeBuilder::new("iq").attrs([("from", SERVER.to_owned()), ("id", attr(query, "id")), ("type", "result".to_owned())]);
        if attr(said, "stage") == "companion_finish" {
            let _ = to_client.send(result.build());
            self.finish(&account, said);
            return;
        }
        let key = leaf_of(said, "link_code_pairing_wrapped_companion_ephemeral_pub");
        // Any bytes will do that no other offer has, such as those of its salt.
        let reference = key[..8].to_vec();
        let found = stage("companion_hello").children([leaf("link_code_pairing_ref", reference.clone())]).build();
        self.state().offers.insert(account, Offer { socket: to_client.clone(), reference, key, typed: None });
        let _ = to_client.send(result.children([found]).build());
    }

    /// The phone links the device if it can open what the device says. Otherwise it tells its
    /// owner, and the device nothing.
    fn finish(&self, account: &str, said: &Node) {
        let mut state = self.state();
        let Some(offer) = state.offers.get_mut(account) else { return };
        let ours = leaf_of(said, "link_code_pairing_ref") == offer.reference;
        let Some(typed) = offer.typed.take().filter(|_| ours) else { return };
        match typed.opened(&leaf_of(said, "link_code_pairing_wrapped_key_bundle")) {
            Some((identity, secret)) => {
                let identity = sealed(&signed(&typed.account, &identity, typed.device), &secret);
                offer.socket.send(paired(&identity, account, typed.device)).unwrap();
            }
            None => state.log.push(format!("the phone of {account} says that the code is wrong")),
        }
    }
}

impl Typed {
    /// The device's identity, and the secret that both have now; nothing if the code was another
    /// one.
    fn opened(&self, bundle: &[u8]) -> Option<([u8; 32], [u8; 32])> {
        let (salt, rest) = bundle.split_at_checked(32)?;
        let (nonce, sealed) = rest.split_at_checked(12)?;
        let shared = agreed(&self.once, &self.theirs);
        let key = derived(&shared, Some(salt), b"link_code_pairing_key_bundle_encryption_key");
        let nonce: [u8; 12] = nonce.try_into().ok()?;
        let mut bundle = Vec::new();
        aes_256_gcm_decrypt(&key, &nonce, b"", sealed, &mut bundle).ok()?;
        let identity = array(&bundle[..32]);
        assert_eq!(&bundle[32..64], self.account.public_key.public_key_bytes(), "it speaks with another phone");
        let whole = [&shared[..], &agreed(&self.account, &identity), &bundle[64..]].concat();
        Some((identity, derived(&whole, None, b"adv_secret")))
    }
}

/// The secret that a key of ours and a key of theirs make.
fn agreed(ours: &KeyPair, theirs: &[u8; 32]) -> [u8; 32] {
    ours.calculate_agreement(&PublicKey::from_djb_public_key_bytes(theirs).unwrap()).unwrap()
}

fn derived(from: &[u8], salt: Option<&[u8]>, purpose: &[u8]) -> [u8; 32] {
    let mut key = [0; 32];
    hkdf_sha256_into(from, salt, purpose, &mut key).unwrap();
    key
}

fn stage(name: &'static str) -> NodeBuilder {
    NodeBuilder::new("link_code_companion_reg").attr("stage", name)
}

fn leaf(tag: &'static str, bytes: Vec<u8>) -> Node {
    NodeBuilder::new(tag).bytes(bytes).build()
}

/// The bytes of a child.
fn leaf_of(node: &Node, tag: &str) -> Vec<u8> {
    node.get_optional_child(tag).map(content).unwrap_or_default()
}

/// The words about a code, as the server brings them to a device.
fn notice(said: Node) -> Node {
    NodeBuilder::new("notification")
        .attrs([("from", SERVER), ("id", "code-1"), ("type", "link_code_companion_reg")])
        .children([said])
        .build()
}
