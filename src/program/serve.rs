//! `level3 serve`: the server from its settings to its end, and the exit code that follows.

use std::fs;
use std::process::ExitCode;
use std::sync::Arc;

use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

use crate::app::{self, App, DataFolder, Exit, Opening, Outside, StartError};
use crate::channels::LoopbackFaults;
use crate::clock::{Clock, Random, SystemClock, SystemRandom};
use crate::config::Config;
use crate::domain::FailureWords;
use crate::egress::SystemResolver;
use crate::http;
use crate::lasting::Lasting;
use crate::memory;
use crate::model::choice::ModelSource;
use crate::model::client;
use crate::postgres::Database;
use crate::profiles::Profiles;
use crate::telemetry::{self, Scrubber};

const RESTART: u8 = 42;
/// A start that failed, and would fail again until a person changes something.
const LASTING: u8 = 78;
/// Anything else: starting again may help.
const PASSING: u8 = 1;
/// The exit code that a shell gives a program that SIGTERM ended.
const AT_ONCE: u8 = 143;

pub(super) fn until_the_end() -> ExitCode {
    memory::keep_few_heaps();
    let scrubber = Scrubber::default();
    telemetry::init(scrubber.clone());
    let config = match Config::load() {
        Ok(config) => config,
        Err(error) => return fail(&error),
    };
    for word in &config.unknown {
        tracing::warn!("{word}");
    }
    #[cfg(debug_assertions)]
    if let Some(armed) = config.failpoint.clone() {
        crate::failpoint::arm(armed);
    }
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return fail(&error),
    };
    let code = runtime.block_on(serve(config, scrubber, None));
    // Work on other threads has no say in when the process ends.
    runtime.shutdown_background();
    code
}

/// The work beside a server that is started, and is ended with it.
pub(super) type Beside = Box<dyn FnOnce(&App) -> futures::future::BoxFuture<'static, ()> + Send>;

pub(super) async fn serve(config: Config, scrubber: Scrubber, beside: Option<Beside>) -> ExitCode {
    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    let random: Arc<dyn Random> = Arc::new(SystemRandom);
    let models = match ModelSource::new(&config.model, client::ModelLimits::default(), Arc::clone(&clock), Arc::clone(&random)) {
        Ok(models) => Arc::new(models),
        // Beside a server runs the operator, whose settings have other names.
        Err(error) if beside.is_some() => return fail(&error.named(FailureWords::OfHome)),
        Err(error) => return fail(&error),
    };
    let connections = http::ConnectionLimits::of_this_process();
    let (profiles, resolver, loopback) = (Profiles::default(), Arc::new(SystemResolver), LoopbackFaults::default());
    let tools = Vec::new();
    let outside = Outside { clock, random, models, scrubber, profiles, tools, resolver, connections, loopback };
    if let Some(said) = config.short_token() {
        return fail(&StartError::ShortToken(said));
    }
    // The address comes first: if it is taken, the program should have touched nothing else.
    let listener = match app::listen(config.listen).await {
        Ok(listener) => listener,
        Err(error) => return fail(&error),
    };
    let folder = match DataFolder::take(&config.data_dir, &*outside.random) {
        Ok(folder) => folder,
        Err(error) => return fail(&error),
    };
    // Until the database has ended, so that nobody else opens it before.
    let _held = folder.clone();
    let opening = Opening::begin(&folder, &outside);
    let database = match Database::open(&config).await {
        Ok(database) => database,
        Err(error) => return fail(&error),
    };
    // A second signal does not wait for anything, the database's own end included.
    let hurry = CancellationToken::new();
    let lost = database.lost();
    let exit = match App::start(&config, folder, opening, &database, listener, outside).await {
        Ok(app) => tokio::select! {
            ended = run(app, &config, &hurry, beside) => ended,
            () = hurry.cancelled() => return ExitCode::from(AT_ONCE),
            // Nobody could use this server any more; its next start heals the rest of the database.
            how = lost => {
                tracing::error!(how, "the embedded Postgres ended by itself; ending, so that both are started again");
                return ExitCode::from(PASSING);
            }
        },
        Err(error) => Err(error),
    };
    let stopped = tokio::select! {
        stopped = database.stop() => stopped,
        () = hurry.cancelled() => return ExitCode::from(AT_ONCE),
    };
    match (exit, stopped) {
        (Err(error), _) => fail(&error),
        // The server was asked to end and did, so there is nothing to mend before it starts again.
        (Ok(_), Err(error)) => {
            tracing::error!("{}", telemetry::chain(&error));
            ExitCode::from(PASSING)
        }
        (Ok(Exit::Stop), Ok(())) => ExitCode::SUCCESS,
        (Ok(Exit::Restart), Ok(())) => ExitCode::from(RESTART),
        (Ok(Exit::Broken), Ok(())) => ExitCode::from(PASSING),
    }
}

async fn run(app: App, config: &Config, hurry: &CancellationToken, beside: Option<Beside>) -> Result<Exit, StartError> {
    let shutdown = app.shutdown();
    let at_once = hurry.clone();
    // Signals are caught from here on, and not only once a task of ours runs: a program that hears
    // that the server is ready may end it at once.
    let signals = (signal(SignalKind::terminate()), signal(SignalKind::interrupt()));
    // The operator is gone when its terminal is. Another server outlives it, as it always did.
    let hangs_up = if beside.is_some() { signal(SignalKind::hangup()).ok() } else { None };
    tokio::spawn(async move {
        let (Ok(mut terminate), Ok(mut interrupt)) = signals else {
            tracing::warn!("signals cannot be caught here; SIGTERM will not end the server in good order");
            return;
        };
        let mut hangs_up = hangs_up;
        let hung_up = async {
            match &mut hangs_up {
                Some(hangs_up) => drop(hangs_up.recv().await),
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
            () = hung_up => {}
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
    if let Some(file) = &config.ready_file
        && let Err(error) = fs::write(file, format!("{}\n", app.address()))
    {
        tracing::warn!(file = %file.display(), %error, "LEVEL3_READY_FILE cannot be written; no supervisor hears it is ready");
    }
    tracing::info!("ready: http://{}", app.address());
    let beside = beside.map(|beside| tokio::spawn(beside(&app)));
    let exit = app.ended().await;
    if let Some(beside) = beside {
        beside.abort();
    }
    Ok(exit)
}

/// Ends a start that failed; the failure decides whether it is worth another.
fn fail(error: &(impl std::error::Error + Lasting)) -> ExitCode {
    tracing::error!("{}", telemetry::chain(error));
    ExitCode::from(if error.lasts() { LASTING } else { PASSING })
}
