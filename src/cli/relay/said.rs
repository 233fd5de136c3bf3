//! The options that `relay create` and `relay templates add` share.

use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use clap::Args;

use super::settings::HomeChannel;
use super::template::InstanceTemplate;
use super::{RelayCliError, spans};
use crate::domain::unmarked;

/// More than the longest list of to-dos takes.
const MAX_READ: u64 = 256 * 1024;

/// The options that a template can say, too.
#[derive(Debug, Default, Args)]
pub(super) struct SaidOptions {
    /// The purpose of the conversation
    #[arg(long, value_name = "TEXT")]
    objective: Option<String>,
    /// Something to be done in it; may be repeated
    #[arg(long = "todo", value_name = "TEXT")]
    todos: Vec<String>,
    /// A file of to-dos, one a line or a JSON array; - reads standard input
    #[arg(long = "todos", value_name = "FILE")]
    file: Option<PathBuf>,
    /// How long the contact may be silent before a follow-up, like 30m
    #[arg(long, value_name = "TIME", value_parser = spans::interval)]
    heartbeat: Option<i64>,
    /// How many follow-ups there may be, 0 to 20
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(i64).range(0..=20))]
    max_follow_ups: Option<i64>,
    /// The channel it runs over
    #[arg(long, value_enum)]
    channel: Option<HomeChannel>,
    /// The contact's time zone, like Europe/Berlin
    #[arg(long, value_name = "ZONE")]
    time_zone: Option<String>,
}

impl SaidOptions {
    /// The options as a template, with the to-dos of the file behind those of the options.
    pub(super) fn into_template(mut self) -> Result<InstanceTemplate, RelayCliError> {
        if let Some(file) = &self.file {
            self.todos.extend(todos_of(file)?);
        }
        Ok(InstanceTemplate {
            objective: self.objective,
            todos: self.todos,
            heartbeat_seconds: self.heartbeat,
            max_follow_ups: self.max_follow_ups,
            channel: self.channel,
            time_zone: self.time_zone,
        })
    }
}

/// To-dos of a file: a JSON array of texts, or one a line.
fn todos_of(file: &Path) -> Result<Vec<String>, RelayCliError> {
    let mut text = String::new();
    let read = if file == Path::new("-") {
        io::stdin().lock().take(MAX_READ).read_to_string(&mut text)
    } else {
        fs::File::open(file).and_then(|opened| opened.take(MAX_READ).read_to_string(&mut text))
    };
    read.map_err(RelayCliError::file(file))?;
    let text = unmarked(&text);
    if text.trim_start().starts_with('[') {
        let wrong = |error| {
            RelayCliError::Usage(format!(
                "todos: {} is no JSON array of texts, like [\"Ask for a time\"]: {error}",
                file.display()
            ))
        };
        return serde_json::from_str(text).map_err(wrong);
    }
    Ok(text.lines().map(str::trim).filter(|line| !line.is_empty()).map(str::to_owned).collect())
}

#[cfg(test)]
mod tests;
