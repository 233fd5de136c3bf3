//! The program: reads the settings, runs the server or asks the one that runs, decides the exit
//! code. Of the server 0: stopped; 42: to be started again at once; 78: a person has to change
//! something first, starting again would not help; 143: a second signal ended it at once; 1:
//! anything else. Of the other commands 0: done; 1: not done; 2: they make no sense.
//!
//! It lives in the library, and `src/main.rs` only calls it: what is polled there would be compiled
//! a second time. So does the command `relay`, which `src/bin/relay.rs` calls.

mod operator;
mod relay;
mod serve;

use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;
use std::sync::Arc;

use clap::Parser;
use tokio::runtime::Runtime;
use tokio::signal::unix::{SignalKind, signal};

use crate::app;
use crate::cli::{self, Ask, Cli, CliError, ClientOptions, Command, PythonCommand, Screen};
use crate::clock::{Clock, Random, SystemClock, SystemRandom};
use crate::config::Config;
use crate::telemetry;

pub use relay::relay;

/// All that the program does, from its arguments to its exit code.
pub fn main() -> ExitCode {
    let Cli { command, manner } = Cli::parse();
    let done = match command {
        Command::Serve => return serve::until_the_end(),
        Command::Backup { file, with_key } => {
            keep(async |config| stoppable(app::backup::backup(&config, &file, with_key, &SystemClock, &SystemRandom)).await)
        }
        Command::Restore { file } => keep(async |config| app::backup::restore(&config, &file, &SystemRandom).await),
        Command::Models => {
            looked(manner, async |config, clock, random, screen| app::doctor::models(config, clock, random, screen).await)
        }
        Command::Doctor => {
            looked(manner, async |config, clock, random, screen| app::doctor::doctor(config, clock, random, screen).await)
        }
        Command::Python(PythonCommand::Install { file }) => {
            keep(async |config| app::python::install(&config.data_dir, file).await)
        }
        Command::Python(PythonCommand::Status) => keep(async |config| app::python::status(&config.data_dir)),
        Command::Operator(command) if command.runs() => return operator::in_the_foreground(*command),
        Command::Operator(command) => operator::answer(*command, manner),
        Command::Ask(ask) => client(ask, manner),
    };
    done.unwrap_or_else(|error| failed(&error))
}

/// The exit code of a command that failed, which says why.
fn failed(error: &anyhow::Error) -> ExitCode {
    let output = match error.downcast_ref::<CliError>() {
        Some(CliError::Output(error)) => Some(error),
        _ => error.downcast_ref::<io::Error>(),
    };
    // A person who closes the output early has seen enough.
    if output.is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe) {
        return ExitCode::SUCCESS;
    }
    // There is nowhere else to report it.
    let _ = writeln!(io::stderr(), "level3: {}", telemetry::chain(&**error));
    ExitCode::from(error.downcast_ref::<CliError>().map_or(1, CliError::exit_code))
}

/// The settings, and what runs a command that needs no more than one thread.
fn prepared() -> anyhow::Result<(Config, Runtime)> {
    Ok((Config::load()?, tokio::runtime::Builder::new_current_thread().enable_all().build()?))
}

/// Does something in the data folder; says what was done.
fn keep<E>(work: impl AsyncFnOnce(Config) -> Result<String, E>) -> anyhow::Result<ExitCode>
where
    anyhow::Error: From<E>,
{
    let (config, runtime) = prepared()?;
    let done = runtime.block_on(work(config));
    // Work on other threads that was given up has no say in when the process ends.
    runtime.shutdown_background();
    // The work is done, also if nobody reads the line.
    let _ = writeln!(io::stdout(), "{}", done?);
    Ok(ExitCode::SUCCESS)
}

/// Does something that SIGINT and SIGTERM stop where it stands: the files that it makes for a while
/// go with it.
async fn stoppable<E>(work: impl Future<Output = Result<String, E>>) -> anyhow::Result<String>
where
    anyhow::Error: From<E>,
{
    let (mut interrupt, mut terminate) = (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
    tokio::select! {
        // A signal of the terminal ends the programs that are waited for as well.
        biased;
        _ = interrupt.recv() => {}
        _ = terminate.recv() => {}
        done = work => return Ok(done?),
    }
    Err(CliError::Failed("stopped by a signal before it was done; nothing is left of it".to_owned()).into())
}

/// Looks at something and prints what was seen; exit code 1 if something is to be mended.
fn looked(
    manner: ClientOptions,
    look: impl AsyncFnOnce(&Config, Arc<dyn Clock>, Arc<dyn Random>, &mut Screen<'_>) -> io::Result<bool>,
) -> anyhow::Result<ExitCode> {
    let (config, runtime) = prepared()?;
    let stdout = io::stdout();
    let mut screen = Screen { terminal: stdout.is_terminal(), json: manner.json, out: &mut stdout.lock() };
    let well = runtime.block_on(look(&config, Arc::new(SystemClock), Arc::new(SystemRandom), &mut screen))?;
    Ok(if well { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Asks the running server.
fn client(ask: Ask, manner: ClientOptions) -> anyhow::Result<ExitCode> {
    let (config, runtime) = prepared()?;
    // Not locked: `mcp` writes to it from another thread.
    let mut stdout = io::stdout();
    let mut screen = Screen { terminal: stdout.is_terminal(), json: manner.json, out: &mut stdout };
    let ran = runtime.block_on(cli::run(ask, manner, &config, app::DataFolder::may_be_held, &mut screen));
    // A thread may still wait for a line of input that nobody needs any more.
    runtime.shutdown_background();
    Ok(ran.map(|()| ExitCode::SUCCESS)?)
}
