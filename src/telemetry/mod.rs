//! The log: readable lines on standard error. `RUST_LOG` chooses what is shown. Values of secrets
//! never are: see [`Scrubber`].

mod forms;
mod line;
mod metrics;
mod read_back;
mod scrub;

use std::env::VarError;
use std::error::Error;
use std::io::IsTerminal;

use tracing_subscriber::EnvFilter;
use tracing_subscriber::filter::FromEnvError;

pub use forms::SHORTEST as SHORTEST_HIDDEN;
pub use line::Scrubbed;
pub use metrics::{Metrics, Seen, StoredFigures};
pub use scrub::Scrubber;

/// The filter for log lines when `RUST_LOG` is unset.
const DEFAULT: &str = "info,sqlx=warn,wasmtime=warn,cranelift=warn";

/// The same for a person who watches the operator in a terminal: what comes in, what is planned,
/// judged and done.
const OPERATOR: &str = "warn,level3::operator=info,level3::runner::turn_log=info";

/// Turns the log on, once for the process. The values that `scrubber` knows are hidden in every
/// line, those of panics included.
pub fn init(scrubber: Scrubber) {
    begin(scrubber, DEFAULT);
}

/// The same for the operator's terminal.
pub fn init_for_operator(scrubber: Scrubber) {
    begin(scrubber, OPERATOR);
}

fn begin(scrubber: Scrubber, default: &str) {
    let (filter, unusable) = match EnvFilter::try_from_default_env() {
        Ok(filter) => (filter, None),
        Err(error) => (EnvFilter::new(default), unless_unset(&error)),
    };
    let colours = std::io::stderr().is_terminal();
    let writer = Scrubbed::new(scrubber, std::io::stderr);
    tracing_subscriber::fmt().with_env_filter(filter).with_writer(writer).with_ansi(colours).with_target(false).init();
    if let Some(problem) = unusable {
        tracing::warn!("RUST_LOG cannot be used ({problem}); the log is as without it");
    }
    // The hook of the standard library writes past the log.
    std::panic::set_hook(Box::new(|panic| tracing::error!("{panic}")));
}

/// The fault in a filter that is set.
fn unless_unset(error: &FromEnvError) -> Option<String> {
    let cause: Option<&VarError> = error.source().and_then(|cause| cause.downcast_ref());
    (cause != Some(&VarError::NotPresent)).then(|| error.to_string())
}

/// The words of the driver before a message of Postgres.
const OF_POSTGRES: &str = "error returned from database: ";

/// An error and all its causes in one line. A message of Postgres ends without the line of its own
/// source that the driver puts behind it: a person would take it for a line of theirs.
pub fn chain(error: &dyn Error) -> String {
    let text = with_causes(error);
    match text.rsplit_once(" at line ") {
        Some((before, line)) if before.contains(OF_POSTGRES) && line.bytes().all(|byte| byte.is_ascii_digit()) => {
            before.to_owned()
        }
        _ => text,
    }
}

fn with_causes(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let cause_text = cause.to_string();
        if !text.ends_with(&cause_text) {
            text.push_str(": ");
            text.push_str(&cause_text);
        }
        source = cause.source();
    }
    text
}

#[cfg(test)]
mod tests;
