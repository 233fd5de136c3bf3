//! Finds the calls that a model wrote into its text. Reading is strict: a text that is not wholly
//! in one of these forms is text. A call in a code block or between backticks is an example, unless
//! the message begins with it.

use serde_json::{Map, Value, json};

/// Marks of an end that servers leave in.
const ENDS: [&str; 4] = ["<|im_end|>", "<|eot_id|>", "<|eom_id|>", "</s>"];

type Found = Option<(Vec<Value>, String)>;

/// The pieces that look like calls, and the text around them.
pub(super) fn written_calls(content: &str) -> Found {
    let text = ENDS.into_iter().fold(content.trim(), |text, end| text.trim_end_matches(end).trim_end());
    let (calls, around) = tagged(text).or_else(|| functions(text)).or_else(|| blocks(text))?;
    (!calls.is_empty()).then_some((calls, around))
}

/// `<tool_call>{…}</tool_call>`, once or more; the last closing tag may be missing. Qwen, Hermes.
fn tagged(text: &str) -> Found {
    let whole = |(calls, around): (Vec<Value>, String)| around.is_empty().then_some(calls);
    let inside = |inside: &str| bare(inside).or_else(|| functions(inside).and_then(whole));
    between(text, "<tool_call>", "</tool_call>", inside).or_else(|| between(text, "<tools>", "</tools>", inside))
}

/// `<function=name>{…}</function>` of Llama, and
/// `<function=name><parameter=key>value</parameter></function>` of Qwen for code.
fn functions(text: &str) -> Found {
    between(text, "<function=", "</function>", |inside| {
        let (name, inside) = inside.split_at(inside.find(['>', '{'])?);
        // Llama forgets the bracket, or puts it behind the arguments.
        let inside = inside.strip_prefix('>').unwrap_or(inside).trim();
        let arguments = match inside.starts_with('{') {
            true => serde_json::from_str(inside.trim_end_matches('>')).ok()?,
            false => parameters(inside)?,
        };
        Some(vec![json!({ "name": name.trim(), "arguments": arguments })])
    })
}

/// `<parameter=key>value</parameter>`, any number of times. One line end after the tag and one
/// before the next are not the value's.
fn parameters(inside: &str) -> Option<Value> {
    let (mut arguments, mut rest) = (Map::new(), inside);
    while !rest.is_empty() {
        let (key, after) = rest.strip_prefix("<parameter=")?.split_once('>')?;
        let (value, after) = after.split_once("</parameter>")?;
        let value = value.strip_prefix('\n').unwrap_or(value);
        arguments.insert(key.trim().to_owned(), value.strip_suffix('\n').unwrap_or(value).into());
        rest = after.trim();
    }
    Some(Value::Object(arguments))
}

/// The calls between these tags, and the text around them; the last closing tag may be missing.
fn between(text: &str, open: &str, close: &str, read: impl Fn(&str) -> Option<Vec<Value>>) -> Found {
    let example = &text[..text.find(open)?];
    if example.matches("```").count() % 2 == 1 || example.ends_with('`') {
        return None;
    }
    let (mut calls, mut around, mut rest) = (Vec::new(), String::new(), text);
    while let Some((before, after)) = rest.split_once(open) {
        around.push_str(before);
        let (inside, next) = after.split_once(close).unwrap_or((after, ""));
        calls.extend(read(inside.trim())?);
        rest = next;
    }
    around.push_str(rest);
    Some((calls, around.trim().to_owned()))
}

/// Fenced blocks of JSON, the last one perhaps not closed, and a comment without a block behind
/// them; or nothing but JSON.
fn blocks(text: &str) -> Found {
    let (mut calls, mut rest) = (Vec::new(), text);
    while let Some(block) = rest.strip_prefix("```") {
        let (inside, next) = block.split_once("```").unwrap_or((block, ""));
        calls.extend(bare(inside.trim_start_matches(|c: char| c.is_ascii_alphanumeric()))?);
        rest = next.trim_start();
    }
    if rest.len() == text.len() {
        return Some((bare(text)?, String::new()));
    }
    (!rest.contains("```")).then(|| (calls, rest.to_owned()))
}

/// Nothing but JSON: an object, an array of them, or several one after the other.
fn bare(text: &str) -> Option<Vec<Value>> {
    let mut calls = Vec::new();
    for value in serde_json::Deserializer::from_str(text).into_iter() {
        match value.ok()? {
            Value::Array(several) => calls.extend(several),
            one => calls.push(one),
        }
    }
    Some(calls)
}
