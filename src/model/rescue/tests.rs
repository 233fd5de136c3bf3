//! Tests of `model::rescue`.

use super::*;
use serde_json::json;

fn rescued(content: &str) -> Answer {
    let tool = |name: &str, field: &str, kind: &str| ToolSpec {
        name: name.into(),
        description: String::new(),
        parameters: json!({ "type": "object", "properties": { field: { "type": kind } }, "required": [field] }),
    };
    let mut answer = Answer {
        content: content.into(),
        calls: Vec::new(),
        finish_reason: "stop".into(),
        usage: None,
        estimate: None,
        model: "m".into(),
    };
    let tools = vec![tool("execute_sql", "query", "string").into(), tool("roman", "number", "integer").into()];
    rescue(&mut answer, &Request { tools, ..Request::default() });
    answer
}

const SQL: &str = r#"{"query":"SELECT 1"}"#;

#[test]
fn a_text_that_is_one_call_of_anything_is_known_for_one() {
    let call = written_call("```json\n{\n  \"name\": \"gcd\",\n  \"arguments\": {\"a\": 1}\n}\n```").unwrap();
    assert_eq!((call.name.as_str(), call.arguments.as_str()), ("gcd", "{\"a\":1}"));
    for text in [
        "It is 21.",
        "Call it so:\n```json\n{\"name\": \"gcd\", \"arguments\": {}}\n```",
        "{\"name\": \"level3\", \"version\": \"1\"}",
        "{\"name\": \"gcd\", \"arguments\": \"a, b\"}",
        "",
    ] {
        assert_eq!(written_call(text), None, "{text}");
    }
}

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
        "{\"type\": \"function\", \"function\": {\"name\": \"execute_sql\", \"arguments\": {\"query\": \"SELECT 1\"}}}",
        "{\"function\": \"execute_sql\", \"arguments\": {\"query\": \"SELECT 1\"}}",
        "```json\n{\"function_name\": \"execute_sql\", \"parameters\": {\"query\": \"SELECT 1\"}}\n",
        "<function=execute_sql>{\"query\": \"SELECT 1\"}</function>",
        "<tool_call>\n<function=execute_sql>\n<parameter=query>\nSELECT 1\n</parameter>\n</function>\n</tool_call>",
        "<function=execute_sql>\n<parameter=query>\nSELECT 1\n</parameter>\n</function>",
        "<function=execute_sql{\"query\": \"SELECT 1\"}></function>",
        "<function=execute_sql{\"query\": \"SELECT 1\"}</function>",
        "<function=execute_sql>{\"query\": \"SELECT 1\"}</function><|eom_id|>",
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
    let answer = rescued("{\"name\":\"roman\",\"arguments\":{\"number\":7}}\n{\"name\":\"roman\",\"arguments\":{\"number\":8}}");
    assert_eq!(answer.calls.len(), 2);
}

#[test]
fn thinking_before_a_call_goes_and_text_before_its_notation_stays() {
    for (content, around) in [
        ("<think>\nI need <tool_call>, perhaps.\n</think>\n{\"name\": \"roman\", \"arguments\": {\"number\": 7}}", ""),
        ("I look.\n<function=roman><parameter=number>7</parameter></function>", "I look."),
    ] {
        let answer = rescued(content);
        assert_eq!((answer.calls.len(), answer.content.as_str()), (1, around), "{content}");
    }
}

#[test]
fn thinking_before_an_answer_goes() {
    for content in ["<think>Two and two.</think>Four.", "Two and two.\n</think>Four."] {
        let answer = rescued(content);
        assert_eq!((answer.calls.len(), answer.content.as_str()), (0, "Four."), "{content}");
    }
    let thought = rescued("<think>{\"name\": \"roman\", \"arguments\": {\"number\": 7}}</think>");
    assert_eq!((thought.calls.len(), thought.content.as_str()), (0, ""));
}

#[test]
fn what_stands_between_tags_becomes_what_the_schema_wants() {
    let of = |content: &str| rescued(content).calls.into_iter().map(|call| call.arguments).collect::<Vec<_>>();
    assert_eq!(of("<function=roman><parameter=number>7</parameter></function>"), [r#"{"number":7}"#]);
    assert_eq!(of("<function=execute_sql><parameter=query>7</parameter></function>"), [r#"{"query":"7"}"#]);
    let query = "<function=execute_sql>\n<parameter=query>\nSELECT 1\n  WHERE a < 2\n</parameter>\n</function>";
    assert_eq!(of(query), [r#"{"query":"SELECT 1\n  WHERE a < 2"}"#]);
}

#[test]
fn a_comment_after_a_fenced_call_stays_as_text() {
    let answer = rescued("```json\n{\"name\": \"execute_sql\", \"arguments\": {\"query\": \"SELECT 1\"}}\n```\nThis selects.");
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
        "[TOOL_CALLS]roman[ARGS]{\"number\": 7}",
        "[roman(number=7)]",
        "<tool_call>{\"name\": \"roman\", \"arguments\": {\"number\": 7}</tool_call>",
        "execute_sql(query=\"SELECT 1\")",
        "```python\nexecute_sql(query=\"SELECT 1\")\n```",
        "```python\nprint(execute_sql(query=\"SELECT 1\"))\n```",
        "[execute_sql(query=\"SELECT 1\")](https://example.org)",
        "[execute_sql](https://example.org)",
        "Models write `<tool_call>{\"name\": \"roman\", \"arguments\": {\"number\": 7}}</tool_call>` then.",
        "Like this:\n```\n<tool_call>{\"name\": \"roman\", \"arguments\": {\"number\": 7}}</tool_call>\n```\nDone.",
        "Like this:\n```xml\n<function=roman><parameter=number>7</parameter></function>\n```",
        "<function=roman><parameter=number>seven</parameter></function>",
        "<function=roman><parameter=number>7",
        "<tool_call>roman</tool_call>",
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

#[test]
fn of_a_tool_and_calls_of_what_is_not_there_yet_the_first_are_made() {
    let block = |name: &str| format!("```json\n{{\"name\": \"{name}\", \"arguments\": {{\"number\": 7}}}}\n```\n");
    let names = |answer: Answer| answer.calls.into_iter().map(|call| call.name).collect::<Vec<_>>();
    assert_eq!(names(rescued(&(block("roman") + &block("later")))), ["roman"]);
    assert_eq!(names(rescued(&(block("roman") + &block("roman")))), ["roman", "roman"]);
    assert!(names(rescued(&(block("later") + &block("roman")))).is_empty());
}
