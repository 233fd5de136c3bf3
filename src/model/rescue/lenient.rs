//! Reads JSON as servers really write it: `NaN` and `Infinity` for a number they did not have,
//! numbers no machine can hold, and halves of surrogate pairs if a character was split between two
//! pieces. JSON that is only cut off is not mended.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::{Captures, Regex};
use serde_json::Value;

use crate::domain::without_halves;

/// Reads `text`; what JSON does not know is `null`, and half a character is U+FFFD.
///
/// # Errors
/// The error of serde_json on the text as it came.
pub(in crate::model) fn parse(text: &str) -> Result<Value, serde_json::Error> {
    serde_json::from_str(text)
        .or_else(|error| if error.is_eof() { Err(error) } else { serde_json::from_str(&mended(text)).map_err(|_| error) })
}

/// Takes time in proportion to the text, whatever stands in it.
fn mended(text: &str) -> Cow<'_, str> {
    // A string, or a word or number outside of one.
    static TOKEN: LazyLock<Regex> = LazyLock::new(|| pattern(r#""(?:[^"\\]|\\[\s\S])*"?|[A-Za-z0-9_+.-]+"#));
    TOKEN.replace_all(text, |found: &Captures<'_>| match &found[0] {
        string if string.starts_with('"') => without_halves(string).into_owned(),
        word if serde_json::from_str::<Value>(word).is_ok() => word.to_owned(),
        _ => "null".to_owned(),
    })
}

fn pattern(text: &str) -> Regex {
    Regex::new(text).expect("a constant, tried by a test")
}

#[cfg(test)]
mod tests;
