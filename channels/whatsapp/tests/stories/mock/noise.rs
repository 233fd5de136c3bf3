//! The handshake, from the responder's side: XX for a device that is new here, IK for one that
//! knows our key.

use buffa::{Message as _, MessageField};
use futures::stream::{SplitSink, SplitStream};
use futures::{SinkExt, StreamExt};
use tokio::net::TcpStream;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message as Ws;
use wacore::handshake::NoiseHandshake;
use wacore::libsignal::protocol::KeyPair;
use wacore::noise::NoiseCipher;
use wacore_binary::Node;
use wacore_binary::consts::{NOISE_PATTERN_IK, NOISE_PATTERN_XX, WA_CONN_HEADER};
use waproto::whatsapp as wa;

use super::nodes::array;

/// The way out for frames.
pub type Out = SplitSink<WebSocketStream<TcpStream>, Ws>;

/// Frames that come in: three bytes of length, then as many bytes. `WA`, 6, 3 stand before the very
/// first.
pub struct Frames {
    input: SplitStream<WebSocketStream<TcpStream>>,
    buffer: Vec<u8>,
    skip: usize,
}

impl Frames {
    /// Frames of a new connection.
    pub fn new(input: SplitStream<WebSocketStream<TcpStream>>) -> Self {
        Self { input, buffer: Vec::new(), skip: WA_CONN_HEADER.len() }
    }

    /// The next frame, or nothing at the end.
    pub async fn next(&mut self) -> anyhow::Result<Option<Vec<u8>>> {
        loop {
            if let Some([a, b, c, rest @ ..]) = self.buffer.get(self.skip..) {
                let length = usize::from(*a) << 16 | usize::from(*b) << 8 | usize::from(*c);
                if let Some(frame) = rest.get(..length) {
                    let frame = frame.to_vec();
                    self.buffer.drain(..self.skip + 3 + length);
                    self.skip = 0;
                    return Ok(Some(frame));
                }
            }
            match self.input.next().await {
                Some(Ok(Ws::Binary(bytes))) => self.buffer.extend_from_slice(&bytes),
                Some(Ok(Ws::Close(_))) | None => return Ok(None),
                Some(Ok(_)) => {}
                Some(Err(error)) => return Err(error.into()),
            }
        }
    }
}

/// The outcome of a handshake.
pub struct Agreed {
    /// `noise XX` or `noise IK`.
    pub pattern: &'static str,
    /// The device's public key.
    pub device: [u8; 32],
    /// Its words about itself.
    pub payload: wa::ClientPayload,
    /// Reads what it sends.
    pub read: NoiseCipher,
    /// Seals what is sent to it.
    pub write: NoiseCipher,
}

/// Shakes hands.
pub async fn handshake(frames: &mut Frames, out: &mut Out, ours: &KeyPair, certificates: &[u8]) -> anyhow::Result<Agreed> {
    let hello = frames.next().await?.ok_or_else(|| anyhow::anyhow!("no hello"))?;
    let hello =
        wa::HandshakeMessage::decode_from_slice(&hello)?.client_hello.into_option().ok_or_else(|| anyhow::anyhow!("no hello"))?;
    let theirs = array(&hello.ephemeral.unwrap_or_default());
    let (public, secret) = (array(ours.public_key.public_key_bytes()), ours.private_key.serialize());
    let once = KeyPair::generate(&mut rand::rng());
    let once_public = array(once.public_key.public_key_bytes());
    let (mut noise, pattern, device, payload);
    if let (Some(sealed_static), Some(sealed_payload)) = (hello.r#static, hello.payload) {
        pattern = "noise IK";
        noise = NoiseHandshake::new(NOISE_PATTERN_IK, &WA_CONN_HEADER)?;
        noise.authenticate(&public);
        noise.authenticate(&theirs);
        noise.mix_shared_secret(secret, &theirs)?;
        device = array(&noise.decrypt(&sealed_static)?);
        noise.mix_shared_secret(secret, &device)?;
        payload = noise.decrypt(&sealed_payload)?;
        noise.authenticate(&once_public);
        noise.mix_shared_secret(once.private_key.serialize(), &theirs)?;
        noise.mix_shared_secret(once.private_key.serialize(), &device)?;
        let sealed = noise.encrypt(certificates)?;
        out.send(Ws::Binary(hello_frame(&once_public, None, sealed)?.into())).await?;
    } else {
        pattern = "noise XX";
        noise = NoiseHandshake::new(NOISE_PATTERN_XX, &WA_CONN_HEADER)?;
        noise.authenticate(&theirs);
        noise.authenticate(&once_public);
        noise.mix_shared_secret(once.private_key.serialize(), &theirs)?;
        let sealed_static = noise.encrypt(&public)?;
        noise.mix_shared_secret(secret, &theirs)?;
        let sealed = noise.encrypt(certificates)?;
        out.send(Ws::Binary(hello_frame(&once_public, Some(sealed_static), sealed)?.into())).await?;
        let finish = frames.next().await?.ok_or_else(|| anyhow::anyhow!("no finish"))?;
        let finish = wa::HandshakeMessage::decode_from_slice(&finish)?
            .client_finish
            .into_option()
            .ok_or_else(|| anyhow::anyhow!("no finish"))?;
        device = array(&noise.decrypt(&finish.r#static.unwrap_or_default())?);
        noise.mix_shared_secret(once.private_key.serialize(), &device)?;
        payload = noise.decrypt(&finish.payload.unwrap_or_default())?;
    }
    // The initiator writes with the first key, so the responder reads with it.
    let (read, write) = noise.finish()?;
    Ok(Agreed { pattern, device, payload: wa::ClientPayload::decode_from_slice(&payload)?, read, write })
}

/// A node in a sealed frame.
pub fn sealed(write: &NoiseCipher, counter: &mut u32, node: &Node) -> anyhow::Result<Vec<u8>> {
    let mut bytes = wacore_binary::marshal(node)?;
    write.encrypt_in_place_with_counter(*counter, &mut bytes)?;
    *counter += 1;
    wacore::framing::encode_frame(&bytes, None)
}

/// Certificates with empty signatures: the program is built with the feature that does not look at
/// them.
pub fn certificates(key: &[u8; 32]) -> Vec<u8> {
    use wa::cert_chain::{NoiseCertificate, noise_certificate::Details};
    let details = |serial, issuer, key: Vec<u8>| {
        let times = (Some(1_700_000_000), Some(1_900_000_000));
        Details { serial: Some(serial), issuer_serial: Some(issuer), key: Some(key), not_before: times.0, not_after: times.1 }
            .encode_to_vec()
    };
    let signed = |details| MessageField::some(NoiseCertificate { details: Some(details), signature: Some(vec![0; 64]) });
    wa::CertChain { leaf: signed(details(2, 1, key.to_vec())), intermediate: signed(details(1, 0, vec![0xCC; 32])) }
        .encode_to_vec()
}

fn hello_frame(once: &[u8; 32], sealed_static: Option<Vec<u8>>, payload: Vec<u8>) -> anyhow::Result<Vec<u8>> {
    let hello = wa::handshake_message::ServerHello {
        ephemeral: Some(once.to_vec()),
        r#static: sealed_static,
        payload: Some(payload),
        ..Default::default()
    };
    let message = wa::HandshakeMessage { server_hello: MessageField::some(hello), ..Default::default() };
    wacore::framing::encode_frame(&message.encode_to_vec(), None)
}
