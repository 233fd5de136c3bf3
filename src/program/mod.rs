//! The program: reads the settings, runs the server or asks the one that runs, decides the exit code. Of the server 0: stopped; 42: to
//! be started again at once; 78: a setting is wrong, starting again would not help; 1: anything else. Of the other commands 0: done; 1: not
//! done; 2: they make no sense.
//!
//! It lives in the library, and `src/main.rs` only calls it: what is polled there would be compiled a second time.

mod serve;

use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;
use std::sync::Arc;

use clap::Parser;

use crate::app;
use crate::app::backup::BackupError;
use crate::cli::{self, Ask, Cli, CliError, Command, Manner, Screen};
use crate::clock::{Clock, Random, SystemClock, SystemRandom};
use crate::config::Config;
use crate::telemetry;

/// All that the program does, from its arguments to its exit code.
pub fn main() -> ExitCode {
    let Cli { command, manner } = Cli::parse();
    let ask = match command {
        Command::Serve => return serve::until_the_end(),
        Command::Backup { file, with_key } => {
            return told(keep(async |config| app::backup::backup(&config, &file, with_key, &SystemClock, &SystemRandom).await));
        }
        Command::Restore { file } => {
            return told(keep(async |config| app::backup::restore(&config, &file, &SystemRandom).await));
        }
        Command::Models => {
            return looked(manner, async |config, clock, random, screen| {
                app::doctor::models(config, clock, random, screen).await
            });
        }
        Command::Doctor => {
            return looked(manner, async |config, clock, random, screen| {
                app::doctor::doctor(config, clock, random, screen).await
            });
        }
        Command::Ask(ask) => ask,
    };
    told(client(ask, manner))
}

/// The exit code of a command, and why it failed.
fn told(done: Result<(), (u8, String)>) -> ExitCode {
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err((code, told)) => {
            // There is nowhere else to report it.
            let _ = writeln!(io::stderr(), "level3: {told}");
            ExitCode::from(code)
        }
    }
}

/// Makes or reads a backup; says what was done.
fn keep(work: impl AsyncFnOnce(Config) -> Result<String, BackupError>) -> Result<(), (u8, String)> {
    let failed = |error: &dyn std::error::Error| (1, telemetry::chain(error));
    let config = Config::load().map_err(|error| failed(&error))?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(|error| failed(&error))?;
    let done = runtime.block_on(work(config)).map_err(|error| failed(&error))?;
    // Whether somebody reads it or not, it is done.
    let _ = writeln!(io::stdout(), "{done}");
    Ok(())
}

/// Looks at something and prints what was seen; exit code 1 where something is to be mended.
fn looked(
    manner: Manner,
    look: impl AsyncFnOnce(&Config, Arc<dyn Clock>, Arc<dyn Random>, &mut Screen<'_>) -> io::Result<bool>,
) -> ExitCode {
    let failed = |error: &dyn std::error::Error| told(Err((1, telemetry::chain(error))));
    let config = match Config::load() {
        Ok(config) => config,
        Err(error) => return failed(&error),
    };
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return failed(&error),
    };
    let stdout = io::stdout();
    let mut screen = Screen { terminal: stdout.is_terminal(), json: manner.json, out: &mut stdout.lock() };
    match runtime.block_on(look(&config, Arc::new(SystemClock), Arc::new(SystemRandom), &mut screen)) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        // The reader of the output has seen enough.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => failed(&error),
    }
}

/// Asks the running server; an error comes with its exit code.
fn client(ask: Ask, manner: Manner) -> Result<(), (u8, String)> {
    let failed = |error: &dyn std::error::Error| (1, telemetry::chain(error));
    let config = Config::load().map_err(|error| failed(&error))?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(|error| failed(&error))?;
    // Not locked: `mcp` writes to it from another thread.
    let mut stdout = io::stdout();
    let mut screen = Screen { terminal: stdout.is_terminal(), json: manner.json, out: &mut stdout };
    let ran = runtime.block_on(cli::run(ask, manner, &config, &mut screen));
    // A thread may still wait for a line of input that nobody needs any more.
    runtime.shutdown_background();
    match ran {
        // The reader of the output has seen enough.
        Err(CliError::Output(error)) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        Err(error) => Err((error.exit_code(), telemetry::chain(&error))),
        Ok(()) => Ok(()),
    }
}
