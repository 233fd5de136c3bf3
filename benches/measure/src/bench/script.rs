//! The model's script. A message `bench:WORD NUMBER` says what the model is to do with it.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::sync::Mutex;
use std::time::Duration;

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

/// Each request of several tokens says this many.
pub const TOKENS: usize = 100;
/// Between two tokens of `paced`.
pub const PACE: Duration = Duration::from_millis(3);

/// The proposals that the model makes in campaigns, one a cycle; then it proposes nothing.
pub static PROPOSALS: Mutex<VecDeque<(String, Value)>> = Mutex::new(VecDeque::new());

/// An answer of the model.
pub enum Answer {
    /// One word.
    Word,
    /// Calls of tools.
    Calls(Vec<(String, Value)>),
    /// Many tokens, at once or with a pause before each.
    Tokens(Option<Duration>),
    /// None: the asker gives up at some time.
    Nothing,
}

/// The parts of a request that the script reads; all others are passed over, since reading them
/// would be in every figure.
#[derive(Deserialize)]
struct Body<'a> {
    #[serde(borrow)]
    messages: Vec<Entry<'a>>,
}

#[derive(Deserialize)]
struct Entry<'a> {
    #[serde(borrow)]
    role: Cow<'a, str>,
    #[serde(borrow, default)]
    content: Option<&'a RawValue>,
}

impl Entry<'_> {
    /// The word and the number, in a message of this benchmark.
    fn said(&self) -> Option<(&str, &str)> {
        let content = self.content.filter(|_| self.role == "user")?.get();
        let words = &content[content.rfind("bench:")? + "bench:".len()..];
        let words = words.split(['"', '\\']).next().unwrap_or_default();
        Some(words.split_once(' ').unwrap_or((words, "0")))
    }
}

/// The answer to a request.
pub fn answer(request: &[u8]) -> Answer {
    let body: Body = serde_json::from_slice(request).expect("a request of OpenAI's interface");
    if let Some(answer) = to_contact(&body.messages).or_else(|| to_campaign(&body.messages)) {
        return answer;
    }
    let Some(said) = body.messages.iter().rposition(|entry| entry.said().is_some()) else { return Answer::Word };
    let results = body.messages[said..].iter().filter(|entry| entry.role == "tool").count();
    let (word, number) = body.messages[said].said().unwrap_or_default();
    match (word, results) {
        ("setup", 0) => Answer::Calls(vec![
            ("execute_sql".into(), json!({"query": "CREATE TABLE bench_notes (n bigint)"})),
            written("double", ""),
        ]),
        ("tools", 0) => Answer::Calls(vec![
            ("execute_sql".into(), json!({"query": "INSERT INTO bench_notes VALUES (1)"})),
            ("manage_tasks".into(), json!({"action": "create", "title": "Look at the figures"})),
            ("double".into(), json!({"n": 21})),
        ]),
        ("call", 0) => Answer::Calls(vec![("double".into(), json!({"n": 21}))]),
        ("make", 0) => Answer::Calls(vec![written(&format!("made_{number}"), number)]),
        ("write", 0) => Answer::Calls(vec![written(&format!("probe_{number}"), number)]),
        ("write", 1) => Answer::Calls(vec![(format!("probe_{number}"), json!({"n": 21}))]),
        ("rename", 0) => Answer::Calls(vec![("renameTask".into(), json!({"taskName": number, "newName": number}))]),
        ("details", 0) => Answer::Calls(vec![("getTaskDetails".into(), json!({"taskName": number}))]),
        ("tokens", _) => Answer::Tokens(None),
        ("paced", _) => Answer::Tokens(Some(PACE)),
        ("held", _) => Answer::Nothing,
        _ => Answer::Word,
    }
}

/// The answer in a conversation of Relay: one message in each turn. `None` if this is none.
fn to_contact(messages: &[Entry]) -> Option<Answer> {
    let is_transcript =
        |entry: &Entry| entry.content.is_some_and(|content| content.get().contains("The transcript, a JSON object a line"));
    messages.iter().find(|entry| entry.role == "user" && is_transcript(entry))?;
    let written = messages.iter().rev().take_while(|entry| entry.role != "user").any(|entry| entry.role == "tool");
    let message = ("send_message".to_owned(), json!({"text": "Thank you. Is Friday at ten fine for you?"}));
    Some(if written { Answer::Word } else { Answer::Calls(vec![message]) })
}

/// The answer in a cycle of a campaign. `None` if this is none.
fn to_campaign(messages: &[Entry]) -> Option<Answer> {
    let snapshot = messages.last()?.content?.get().strip_prefix("\"# Campaign ")?;
    let task = snapshot.split_once("\\ntask ").and_then(|(_, rest)| rest.split_once(',')?.0.parse::<i64>().ok());
    let next = PROPOSALS.lock().expect("nobody panics with it").pop_front();
    let (name, mut arguments) = next.unwrap_or_else(|| ("no_op".to_owned(), json!({"why": "enough"})));
    arguments["task"] = json!(task);
    Some(Answer::Calls(vec![(name, arguments)]))
}

/// The call that writes a capability with a test of its own.
fn written(name: &str, number: &str) -> (String, Value) {
    let arguments = json!({
        "name": name,
        "description": format!("Doubles a number {number}"),
        "code": format!("export default function {name}(params) {{\n  return params.n * 2; // {number}\n}}"),
        "parameters_schema": {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]},
        "tests": [{"params": {"n": 4}, "expect": 8}],
    });
    ("write_capability".into(), arguments)
}
