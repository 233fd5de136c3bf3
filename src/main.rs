//! The program: reads the settings, runs the server or asks the one that runs, decides the exit code. Of the server 0: stopped; 42: to
//! be started again at once; 78: a setting is wrong, starting again would not help; 1: anything else. Of the other commands 0: done; 1: not
//! done; 2: they make no sense.

use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;
use std::sync::Arc;

use clap::Parser;
use level3::app::backup::BackupError;
use level3::app::{self, App, DataFolder, Exit, Outside, StartError};
use level3::cli::{self, Ask, Cli, CliError, Command, Manner, Screen};
use level3::clock::{Clock, Random, SystemClock, SystemRandom};
use level3::config::Config;
use level3::egress::SystemResolver;
use level3::model::choice::ModelSource;
use level3::model::client;
use level3::secrets::SecretError;
use level3::store::Database;
use level3::telemetry::{self, Scrubber};
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

const RESTART: u8 = 42;
const BAD_SETTING: u8 = 78;
/// As a shell says it of a program that SIGTERM ended.
const AT_ONCE: u8 = 143;

fn main() -> ExitCode {
    let Cli { command, manner } = Cli::parse();
    let ask = match command {
        Command::Serve => return serve_until_the_end(),
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
        // Whoever reads the output has seen enough.
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
        // Whoever reads the output has seen enough.
        Err(CliError::Output(error)) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        Err(error) => Err((error.exit_code(), telemetry::chain(&error))),
        Ok(()) => Ok(()),
    }
}

fn serve_until_the_end() -> ExitCode {
    let scrubber = Scrubber::default();
    telemetry::init(scrubber.clone());
    let config = match Config::load() {
        Ok(config) => config,
        Err(error) => return fail(BAD_SETTING, &error),
    };
    #[cfg(debug_assertions)]
    if let Some(armed) = config.failpoint.clone() {
        level3::failpoint::arm(armed);
    }
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return fail(1, &error),
    };
    let code = runtime.block_on(serve(config, scrubber));
    // What still runs on threads has no say in when the process ends.
    runtime.shutdown_background();
    code
}

async fn serve(config: Config, scrubber: Scrubber) -> ExitCode {
    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    let random: Arc<dyn Random> = Arc::new(SystemRandom);
    let models = match ModelSource::new(&config.model, client::Limits::default(), Arc::clone(&clock), Arc::clone(&random)) {
        Ok(models) => Arc::new(models),
        Err(error) => return fail(BAD_SETTING, &error),
    };
    let outside = Outside { clock, random, models, scrubber, resolver: Arc::new(SystemResolver) };
    // The address first: when it is taken, nothing else should have been touched.
    let listener = match app::listen(config.listen).await {
        Ok(listener) => listener,
        Err(error) => return fail(BAD_SETTING, &error),
    };
    let folder = match DataFolder::take(&config.data_dir, &*outside.random) {
        Ok(folder) => folder,
        Err(error) => return fail(BAD_SETTING, &error),
    };
    let database = match Database::open(&config).await {
        Ok(database) => database,
        Err(error) => return fail(1, &error),
    };
    // A second signal does not wait for anything, the database's own end included.
    let hurry = CancellationToken::new();
    let lost = database.lost();
    let exit = match App::start(&config, folder, &database, listener, outside).await {
        Ok(app) => tokio::select! {
            ended = run(app, &config, &hurry) => ended,
            () = hurry.cancelled() => return ExitCode::from(AT_ONCE),
            // Nobody could use this server any more; it heals what is left of the database at its next start.
            how = lost => {
                tracing::error!(how, "the embedded Postgres ended by itself; ending, so that both are started again");
                return ExitCode::FAILURE;
            }
        },
        Err(error) => Err(error),
    };
    let stopped = tokio::select! {
        stopped = database.stop() => stopped,
        () = hurry.cancelled() => return ExitCode::from(AT_ONCE),
    };
    match (exit, stopped) {
        // A key file that is wrong does not become right by starting again.
        (Err(error @ StartError::Secrets(SecretError::Key(_))), _) => fail(BAD_SETTING, &error),
        (Err(error), _) => fail(1, &error),
        (Ok(_), Err(error)) => fail(1, &error),
        (Ok(Exit::Stop), Ok(())) => ExitCode::SUCCESS,
        (Ok(Exit::Restart), Ok(())) => ExitCode::from(RESTART),
    }
}

async fn run(app: App, config: &Config, hurry: &CancellationToken) -> Result<Exit, StartError> {
    let shutdown = app.shutdown();
    let at_once = hurry.clone();
    // Caught from here on, not only once a task of ours is scheduled: whoever is told that it is ready may end it at once.
    let signals = (signal(SignalKind::terminate()), signal(SignalKind::interrupt()));
    tokio::spawn(async move {
        let (Ok(mut terminate), Ok(mut interrupt)) = signals else {
            tracing::warn!("signals cannot be caught here; SIGTERM will not end the server in good order");
            return;
        };
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
        tracing::info!("stopping");
        shutdown.cancel();
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
        tracing::warn!("ending at once; turns go on at the next start");
        at_once.cancel();
    });
    if config.safe_mode {
        tracing::warn!("safe mode: capabilities are not loaded");
    }
    tracing::info!("ready: http://{}", app.address());
    Ok(app.ended().await)
}

fn fail(code: u8, error: &dyn std::error::Error) -> ExitCode {
    tracing::error!("{}", telemetry::chain(error));
    ExitCode::from(code)
}
