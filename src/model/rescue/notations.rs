//! The notations in which models were trained to write tool calls, for those whose server does not
//! know them. Reading is strict: what is not wholly one of these is text. A call in a code block or
//! between backticks is an example, unless it is the whole message.

use serde_json::{Map, Value};

use super::python;
use crate::model::helps;

/// A piece of text that looks like a call: an object with a name and arguments.
#[derive(Debug)]
pub(super) struct Written {
    pub(super) call: Value,
    /// True if the notation makes all arguments texts, whatever they are to be.
    pub(super) texts: bool,
}

impl From<Value> for Written {
    fn from(call: Value) -> Self {
        Self { call, texts: false }
    }
}

type Found = Option<(Vec<Written>, String)>;

/// The pieces that look like calls, and the text around them.
pub(super) fn written_calls(content: &str) -> Found {
    let (thinking, text) = thought(content.trim());
    let (calls, around) = one_of(text)?;
    let around = [thinking.trim(), around.as_str()].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n");
    Some((calls, around))
}

/// The model's first thoughts, with their tags, and its words after them.
fn thought(text: &str) -> (&str, &str) {
    const END: &str = "</think>";
    match text.find(END).filter(|_| text.starts_with("<think>")) {
        Some(end) => (&text[..end + END.len()], text[end + END.len()..].trim()),
        None => ("", text),
    }
}

fn one_of(text: &str) -> Found {
    let text = without_end(text);
    let inside = unfenced(text).trim();
    let seen = |rule: &'static str, found: Found| found.filter(|_| helps(rule));
    seen("seen.tagged", tagged(inside))
        .or_else(|| seen("seen.mistral", mistral(inside)))
        .or_else(|| seen("seen.functions", functions(inside)))
        .or_else(|| seen("seen.deepseek", deepseek(inside)))
        .or_else(|| seen("seen.harmony", harmony(inside)))
        .or_else(|| seen("seen.pythonic", Some((pythonic(text)?, String::new()))))
        .or_else(|| seen("seen.bare", Some((bare(text)?, String::new()))))
        .or_else(|| seen("seen.all_fenced", Some((all_fenced(text)?, String::new()))))
        .or_else(|| seen("seen.fenced_first", fenced_first(text)))
}

/// Marks of an end that servers leave in.
fn without_end(text: &str) -> &str {
    const ENDS: [&str; 7] =
        ["<|eom_id|>", "<|eot_id|>", "<|im_end|>", "</s>", "<|python_end|>", "<｜end▁of▁sentence｜>", "<end_of_turn>"];
    ENDS.into_iter().find_map(|end| text.strip_suffix(end)).map_or(text, |rest| without_end(rest.trim_end()))
}

/// Whether what stands there is an example in code.
fn in_code(text: &str, place: usize) -> bool {
    let before = &text[..place];
    before.matches("```").count() % 2 == 1 || before.ends_with('`')
}

/// `<tool_call>{…}</tool_call>`, once or more; the last closing tag may be missing. Qwen, Hermes, GLM.
fn tagged(text: &str) -> Found {
    const TAGS: [(&str, &str); 3] =
        [("<tool_call>", "</tool_call>"), ("<tools>", "</tools>"), ("<function_call>", "</function_call>")];
    let (open, close) = TAGS.into_iter().find(|(open, _)| text.contains(open))?;
    if in_code(text, text.find(open)?) {
        return None;
    }
    let mut calls = Vec::new();
    let mut around = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(open) {
        around.push_str(before);
        let (inside, next) = after.split_once(close).unwrap_or((after, ""));
        calls.extend(inside_tag(inside.trim())?);
        rest = next;
    }
    around.push_str(rest);
    Some((calls, around.trim().to_owned()))
}

fn inside_tag(inside: &str) -> Option<Vec<Written>> {
    if inside.starts_with("<function=") {
        return functions(inside).filter(|(_, around)| around.is_empty()).map(|(calls, _)| calls);
    }
    bare(inside)
        .or_else(|| Some(vec![python::literal(inside).filter(|_| helps("seen.tagged.python")).filter(Value::is_object)?.into()]))
        .or_else(|| keys_and_values(inside).filter(|_| helps("seen.keys_and_values")))
}

/// `name<arg_key>key</arg_key><arg_value>value</arg_value>…`: GLM.
fn keys_and_values(inside: &str) -> Option<Vec<Written>> {
    let (name, mut rest) = inside.split_at(inside.find("<arg_key>")?);
    let mut arguments = Map::new();
    while !rest.trim().is_empty() {
        let (key, after) = rest.trim().strip_prefix("<arg_key>")?.split_once("</arg_key>")?;
        let (value, after) = after.trim().strip_prefix("<arg_value>")?.split_once("</arg_value>")?;
        arguments.insert(key.trim().to_owned(), value.into());
        rest = after;
    }
    Some(vec![Written { call: call(name, Value::Object(arguments)), texts: true }])
}

/// `[TOOL_CALLS][{…}]`, and the later `[TOOL_CALLS]name[ARGS]{…}`. Mistral.
fn mistral(text: &str) -> Found {
    let (before, after) = text.split_once("[TOOL_CALLS]")?;
    if in_code(text, before.len()) {
        return None;
    }
    let mut calls = Vec::new();
    for part in after.split("[TOOL_CALLS]") {
        let part = part.trim();
        if part.starts_with(['[', '{']) {
            calls.extend(bare(part)?);
            continue;
        }
        let (name, arguments) = part.split_once("[ARGS]").or_else(|| Some(part.split_at(part.find('{')?)))?;
        let name = name.split_once("[CALL_ID]").map_or(name, |(name, _)| name);
        calls.push(call(name, serde_json::from_str(arguments.trim()).ok()?).into());
    }
    Some((calls, before.trim().to_owned()))
}

/// `<function=name>{…}</function>`, also with the bracket forgotten; and `<function=name><parameter=key>value</parameter></function>`. Llama,
/// and Qwen for code.
fn functions(text: &str) -> Found {
    const OPEN: &str = "<function=";
    if in_code(text, text.find(OPEN)?) {
        return None;
    }
    let mut calls = Vec::new();
    let mut around = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(OPEN) {
        around.push_str(before);
        let (name, after) = after.split_at(after.find(['>', '{'])?);
        let (inside, next) = after.split_once("</function>").unwrap_or((after, ""));
        let inside = inside.strip_prefix('>').unwrap_or(inside).trim();
        calls.push(if inside.starts_with('{') {
            let arguments = serde_json::from_str(inside).or_else(|_| serde_json::from_str(inside.trim_end_matches('>')));
            call(name, arguments.ok()?).into()
        } else {
            Written { call: call(name, parameters(inside)?), texts: true }
        });
        rest = next;
    }
    around.push_str(rest);
    (!calls.is_empty()).then(|| (calls, around.trim().to_owned()))
}

/// `<parameter=key>value</parameter>`, any number of times. One line end after the tag and one before the next are not the value's.
fn parameters(inside: &str) -> Option<Value> {
    let mut arguments = Map::new();
    let mut rest = inside.trim();
    while !rest.is_empty() {
        let (key, after) = rest.strip_prefix("<parameter=")?.split_once('>')?;
        let (value, after) = after.split_once("</parameter>")?;
        let value = value.strip_prefix('\n').unwrap_or(value);
        arguments.insert(key.trim().to_owned(), value.strip_suffix('\n').unwrap_or(value).into());
        rest = after.trim();
    }
    Some(Value::Object(arguments))
}

/// `<｜tool▁call▁begin｜>name<｜tool▁sep｜>{…}<｜tool▁call▁end｜>`, and the earlier form with the word `function` in front and a code block.
/// DeepSeek.
fn deepseek(text: &str) -> Found {
    const MARKS: [&str; 2] = ["<｜tool▁calls▁begin｜>", "<｜tool▁calls▁end｜>"];
    let (before, _) = text.split_once("<｜tool▁call▁begin｜>")?;
    if in_code(text, before.len()) {
        return None;
    }
    let mut calls = Vec::new();
    let mut around = before.to_owned();
    for part in text[before.len()..].split("<｜tool▁call▁begin｜>").skip(1) {
        let (written, after) = part.split_once("<｜tool▁call▁end｜>").unwrap_or((part, ""));
        let (first, second) = written.split_once("<｜tool▁sep｜>")?;
        let (name, arguments) = match second.trim().split_once('\n') {
            Some((name, arguments)) if first.trim() == "function" => (name, arguments),
            _ => (first, second),
        };
        calls.push(call(name, serde_json::from_str(unfenced(arguments.trim()).trim()).ok()?).into());
        around.push_str(after);
    }
    let around = MARKS.into_iter().fold(around, |around, mark| around.replace(mark, ""));
    Some((calls, around.trim().to_owned()))
}

/// `<|channel|>commentary to=functions.name <|constrain|>json<|message|>{…}<|call|>`: gpt-oss.
fn harmony(text: &str) -> Found {
    const TO: &str = "to=functions.";
    let (before, after) = text.split_once(TO)?;
    let before = before.rfind("<|channel|>").map(|start| &before[..start])?;
    let (head, arguments) = after.split_once("<|message|>")?;
    let name = head.split(|c: char| c.is_whitespace() || c == '<').next()?;
    let arguments = arguments.trim();
    let arguments = arguments.strip_suffix("<|call|>").unwrap_or(arguments);
    let before = before.strip_suffix("<|start|>assistant").unwrap_or(before);
    Some((vec![call(name, serde_json::from_str(arguments.trim()).ok()?).into()], before.trim().to_owned()))
}

/// `[name(key=value), …]`, `<|python_tag|>name.call(key=value)`, or a block of `tool_code`; nothing else in the message. Llama, Gemma.
fn pythonic(text: &str) -> Option<Vec<Written>> {
    let tagged = ["<|python_tag|>", "<|python_start|>"].into_iter().find_map(|tag| text.strip_prefix(tag));
    let block = || text.strip_prefix("```tool_code")?.trim().strip_suffix("```");
    let marked = tagged.or_else(block).map(str::trim);
    let marked = marked.map(|code| code.strip_prefix("print(").and_then(|code| code.strip_suffix(')')).unwrap_or(code));
    let listed = marked.unwrap_or(text).strip_prefix('[').and_then(|inside| inside.strip_suffix(']'));
    // A call on its own, without a mark, is talk about code.
    let calls = python::calls(listed.or(marked)?)?;
    let own = |name: String| name.strip_suffix(".call").map_or(name.clone(), str::to_owned);
    Some(calls.into_iter().map(|(name, arguments)| call(&own(name), Value::Object(arguments)).into()).collect())
}

fn call(name: &str, arguments: Value) -> Value {
    Value::Object(Map::from_iter([("name".into(), name.trim().into()), ("arguments".into(), arguments)]))
}

/// Nothing but JSON: an object, an array of them, or several one after the other; fenced or not.
fn bare(text: &str) -> Option<Vec<Written>> {
    let text = text.strip_prefix("<|python_tag|>").unwrap_or(text).trim();
    let text = unfenced(text).trim();
    if !text.starts_with(['{', '[']) {
        return None;
    }
    let mut calls = Vec::new();
    for value in serde_json::Deserializer::from_str(text).into_iter() {
        match value.ok()? {
            Value::Array(several) => calls.extend(several.into_iter().map(Written::from)),
            one => calls.push(one.into()),
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

/// Several fenced blocks and nothing else; the last one may not be closed.
fn all_fenced(text: &str) -> Option<Vec<Written>> {
    let mut calls = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let (inside, next) = rest.strip_prefix("```")?.split_once("```").unwrap_or((&rest[3..], ""));
        calls.extend(bare(without_language(inside))?);
        rest = next.trim_start();
    }
    Some(calls)
}

/// A fenced call at the very beginning and the model's own comment on it after. With text before it, it would be an example.
fn fenced_first(text: &str) -> Found {
    let (inside, comment) = text.strip_prefix("```")?.split_once("```")?;
    let calls = bare(without_language(inside))?;
    (!comment.contains("```")).then(|| (calls, comment.trim().to_owned()))
}

fn without_language(inside: &str) -> &str {
    inside.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-')
}
