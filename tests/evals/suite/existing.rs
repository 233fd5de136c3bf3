//! Tasks about existing things: capabilities to use or to change, and tasks.

use serde_json::json;

use super::sql::query;
use super::writing::written;
use super::{Check, Task};
use crate::support::{Peer, call, text as says};

pub fn reuse(_: &Peer) -> Task {
    let code = "export default async function shipping_cost(params) { return 3.5 + Math.ceil(params.kilos) * 1.25; }";
    Task::new("reuse", "What does it cost to ship a parcel of 7.2 kilos?")
        .before("write_capability", {
            let mut written = written("shipping_cost", code, &[("kilos", "number")]);
            written["description"] = json!("What it costs to ship a parcel of so many kilos, in euros.");
            written
        })
        .called("shipping_cost")
        .sql("SELECT count(*) FROM capability_versions", "1")
        .right([call("shipping_cost", json!({"kilos": 7.2})), says("13.50 euros.")])
}

pub fn update(_: &Peer) -> Task {
    let code = |words: &str| format!("export default async function greet(params) {{ return `{words}, ${{params.name}}!`; }}");
    Task::new(
        "update",
        "The capability `greet` with the parameter `name` returns `Hello, NAME!`. Change it: from now on it must return `Good day, NAME!`.",
    )
    .before("write_capability", written("greet", &code("Hello"), &[("name", "string")]))
    .check(Check::Gives("greet", json!({"name": "Ada"}), json!("Good day, Ada!")))
    .sql("SELECT version >= 2 FROM capabilities WHERE name = 'greet'", "true")
    .right([
        call("write_capability", written("greet", &code("Good day"), &[("name", "string")])),
        says("It greets otherwise from now on."),
    ])
}

pub fn task_create(_: &Peer) -> Task {
    Task::new("task_create", "Make a task for me: \"Call the dentist\", due on 15 March 2031 at 14:30 UTC.")
        .sql(
            "SELECT string_agg(lower(title) || ' ' || to_char(due_at AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI'), ', ') FROM tasks",
            "call the dentist 2031-03-15 14:30",
        )
        .right([
            call("manage_tasks", json!({"action": "create", "title": "Call the dentist", "due_at": "2031-03-15T14:30:00Z"})),
            says("The task is made."),
        ])
}

pub fn task_complete(_: &Peer) -> Task {
    let task = |title: &str| json!({"action": "create", "title": title});
    Task::new("task_complete", "I have paid the rent. Tick that off my tasks.")
        .before("manage_tasks", task("Buy stamps"))
        .before("manage_tasks", task("Pay the rent"))
        .before("manage_tasks", task("Water the plants"))
        .sql(
            "SELECT string_agg(title || ' ' || status, ', ' ORDER BY task_id) FROM tasks",
            "Buy stamps pending, Pay the rent done, Water the plants pending",
        )
        .right([
            call("manage_tasks", json!({"action": "list"})),
            call("manage_tasks", json!({"action": "complete", "id": 2})),
            says("Ticked off."),
        ])
}

pub fn scheduled(_: &Peer) -> Task {
    // A date long past is due at once: nobody has to wait, and a slow model does not come too late.
    let task = json!({
        "action": "create", "title": "Note the start", "due_at": "2020-01-01T00:00:00Z",
        "details": "Insert one row with the text 'started' into the table log.",
    });
    let mut made = Task::new(
        "scheduled",
        "Make a task \"Note the start\" that is due at 2020-01-01T00:00:00Z, with the details \"Insert one row with the text 'started' into \
         the table log.\" Do not do it yourself now: it is to be done when the task wakes you.",
    )
    .before("execute_sql", query("CREATE TABLE agent.log (entry text)"))
    .sql("SELECT string_agg(entry, ', ') FROM agent.log", "started")
    .sql(
        "SELECT count(*) > 0 FROM tool_calls JOIN turns USING (turn_id) WHERE origin = 'task' AND name = 'execute_sql' AND \
         tool_calls.state = 'done'",
        "true",
    )
    .right([
        call("manage_tasks", task),
        says("The task is made; it wakes me."),
        call("execute_sql", query("INSERT INTO agent.log VALUES ('started')")),
        says("Noted."),
    ]);
    made.falls_due = true;
    made
}
