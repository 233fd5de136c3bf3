//! The command `relay`: what it needs of the machine, and its exit codes. 0: done; 1: refused; 2:
//! wrong use; 3: no daemon.

use std::env::{current_dir, current_exe};
use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;

use clap::Parser;
use serde_json::json;

use crate::cli::Screen;
use crate::cli::relay::{self, RelayCli, RelayCliError, RelayWorld};
use crate::clock::{SystemClock, SystemRandom};
use crate::config::RelayEnvironment;
use crate::telemetry;

/// The exit code of a command that makes no sense.
const WRONG_USE: u8 = 2;

/// All that the command does, from its arguments to its exit code.
pub fn relay() -> ExitCode {
    let cli = match RelayCli::try_parse() {
        Ok(cli) => cli,
        // Wrong use, said to a program: the words alone, without the advice for people behind them.
        Err(error) if error.use_stderr() && std::env::args_os().any(|argument| argument == "--json") => {
            let whole = error.to_string();
            let said = whole.split("\n\n").next().unwrap_or_default();
            return refused(true, WRONG_USE, said.trim_start_matches("error: "));
        }
        Err(error) => error.exit(),
    };
    let json = cli.json;
    match run(cli) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if error.is_closed_output() => ExitCode::SUCCESS,
        Err(error) => refused(json, error.exit_code(), &telemetry::chain(&error)),
    }
}

/// Says why a command was not done.
fn refused(json: bool, code: u8, said: &str) -> ExitCode {
    // There is nowhere else to report it.
    let _ = if json {
        writeln!(io::stderr(), "{}", json!({ "error": said, "exit_code": code }))
    } else {
        writeln!(io::stderr(), "relay: {said}")
    };
    ExitCode::from(code)
}

fn run(cli: RelayCli) -> Result<(), RelayCliError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let (here, program) = (current_dir()?, current_exe()?);
    let world = RelayWorld {
        environment: RelayEnvironment::load(),
        here: &here,
        program: &program,
        clock: &SystemClock,
        random: &SystemRandom,
    };
    let stdout = io::stdout();
    let mut screen = Screen { terminal: stdout.is_terminal(), json: cli.json, out: &mut stdout.lock() };
    let ran = runtime.block_on(relay::run(cli, &world, &mut screen));
    // A thread may still wait for a lock that nobody needs any more.
    runtime.shutdown_background();
    ran
}
