//! Sealing: ChaCha20-Poly1305, a fresh nonce of 12 bytes in front, the name as associated data, so
//! that a sealed value moved to another name does not open.

use chacha20poly1305::aead::{Aead, Payload};
use chacha20poly1305::{ChaCha20Poly1305, KeyInit, Nonce};
use secrecy::SecretString;
use secrecy::zeroize::Zeroizing;

use super::key::Key;
use crate::clock::Random;

const NONCE_BYTES: usize = 12;

/// Seals a value for this name.
pub(super) fn seal(key: &Key, name: &str, value: &str, random: &dyn Random) -> Vec<u8> {
    let mut nonce = [0; NONCE_BYTES];
    random.fill(&mut nonce);
    let payload = Payload { msg: value.as_bytes(), aad: name.as_bytes() };
    let sealed = cipher(key).encrypt(&Nonce::from(nonce), payload).expect("a value is far shorter than the cipher's limit");
    [&nonce[..], &sealed].concat()
}

/// Opens what was sealed for this name with this key; `None` when it was not.
pub(super) fn open(key: &Key, name: &str, sealed: &[u8]) -> Option<SecretString> {
    let (nonce, sealed) = sealed.split_first_chunk::<NONCE_BYTES>()?;
    let payload = Payload { msg: sealed, aad: name.as_bytes() };
    let value = Zeroizing::new(cipher(key).decrypt(&Nonce::from(*nonce), payload).ok()?);
    std::str::from_utf8(&value).ok().map(SecretString::from)
}

fn cipher(key: &Key) -> ChaCha20Poly1305 {
    ChaCha20Poly1305::new(key.bytes().into())
}

#[cfg(test)]
mod tests;
