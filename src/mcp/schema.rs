//! Schemas of arguments, as strangers write them. References are written out, since they could run in circles, and lead elsewhere; what
//! is left is bounded.

use jsonschema::{PatternOptions, Validator};
use serde_json::{Map, Value};

use super::clean;

/// The largest schema, in bytes, with its references written out.
const LARGEST: usize = 16 << 10;
/// How deep a schema may go.
const DEEPEST: usize = 24;
/// The longest description inside a schema, in characters.
const DESCRIPTION: usize = 300;
/// How many wrong arguments one error names.
const NAMED: usize = 5;

/// The schema as a model is shown it and arguments are checked against.
///
/// # Errors
/// Why the tool cannot be offered.
pub(super) fn read(schema: &Map<String, Value>) -> Result<Value, String> {
    let root = Value::Object(schema.clone());
    if schema.get("type").is_some_and(|kind| kind != "object") {
        return Err("its arguments are no object".to_owned());
    }
    let mut left = LARGEST;
    let mut read = written_out(&root, &root, 0, &mut left)?;
    if let Some(object) = read.as_object_mut() {
        for dropped in ["$schema", "$id", "$defs", "definitions", "$anchor"] {
            object.remove(dropped);
        }
        object.insert("type".to_owned(), Value::from("object"));
    }
    validator(&read).map_err(|problem| format!("its schema is not valid: {}", clean::line(&problem, 200)))?;
    Ok(read)
}

fn written_out(part: &Value, root: &Value, depth: usize, left: &mut usize) -> Result<Value, String> {
    if depth > DEEPEST {
        return Err("its schema is too deep, or refers to itself".to_owned());
    }
    match part {
        Value::Object(object) => {
            if ["$dynamicRef", "$recursiveRef"].iter().any(|name| object.get(*name).is_some_and(Value::is_string)) {
                return Err("its schema has references that level3 does not follow".to_owned());
            }
            if let Some(Value::String(reference)) = object.get("$ref") {
                let there = reference.strip_prefix('#').and_then(|pointer| root.pointer(pointer));
                let there = there.ok_or("its schema refers to something outside it")?;
                return written_out(there, root, depth + 1, left);
            }
            let mut out = Map::new();
            for (name, value) in object {
                if depth == 0 && matches!(name.as_str(), "$defs" | "definitions") {
                    continue; // what is used of them is written out
                }
                take(left, name.len() + 4)?;
                if name.chars().any(clean::invisible) {
                    return Err(HIDDEN.to_owned());
                }
                let value = match value {
                    Value::String(text) if matches!(name.as_str(), "description" | "title" | "$comment") => {
                        let text = clean::plain(text, DESCRIPTION);
                        take(left, text.len())?;
                        Value::String(text)
                    }
                    other => written_out(other, root, depth + 1, left)?,
                };
                out.insert(name.clone(), value);
            }
            Ok(Value::Object(out))
        }
        Value::Array(items) => {
            take(left, 2 + items.len())?;
            items.iter().map(|item| written_out(item, root, depth + 1, left)).collect()
        }
        Value::String(text) => {
            take(left, text.len() + 2)?;
            if text.chars().any(clean::invisible) { Err(HIDDEN.to_owned()) } else { Ok(part.clone()) }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {
            take(left, 8)?;
            Ok(part.clone())
        }
    }
}

/// Takes from what is left of the largest schema.
fn take(left: &mut usize, bytes: usize) -> Result<(), String> {
    *left = left.checked_sub(bytes).ok_or_else(|| format!("its schema is larger than {LARGEST} bytes"))?;
    Ok(())
}

const HIDDEN: &str = "its schema holds characters that nobody sees";

/// Says whether arguments fit a schema that a server's tool was listed with.
///
/// # Errors
/// The faults of the arguments, for the model to correct.
pub fn fits(parameters: &Value, arguments: &Value) -> Result<(), String> {
    let validator = validator(parameters)?;
    let mut problems = validator.iter_errors(arguments).map(|error| {
        let path = error.instance_path().to_string();
        let place = if path.is_empty() { "the arguments".to_owned() } else { format!("`{path}`") };
        format!("{place}: {}", clean::line(&error.to_string(), 300))
    });
    let named: Vec<_> = problems.by_ref().take(NAMED).collect();
    if named.is_empty() {
        return Ok(());
    }
    let more = if problems.next().is_some() { "; and more" } else { "" };
    Err(format!("{}{more}. The parameters schema is: {}", named.join("; "), clean::line(&parameters.to_string(), 1000)))
}

fn validator(parameters: &Value) -> Result<Validator, String> {
    // Patterns run on an engine that cannot backtrack.
    jsonschema::options()
        .with_pattern_options(PatternOptions::regex().size_limit(1 << 20))
        .build(parameters)
        .map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn of(schema: Value) -> Result<Value, String> {
        read(schema.as_object().unwrap())
    }

    #[test]
    fn references_inside_are_written_out_and_others_are_refused() {
        let schema = json!({"type": "object", "properties": {"at": {"$ref": "#/$defs/Place"}}, "$schema": "x",
            "$defs": {"Place": {"type": "string", "description": "Wh\u{200B}ere"}}});
        let read = of(schema).unwrap();
        assert_eq!(read, json!({"type": "object", "properties": {"at": {"type": "string", "description": "Where"}}}));
        for elsewhere in ["https://evil.example/schema.json", "file:///etc/passwd", "#/$defs/absent"] {
            let error = of(json!({"properties": {"a": {"$ref": elsewhere}}})).unwrap_err();
            assert!(error.contains("outside"), "{error}");
        }
    }

    #[test]
    fn a_schema_that_runs_in_circles_explodes_or_hides_something_is_refused() {
        let node = json!({"type": "object", "properties": {"next": {"$ref": "#"}}});
        assert!(of(node).unwrap_err().contains("refers to itself"));
        let many = |name: &str| json!({"allOf": vec![json!({"$ref": format!("#/$defs/{name}")}); 100]});
        let defs = json!({"a": many("b"), "b": many("c"), "c": many("d"), "d": {"type": "string"}});
        assert!(of(json!({"properties": {"a": {"$ref": "#/$defs/a"}}, "$defs": defs})).unwrap_err().contains("larger than"));
        assert!(of(json!({"properties": {"a\u{200B}": {}}})).unwrap_err().contains("nobody sees"));
        assert!(of(json!({"properties": {"a": {"enum": ["b\u{E0041}"]}}})).unwrap_err().contains("nobody sees"));
        assert!(of(json!({"type": "string"})).unwrap_err().contains("no object"));
        assert!(of(json!({"properties": {"a": {"type": "strin"}}})).unwrap_err().contains("not valid"));
        assert!(of(json!({"description": "x".repeat(9000), "title": "y"})).unwrap().to_string().len() < 1000);
        assert!(of(json!({"default": "x".repeat(20_000)})).unwrap_err().contains("larger than"));
    }

    #[test]
    fn arguments_are_checked_and_what_is_wrong_is_named() {
        let schema = of(json!({"properties": {"n": {"type": "integer"}}, "required": ["n"]})).unwrap();
        assert_eq!(fits(&schema, &json!({"n": 1})), Ok(()));
        let error = fits(&schema, &json!({"n": "x"})).unwrap_err();
        assert!(error.contains("`/n`") && error.contains("The parameters schema is"), "{error}");
    }
}
