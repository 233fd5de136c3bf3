//! The call that shows an author without tests what the new code does: with made-up arguments, and without any effect.

use std::borrow::Cow;

use serde_json::{Value, json};

use crate::domain::CapabilityVersion;
use crate::sandbox::Sandbox;

/// What the sandbox says of a use that no grant allows.
const NOT_GRANTED: &str = "this capability was not granted";

/// The most of a result that is told, in bytes.
const SHOWN: usize = 500;

/// Calls the checked draft once and says what is strange about what came of it; nothing where it gave a result, or came no further than what
/// a trial may not reach. In words and not as an object: small models copy the made-up arguments into their next call, and the result into
/// their answer.
///
/// # Errors
/// It could not do its work whatever its arguments: it uses what it asked no grant for, or a name that is not there. The refusal, with the
/// `grants` it needs. `tools` are those that it could have meant.
pub(super) async fn try_once(sandbox: &Sandbox, version: &CapabilityVersion, tools: &[String]) -> Result<Option<String>, Value> {
    let params = sample(&version.parameters);
    let outcome = sandbox.rehearse(version, &params).await;
    let call = format!("{}({params})", version.name);
    let result = &outcome.result[..outcome.result.floor_char_boundary(SHOWN)];
    if outcome.ok {
        // A result that says something would be taken for the one that was asked for.
        let empty = matches!(result.trim(), "" | "null" | "{}" | "[]");
        let hint = if result == "null" { " The function takes ONE object: read arguments as params.x." } else { "" };
        return Ok(empty.then(|| format!("With made-up arguments, {call} gave {result}. Is that meant?{hint}")));
    }
    let told: Value = serde_json::from_str(&outcome.result).unwrap_or_default();
    let message = told["message"].as_str().unwrap_or(result);
    if message.starts_with(NOT_GRANTED) {
        return Err(missing_grant(message, &told["line"]));
    }
    if let Some(name) = undefined(&told) {
        return Err(not_defined(name, tools, &told["line"]));
    }
    let failed = format!(
        "With made-up arguments, {call} failed: {message}. If those make no sense here, call it with real ones; if the code is wrong, write it \
         again."
    );
    Ok((!version.grants.need_approval()).then_some(failed))
}

/// The grants stand beside the message and not in it: what is escaped twice, a small model copies with the backslashes.
fn missing_grant(message: &str, line: &Value) -> Value {
    let mut told = json!({ "error": "missing_grant", "message": message, "line": line });
    if let Some((message, rest)) = message.split_once(" with grants ") {
        let mut values = serde_json::Deserializer::from_str(rest).into_iter::<Value>();
        if let Some(Ok(grants)) = values.next() {
            told["message"] = json!(format!("{message} with these grants{}", &rest[values.byte_offset()..]));
            told["grants"] = grants;
        }
    }
    told
}

/// The name that was not there.
fn undefined(told: &Value) -> Option<&str> {
    told["message"].as_str().filter(|_| told["name"] == "ReferenceError")?.strip_suffix(" is not defined")
}

/// Small models call another tool like a function.
fn not_defined(name: &str, tools: &[String], line: &Value) -> Value {
    if tools.iter().any(|tool| tool == name) {
        let message =
            format!("`{name}` is a tool and no function: write await host.call('{name}', {{ … }}), and ask for these grants");
        return json!({ "error": "not_defined", "message": message, "grants": { "tools": [name] }, "line": line });
    }
    let message = format!("`{name}` is not defined: there are no imports and no require; define it, or do without");
    json!({ "error": "not_defined", "message": message, "line": line })
}

/// The grants of such a refusal, where nothing in them is made up: each host and each tool stands in the source as it is.
pub(super) fn grants_of_source(refusal: &Value, source: &str) -> Option<Value> {
    fn all_in(grants: &Value, source: &str) -> bool {
        match grants {
            Value::Object(fields) => fields.values().all(|inner| all_in(inner, source)),
            Value::Array(names) => names.iter().all(|name| name.as_str().is_some_and(|name| source.contains(name))),
            _ => true,
        }
    }
    // What is said after them is left for the author to fill in.
    let ends = ["with these grants", "with these grants beside those it has"];
    let whole = refusal["message"].as_str().is_some_and(|message| ends.iter().any(|end| message.ends_with(end)));
    refusal.get("grants").filter(|grants| whole && all_in(grants, source)).cloned()
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
    fn missing_grants_are_told_beside_the_message() {
        let told = |message| missing_grant(message, &json!(3));
        let secret =
            told("not granted the secret K; to use it, write it again with grants {\"secrets\":{\"K\":[]}}, where the hosts are");
        assert_eq!(
            secret["message"],
            "not granted the secret K; to use it, write it again with these grants, where the hosts are"
        );
        assert_eq!((&secret["grants"], &secret["line"]), (&json!({"secrets": {"K": []}}), &json!(3)));
        assert_eq!(told("not granted at all"), json!({"error": "missing_grant", "message": "not granted at all", "line": 3}));
    }

    #[test]
    fn a_tool_that_is_called_like_a_function_is_told_from_other_names() {
        let told =
            json!({"error": "capability_failed", "name": "ReferenceError", "message": "double_it is not defined", "line": 2});
        let name = undefined(&told).unwrap();
        let tool = not_defined(name, &["double_it".into()], &told["line"]);
        assert!(tool["message"].as_str().unwrap().contains("await host.call('double_it', { … })"), "{tool}");
        assert_eq!((&tool["grants"], &tool["line"]), (&json!({"tools": ["double_it"]}), &json!(2)));
        let other = not_defined("require", &["double_it".into()], &json!(1));
        assert!(other["message"].as_str().unwrap().contains("no require") && other.get("grants").is_none(), "{other}");
        assert_eq!(undefined(&json!({"name": "TypeError", "message": "x is not defined"})), None);
    }

    #[test]
    fn only_what_stands_in_the_source_is_asked_for_in_the_authors_place() {
        let refusal = |rest: &str| missing_grant(&format!("not granted `http`; write it again with grants {rest}"), &json!(1));
        let hosts = json!({"http": {"hosts": ["http://127.0.0.1:80"]}, "sql": {"access": "read"}, "tools": ["double"]});
        let source = "await fetch(`http://127.0.0.1:80/x`); await host.call('double', {})";
        assert_eq!(grants_of_source(&refusal(&hosts.to_string()), source), Some(hosts.clone()));
        assert_eq!(grants_of_source(&refusal(&hosts.to_string()), "await fetch(params.url)"), None);
        assert_eq!(grants_of_source(&refusal("{\"secrets\":{\"K\":[]}}, where the hosts are those it goes to"), "K"), None);
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
