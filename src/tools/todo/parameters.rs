//! The arguments of the functions. A field's description is for models.
//!
//! Small models write a number where a name belongs, and texts in place of numbers and truth
//! values: these are read as they are meant.

use std::num::{IntErrorKind, ParseIntError};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Deserializer, Error};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::domain::todo::TIMER_MINUTES;

const TASK: &str = "Name or partial name of the task, or #number";
const SUBTASK: &str = "Name or partial name of the subtask, or #number";
const CONFIRMED: &str = "Always false: the app asks the user";

/// Arguments of `createTask`.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CreateTask {
    /// The title of the task.
    #[schemars(description = "The task description")]
    pub description: String,
    /// Never believed.
    #[serde(deserialize_with = "truth")]
    #[schemars(description = CONFIRMED)]
    pub confirmed: bool,
}

/// Arguments of `deleteTask`.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DeleteTask {
    /// The name as it was said.
    #[serde(deserialize_with = "name")]
    #[schemars(with = "String", description = TASK)]
    pub task_name: String,
    /// Never believed.
    #[serde(deserialize_with = "truth")]
    #[schemars(description = CONFIRMED)]
    pub confirmed: bool,
}

/// Arguments of `clearCompletedTasks`.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ClearCompletedTasks {
    /// Never believed.
    #[serde(deserialize_with = "truth")]
    #[schemars(description = CONFIRMED)]
    pub confirmed: bool,
}

/// Arguments of `completeTask`, `removeReminder` and `getTaskDetails`.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TaskNamed {
    /// The name as it was said.
    #[serde(deserialize_with = "name")]
    #[schemars(with = "String", description = TASK)]
    pub task_name: String,
}

/// Arguments of `completeSubtask` and `removeSubtask`.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SubtaskNamed {
    /// The name as it was said.
    #[serde(deserialize_with = "name")]
    #[schemars(with = "String", description = SUBTASK)]
    pub subtask_name: String,
    /// The name of its task, if it was said.
    #[serde(default, deserialize_with = "name_if_any", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", description = TASK)]
    pub task_name: Option<String>,
}

/// Arguments of `renameTask`.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RenameTask {
    /// The name as it was said.
    #[serde(deserialize_with = "name")]
    #[schemars(with = "String", description = TASK)]
    pub task_name: String,
    /// The new title.
    #[schemars(description = "The new name")]
    pub new_name: String,
}

/// Arguments of `renameSubtask`.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RenameSubtask {
    /// The name as it was said.
    #[serde(deserialize_with = "name")]
    #[schemars(with = "String", description = SUBTASK)]
    pub subtask_name: String,
    /// The new title.
    #[schemars(description = "The new name")]
    pub new_name: String,
    /// The name of its task, if it was said.
    #[serde(default, deserialize_with = "name_if_any", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", description = TASK)]
    pub task_name: Option<String>,
}

/// Arguments of `addSubtask`.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AddSubtask {
    /// The name as it was said.
    #[serde(deserialize_with = "name")]
    #[schemars(with = "String", description = TASK)]
    pub task_name: String,
    /// The title of the new subtask.
    #[schemars(description = "The new subtask")]
    pub subtask_name: String,
}

/// Arguments of `setReminder`.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SetReminder {
    /// The name as it was said.
    #[serde(deserialize_with = "name")]
    #[schemars(with = "String", description = TASK)]
    pub task_name: String,
    /// The time as the model wrote it.
    #[schemars(description = "Local time as ISO 8601, like 2026-11-20T09:30")]
    pub at: String,
}

/// Arguments of `setRecurrence`.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SetRecurrence {
    /// The name as it was said.
    #[serde(deserialize_with = "name")]
    #[schemars(with = "String", description = TASK)]
    pub task_name: String,
    /// The rule as the model wrote it.
    #[schemars(description = "daily, weekdays, weekly, monthly, yearly, none, or an RRULE like FREQ=WEEKLY;BYDAY=MO")]
    pub rule: String,
}

/// Arguments of `startTimer`.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StartTimer {
    /// How long.
    #[serde(deserialize_with = "whole_number")]
    #[schemars(schema_with = "minutes")]
    pub minutes: i64,
    /// The name of the task it is for, if one was said.
    #[serde(default, deserialize_with = "name_if_any", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", description = TASK)]
    pub task_name: Option<String>,
}

/// The tasks that a list shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TaskFilter {
    /// Those that are not completed.
    #[default]
    Active,
    /// Those that are completed.
    Completed,
    /// All.
    All,
}

/// Arguments of `listTasks`.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ListTasks {
    /// Which ones.
    #[serde(default)]
    #[schemars(with = "String", description = "Which tasks", extend("enum" = ["active", "completed", "all"]))]
    pub filter: TaskFilter,
}

/// Arguments of the functions that take none.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
pub struct NoParameters {}

/// The schema of a timer's minutes.
fn minutes(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "integer", "minimum": TIMER_MINUTES.start(), "maximum": TIMER_MINUTES.end() })
}

/// A name; a bare number is `#number`.
fn name<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    match Value::deserialize(deserializer)? {
        Value::String(name) => Ok(name),
        Value::Number(number) if number.is_u64() => Ok(format!("#{number}")),
        other => Err(Error::custom(format!("a name is a text, and not {other}"))),
    }
}

/// The same; a blank one is none.
fn name_if_any<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    name(deserializer).map(|name| Some(name).filter(|name| !name.trim().is_empty()))
}

/// `true` and `false`, also as texts.
fn truth<'de, D: Deserializer<'de>>(deserializer: D) -> Result<bool, D::Error> {
    match Value::deserialize(deserializer)? {
        Value::Bool(truth) => Ok(truth),
        Value::String(text) if text.eq_ignore_ascii_case("true") => Ok(true),
        Value::String(text) if text.eq_ignore_ascii_case("false") => Ok(false),
        other => Err(Error::custom(format!("this is true or false, and not {other}"))),
    }
}

/// `25`, `25.0` and `"25"`. One that no number here can hold is the largest or the smallest.
fn whole_number<'de, D: Deserializer<'de>>(deserializer: D) -> Result<i64, D::Error> {
    let written = match Value::deserialize(deserializer)? {
        Value::String(text) => text.trim().to_owned(),
        other => other.to_string(),
    };
    written.strip_suffix(".0").unwrap_or(&written).parse().or_else(|error: ParseIntError| match error.kind() {
        IntErrorKind::PosOverflow => Ok(i64::MAX),
        IntErrorKind::NegOverflow => Ok(i64::MIN),
        _ => Err(Error::custom(format!("this is a whole number, and not {written}"))),
    })
}
