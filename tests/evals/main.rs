//! How well the agent extends itself with a real model: 24 tasks. How well Lea does her twenty
//! functions: one task each. The database, or the requests at the peer, judge each of them
//! afterwards, never the words of an answer. `just evals` and `just evals-lea`; docs/evals.md
//! explains it and has the tables. It is a program of its own and not a part of `it`: the ordinary
//! tests neither build nor run it, and its table is not for a test harness to keep.
//!
//! `LLM_BASE_URL` and its neighbours say which model. `EVALS_SUITE`: `builder` (default) or `lea`;
//! `EVALS_ONLY`: names of tasks, comma separated; `EVALS_RUNS` (1): how often each; `EVALS_TIMEOUT`
//! (180): seconds for a task; `EVALS_OUT`: the file for one line of JSON per task, with everything
//! that happened; `EVALS_PEER_PORT`: the port of the first peer.

#![allow(clippy::disallowed_methods, reason = "tests read the environment and the time themselves")]

mod helped;
mod report;
#[allow(dead_code, reason = "shared with the story of tests/it, which uses the rest")]
mod suite;
#[path = "../it/support/mod.rs"]
#[allow(dead_code, unused_imports, reason = "shared with the other test binary, which uses the rest")]
mod support;

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use level3::clock::{Clock, Random, SystemClock, SystemRandom};
use level3::config::Config;
use level3::model::choice::ModelSource;
use level3::model::client;

use report::Report;
use suite::{LEA, Make, TASKS};
use support::Peer;

fn main() -> ExitCode {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("a runtime");
    match runtime.block_on(evaluate()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            report::tell(&format!("evals: {why}"));
            ExitCode::FAILURE
        }
    }
}

fn setting(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.trim().is_empty())
}

fn number(name: &str, default: u64) -> Result<u64, String> {
    setting(name)
        .map_or(Ok(default), |value| value.trim().parse().map_err(|_| format!("{name} is `{value}`, which is no number")))
}

async fn evaluate() -> Result<(), String> {
    let (runs, limit) = (number("EVALS_RUNS", 1)?, Duration::from_secs(number("EVALS_TIMEOUT", 180)?));
    let only: Option<Vec<String>> =
        setting("EVALS_ONLY").map(|only| only.split(',').map(|name| name.trim().to_owned()).collect());
    let out = setting("EVALS_OUT").map_or_else(|| PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("evals.jsonl"), PathBuf::from);
    let config = Config::load().map_err(|error| error.to_string())?;
    let (clock, random): (Arc<dyn Clock>, Arc<dyn Random>) = (Arc::new(SystemClock), Arc::new(SystemRandom));
    // The task judges the model's work, not the speed of the machine.
    let patient = client::ModelLimits { first_token: limit, silence: limit, ..client::ModelLimits::default() };
    let models = ModelSource::new(&config.model, patient, clock, random).map_err(|error| error.to_string())?;
    let models = Arc::new(models);
    let model = models.chosen(None, &[]).await.info();
    if model.kind == "tour" {
        return Err(
            "no model is set: LLM_BASE_URL=http://127.0.0.1:8080/v1, or LLM_PROVIDER with LLM_API_KEY and LLM_MODEL".to_owned()
        );
    }
    let tasks: &[Make] = match setting("EVALS_SUITE").as_deref() {
        None | Some("builder") => &TASKS,
        Some("lea") => &LEA,
        Some(other) => return Err(format!("EVALS_SUITE is `{other}`; there are: builder, lea")),
    };
    let names = names(tasks);
    if let Some(unknown) = only.iter().flatten().find(|name| !names.contains(&name.as_str())) {
        return Err(format!("EVALS_ONLY names `{unknown}`; there are: {}", names.join(", ")));
    }
    helped::listen();
    let mut report = Report::new(&out).map_err(|error| format!("EVALS_OUT is {}: {error}", out.display()))?;
    // The same port in each run makes for the same words of the model.
    let first_port = number("EVALS_PEER_PORT", 0)?;
    for (place, make) in (0..).zip(tasks) {
        for run in 1..=runs {
            let port = if first_port == 0 { 0 } else { first_port + place * runs + run };
            let listener = tokio::net::TcpListener::bind(format!("127.0.0.1:{port}")).await.map_err(|error| error.to_string())?;
            let peer = Peer::on(listener);
            let task = make(&peer);
            if only.as_ref().is_some_and(|only| !only.iter().any(|name| name == task.name)) {
                continue;
            }
            let outcome = suite::run(&task, peer, Arc::clone(&models), config.clone(), limit, false).await;
            report.add(&outcome, run, &helped::take()).map_err(|error| format!("EVALS_OUT is {}: {error}", out.display()))?;
        }
    }
    report.total(&models.info().name);
    report::tell(&format!("Everything that happened: {}", out.display()));
    Ok(())
}

fn names(tasks: &[Make]) -> Vec<&'static str> {
    // The names do not depend on the peer, which is asked nothing here.
    let peer = std::net::TcpListener::bind("127.0.0.1:0").and_then(|listener| {
        listener.set_nonblocking(true)?;
        tokio::net::TcpListener::from_std(listener)
    });
    let peer = Peer::on(peer.expect("a port"));
    tasks.iter().map(|make| make(&peer).name).collect()
}
