//! Tool calls that a model wrote as text, as small local models do when their server does not know their notation.
//!
//! Text becomes a call only when nothing else can be meant: the notation is one that models are trained on, every tool named was
//! offered, and the arguments fit its schema. Otherwise the text stays text.

use serde_json::{Map, Value};

use super::Answer;
use super::assemble::MAX_CALLS;
use crate::domain::{CallRequest, ToolSpec};

/// Text longer than this is no tool call, in bytes.
const LONGEST: usize = 256 << 10;

/// Turns the text of an answer into tool calls where it is some; what was said around them stays.
pub(super) fn rescue(answer: &mut Answer, tools: &[ToolSpec]) {
    if !answer.calls.is_empty() || tools.is_empty() || answer.content.len() > LONGEST {
        return;
    }
    let Some((written, around)) = written_calls(&answer.content) else { return };
    if written.is_empty() || written.len() > MAX_CALLS {
        return;
    }
    let calls = written.into_iter().enumerate().map(|(number, call)| {
        let (name, arguments) = call_of(call, tools)?;
        Some(CallRequest { id: format!("call_{}", number + 1), name, arguments })
    });
    if let Some(calls) = calls.collect() {
        answer.calls = calls;
        answer.content = around;
    }
}

/// The objects that look like calls, and the text around them.
fn written_calls(content: &str) -> Option<(Vec<Value>, String)> {
    let text = content.trim();
    tagged(text)
        .or_else(|| mistral(text))
        .or_else(|| functions(text))
        .or_else(|| Some((bare(text)?, String::new())))
        .or_else(|| fenced_first(text))
}

/// `<tool_call>{…}</tool_call>`, once or more; the last closing tag may be missing. Qwen and Hermes.
fn tagged(text: &str) -> Option<(Vec<Value>, String)> {
    const TAGS: [(&str, &str); 3] =
        [("<tool_call>", "</tool_call>"), ("<tools>", "</tools>"), ("<function_call>", "</function_call>")];
    let (open, close) = TAGS.into_iter().find(|(open, _)| text.contains(open))?;
    let mut calls = Vec::new();
    let mut around = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(open) {
        around.push_str(before);
        let (inside, next) = after.split_once(close).unwrap_or((after, ""));
        calls.extend(bare(inside.trim())?);
        rest = next;
    }
    around.push_str(rest);
    Some((calls, around.trim().to_owned()))
}

/// `[TOOL_CALLS][{…}]`, and the later `[TOOL_CALLS]name[ARGS]{…}`. Mistral.
fn mistral(text: &str) -> Option<(Vec<Value>, String)> {
    let (before, after) = text.split_once("[TOOL_CALLS]")?;
    let mut calls = Vec::new();
    for part in after.split("[TOOL_CALLS]") {
        match part.split_once("[ARGS]") {
            Some((name, arguments)) => calls.push(call(name.trim(), serde_json::from_str(arguments.trim()).ok()?)),
            None => calls.extend(bare(part.trim())?),
        }
    }
    Some((calls, before.trim().to_owned()))
}

/// `<function=name>{…}</function>`. Llama.
fn functions(text: &str) -> Option<(Vec<Value>, String)> {
    let mut calls = Vec::new();
    let mut around = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("<function=") {
        around.push_str(before);
        let (name, after) = after.split_once('>')?;
        let (arguments, next) = after.split_once("</function>").unwrap_or((after, ""));
        calls.push(call(name.trim(), serde_json::from_str(arguments.trim()).ok()?));
        rest = next;
    }
    around.push_str(rest);
    (!calls.is_empty()).then(|| (calls, around.trim().to_owned()))
}

fn call(name: &str, arguments: Value) -> Value {
    Value::Object(Map::from_iter([("name".into(), name.into()), ("arguments".into(), arguments)]))
}

/// Nothing but JSON: an object, an array of them, or several one after the other; fenced or not.
fn bare(text: &str) -> Option<Vec<Value>> {
    let text = text.strip_prefix("<|python_tag|>").unwrap_or(text).trim();
    let text = unfenced(text).trim();
    if !text.starts_with(['{', '[']) {
        return None;
    }
    let mut calls = Vec::new();
    for value in serde_json::Deserializer::from_str(text).into_iter() {
        match value.ok()? {
            Value::Array(several) => calls.extend(several),
            one => calls.push(one),
        }
    }
    Some(calls)
}

/// The inside of a text that is one fenced block; small models forget to close it.
fn unfenced(text: &str) -> &str {
    let Some(inside) = text.strip_prefix("```") else { return text };
    let inside = inside.strip_suffix("```").unwrap_or(inside);
    // A fence inside means that there is more than one block: then this is an explanation.
    if inside.contains("```") { text } else { without_language(inside) }
}

/// A fenced call at the very beginning and the model's own comment on it after. With text before it, it would be an example.
fn fenced_first(text: &str) -> Option<(Vec<Value>, String)> {
    let (inside, comment) = text.strip_prefix("```")?.split_once("```")?;
    let calls = bare(without_language(inside))?;
    (!comment.contains("```")).then(|| (calls, comment.trim().to_owned()))
}

fn without_language(inside: &str) -> &str {
    inside.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-')
}

/// Name and arguments, when this names a tool that was offered and the arguments fit.
fn call_of(written: Value, tools: &[ToolSpec]) -> Option<(String, String)> {
    let Value::Object(mut outer) = written else { return None };
    let mut inner = match outer.remove("function") {
        Some(Value::Object(inner)) => inner,
        Some(name @ Value::String(_)) => {
            outer.insert("name".into(), name);
            outer
        }
        _ => outer,
    };
    let name = ["name", "function_name", "tool_name"].into_iter().find_map(|field| inner.get(field))?.as_str()?.to_owned();
    let tool = tools.iter().find(|tool| tool.name == name)?;
    let arguments = ["arguments", "parameters"].into_iter().find_map(|field| inner.remove(field))?;
    let arguments = match arguments {
        Value::String(text) => serde_json::from_str(&text).ok()?,
        other => other,
    };
    let fits =
        arguments.is_object() && jsonschema::validator_for(&tool.parameters).is_ok_and(|schema| schema.is_valid(&arguments));
    fits.then(|| (name, arguments.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn rescued(content: &str) -> Answer {
        let tool = |name: &str, field: &str, kind: &str| ToolSpec {
            name: name.into(),
            description: String::new(),
            parameters: json!({ "type": "object", "properties": { field: { "type": kind } }, "required": [field] }),
        };
        let mut answer =
            Answer { content: content.into(), calls: Vec::new(), finish_reason: "stop".into(), usage: None, model: "m".into() };
        rescue(&mut answer, &[tool("execute_sql", "query", "string"), tool("roman", "number", "integer")]);
        answer
    }

    const SQL: &str = r#"{"query":"SELECT 1"}"#;

    #[test]
    fn every_notation_models_are_trained_on_is_understood() {
        for content in [
            "<tool_call>\n{\"name\": \"execute_sql\", \"arguments\": {\"query\": \"SELECT 1\"}}\n</tool_call>",
            "<tool_call>{\"name\": \"execute_sql\", \"arguments\": {\"query\": \"SELECT 1\"}}",
            "<tools>\n{\"name\": \"execute_sql\", \"arguments\": {\"query\": \"SELECT 1\"}}\n</tools>",
            "```json\n{\"name\": \"execute_sql\", \"arguments\": {\"query\": \"SELECT 1\"}}\n```",
            "```\n{\"name\": \"execute_sql\", \"arguments\": {\"query\": \"SELECT 1\"}}\n```",
            " {\"name\": \"execute_sql\", \"arguments\": {\"query\": \"SELECT 1\"}} ",
            "[{\"name\": \"execute_sql\", \"arguments\": {\"query\": \"SELECT 1\"}}]",
            "{\"name\": \"execute_sql\", \"arguments\": \"{\\\"query\\\": \\\"SELECT 1\\\"}\"}",
            "{\"name\": \"execute_sql\", \"parameters\": {\"query\": \"SELECT 1\"}}",
            "<|python_tag|>{\"type\": \"function\", \"name\": \"execute_sql\", \"parameters\": {\"query\": \"SELECT 1\"}}",
            "{\"type\": \"function\", \"function\": {\"name\": \"execute_sql\", \"arguments\": {\"query\": \"SELECT 1\"}}}",
            "{\"function\": \"execute_sql\", \"arguments\": {\"query\": \"SELECT 1\"}}",
            "```json\n{\"function_name\": \"execute_sql\", \"parameters\": {\"query\": \"SELECT 1\"}}\n",
            "<function=execute_sql>{\"query\": \"SELECT 1\"}</function>",
            "[TOOL_CALLS][{\"name\": \"execute_sql\", \"arguments\": {\"query\": \"SELECT 1\"}}]",
            "[TOOL_CALLS]execute_sql[ARGS]{\"query\": \"SELECT 1\"}",
        ] {
            let answer = rescued(content);
            let call = CallRequest { id: "call_1".into(), name: "execute_sql".into(), arguments: SQL.into() };
            assert_eq!((answer.calls, answer.content.as_str()), (vec![call], ""), "{content}");
        }
    }

    #[test]
    fn several_calls_keep_their_order_and_the_text_around_them_stays() {
        let answer = rescued(
            "I look.\n<tool_call>{\"name\":\"execute_sql\",\"arguments\":{\"query\":\"SELECT 1\"}}</tool_call>\n\
             <tool_call>{\"name\":\"roman\",\"arguments\":{\"number\":7}}</tool_call>",
        );
        let calls: Vec<_> = answer.calls.iter().map(|call| (call.id.as_str(), call.name.as_str())).collect();
        assert_eq!(calls, [("call_1", "execute_sql"), ("call_2", "roman")]);
        assert_eq!(answer.content, "I look.");
        let answer =
            rescued("{\"name\":\"roman\",\"arguments\":{\"number\":7}}\n{\"name\":\"roman\",\"arguments\":{\"number\":8}}");
        assert_eq!(answer.calls.len(), 2);
    }

    #[test]
    fn a_comment_after_a_fenced_call_stays_as_text() {
        let answer =
            rescued("```json\n{\"name\": \"execute_sql\", \"arguments\": {\"query\": \"SELECT 1\"}}\n```\nThis selects.");
        assert_eq!((answer.calls.len(), answer.content.as_str()), (1, "This selects."));
    }

    #[test]
    fn what_might_be_only_talk_stays_talk() {
        for content in [
            "Use {\"name\": \"execute_sql\", \"arguments\": {\"query\": \"SELECT 1\"}} for that.",
            "Like this:\n```json\n{\"name\": \"execute_sql\", \"arguments\": {\"query\": \"SELECT 1\"}}\n```",
            "```json\n{\"name\": \"roman\", \"arguments\": {\"number\": 7}}\n```\nand\n```json\n{}\n```",
            "{\"name\": \"send_email\", \"arguments\": {}}",
            "{\"name\": \"execute_sql\", \"arguments\": {\"sql\": \"SELECT 1\"}}",
            "{\"name\": \"roman\", \"arguments\": {\"number\": \"seven\"}}",
            "{\"name\": \"roman\", \"arguments\": [7]}",
            "{\"name\": \"roman\"}",
            "{\"name\": \"Ada\", \"age\": 36}",
            "<tool_call>{\"name\": \"roman\", \"arguments\": {\"number\": 7}</tool_call>",
            "[]",
            "[1, 2]",
            "",
        ] {
            let answer = rescued(content);
            assert_eq!((answer.calls.len(), answer.content.as_str()), (0, content));
        }
    }

    #[test]
    fn one_call_that_does_not_fit_leaves_all_as_text() {
        let content =
            "<tool_call>{\"name\":\"roman\",\"arguments\":{\"number\":7}}</tool_call><tool_call>{\"name\":\"x\"}</tool_call>";
        assert_eq!(rescued(content).calls, []);
    }
}
