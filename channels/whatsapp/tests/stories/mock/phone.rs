//! The phone that links a device: it signs the device's identity for the account. Here it scans a
//! QR code, in `code` a code is typed on it.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use buffa::Message as _;
use hmac::{Hmac, KeyInit, Mac};
use wacore::libsignal::protocol::KeyPair;
use wacore_binary::Node;
use wacore_binary::builder::NodeBuilder;
use waproto::whatsapp as wa;

use super::nodes::{array, jid};
use super::{Mock, SERVER};

impl Mock {
    /// Scans a QR text for this account, which gets this device.
    pub fn scan(&self, qr: &str, number: &str, device: u16) {
        let parts: Vec<&str> = qr.split(',').collect();
        assert_eq!(parts.len(), 5, "a QR text has five fields: {qr}");
        let decode = |text: &str| BASE64_STANDARD.decode(text).unwrap();
        let (noise, identity, secret) = (array(&decode(parts[1])), array(&decode(parts[2])), decode(parts[3]));
        let account = KeyPair::generate(&mut rand::rng());
        let node = paired(&sealed(&signed(&account, &identity, device), &secret), number, device);
        let state = self.state();
        state.pairing.get(&noise).expect("the device that shows this code").send(node).unwrap();
    }
}

/// The device's identity, signed by the account.
pub fn signed(account: &KeyPair, identity: &[u8; 32], device: u16) -> Vec<u8> {
    let details = wa::ADVDeviceIdentity {
        raw_id: Some(1),
        timestamp: Some(1_750_000_000),
        key_index: Some(u32::from(device)),
        ..Default::default()
    }
    .encode_to_vec();
    let message = [&[6, 0][..], &details, identity].concat();
    let signature = account.private_key.calculate_signature(&message, &mut rand::rng()).unwrap();
    wa::ADVSignedDeviceIdentity {
        details: Some(details),
        account_signature_key: Some(account.public_key.public_key_bytes().to_vec()),
        account_signature: Some(signature.to_vec()),
        ..Default::default()
    }
    .encode_to_vec()
}

/// The same with the proof that the phone has seen the code.
pub fn sealed(signed: &[u8], secret: &[u8]) -> Vec<u8> {
    let mut mac = <Hmac<sha2::Sha256> as KeyInit>::new_from_slice(secret).unwrap();
    mac.update(signed);
    wa::ADVSignedDeviceIdentityHMAC {
        details: Some(signed.to_vec()),
        hmac: Some(mac.finalize().into_bytes().to_vec()),
        ..Default::default()
    }
    .encode_to_vec()
}

/// The server's word that a device is linked.
pub fn paired(identity: &[u8], number: &str, device: u16) -> Node {
    let names = NodeBuilder::new("device")
        .attr("jid", jid(&format!("{number}:{device}@{SERVER}")))
        .attr("lid", jid(&format!("9{number}:{device}@lid")))
        .build();
    let success = NodeBuilder::new("pair-success")
        .children([
            NodeBuilder::new("device-identity").bytes(identity.to_vec()).build(),
            NodeBuilder::new("platform").attr("name", "android").build(),
            names,
        ])
        .build();
    NodeBuilder::new("iq")
        .attrs([("from", SERVER), ("id", "pair-1"), ("type", "set"), ("xmlns", "md")])
        .children([success])
        .build()
}
