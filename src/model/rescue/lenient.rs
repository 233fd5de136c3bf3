//! Reads JSON as servers really write it: `NaN` and `Infinity` for a number they did not have,
//! numbers no machine can hold, and halves of surrogate pairs when a character was split between
//! two pieces. JSON that is only cut off is not mended.

use serde_json::Value;

/// Reads `text`; what JSON does not know is `null`, and half a character is U+FFFD.
///
/// # Errors
/// The error of serde_json on the text as it came.
pub(in crate::model) fn parse(text: &str) -> Result<Value, serde_json::Error> {
    serde_json::from_str(text)
        .or_else(|error| if error.is_eof() { Err(error) } else { serde_json::from_str(&mended(text)).inspect(|_: &Value| { crate::model::helps("lenient"); }).map_err(|_| error) })
}

/// Takes time in proportion to the text, whatever stands in it.
fn mended(text: &str) -> String {
    let mut mended = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find(|c: char| c == '"' || of_word(c)) {
        mended.push_str(&rest[..start]);
        rest = &rest[start..];
        let end = if rest.starts_with('"') { string_end(rest) } else { rest.find(|c| !of_word(c)).unwrap_or(rest.len()) };
        let (token, after) = rest.split_at(end);
        if token.starts_with('"') {
            without_halves(token, &mut mended);
        } else {
            let known = serde_json::from_str::<Value>(token).is_ok();
            mended.push_str(if known { token } else { "null" });
        }
        rest = after;
    }
    mended + rest
}

/// A character of a number, or of a word such as `true` or `-Infinity`.
fn of_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.' | '_')
}

/// The end of the string that `text` begins with.
fn string_end(text: &str) -> usize {
    let bytes = text.as_bytes();
    let mut at = 1;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => return at + 1,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    text.len()
}

fn without_halves(string: &str, mended: &mut String) {
    let mut rest = string;
    while let Some(at) = rest.find('\\') {
        mended.push_str(&rest[..at]);
        rest = &rest[at..];
        let length = match half(rest) {
            Some(Half::High) if half(&rest[6..]) == Some(Half::Low) => 12,
            Some(_) => {
                mended.push_str("\\ufffd");
                rest = &rest[6..];
                continue;
            }
            None => rest.chars().take(2).map(char::len_utf8).sum(),
        };
        mended.push_str(&rest[..length]);
        rest = &rest[length..];
    }
    mended.push_str(rest);
}

#[derive(PartialEq)]
enum Half {
    High,
    Low,
}

/// The half of a character that `text` begins with, written as an escape.
fn half(text: &str) -> Option<Half> {
    let digits = text.strip_prefix("\\u")?.get(..4)?;
    match u16::from_str_radix(digits, 16).ok()? {
        0xD800..=0xDBFF => Some(Half::High),
        0xDC00..=0xDFFF => Some(Half::Low),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
