//! `level3 operator`: sets the operator up and runs its server in the foreground, until the
//! terminal or a signal ends it.

use std::io::{self, IsTerminal, Write};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, ExitCode};

use futures::FutureExt;
use tokio::sync::watch;

use super::serve::{self, Beside};
use crate::app::{App, DataFolder, FolderError};
use crate::channels::ChannelStatus;
use crate::cli::operator::{OperatorCommand, Terminal, code_to_scan, reset_session};
use crate::cli::{CliError, ClientOptions, Screen};
use crate::clock::SystemRandom;
use crate::config::{Config, OperatorEnvironment};
use crate::domain::relay::ChannelState;
use crate::memory;
use crate::telemetry::{self, Scrubber};

/// The code of a server that wants to be started again at once.
const RESTART: u8 = 42;

/// Answers a question about the operator.
pub(super) fn answer(command: OperatorCommand, manner: ClientOptions) -> anyhow::Result<ExitCode> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let stdout = io::stdout();
    let mut screen = Screen { terminal: stdout.is_terminal(), json: manner.json, out: &mut stdout.lock() };
    runtime.block_on(command.answer(&OperatorEnvironment::load(), manner, &mut screen))?;
    Ok(ExitCode::SUCCESS)
}

/// Runs the operator to its end.
pub(super) fn in_the_foreground(command: OperatorCommand) -> ExitCode {
    match run(command) {
        Ok(code) if code == ExitCode::from(RESTART) => again(),
        Ok(code) => code,
        Err(error) => super::failed(&error),
    }
}

fn run(command: OperatorCommand) -> anyhow::Result<ExitCode> {
    memory::keep_few_heaps();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let at_terminal = io::stdin().is_terminal() && io::stdout().is_terminal();
    let setup = {
        let mut out = io::stdout();
        let mut screen = Screen { terminal: at_terminal, json: false, out: &mut out };
        let terminal = Terminal { columns: columns().filter(|_| at_terminal) };
        let mut held = None;
        let setup = command.set_up(OperatorEnvironment::load(), terminal, &mut screen, |home, resets| {
            held = alone(home.path(), resets)?;
            Ok(())
        })?;
        if setup.resets {
            reset_session(&setup.home, &mut screen)?;
        }
        setup
    };
    let scrubber = Scrubber::default();
    telemetry::init_for_operator(scrubber.clone());
    let config = Config::of(setup.server()?)?;
    #[cfg(debug_assertions)]
    if let Some(armed) = config.failpoint.clone() {
        crate::failpoint::arm(armed);
    }
    let numbers = config.operator.as_ref().map_or(0, |operator| operator.numbers.len());
    let told = format!(
        "The operator takes orders from {} over {}. Its home is {}. Ctrl-C ends it.",
        if numbers == 1 { "one number".to_owned() } else { format!("{numbers} numbers") },
        setup.channel.name(),
        setup.home.path().display()
    );
    let channel = setup.channel.name();
    let beside: Beside = Box::new(move |app: &App| {
        let address = app.address();
        let status = app.channels().get(channel).map(|open| open.channel.status());
        async move {
            say(|screen| screen.line(format!("{told} The page: http://{address}/#operator")));
            if let Some(status) = status {
                watch_channel(status).await;
            }
        }
        .boxed()
    });
    let code = runtime.block_on(serve::serve(config, scrubber, Some(beside)));
    runtime.shutdown_background();
    Ok(code)
}

/// Starts this program again in its place, with the same arguments. The session of WhatsApp was put
/// aside already, if that was asked for.
fn again() -> ExitCode {
    let Ok(program) = std::env::current_exe() else { return ExitCode::FAILURE };
    let arguments = std::env::args_os().skip(1).filter(|argument| argument != "--reset-whatsapp");
    let error = Command::new(program).args(arguments).exec();
    super::failed(&anyhow::Error::new(CliError::Failed(format!("the operator could not start again: {error}"))))
}

/// Holds the home, so that an operator that runs on it keeps its session of WhatsApp, whatever
/// address its page has. `None` if the home cannot be held for another reason: the server says it.
fn alone(home: &Path, resets: bool) -> Result<Option<DataFolder>, CliError> {
    match DataFolder::take(home, &SystemRandom) {
        Ok(held) => Ok(Some(held)),
        Err(FolderError::Taken(home)) => Err(CliError::Failed(format!(
            "an operator runs on {} already: end it first, or name another home with --home",
            home.display()
        ))),
        Err(error) if resets => Err(CliError::Failed(format!("{:#}", anyhow::Error::from(error)))),
        Err(_) => Ok(None),
    }
}

/// Shows in the terminal how the channel stands, at each change, and each QR code.
async fn watch_channel(mut status: watch::Receiver<ChannelStatus>) {
    let (mut qr, mut code, mut state) = (None, None, None);
    loop {
        let now = status.borrow_and_update().clone();
        if now.state == ChannelState::NeedsScan {
            let news = (now.qr.is_some() && now.qr != qr) || (now.pairing_code.is_some() && now.pairing_code != code);
            if news {
                let shown = code_to_scan(now.qr.as_deref(), now.pairing_code.as_deref(), Terminal { columns: columns() });
                say(|screen| {
                    shown.words.iter().try_for_each(|line| screen.line(line))?;
                    screen.code(&shown.code)
                });
            }
        } else if state != Some(now.state) {
            let why = now.reason.as_deref().map(|why| format!(": {why}")).unwrap_or_default();
            let whose = now.address.as_deref().map(|address| format!(" as {address}")).unwrap_or_default();
            let until = now.until.map(|until| until.format(" until %Y-%m-%d %H:%M UTC").to_string()).unwrap_or_default();
            say(|screen| screen.line(format!("The channel is {}{whose}{until}{why}", now.state)));
        }
        (qr, code, state) = (now.qr, now.pairing_code, Some(now.state));
        if status.changed().await.is_err() {
            return;
        }
    }
}

/// Prints for the person at the terminal. Texts of the channel are among it, so all of it goes by
/// the screen, which lets none act. There is nowhere else to say that the terminal is gone.
fn say(print: impl FnOnce(&mut Screen<'_>) -> io::Result<()>) {
    let mut out = io::stdout().lock();
    let terminal = out.is_terminal();
    let printed = print(&mut Screen { out: &mut out, json: false, terminal });
    let _ = printed.and_then(|()| out.flush());
}

/// The columns of the terminal.
fn columns() -> Option<u16> {
    if !io::stdout().is_terminal() {
        return None;
    }
    let mut size = libc::winsize { ws_row: 0, ws_col: 0, ws_xpixel: 0, ws_ypixel: 0 };
    // SAFETY: the kernel fills the structure, which lives as long as the call.
    let asked = unsafe { libc::ioctl(libc::STDOUT_FILENO, libc::TIOCGWINSZ, &mut size) };
    // A terminal that does not say its size has room, as far as anybody knows.
    Some(if asked == 0 && size.ws_col > 0 { size.ws_col } else { u16::MAX })
}
