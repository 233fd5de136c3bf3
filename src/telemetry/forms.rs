//! The forms of a value that no reading back makes plain ([`super::read_back`]): in names of hosts
//! and in forms, as base64 and hex.

use std::collections::BTreeSet;

use base64::Engine;
use base64::prelude::{BASE64_STANDARD_NO_PAD, BASE64_URL_SAFE_NO_PAD};

/// The shortest value that is hidden, in characters: a shorter one stands in other texts by chance,
/// and hiding it would spoil them.
pub const SHORTEST: usize = 8;
/// Shorter pieces of base64 say too little to be told from other text.
const SHORTEST_BASE64: usize = 4;

/// Every such form of `value`, itself among them; none of one that is shorter than [`SHORTEST`].
/// All are whole UTF-8.
pub(super) fn of(value: &str) -> BTreeSet<Vec<u8>> {
    if value.chars().count() < SHORTEST {
        return BTreeSet::new();
    }
    let forms = [
        value.to_owned(),
        // As the name of a host, which is read in small letters.
        value.to_ascii_lowercase(),
        // As a form has it, whose spaces are no escapes.
        value.replace(' ', "+"),
        // As a server writes it that has read the bytes of a header as latin-1.
        value.bytes().map(char::from).collect(),
        hex::encode(value),
        hex::encode_upper(value),
    ];
    forms.into_iter().chain(base64(value.as_bytes())).map(String::into_bytes).collect()
}

/// The characters of base64 that the value alone decides, for each place it can have in the groups
/// of three bytes; and, for a value at the end of the text, with the characters that end it.
fn base64(value: &[u8]) -> Vec<String> {
    let mut pieces = Vec::new();
    for before in 0..3_usize {
        let mut padded = vec![0; before];
        padded.extend_from_slice(value);
        let first = (before * 8).div_ceil(6);
        let determined = padded.len() * 8 / 6;
        for encoded in [BASE64_STANDARD_NO_PAD.encode(&padded), BASE64_URL_SAFE_NO_PAD.encode(&padded)] {
            let padding = "=".repeat((4 - encoded.len() % 4) % 4);
            let to_the_end = encoded[first..].to_owned();
            pieces.push(format!("{to_the_end}{padding}"));
            pieces.push(to_the_end);
            pieces.push(encoded[first.min(determined)..determined].to_owned());
        }
    }
    pieces.retain(|piece| piece.trim_end_matches('=').len() >= SHORTEST_BASE64);
    pieces
}
