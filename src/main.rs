//! The program: reads the settings, runs the server, decides the exit code. 0: stopped; 42: to be started again at once; 78: a setting
//! is wrong, starting again would not help; 1: anything else.

use std::process::ExitCode;
use std::sync::Arc;

use clap::Parser;
use level3::app::{self, App, DataFolder, Exit, Outside, StartError};
use level3::cli::{Cli, Command};
use level3::clock::{Clock, Random, SystemClock, SystemRandom};
use level3::config::Config;
use level3::model::choice::ModelSource;
use level3::model::client;
use level3::store::Database;
use level3::telemetry;
use tokio::signal::unix::{SignalKind, signal};

const RESTART: u8 = 42;
const BAD_SETTING: u8 = 78;

fn main() -> ExitCode {
    let Cli { command: Command::Serve } = Cli::parse();
    let scrubber = telemetry::Scrubber::default();
    telemetry::init(scrubber);
    let config = match Config::load() {
        Ok(config) => config,
        Err(error) => return fail(BAD_SETTING, &error),
    };
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return fail(1, &error),
    };
    runtime.block_on(serve(config))
}

async fn serve(config: Config) -> ExitCode {
    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    let random: Arc<dyn Random> = Arc::new(SystemRandom);
    let models = match ModelSource::new(&config.model, client::Limits::default(), Arc::clone(&clock), Arc::clone(&random)) {
        Ok(models) => Arc::new(models),
        Err(error) => return fail(BAD_SETTING, &error),
    };
    let outside = Outside { clock, random, models };
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
    let exit = match App::start(&config, folder, &database, listener, outside).await {
        Ok(app) => run(app, &config).await,
        Err(error) => Err(error),
    };
    let stopped = database.stop().await;
    match (exit, stopped) {
        (Err(error), _) => fail(1, &error),
        (Ok(_), Err(error)) => fail(1, &error),
        (Ok(Exit::Stop), Ok(())) => ExitCode::SUCCESS,
        (Ok(Exit::Restart), Ok(())) => ExitCode::from(RESTART),
    }
}

async fn run(app: App, config: &Config) -> Result<Exit, StartError> {
    let shutdown = app.shutdown();
    tokio::spawn(async move {
        let (Ok(mut terminate), Ok(mut interrupt)) = (signal(SignalKind::terminate()), signal(SignalKind::interrupt())) else {
            tracing::warn!("signals cannot be caught here; SIGTERM will not end the server in good order");
            return;
        };
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
        tracing::info!("stopping");
        shutdown.cancel();
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
