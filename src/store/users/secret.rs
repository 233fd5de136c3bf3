//! The key to a door: 256 random bits, of which the database has the sha256 alone.

use std::fmt;

use sha2::{Digest, Sha256};

use crate::clock::Random;

/// The secret of a session, of a token, or of a link that works once. Nothing prints it.
#[derive(Clone, PartialEq, Eq)]
pub struct DoorSecret([u8; 32]);

impl DoorSecret {
    /// A new one.
    pub fn new(random: &dyn Random) -> Self {
        let mut bytes = [0; 32];
        random.fill(&mut bytes);
        Self(bytes)
    }

    /// Reads one as a client shows it.
    pub fn read(shown: &str) -> Option<Self> {
        let mut bytes = [0; 32];
        // Small letters alone, so that each has one form.
        let plain = shown.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        (plain && hex::decode_to_slice(shown, &mut bytes).is_ok()).then_some(Self(bytes))
    }

    /// The form in which a client shows it.
    pub fn shown(&self) -> String {
        hex::encode(self.0)
    }

    /// The part of it that the database keeps. Random bits need no slow hash: nobody tries 2^256 of
    /// them.
    pub(super) fn sha256(&self) -> Vec<u8> {
        Sha256::digest(self.0).to_vec()
    }
}

impl fmt::Debug for DoorSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("DoorSecret(…)")
    }
}

#[cfg(test)]
mod tests;
