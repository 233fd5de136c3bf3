//! `level3 models` and `level3 doctor`: what answers, what does not, and what to do about it.
//! Neither needs a running server or a database.

use std::fs::{self, File};
use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;

use crate::cli::Screen;
use crate::clock::{Clock, Random};
use crate::config::Config;
use crate::egress::{Egress, EgressLimits, SystemResolver};
use crate::faces::voice::{self, SPEECH_SERVERS, SpeechServers};
use crate::model::checks::{Check, CheckState, Examined, Looking, ProviderEntry};
use crate::postgres::{Database, embedded};
use crate::telemetry;
use crate::wire::api::{SpeechTrial, TriedSpeech};

/// How long the database and the port may take to answer.
const PATIENCE: Duration = Duration::from_secs(5);
/// How many of a provider's models are shown.
const SHOWN: usize = 3;

/// All findings.
#[derive(Debug, Serialize)]
struct Report {
    /// False if something has to be mended.
    well: bool,
    server: Vec<Check>,
    models: Vec<Examined>,
}

/// Prints every provider and whether it answers.
///
/// # Errors
/// If nothing can be printed.
pub async fn models(
    config: &Config,
    clock: Arc<dyn Clock>,
    random: Arc<dyn Random>,
    screen: &mut Screen<'_>,
) -> io::Result<bool> {
    let listed = match looking(config, clock, random).list().await {
        Ok(listed) => listed,
        Err(why) => {
            screen.line(why)?;
            return Ok(false);
        }
    };
    if screen.json(&listed)? {
        return Ok(true);
    }
    let rows: Vec<_> = listed.iter().map(row).collect();
    screen.table(["PROVIDER", "STATE", "MODELS, OR WHAT IS MISSING", "USED"], &rows, "")?;
    if listed.iter().all(|one| one.in_use.is_empty()) {
        screen.line("")?;
        screen.line(
            "No model is set and none runs on this machine, so the server serves the tour. Set LLM_PROVIDER and its key.",
        )?;
    }
    Ok(true)
}

fn row(listed: &ProviderEntry) -> [String; 4] {
    let more = listed.models.len().saturating_sub(SHOWN);
    let mut what = listed.models.iter().take(SHOWN).cloned().collect::<Vec<_>>().join(", ");
    if more > 0 {
        what.push_str(&format!(" and {more} more"));
    }
    if listed.state != "ready" {
        what.clone_from(&listed.why);
    } else if listed.models.is_empty() {
        what = "it lists none".into();
    }
    let used = |word: &str, of: &[String]| of.iter().map(|model| format!("{word}: {model}")).collect::<Vec<_>>();
    let used = [used("in use", &listed.in_use), used("fallback", &listed.fallbacks)].concat().join(", ");
    [listed.provider.to_owned(), listed.state.to_owned(), what, used]
}

/// Checks the server's needs and the configured models; returns whether all is well.
///
/// # Errors
/// If nothing can be printed.
pub async fn doctor(
    config: &Config,
    clock: Arc<dyn Clock>,
    random: Arc<dyn Random>,
    screen: &mut Screen<'_>,
) -> io::Result<bool> {
    let looking = looking(config, Arc::clone(&clock), Arc::clone(&random));
    let (database, port, models, speech) =
        tokio::join!(database(config), port(config), looking.examine(), speech(config, clock, random));
    let mut server = vec![database, data_folder(&config.data_dir), port];
    server.extend(config.short_token().map(|said| Check::failed("token", said)));
    server.extend(speech);
    server.extend(config.unknown.iter().map(|said| Check::failed("settings", said.clone())));
    let models = models.unwrap_or_else(|why| {
        server.push(Check::failed("model", why));
        Vec::new()
    });
    if models.is_empty() && server.iter().all(|check| check.what != "model") {
        let said = "none is set and none runs on this machine: the server serves the tour; set LLM_PROVIDER and its key";
        server.push(Check::ok("model", said));
    }
    let all = server.iter().chain(models.iter().flat_map(|examined| &examined.checks));
    let well = all.clone().all(|check| check.state != CheckState::Failed);
    let report = Report { well, server, models };
    if screen.json(&report)? {
        return Ok(well);
    }
    print(&report, screen)?;
    Ok(well)
}

fn print(report: &Report, screen: &mut Screen<'_>) -> io::Result<()> {
    let cells = |of: &str, check: &Check| {
        let state = match check.state {
            CheckState::Ok => "ok",
            CheckState::Failed => "FAILED",
            CheckState::Skipped => "skipped",
        };
        [of.to_owned(), check.what.to_owned(), state.to_owned(), check.said.clone()]
    };
    let mut rows: Vec<_> = report.server.iter().map(|check| cells("server", check)).collect();
    for examined in &report.models {
        let of = format!("{} ({})", examined.model, examined.role);
        rows.extend(examined.checks.iter().map(|check| cells(&of, check)));
    }
    screen.table(["OF", "WHAT", "STATE", "SEEN, OR WHAT TO DO"], &rows, "")?;
    screen.line("")?;
    match rows.iter().find(|[_, _, state, _]| state == "FAILED") {
        Some([of, what, _, said]) => screen.line(format!("To mend first, {of}, {what}: {said}")),
        None => screen.line("All is well."),
    }
}

pub(super) fn looking(config: &Config, clock: Arc<dyn Clock>, random: Arc<dyn Random>) -> Looking {
    let limits = crate::model::client::ModelLimits { context_tokens: config.model.context_tokens, ..Looking::limits() };
    Looking { settings: config.model.clone(), clock, random, limits }
}

/// Looks for a usable Postgres.
async fn database(config: &Config) -> Check {
    const WHAT: &str = "database";
    if config.database_url.is_none() {
        return match embedded::look(&config.data_dir, config.postgres_bin.as_deref()) {
            Ok(said) => Check::ok(WHAT, said),
            Err(error) => Check::failed(WHAT, telemetry::chain(&error)),
        };
    }
    match timeout(PATIENCE, Database::running(config)).await {
        Ok(Ok(_)) => Check::ok(WHAT, "the one at DATABASE_URL answers"),
        Ok(Err(error)) => Check::failed(WHAT, telemetry::chain(&error)),
        Err(_) => Check::failed(WHAT, "nobody answers at DATABASE_URL: start that Postgres, or unset it for a private one"),
    }
}

/// Checks that the data folder, or the folder it would be made in, can be written.
fn data_folder(folder: &Path) -> Check {
    const WHAT: &str = "data folder";
    let there =
        folder.ancestors().map(|path| if path.as_os_str().is_empty() { Path::new(".") } else { path }).find(|path| path.exists());
    let there = there.map_or_else(|| PathBuf::from("."), Path::to_owned);
    let trial = there.join(format!(".level3-doctor-{}", std::process::id()));
    match File::create_new(&trial).and_then(|_| fs::remove_file(&trial)) {
        Ok(()) => Check::ok(WHAT, folder.display().to_string()),
        Err(error) => {
            let said =
                format!("{} cannot be written ({error}): set LEVEL3_DATA_DIR to a folder this user may write", there.display());
            Check::failed(WHAT, said)
        }
    }
}

/// Checks that the address is free, or that a level3 has it.
async fn port(config: &Config) -> Check {
    const WHAT: &str = "address";
    let address = config.listen;
    match TcpListener::bind(address).await {
        Ok(_) => Check::ok(WHAT, format!("{address} is free")),
        Err(_) if is_level3(address, config.token.as_deref()).await => Check::ok(WHAT, format!("a level3 is at {address}")),
        Err(error) => Check::failed(WHAT, format!("{address} cannot be had ({error}): set LEVEL3_LISTEN to another one")),
    }
}

/// Looks at what calls by Vapi need, and has the speech servers say and hear a sentence. Their keys
/// are in the vault, which only the running server opens: it tries them then.
async fn speech(config: &Config, clock: Arc<dyn Clock>, random: Arc<dyn Random>) -> Vec<Check> {
    let egress = way_out(config);
    let vapi = voice::look(&config.vapi, &egress, &*clock).await.into_iter().map(|(what, found)| match found {
        Ok(said) => Check::ok(what, said),
        Err(said) => Check::failed(what, said),
    });
    let mut checks: Vec<_> = vapi.collect();
    let servers = SpeechServers::new(config.voice.clone(), &egress, None, clock, random);
    let tried = if servers.has_key() { tried_by_server(config).await } else { Ok(servers.try_out().await) };
    let set_up = [servers.speaks_at(), servers.hears_at()];
    checks.extend(match tried {
        Ok(tried) => {
            let what = |said: &str| SPEECH_SERVERS.into_iter().find(|what| *what == said).unwrap_or("speech");
            let check = |one: TriedSpeech| match one.ok {
                true => Check::ok(what(&one.what), one.said),
                false => Check::failed(what(&one.what), one.said),
            };
            tried.into_iter().map(check).collect::<Vec<_>>()
        }
        Err(why) => {
            let skipped = |(what, at): (&'static str, Option<String>)| Some(Check::skipped(what, format!("{}: {why}", at?)));
            SPEECH_SERVERS.into_iter().zip(set_up).filter_map(skipped).collect()
        }
    });
    checks
}

/// The way out of a program without a server.
fn way_out(config: &Config) -> Egress {
    let (allowed, limits) = (config.egress_allow.clone(), EgressLimits::default());
    Egress::new(Arc::new(SystemResolver), allowed, limits, telemetry::Scrubber::default())
}

/// The trial as the running server makes it.
async fn tried_by_server(config: &Config) -> Result<Vec<TriedSpeech>, String> {
    // Twice 20 seconds, as long as the two servers may take.
    const BOTH: Duration = Duration::from_secs(45);
    let address = config.listen;
    let said = timeout(BOTH, answer(address, config.token.as_deref(), "POST /api/voice/trial")).await;
    let not_there = || format!("its key is in the vault: start the server at {address}, and ask again");
    let said = said.ok().and_then(Result::ok).ok_or_else(not_there)?;
    let body = said.split_once("\r\n\r\n").map(|(_, body)| body).unwrap_or_default();
    let read: Result<SpeechTrial, _> = serde_json::from_str(body);
    read.map(|trial| trial.tried)
        .map_err(|_| format!("the server at {address} did not try it: set LEVEL3_TOKEN to a token of the owner's"))
}

/// Asks a question that only this program answers so.
async fn is_level3(address: SocketAddr, token: Option<&str>) -> bool {
    let asked = timeout(PATIENCE, answer(address, token, "GET /metrics")).await;
    asked.is_ok_and(|said| said.is_ok_and(|said| said.to_lowercase().contains("level3_")))
}

/// The whole answer of a server at this address.
async fn answer(mut address: SocketAddr, token: Option<&str>, line: &str) -> io::Result<String> {
    if address.ip().is_unspecified() {
        address.set_ip(if address.is_ipv4() {
            std::net::Ipv4Addr::LOCALHOST.into()
        } else {
            std::net::Ipv6Addr::LOCALHOST.into()
        });
    }
    let authorization = token.map(|token| format!("Authorization: Bearer {token}\r\n")).unwrap_or_default();
    let request = format!("{line} HTTP/1.1\r\nHost: {address}\r\n{authorization}Connection: close\r\nContent-Length: 0\r\n\r\n");
    let mut stream = TcpStream::connect(address).await?;
    stream.write_all(request.as_bytes()).await?;
    let mut said = Vec::new();
    stream.take(1 << 20).read_to_end(&mut said).await?;
    Ok(String::from_utf8_lossy(&said).into_owned())
}
