//! The WhatsApp program of the operator: found or built, the consent to its risk, and its QR code
//! in the terminal.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::home::OperatorHome;
use super::settings::{OperatorSetup, asked};
use crate::cli::relay::qr_lines;
use crate::cli::{CliError, Screen};
use crate::config::program_at;

/// The name of the program.
const PROGRAM: &str = "level3-whatsapp";
/// The folder of its sources, in those of level3.
const SOURCES: &str = "channels/whatsapp";
/// The way to go on without it.
const WITHOUT: &str = "Or try everything without WhatsApp: level3 operator --channel loopback";
/// The columns of the widest QR code.
const WIDE: u16 = 53;

/// Finds or builds the program, asks for the consent to its risk, and for the number of the account
/// if only a pairing code has room in the terminal.
pub(super) fn prepare(
    setup: &mut OperatorSetup,
    accepts: bool,
    terminal: Terminal,
    screen: &mut Screen<'_>,
) -> Result<(), CliError> {
    let folder = setup.home.whatsapp()?;
    let path = setup.environment.path.as_deref();
    let program = match setup.program.as_deref() {
        Some(named) => program_at(named, path).ok_or_else(|| {
            let named = named.display();
            CliError::Usage(format!("there is no program {named}: `whatsapp_program` or LEVEL3_WHATSAPP names it. {WITHOUT}"))
        })?,
        None => match beside() {
            Some(program) => program,
            None => built(path, terminal.columns.is_some(), screen)?,
        },
    };
    agreed(&program, &folder, accepts)?;
    if terminal.is_narrow() && (setup.resets || !setup.home.has_session()) {
        setup.ask_account(asked)?;
    }
    setup.program = Some(program);
    Ok(())
}

/// Puts the session aside, so that the server shows a new QR code. The caller holds the home: no
/// server runs on it.
///
/// # Errors
/// If it cannot be moved.
pub fn reset_session(home: &OperatorHome, screen: &mut Screen<'_>) -> Result<(), CliError> {
    screen.line(match home.reset_session()? {
        Some(aside) => format!("The WhatsApp session is put aside: {}", aside.display()),
        None => "There was no WhatsApp session.".to_owned(),
    })?;
    Ok(())
}

/// The program where a build puts it: beside this one, or below its sources.
fn beside() -> Option<PathBuf> {
    let own = std::env::current_exe().ok()?.with_file_name(PROGRAM);
    let in_sources = sources().map(|sources| sources.join("target/release").join(PROGRAM));
    [Some(own), in_sources].into_iter().flatten().find(|program| program.is_file())
}

/// The sources of the program: below this folder, or below that of this program's own build.
fn sources() -> Option<PathBuf> {
    let here = std::env::current_dir().ok();
    let own = std::env::current_exe().ok();
    let up = own.iter().flat_map(|program| program.ancestors().skip(1)).map(Path::to_owned);
    here.into_iter().chain(up).map(|folder| folder.join(SOURCES)).find(|folder| folder.join("Cargo.toml").is_file())
}

/// Builds the program with the person's cargo, if the person wants it.
fn built(path: Option<&str>, at_terminal: bool, screen: &mut Screen<'_>) -> Result<PathBuf, CliError> {
    let Some(sources) = sources() else {
        let told = format!(
            "there is no {PROGRAM}, and its sources ({SOURCES} of level3) are not here: start this in the folder of level3's sources, or name \
             the program with LEVEL3_WHATSAPP. {WITHOUT}"
        );
        return Err(CliError::Usage(told));
    };
    let found = path.unwrap_or_default().split(':').map(|folder| Path::new(folder).join("cargo")).find(|cargo| cargo.is_file());
    let Some(cargo) = found else {
        let told = format!(
            "{PROGRAM} has to be built, and there is no cargo: install Rust (https://rustup.rs) and start again. {WITHOUT}"
        );
        return Err(CliError::Usage(told));
    };
    screen.line(format!(
        "{PROGRAM} is not built yet. Its licence is the AGPL-3.0, so it does not come with level3. Building takes about ten minutes, once."
    ))?;
    if !at_terminal || asked("Type yes to build it now: ")? != "yes" {
        let told = format!(
            "build it yourself: cargo build --release --locked --manifest-path {}/Cargo.toml. {WITHOUT}",
            sources.display()
        );
        return Err(CliError::Usage(told));
    }
    let built = building(&cargo, &sources).status();
    let program = sources.join("target/release").join(PROGRAM);
    match built {
        Ok(status) if status.success() && program.is_file() => Ok(program),
        Ok(_) => Err(CliError::Failed(format!("{PROGRAM} was not built; the lines above say why. {WITHOUT}"))),
        Err(error) => Err(CliError::Failed(format!("cargo does not run: {error}. {WITHOUT}"))),
    }
}

/// The build. Its folder is named, since the person's cargo may be told of another one.
fn building(cargo: &Path, sources: &Path) -> Command {
    let mut command = Command::new(cargo);
    command.args(["build", "--release", "--locked", "--target-dir", "target"]).current_dir(sources).stdin(Stdio::null());
    command
}

/// Has the program show the risk and ask for the consent, which it keeps; nothing if it was given.
fn agreed(program: &Path, folder: &Path, accepts: bool) -> Result<(), CliError> {
    let mut command = Command::new(program);
    command.arg("consent").arg("--folder").arg(folder);
    if accepts {
        command.arg("--accept-risk");
    }
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(_) => Err(CliError::Failed(format!("without your yes to the risk nothing is connected to WhatsApp. {WITHOUT}"))),
        Err(error) => Err(CliError::Failed(format!("{} does not run: {error}. {WITHOUT}", program.display()))),
    }
}

/// The terminal, as far as a QR code needs to know it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Terminal {
    /// Its columns; `None` if there is no terminal.
    pub columns: Option<u16>,
}

impl Terminal {
    /// True if a QR code may have no room in it.
    fn is_narrow(self) -> bool {
        self.columns.is_some_and(|columns| columns < WIDE)
    }
}

/// A QR code for the person at the terminal.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CodeToScan {
    /// The words: what to do, and the pairing code if the QR code has no room.
    pub words: Vec<String>,
    /// The QR code below them, as lines of half blocks; none if it has no room.
    pub code: Vec<String>,
}

/// The words and lines of a QR code; those of a pairing code if the QR code has no room.
pub fn code_to_scan(qr: Option<&str>, pairing_code: Option<&str>, terminal: Terminal) -> CodeToScan {
    let drawn = qr.and_then(qr_lines);
    let wide = drawn.as_ref().and_then(|lines| lines.first().map(|line| line.chars().count()));
    match (drawn, wide, terminal.columns) {
        (Some(code), Some(wide), Some(columns)) if usize::from(columns) >= wide => {
            let head = "Scan this code: WhatsApp on the phone, Settings, Linked devices, Link a device.".to_owned();
            CodeToScan { words: vec![head], code }
        }
        (_, wide, _) => match pairing_code {
            Some(code) => {
                let told = "WhatsApp on the phone, Settings, Linked devices, Link with phone number, and then this code:";
                CodeToScan { words: vec![told.to_owned(), format!("    {code}")], code: Vec::new() }
            }
            None => {
                let wide = wide.map_or_else(String::new, |wide| format!(" at least {wide} columns wide"));
                let why = if terminal.columns.is_some() { "has no room here" } else { "cannot be shown without a terminal" };
                let words = vec![
                    format!("A QR code waits and {why}. Use a terminal{wide}, or scan it in the page's place Operator."),
                    "For a code to type instead, write the number that is to be linked into config.json, like \"account\": \
                     \"+491711111111\", and start again."
                        .to_owned(),
                ];
                CodeToScan { words, code: Vec::new() }
            }
        },
    }
}

#[cfg(test)]
mod tests;
