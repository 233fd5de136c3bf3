//! `level3-whatsapp`: WhatsApp for level3. Without a command it is a channel program, which level3
//! starts and speaks with over stdin and stdout; `consent` shows the risk and asks.

mod address;
mod ban;
mod consent;
mod folder;
mod inbound;
mod journal;
mod life;
mod lines;
mod link;
mod markdown;
mod outbound;
mod parts;
mod protocol;
mod run;
mod server;
mod shared;
mod words;

use std::path::Path;
use std::process::ExitCode;

// A program that people use checks WhatsApp's certificates.
#[cfg(all(feature = "test-server", not(debug_assertions)))]
compile_error!("the feature `test-server` is for tests: build without it, or without --release");

/// Wrong use, or a line that is no order of this version.
const WRONG: u8 = 2;

const USAGE: &str = "usage: level3-whatsapp                                       speaks with level3 over stdin and stdout
       level3-whatsapp consent --folder DIR [--accept-risk]  shows the risk and asks for a yes
       level3-whatsapp --version";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words[..] {
        [] => serve(),
        ["--version"] => {
            println!("level3-whatsapp {}, protocol {}", env!("CARGO_PKG_VERSION"), protocol::VERSION);
            ExitCode::SUCCESS
        }
        ["consent", "--folder", folder] => agree(folder, false),
        ["consent", "--folder", folder, "--accept-risk"] | ["consent", "--accept-risk", "--folder", folder] => {
            agree(folder, true)
        }
        _ => {
            eprintln!("{USAGE}");
            ExitCode::from(WRONG)
        }
    }
}

fn agree(folder: &str, accept_risk: bool) -> ExitCode {
    let now = shared::written(whatsapp_rust::chrono::Utc::now());
    match consent::ask(Path::new(folder), accept_risk, &now, &mut std::io::stdin().lock(), &mut std::io::stdout()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("level3-whatsapp: the consent in {folder} could not be recorded: {error}");
            ExitCode::FAILURE
        }
    }
}

fn serve() -> ExitCode {
    let _ = log::set_logger(&Log);
    log::set_max_level(level());
    let runtime = match tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            eprintln!("level3-whatsapp: {error}");
            return ExitCode::FAILURE;
        }
    };
    let done = runtime.block_on(async {
        let server = server::Server::choose()?;
        run::run(lines::orders(tokio::io::stdin()), lines::Reports::to(std::io::stdout()), server).await
    });
    // Somebody may still read from stdin, and nobody waits for that.
    runtime.shutdown_background();
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("level3-whatsapp: {why}");
            ExitCode::from(WRONG)
        }
    }
}

/// How much is logged: what a person may have to act on. A build for the tests can say more.
fn level() -> log::LevelFilter {
    #[cfg(feature = "test-server")]
    if std::env::var_os("LEVEL3_WHATSAPP_LOG").is_some() {
        return log::LevelFilter::Debug;
    }
    log::LevelFilter::Warn
}

/// The log: a line each on stderr.
struct Log;

impl log::Log for Log {
    fn enabled(&self, _: &log::Metadata) -> bool {
        true
    }

    fn log(&self, record: &log::Record) {
        eprintln!("{} {}: {}", record.level(), record.target(), record.args());
    }

    fn flush(&self) {}
}
