//! A question to the person at the terminal.

use std::io::{self, BufRead, Write};

use super::RelayCliError;
use crate::cli::CliError;

/// A line from the person at the terminal.
pub(super) fn asked(question: &str) -> Result<String, RelayCliError> {
    let mut terminal = io::stderr();
    terminal.write_all(question.as_bytes()).and_then(|()| terminal.flush()).map_err(value)?;
    let mut line = String::new();
    io::stdin().lock().read_line(&mut line).map_err(value)?;
    Ok(line.trim().to_owned())
}

/// An answer that could not be read.
pub(super) fn value(source: io::Error) -> RelayCliError {
    RelayCliError::Asked(CliError::Value(source))
}
