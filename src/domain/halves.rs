//! Halves of characters in JSON. A program that cuts a text within a character writes the half as
//! an escape, `\ud83d`, which few readers of JSON take.

use std::borrow::Cow;

/// JSON with U+FFFD in place of each half of a character; whole pairs stay as they are.
pub fn without_halves(json: &str) -> Cow<'_, str> {
    let (mut marked, mut done, mut at) = (String::new(), 0, 0);
    while let Some(found) = json[at..].find('\\') {
        at += found;
        let (unit, next) = (unit(&json[at..]), json.get(at + 6..).and_then(unit));
        at += match (unit, next) {
            (Some(0xd800..=0xdbff), Some(0xdc00..=0xdfff)) => 12,
            (Some(0xd800..=0xdfff), _) => {
                marked.push_str(&json[done..at]);
                marked.push_str("\\ufffd");
                done = at + 6;
                6
            }
            // The letter behind the backslash may be another one.
            _ => 1 + json[at + 1..].chars().next().map_or(0, char::len_utf8),
        };
    }
    if done == 0 {
        return Cow::Borrowed(json);
    }
    marked.push_str(&json[done..]);
    Cow::Owned(marked)
}

/// The unit of UTF-16 that an escape at the beginning of a text stands for.
fn unit(json: &str) -> Option<u16> {
    let digits = json.strip_prefix("\\u")?.get(..4)?;
    u16::from_str_radix(digits, 16).ok().filter(|_| digits.bytes().all(|digit| digit.is_ascii_hexdigit()))
}

#[cfg(test)]
mod tests;
