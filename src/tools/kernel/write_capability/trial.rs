//! The trial call, which shows an author without tests what the new code does: with made-up
//! arguments, and without any effect.

use std::borrow::Cow;

use serde_json::{Value, json};

use crate::domain::{CapabilityVersion, Refusal, RefusalCode, SourcePlace};
use crate::sandbox::{CallError, Rehearsed, Sandbox};

/// The most bytes of a result in the author's words.
const SHOWN: usize = 500;

/// The reason why a draft cannot do its work, whatever its arguments.
pub(super) struct Unfit {
    /// The refusal for its author.
    pub(super) refusal: Refusal,
    /// True if the author has nothing to fill in in the grants to ask for.
    whole: bool,
}

/// Calls the checked draft once, and says what is strange about the end of the call. It says
/// nothing if the call gave a result, or came as far as a trial may. The answer is in words and not
/// an object: small models copy the made-up arguments into their next call, and the result into
/// their answer.
///
/// # Errors
/// It uses a power that it asked no grant for, or a name that is not defined. `tools` are those
/// that the model may have meant.
pub(super) async fn try_once(sandbox: &Sandbox, version: &CapabilityVersion, tools: &[String]) -> Result<Option<String>, Unfit> {
    let params = sample(&version.parameters);
    let call = format!("{}({params})", version.name);
    let Rehearsed { result, missing } = sandbox.rehearse(version, &params).await;
    let error = match result {
        Ok(result) => {
            let result = &result[..result.floor_char_boundary(SHOWN)];
            // A model would take a result with content for the one that the person asked for.
            let empty = matches!(result.trim(), "" | "null" | "{}" | "[]");
            let hint = if result == "null" { " The function takes ONE object: read arguments as params.x." } else { "" };
            return Ok(empty.then(|| format!("With made-up arguments, {call} gave {result}. Is that meant?{hint}")));
        }
        Err(error) => error,
    };
    let refusal = error.refusal();
    if let Some(missing) = missing {
        return Err(Unfit { refusal: missing.refusal(refusal.place), whole: missing.whole });
    }
    if let Some(name) = undefined(&error) {
        return Err(Unfit { refusal: not_defined(name, tools, refusal.place), whole: true });
    }
    let message = &refusal.message;
    let failed = format!(
        "With made-up arguments, {call} failed: {message}. If those make no sense here, call it with real ones; if the code is wrong, write it \
         again."
    );
    Ok((!version.grants.need_approval()).then_some(failed))
}

/// The undefined name, from the words of the JavaScript engine.
fn undefined(error: &CallError) -> Option<&str> {
    match error {
        CallError::Threw { name, message, .. } if name == "ReferenceError" => message.strip_suffix(" is not defined"),
        _ => None,
    }
}

/// Small models call another tool like a function.
fn not_defined(name: &str, tools: &[String], place: Option<SourcePlace>) -> Refusal {
    let of = |message| Refusal::new(RefusalCode::NotDefined, message).at(place);
    if tools.iter().any(|tool| tool == name) {
        let message =
            format!("`{name}` is a tool and no function: write await host.call('{name}', {{ … }}), and ask for these grants");
        return of(message).asking_for(json!({ "tools": [name] }));
    }
    of(format!("`{name}` is not defined: there are no imports and no require; define it, or do without"))
}

impl Unfit {
    /// The grants to ask for, if nothing in them is made up: each host and each tool stands in the
    /// source.
    pub(super) fn grants_of(&self, source: &str) -> Option<&Value> {
        fn all_in(grants: &Value, source: &str) -> bool {
            match grants {
                Value::Object(fields) => fields.values().all(|inner| all_in(inner, source)),
                Value::Array(names) => names.iter().all(|name| name.as_str().is_some_and(|name| source.contains(name))),
                _ => true,
            }
        }
        self.refusal.grants.as_ref().filter(|grants| self.whole && all_in(grants, source))
    }
}

/// Arguments that fit the schema, as far as its types tell. No two numbers are the same, so that a
/// mistake shows sooner.
fn sample(schema: &Value) -> Value {
    made_up(schema, &mut [12, 5, 9, 2, 7, 4].into_iter().cycle())
}

/// The schema of a parameter. If nothing else tells its format, its name does.
fn with_format<'a>(name: &str, schema: &'a Value) -> Cow<'a, Value> {
    let name = name.to_ascii_lowercase();
    let named = [("date", "date"), ("day", "date"), ("time", "date-time"), ("url", "uri"), ("mail", "email")];
    let format = named.iter().find(|(part, _)| name.contains(part)).map(|(_, format)| *format);
    match format.filter(|_| schema.get("type").is_some_and(|kind| kind == "string") && schema.get("format").is_none()) {
        Some(format) => {
            let mut schema = schema.clone();
            schema["format"] = json!(format);
            Cow::Owned(schema)
        }
        None => Cow::Borrowed(schema),
    }
}

fn made_up(schema: &Value, numbers: &mut dyn Iterator<Item = i32>) -> Value {
    for given in ["default", "const"] {
        if let Some(value) = schema.get(given) {
            return value.clone();
        }
    }
    for several in ["examples", "enum"] {
        if let Some(value) = schema.get(several).and_then(|values| values.get(0)) {
            return value.clone();
        }
    }
    let kind = schema.get("type").map(|kind| kind.get(0).unwrap_or(kind));
    match kind.and_then(Value::as_str) {
        Some("object") => {
            let properties = schema.get("properties").and_then(Value::as_object);
            properties
                .map(|all| {
                    all.iter().map(|(name, schema)| (name.clone(), made_up(&with_format(name, schema), numbers))).collect()
                })
                .unwrap_or_else(|| json!({}))
        }
        Some("array") => schema.get("items").map_or_else(|| json!([12, 5, 9]), |items| json!([made_up(items, numbers)])),
        Some("integer" | "number") => {
            let bound = |name: &str| schema.get(name).and_then(Value::as_f64);
            let (least, most) = (bound("minimum").unwrap_or(f64::MIN), bound("maximum").unwrap_or(f64::MAX));
            let fits = numbers.next().filter(|number| (least..=most).contains(&f64::from(*number)));
            fits.map_or_else(|| schema.get("minimum").or(schema.get("maximum")).cloned().unwrap_or_default(), Value::from)
        }
        Some("boolean") => json!(true),
        Some("null") => Value::Null,
        _ => match schema.get("format").and_then(Value::as_str) {
            Some("date") => json!("2026-02-27"),
            Some("time") => json!("14:30:00Z"),
            Some("uri" | "url") => json!("https://example.com/"),
            Some("email") => json!("ada@example.com"),
            Some("date-time") => json!("2026-02-27T14:30:00Z"),
            _ => json!("example"),
        },
    }
}

#[cfg(test)]
mod tests;
