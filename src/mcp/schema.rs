//! Schemas of arguments, as strangers write them. References are written out, since they could run
//! in circles, and lead elsewhere; what is left is bounded.

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
mod tests;
