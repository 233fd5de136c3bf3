//! The forms a value is commonly written in: as JSON, HTML, in addresses and names of hosts, as base64 and hex.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use base64::Engine;
use base64::prelude::{BASE64_STANDARD_NO_PAD, BASE64_URL_SAFE_NO_PAD};

/// The shortest value that is hidden, in characters: a shorter one stands in other texts by chance, and hiding it would spoil them.
pub const SHORTEST: usize = 8;
/// Shorter pieces of base64 say too little to be told from other text.
const SHORTEST_BASE64: usize = 4;

/// Characters beside letters and digits that encoders of addresses leave as they are: RFC 3986; `encodeURIComponent`; forms; a path as
/// browsers write it; a query as they write it; RFC 3986 with the colon; and those that leave nothing.
const LEFT_IN_ADDRESSES: [&str; 8] =
    ["-._~", "-_.!~*'()", "*-._", "-._~!$&'()*+,;=:@/", "-._~!$&()*+,;=:@/?", "-._~:", "-._~!$&'()*+,;=:@", ""];

/// Every form of `value`, itself among them; none of one that is shorter than [`SHORTEST`]. All are whole UTF-8.
pub(super) fn of(value: &str) -> BTreeSet<Vec<u8>> {
    let mut forms = BTreeSet::new();
    if value.chars().count() < SHORTEST {
        return forms;
    }
    let mut add = |form: String| {
        forms.insert(form.into_bytes());
    };
    add(value.to_owned());
    // As the name of a host, which is read in small letters.
    add(value.to_ascii_lowercase());
    for json in json(value) {
        add(self::json(&json).swap_remove(0));
        add(json);
    }
    // As `{:?}` writes it, for the log.
    add(inside(&format!("{value:?}")));
    for left in LEFT_IN_ADDRESSES {
        for upper in [true, false] {
            let encoded = percent(value, left, upper);
            add(encoded.replace("%20", "+"));
            add(encoded);
        }
    }
    let every_byte = |upper: bool| value.bytes().map(|byte| escape(byte, upper)).collect::<String>();
    add(every_byte(true));
    add(every_byte(false));
    for html in html(value) {
        add(html);
    }
    add(hex::encode(value));
    add(hex::encode_upper(value));
    for piece in base64(value.as_bytes()) {
        add(piece);
    }
    forms
}

fn inside(quoted: &str) -> String {
    quoted.strip_prefix('"').and_then(|text| text.strip_suffix('"')).unwrap_or(quoted).to_owned()
}

/// Inside the quotes of JSON: plain, with `/` escaped, and as ASCII in both cases.
fn json(value: &str) -> Vec<String> {
    let plain = inside(&serde_json::to_string(value).unwrap_or_default());
    let ascii = |upper: bool| {
        plain.chars().fold(String::new(), |mut text, c| {
            if c.is_ascii() {
                text.push(c);
            } else {
                for unit in c.encode_utf16(&mut [0; 2]) {
                    let _ = if upper { write!(text, "\\u{unit:04X}") } else { write!(text, "\\u{unit:04x}") };
                }
            }
            text
        })
    };
    let forms = [plain.clone(), ascii(false), ascii(true)];
    let slashed = forms.clone().map(|form| form.replace('/', "\\/"));
    forms.into_iter().chain(slashed).collect()
}

fn percent(value: &str, left: &str, upper: bool) -> String {
    value
        .bytes()
        .map(|byte| match byte {
            _ if byte.is_ascii_alphanumeric() || left.as_bytes().contains(&byte) => char::from(byte).to_string(),
            _ => escape(byte, upper),
        })
        .collect()
}

fn escape(byte: u8, upper: bool) -> String {
    if upper { format!("%{byte:02X}") } else { format!("%{byte:02x}") }
}

fn html(value: &str) -> Vec<String> {
    let least = value.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    let quoted = [least.replace('"', "&quot;"), least.replace('"', "&#34;")];
    let apostrophes = ["&#39;", "&#x27;", "&#039;", "&apos;"];
    let all = quoted.iter().flat_map(|text| apostrophes.map(|apostrophe| text.replace('\'', apostrophe)));
    all.chain(quoted.clone()).chain([least.clone()]).collect()
}

/// The characters of base64 that the value alone decides, for each place it can have in the groups of three bytes; and, for a value at
/// the end of the text, with the characters that end it.
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
