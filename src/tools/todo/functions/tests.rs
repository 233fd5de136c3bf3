//! Tests of `tools::todo::functions`, and of the arguments that the functions take.

use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::*;
use crate::domain::Effect;
use crate::tools::arguments::read;

/// Reads arguments as the function does.
fn reads(function: TodoFunction, arguments: Value) -> Result<(), String> {
    use TodoFunction as F;
    let read = match function {
        F::CreateTask => read::<CreateTask>(arguments).map(drop),
        F::CompleteTask | F::RemoveReminder | F::GetTaskDetails => read::<TaskNamed>(arguments).map(drop),
        F::CompleteSubtask | F::RemoveSubtask => read::<SubtaskNamed>(arguments).map(drop),
        F::RenameTask => read::<RenameTask>(arguments).map(drop),
        F::RenameSubtask => read::<RenameSubtask>(arguments).map(drop),
        F::AddSubtask => read::<AddSubtask>(arguments).map(drop),
        F::DeleteTask => read::<DeleteTask>(arguments).map(drop),
        F::ClearCompletedTasks => read::<ClearCompletedTasks>(arguments).map(drop),
        F::SetReminder => read::<SetReminder>(arguments).map(drop),
        F::SetRecurrence => read::<SetRecurrence>(arguments).map(drop),
        F::StartTimer => read::<StartTimer>(arguments).map(drop),
        F::ListTasks => read::<ListTasks>(arguments).map(drop),
        F::PauseTimer | F::ResumeTimer | F::StopTimer | F::GetTimerStatus | F::GetNextSubtask => {
            read::<NoParameters>(arguments).map(drop)
        }
    };
    read.map_err(|refusal| refusal.message)
}

/// The parameters in the order of their names, with a `*` behind those that are required.
fn signature(spec: &ToolSpec) -> String {
    let required = spec.parameters["required"].as_array().cloned().unwrap_or_default();
    let properties = spec.parameters["properties"].as_object().cloned().unwrap_or_default();
    let mut names: Vec<_> =
        properties.keys().map(|name| format!("{name}{}", if required.contains(&json!(name)) { "*" } else { "" })).collect();
    names.sort();
    names.join(" ")
}

#[test]
fn there_are_twenty_functions_with_these_parameters() {
    let table = [
        ("createTask", "confirmed* description*", Effect::Confirm),
        ("completeTask", "taskName*", Effect::Write),
        ("completeSubtask", "subtaskName* taskName", Effect::Write),
        ("renameTask", "newName* taskName*", Effect::Write),
        ("renameSubtask", "newName* subtaskName* taskName", Effect::Write),
        ("addSubtask", "subtaskName* taskName*", Effect::Write),
        ("removeSubtask", "subtaskName* taskName", Effect::Write),
        ("deleteTask", "confirmed* taskName*", Effect::Confirm),
        ("clearCompletedTasks", "confirmed*", Effect::Confirm),
        ("setReminder", "at* taskName*", Effect::Write),
        ("removeReminder", "taskName*", Effect::Write),
        ("setRecurrence", "rule* taskName*", Effect::Write),
        ("startTimer", "minutes* taskName", Effect::Write),
        ("pauseTimer", "", Effect::Write),
        ("resumeTimer", "", Effect::Write),
        ("stopTimer", "", Effect::Write),
        ("getTimerStatus", "", Effect::Read),
        ("listTasks", "filter", Effect::Read),
        ("getTaskDetails", "taskName*", Effect::Read),
        ("getNextSubtask", "", Effect::Read),
    ];
    let found: Vec<_> = TodoFunction::ALL.iter().map(|function| (spec_of(*function), function.effect())).collect();
    let found: Vec<_> = found.iter().map(|(spec, effect)| (spec.name.as_str(), signature(spec), *effect)).collect();
    assert_eq!(found, table.map(|(name, parameters, effect)| (name, parameters.to_owned(), effect)));
    assert_eq!(TodoFunction::names(), table.map(|(name, ..)| name));
}

#[test]
fn a_model_reads_plain_schemas_that_are_short() {
    let specs: Vec<_> = TodoFunction::ALL.iter().map(|function| spec_of(*function)).collect();
    for spec in &specs {
        let schema = spec.parameters.to_string();
        assert_eq!(spec.parameters["type"], "object", "{schema}");
        for unknown in ["$ref", "$defs", "anyOf", "oneOf", "format", "null"] {
            assert!(!schema.contains(unknown), "{}: {schema}", spec.name);
        }
    }
    assert_eq!(
        spec_of(TodoFunction::ListTasks).parameters["properties"]["filter"]["enum"],
        json!(["active", "completed", "all"])
    );
    let bytes = serde_json::to_string(&specs).unwrap().len();
    assert!(bytes < 6_000, "{bytes} bytes, which is about {} tokens", bytes / 4);
}

#[test]
fn what_small_models_write_is_read_as_it_is_meant() {
    let named = read::<DeleteTask>(json!({ "taskName": 12, "confirmed": "True" })).unwrap();
    assert_eq!(named, DeleteTask { task_name: "#12".into(), confirmed: true });
    for minutes in [json!(25), json!("25"), json!(25.0), json!(" 25 ")] {
        let timer = read::<StartTimer>(json!({ "minutes": minutes, "taskName": "" })).unwrap();
        assert_eq!(timer, StartTimer { minutes: 25, task_name: None });
    }
    for (minutes, read_as) in [(json!(u64::MAX), i64::MAX), (json!("-99999999999999999999"), i64::MIN)] {
        assert_eq!(read::<StartTimer>(json!({ "minutes": minutes })).unwrap().minutes, read_as, "no timer runs so long");
    }
    let subtask = read::<SubtaskNamed>(json!({ "subtaskName": "shop", "taskName": null })).unwrap();
    assert_eq!(subtask, SubtaskNamed { subtask_name: "shop".into(), task_name: None });
    assert_eq!(read::<ListTasks>(json!({})).unwrap().filter, crate::tools::todo::TaskFilter::Active);
    for (function, arguments) in [
        (TodoFunction::StartTimer, json!({ "minutes": "a while" })),
        (TodoFunction::StartTimer, json!({ "minutes": 2.5 })),
        (TodoFunction::DeleteTask, json!({ "taskName": ["a"], "confirmed": false })),
        (TodoFunction::DeleteTask, json!({ "taskName": "a", "confirmed": "maybe" })),
        (TodoFunction::DeleteTask, json!({ "taskName": -3, "confirmed": false })),
        (TodoFunction::ListTasks, json!({ "filter": "mine" })),
        (TodoFunction::RenameTask, json!({ "taskName": "a", "newName": 3 })),
    ] {
        assert!(reads(function, arguments.clone()).is_err(), "{function} {arguments}");
    }
}

proptest! {
    /// **Feature: vapi-voice-agent, Property 8: Function calls include required parameters**
    /// **Validates: Requirements 2.2**
    #[test]
    fn a_call_is_read_if_and_only_if_all_that_is_required_is_there(
        function in prop::sample::select(TodoFunction::ALL),
        left_out in prop::collection::vec(any::<bool>(), 3),
        as_null in any::<bool>(),
    ) {
        let spec = spec_of(function);
        let required = spec.parameters["required"].as_array().cloned().unwrap_or_default();
        let mut arguments = Map::new();
        let mut is_whole = true;
        for (name, left_out) in spec.parameters["properties"].as_object().cloned().unwrap_or_default().keys().zip(left_out) {
            let value = match name.as_str() {
                "confirmed" => json!(true),
                "minutes" => json!(5),
                "filter" => json!("all"),
                _ => json!("words"),
            };
            if !left_out {
                arguments.insert(name.clone(), value);
            } else {
                is_whole &= !required.contains(&json!(name));
                if as_null {
                    arguments.insert(name.clone(), Value::Null);
                }
            }
        }
        let read = reads(function, Value::Object(arguments.clone()));
        prop_assert_eq!(read.is_ok(), is_whole, "{} {:?}: {:?}", function, arguments, read);
    }
}
