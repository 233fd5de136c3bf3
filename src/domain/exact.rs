//! JSON that is read exactly. Serde takes a list for the fields of a struct in their order, and of
//! a field that stands twice the last: both are another thing than was written.

use std::collections::BTreeSet;
use std::fmt;
use std::iter;
use std::ops::Range;

use serde::de::{DeserializeOwned, Error as _, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

/// Reads a value in which each list, object, text and number stands where the type writes one. A
/// field that is left out may be `null`.
///
/// # Errors
/// A sentence with the place.
pub fn exact<T: DeserializeOwned + Serialize>(written: &Value) -> Result<T, String> {
    let read = T::deserialize(written).map_err(|error| error.to_string())?;
    let again = serde_json::to_value(&read).map_err(|error| error.to_string())?;
    misplaced(written, &again, "").map_or(Ok(read), Err)
}

/// The same of a text, in which no field stands twice.
///
/// # Errors
/// A sentence with the place.
pub fn exact_text<T: DeserializeOwned + Serialize>(text: &str) -> Result<T, String> {
    let written: Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
    undoubled(text)?;
    exact(&written)
}

/// Checks that in no object of a JSON text a field stands twice.
///
/// # Errors
/// A sentence with the field and its place.
pub fn undoubled(text: &str) -> Result<(), String> {
    serde_json::from_str::<Undoubled>(text).map(drop).map_err(|error| error.to_string())
}

/// Checks that each number of a JSON text is read as it was written: a double, or a whole number of
/// 64 bits, keeps all of its digits.
///
/// # Errors
/// A sentence with the first number that would be read as another one.
pub fn held(json: &str) -> Result<(), String> {
    let altered = |number: &&str| {
        let whole = number.parse::<i64>().is_ok() || number.parse::<u64>().is_ok();
        // The shortest digits that are read as the same number again.
        let same = || number.parse::<f64>().is_ok_and(|float| decimal(&format!("{float:e}")) == decimal(number));
        !whole && !same()
    };
    numbers(json).map(|place| &json[place]).find(altered).map_or(Ok(()), |number| {
        Err(format!("the number {number} has more digits than a number keeps here; send it as a string, or with fewer digits"))
    })
}

/// The value that a JSON text says; the text itself if no value says the same.
pub fn as_written(text: &str) -> Value {
    let value = faithful(text).ok().and_then(|()| serde_json::from_str(text).ok());
    value.unwrap_or_else(|| Value::String(text.to_owned()))
}

/// Checks that nothing of a JSON text is read as something else: no field stands twice, and each
/// number is held.
///
/// # Errors
/// A sentence with the first fault.
pub fn faithful(json: &str) -> Result<(), String> {
    undoubled(json).and_then(|()| held(json))
}

/// A number's sign, its digits without zeros around them, and the power of ten of the last one: the
/// same for each way to write it.
fn decimal(number: &str) -> (bool, String, i128) {
    let (mantissa, exponent) = number.split_once(['e', 'E']).unwrap_or((number, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let all = format!("{}{fraction}", whole.trim_start_matches('-'));
    let digits = all.trim_end_matches('0');
    if digits.is_empty() {
        return (false, String::new(), 0);
    }
    // An exponent that is too long to be read belongs to no double but zero.
    let exponent = exponent.parse::<i64>().map_or(i128::MAX >> 1, i128::from);
    let (zeros, behind_point) = ((all.len() - digits.len()) as i128, fraction.len() as i128);
    (number.starts_with('-'), digits.trim_start_matches('0').to_owned(), exponent + zeros - behind_point)
}

/// The places of the numbers in a JSON text, in order.
pub fn numbers(json: &str) -> impl Iterator<Item = Range<usize>> {
    let mut at = 0;
    iter::from_fn(move || {
        loop {
            at += json[at..].find(|letter: char| matches!(letter, '"' | '-' | '0'..='9'))?;
            if let Some(text) = json[at..].strip_prefix('"') {
                at = json.len() - behind_text(text).len();
                continue;
            }
            let behind = json[at..].find(|letter: char| !matches!(letter, '+' | '-' | '.' | '0'..='9' | 'e' | 'E'));
            let number = at..behind.map_or(json.len(), |length| at + length);
            at = number.end;
            return Some(number);
        }
    })
}

/// The JSON behind the end of a text that has begun.
fn behind_text(json: &str) -> &str {
    let mut letters = json.char_indices();
    while let Some((at, letter)) = letters.next() {
        match letter {
            '\\' => {
                letters.next();
            }
            '"' => return &json[at + 1..],
            _ => {}
        }
    }
    ""
}

/// The first place at which a value is of another kind than what it was read as.
fn misplaced(written: &Value, read: &Value, at: &str) -> Option<String> {
    match (written, read) {
        (Value::Null, _) => None,
        (Value::Object(fields), Value::Object(read)) => fields.iter().find_map(|(name, value)| {
            let at = if at.is_empty() { name.clone() } else { format!("{at}.{name}") };
            misplaced(value, read.get(name)?, &at)
        }),
        (Value::Array(items), Value::Array(read)) => {
            let mut both = items.iter().zip(read).enumerate();
            both.find_map(|(n, (item, read))| misplaced(item, read, &format!("{at}[{n}]")))
        }
        _ if kind(written) == kind(read) => None,
        _ => {
            let place = if at.is_empty() { String::new() } else { format!("{at}: ") };
            Some(format!("{place}expected {}, not {}", kind(read), kind(written)))
        }
    }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

/// A value of which nothing is kept, in which no field stands twice.
struct Undoubled;

impl<'de> Deserialize<'de> for Undoubled {
    fn deserialize<D: Deserializer<'de>>(written: D) -> Result<Self, D::Error> {
        written.deserialize_any(Looks)
    }
}

struct Looks;

impl<'de> Visitor<'de> for Looks {
    type Value = Undoubled;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_bool<E>(self, _: bool) -> Result<Undoubled, E> {
        Ok(Undoubled)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Undoubled, E> {
        Ok(Undoubled)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Undoubled, E> {
        Ok(Undoubled)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Undoubled, E> {
        Ok(Undoubled)
    }

    fn visit_str<E>(self, _: &str) -> Result<Undoubled, E> {
        Ok(Undoubled)
    }

    fn visit_unit<E>(self) -> Result<Undoubled, E> {
        Ok(Undoubled)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Undoubled, A::Error> {
        while items.next_element::<Undoubled>()?.is_some() {}
        Ok(Undoubled)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Undoubled, A::Error> {
        let mut seen = BTreeSet::new();
        while let Some(name) = fields.next_key::<String>()? {
            if seen.contains(&name) {
                return Err(A::Error::custom(format!("the field `{name}` stands twice")));
            }
            seen.insert(name);
            fields.next_value::<Undoubled>()?;
        }
        Ok(Undoubled)
    }
}

#[cfg(test)]
mod tests;
