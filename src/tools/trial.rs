//! The call that shows an author without tests what the new code does: with made-up arguments, and without any effect.

use std::borrow::Cow;

use serde_json::{Value, json};

use crate::domain::CapabilityVersion;
use crate::sandbox::Sandbox;

/// What the sandbox says of a use that no grant allows.
const NOT_GRANTED: &str = "this capability was not granted";

/// Calls the checked draft once and says what came of it, for the model to judge.
///
/// # Errors
/// It uses what it asked no grant for: it could not do its work, and is refused with the grants it needs.
pub(super) async fn try_once(sandbox: &Sandbox, version: &CapabilityVersion) -> Result<Value, String> {
    let params = sample(&version.parameters);
    let outcome = sandbox.try_call(version, &params).await;
    let told: Value = serde_json::from_str(&outcome.result).unwrap_or_default();
    if let Some(message) = told["message"].as_str().filter(|message| !outcome.ok && message.starts_with(NOT_GRANTED)) {
        return Err(json!({ "error": "missing_grant", "message": message, "line": told["line"] }).to_string());
    }
    let mut trial = json!({ "params": params, "ok": outcome.ok, "result": outcome.result });
    if version.grants.need_approval() {
        trial["note"] = json!("A trial reaches nothing outside the sandbox, so what needs a grant is refused here.");
    } else if !outcome.ok {
        // What is wrong may be the arguments as well as the code.
        if let Value::Object(mut told) = told {
            told.remove("hint");
            trial["result"] = told.into();
        }
        trial["note"] = json!(
            "The params of this trial are made up. Write it again only if the code is wrong; if they are, call it with real ones."
        );
    } else if outcome.ok && outcome.result == "null" {
        trial["note"] = json!("The result was null. Is that meant? The function takes ONE object: read arguments as params.x.");
    }
    Ok(trial)
}

/// Arguments that fit the schema, as far as its types tell. No two numbers are the same: what is wrong shows sooner.
fn sample(schema: &Value) -> Value {
    made_up(schema, &mut [12, 5, 9, 2, 7, 4].into_iter().cycle())
}

/// The schema of a parameter, with the format that its name tells where nothing else does.
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
                .unwrap_or_default()
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
mod tests {
    use super::*;

    #[test]
    fn made_up_arguments_fit_the_schema() {
        let schema = json!({"type": "object", "properties": {
            "n": {"type": "integer", "minimum": 5}, "word": {"type": "string"}, "unit": {"enum": ["C", "F"]}, "deep": {"type": "object",
            "properties": {"list": {"type": "array", "items": {"type": "boolean"}}}}, "maybe": {"type": ["number", "null"]}}});
        let made = sample(&schema);
        assert_eq!(made, json!({"n": 5, "word": "example", "unit": "C", "deep": {"list": [true]}, "maybe": 12}));
        assert!(jsonschema::is_valid(&schema, &made));
    }

    #[test]
    fn a_text_looks_like_what_its_name_or_format_says() {
        let of = |name: &str, schema: Value| sample(&json!({"type": "object", "properties": {name: schema}}))[name].clone();
        let text = || json!({"type": "string"});
        assert_eq!(of("due_date", text()), "2026-02-27");
        assert_eq!(of("startTime", text()), "2026-02-27T14:30:00Z");
        assert_eq!(of("page_url", text()), "https://example.com/");
        assert_eq!(of("email", text()), "ada@example.com");
        assert_eq!(of("at", json!({"type": "string", "format": "date"})), "2026-02-27");
        assert_eq!(of("days", json!({"type": "integer"})), 12);
        assert_eq!(of("word", text()), "example");
    }
}
