//! An event as a list shows it: as it is stored, without its long texts.

use serde_json::{Value, json};

use super::Event;
use crate::domain::shortened;

impl Event {
    /// The event as it is stored, but for texts longer than so many bytes: they are shortened.
    pub fn in_brief(&self, most: usize) -> Value {
        let mut event = json!(self);
        shorten(&mut event, most);
        event
    }
}

/// Shortens every text in `value`.
fn shorten(value: &mut Value, most: usize) {
    match value {
        Value::String(text) => *text = shortened(text, most).into_owned(),
        Value::Array(values) => values.iter_mut().for_each(|value| shorten(value, most)),
        Value::Object(fields) => fields.values_mut().for_each(|value| shorten(value, most)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
