//! The things the tour can show. Each is one tool call and one sentence about what came of it.

use chrono::{DateTime, SecondsFormat};
use serde_json::{Value, json};

use super::look::{PastCall, Scene, quoted};
use super::rows;
use super::wish::Wish;
use crate::domain::{CallRequest, EXECUTE_SQL, MANAGE_TASKS, RESTART, WRITE_CAPABILITY};

/// The capability the tour builds.
pub(super) const CAPABILITY: &str = "roman_numeral";

const SOURCE: &str = r#"export default async function roman_numeral(params) {
  const { number } = params;
  if (!Number.isInteger(number) || number < 1 || number > 3999) {
    throw new Error("number must be a whole number from 1 to 3999");
  }
  const letters = [
    [1000, "M"], [900, "CM"], [500, "D"], [400, "CD"], [100, "C"], [90, "XC"],
    [50, "L"], [40, "XL"], [10, "X"], [9, "IX"], [5, "V"], [4, "IV"], [1, "I"],
  ];
  let left = number;
  let text = "";
  for (const [value, letter] of letters) {
    while (left >= value) {
      text += letter;
      left -= value;
    }
  }
  return text;
}
"#;

const QUERY: &str = "SELECT table_schema, table_name FROM information_schema.tables \
                     WHERE table_schema NOT IN ('pg_catalog', 'information_schema') ORDER BY 1, 2 LIMIT 20";

/// One thing to show.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Stage {
    /// Write a capability.
    Build,
    /// Call it.
    Use,
    /// Make a task that falls due soon.
    Remind,
    /// Ask the database.
    Query,
    /// Restart the server.
    Restart,
}

impl Stage {
    /// The tool it needs.
    pub(super) fn tool(self) -> &'static str {
        match self {
            Self::Build => WRITE_CAPABILITY,
            Self::Use => CAPABILITY,
            Self::Remind => MANAGE_TASKS,
            Self::Query => EXECUTE_SQL,
            Self::Restart => RESTART,
        }
    }

    /// The tour's words beside the call.
    pub(super) fn announcement(self, scene: &Scene) -> String {
        match self {
            Self::Build => format!(
                "I have no tool for Roman numerals, so I write one: `{CAPABILITY}`, in JavaScript. It is checked, built into a \
                 WASM component, tested in a sandbox and stored."
            ),
            Self::Use => format!("Now I call `{CAPABILITY}` with {}.", number(scene)),
            Self::Remind => format!("I make a task that falls due {}.", Wish::of(scene.input, scene.now).said),
            Self::Query => "I ask the database which tables I can see.".into(),
            Self::Restart => "I ask for a full restart. This turn goes on afterwards.".into(),
        }
    }

    /// The call.
    pub(super) fn call(self, scene: &Scene) -> CallRequest {
        let arguments = match self {
            Self::Build => capability(scene.takes(self.tool(), "tests")),
            Self::Use => json!({ "number": number(scene) }),
            Self::Remind => task(scene),
            Self::Query => json!({ "query": QUERY }),
            Self::Restart => json!({ "mode": "full" }),
        };
        scene.call(0, self.tool(), &arguments)
    }

    /// The tour's words about the outcome, and whether the next thing can follow.
    pub(super) fn report(self, done: &PastCall, scene: &Scene) -> (String, bool) {
        let tool = self.tool();
        let Some(result) = done.result else {
            return (format!("No result of `{tool}` is recorded, so I cannot say what came of it."), false);
        };
        if done.failed() {
            return (format!("`{tool}` failed. It said: {}.", quoted(result)), false);
        }
        let parsed = serde_json::from_str::<Value>(result).unwrap_or_else(|_| result.into());
        match self {
            Self::Build if !parsed.is_object() => (format!("The builder built nothing. It said: {}.", quoted(result)), false),
            Self::Build if scene.offers(CAPABILITY) => {
                let known = [("version", "version ", ""), ("tests_passed", "", " of its own tests passed")];
                let known = known.into_iter().filter(|(name, ..)| !parsed[*name].is_null());
                let told: Vec<_> = known.map(|(name, before, after)| format!("{before}{}{after}", parsed[name])).collect();
                let told = if told.is_empty() { String::new() } else { format!(": {}", told.join(", ")) };
                (format!("`{CAPABILITY}` is built and I can call it from now on{told}."), true)
            }
            Self::Build => (format!("The builder said: {}; but I am not offered `{CAPABILITY}`.", quoted(result)), false),
            Self::Use => {
                let asked = serde_json::from_str::<Value>(&done.call.arguments).unwrap_or_default();
                let text = parsed.as_str().unwrap_or(result);
                if !text.is_empty() && text.chars().all(|c| "IVXLCDM".contains(c)) {
                    (format!("`{CAPABILITY}` says that {} is **{text}**.", asked["number"]), true)
                } else {
                    (format!("`{CAPABILITY}` gave no Roman numeral, but {}.", quoted(result)), false)
                }
            }
            Self::Remind => match task_of(&parsed) {
                Some(task) => (task_report(task), true),
                None => (format!("The answer to making a task was {}.", quoted(result)), false),
            },
            Self::Query => {
                let told = rows::as_markdown(&parsed).unwrap_or_else(|| format!("The database answered: {}.", quoted(result)));
                (told, true)
            }
            Self::Restart => (format!("I am back, in the same turn. The restart's record says: {}.", quoted(result)), true),
        }
    }
}

fn task_report(task: &Value) -> String {
    let (id, title) = (&task["id"], task["title"].as_str().unwrap_or_default());
    match task["due_at"].as_str() {
        Some(due) => format!(
            "Task #{id}, “{title}”, is stored; it falls due {}. You need not do anything: when it is due, the heartbeat wakes me \
             and I write here by myself.",
            day_and_time(due)
        ),
        None => format!("Task #{id}, “{title}”, is stored, without a time at which it falls due."),
    }
}

fn day_and_time(due: &str) -> String {
    let read = DateTime::parse_from_rfc3339(due);
    read.map_or_else(|_| format!("at {due}"), |due| due.to_utc().format("on %-d %B %Y at %H:%M:%S UTC").to_string())
}

/// The task in a result, whichever way it is wrapped.
pub(super) fn task_of(result: &Value) -> Option<&Value> {
    [result, &result["task"]].into_iter().find(|task| task["id"].is_number())
}

fn number(scene: &Scene) -> i64 {
    scene.number().unwrap_or(2026)
}

fn capability(with_tests: bool) -> Value {
    let mut arguments = json!({
        "name": CAPABILITY,
        "description": "Writes a whole number from 1 to 3999 as a Roman numeral.",
        "code": SOURCE,
        "parameters_schema": {
            "type": "object",
            "properties": { "number": { "type": "integer", "minimum": 1, "maximum": 3999, "description": "The number to write" } },
            "required": ["number"],
        },
    });
    if with_tests {
        arguments["tests"] = json!([
            { "params": { "number": 4 }, "expect": "IV" },
            { "params": { "number": 1994 }, "expect": "MCMXCIV" },
        ]);
    }
    arguments
}

fn task(scene: &Scene) -> Value {
    let wish = Wish::of(scene.input, scene.now);
    let mut arguments = json!({
        "action": "create",
        "title": wish.title,
        "details": "Made by the tour, to show how a due task wakes the agent.",
    });
    if let Some(due) = wish.due {
        arguments["due_at"] = due.to_rfc3339_opts(SecondsFormat::Secs, true).into();
    }
    arguments
}
