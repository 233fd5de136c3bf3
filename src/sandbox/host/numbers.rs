//! Numbers as a guest reads them. JavaScript holds each whole number up to 2^53 and reads a larger
//! one as a neighbour of it, without a word: the number of a row would become that of another row.

use serde::de::IgnoredAny;

use crate::domain::numbers;

/// The largest whole number that JavaScript tells from its neighbours.
const MOST: u64 = (1 << 53) - 1;

/// JSON in which each number beyond what JavaScript holds is a text; any other text as it is.
pub(in crate::sandbox) fn held(text: String) -> String {
    let beyond: Vec<_> = numbers(&text).filter(|place| !is_held(&text[place.clone()])).collect();
    if beyond.is_empty() || serde_json::from_str::<IgnoredAny>(&text).is_err() {
        return text;
    }
    let (mut json, mut done) = (String::with_capacity(text.len() + 2 * beyond.len()), 0);
    for place in beyond {
        json.push_str(&text[done..place.start]);
        json.push('"');
        json.push_str(&text[place.clone()]);
        json.push('"');
        done = place.end;
    }
    json.push_str(&text[done..]);
    json
}

/// True if JavaScript holds the whole part of a number. Of a fraction it holds some 16 digits, as
/// every program does that counts with such numbers.
fn is_held(number: &str) -> bool {
    // Postgres writes an exponent only into what is such a number already.
    if number.contains(['e', 'E']) {
        return number.parse().is_ok_and(f64::is_finite);
    }
    let whole = number.trim_start_matches('-').split('.').next().unwrap_or_default();
    // Fifteen digits are always held.
    whole.len() < 16 || whole.parse().is_ok_and(|whole: u64| whole <= MOST)
}

#[cfg(test)]
mod tests;
