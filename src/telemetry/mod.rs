//! The log: readable lines on standard error. `RUST_LOG` chooses what is shown. Values of secrets
//! never are: see [`Scrubber`].

mod forms;
mod line;
mod metrics;
mod read_back;
mod scrub;

use std::io::IsTerminal;

use tracing_subscriber::EnvFilter;

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
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new(default));
    let colours = std::io::stderr().is_terminal();
    let writer = Scrubbed::new(scrubber, std::io::stderr);
    tracing_subscriber::fmt().with_env_filter(filter).with_writer(writer).with_ansi(colours).with_target(false).init();
    // The hook of the standard library writes past the log.
    std::panic::set_hook(Box::new(|panic| tracing::error!("{panic}")));
}

/// An error and all its causes in one line.
pub fn chain(error: &dyn std::error::Error) -> String {
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
