//! `level3 operator log N`: the log of one task, a line for each event, for people.

use std::fs;

use serde_json::Value;

use super::home::{OperatorHome, file};
use crate::cli::{CliError, Screen};

/// The fields that say where a line belongs; the others say what happened.
const PLACE: [&str; 8] = ["event", "at", "conversation", "turn", "seq", "part", "step", "call"];

pub(super) fn run(home: &OperatorHome, task: i64, screen: &mut Screen<'_>) -> Result<(), CliError> {
    let path = home.log(task);
    let text = match fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            let told = format!(
                "there is no log of task {task}: {} does not exist. level3 operator tasks lists the tasks",
                path.display()
            );
            return Err(CliError::Failed(told));
        }
        Err(error) => return Err(file(&path)(error)),
    };
    let lines: Vec<Value> = text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    if screen.json(&lines)? {
        return Ok(());
    }
    for line in &lines {
        let recording = line["recording"].as_str().map(|file| home.path().join(file));
        let missing = recording.filter(|file| !file.exists()).map_or("", |_| " (this file is not there)");
        screen.line(log_line(line) + missing)?;
    }
    Ok(())
}

/// A line for a person: the time, the event, and its fields.
fn log_line(line: &Value) -> String {
    let word = |name: &str| line[name].as_str().unwrap_or_default();
    let time = word("at").get(11..19).unwrap_or_default();
    let fields =
        line.as_object().into_iter().flatten().filter(|(name, value)| !PLACE.contains(&name.as_str()) && !value.is_null());
    let fields: Vec<_> = fields
        .map(|(name, value)| match value {
            Value::String(text) => format!("{name}: {}", text.replace('\n', " ")),
            value => format!("{name}: {value}"),
        })
        .collect();
    format!("{time}  {:<22} {}", word("event"), fields.join(" · "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::OperatorEnvironment;

    #[test]
    fn a_recording_that_is_not_there_is_told_in_the_line_that_names_it() {
        let folder = tempfile::tempdir().unwrap();
        let home = OperatorHome::find(Some(folder.path()), &OperatorEnvironment::default()).unwrap();
        fs::create_dir_all(folder.path().join("logs")).unwrap();
        let line = r#"{"event":"decision","at":"2026-11-24T19:20:21Z","decision":"record","recording":"call-1.json"}"#;
        fs::write(home.log(1), line).unwrap();
        let printed = || {
            let mut out = Vec::new();
            run(&home, 1, &mut Screen { out: &mut out, json: false, terminal: false }).unwrap();
            String::from_utf8(out).unwrap()
        };
        assert!(printed().ends_with("recording: call-1.json (this file is not there)\n"), "{}", printed());
        fs::write(folder.path().join("call-1.json"), "{}").unwrap();
        assert!(printed().ends_with("recording: call-1.json\n"), "{}", printed());
    }
}
