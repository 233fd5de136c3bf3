//! The program that speaks with WhatsApp, as `init` sees it: found, built with the person's own
//! cargo if there is none, and given their consent. It is a package of its own that nobody ships.

use std::fs::DirBuilder;
use std::io::ErrorKind;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::RelayCliError;
use super::ask_person::asked;
use super::home::RelayHome;
use super::settings::HomeConfig;

/// The name of the program.
const NAME: &str = "level3-whatsapp";
/// Its package, in the sources of level3.
const PACKAGE: &str = "channels/whatsapp";
/// The program's record of the consent, in its folder.
const RECORD: &str = "consent.json";
/// The risk, for a person who is not at a terminal; the program shows more.
const RISK: &str = "WhatsApp may block an account that sends messages automatically, and its terms do not allow it. \
    You take full responsibility. Relay keeps a slow pace and writes only for the objectives you give it.";
/// How to try Relay without it.
const WITHOUT: &str = "relay init --channel loopback tries Relay without WhatsApp";

/// The person's word about WhatsApp, from options and terminal.
#[derive(Clone, Copy, Debug)]
pub(super) struct WhatsAppWord {
    /// True if the risk is taken on the command line.
    pub(super) consent: bool,
    /// True if the program may be built without being asked about.
    pub(super) build: bool,
    /// True if a person can be asked.
    pub(super) at_terminal: bool,
}

/// The program: the one that is set, else that of `LEVEL3_WHATSAPP`, else the one beside `relay`,
/// else one that is built now.
pub(super) fn program(
    config: &HomeConfig,
    named: Option<&Path>,
    relay: &Path,
    word: WhatsAppWord,
) -> Result<PathBuf, RelayCliError> {
    if let Some(program) = config.whatsapp.program.as_deref().or(named) {
        return there(program).ok_or_else(|| {
            let told = format!(
                "whatsapp-program: there is no program {}; name one, or leave it out to have it found",
                program.display()
            );
            RelayCliError::Usage(told)
        });
    }
    let package = relay.ancestors().map(|folder| folder.join(PACKAGE)).find(|package| package.join("Cargo.toml").is_file());
    let built = package.as_ref().map(|package| package.join("target/release").join(NAME));
    let beside = there(&relay.with_file_name(NAME));
    if let Some(program) = beside.or_else(|| there(built.as_deref()?)) {
        return Ok(program);
    }
    let (Some(package), Some(built)) = (package, built) else {
        let told = format!(
            "there is no program {NAME} beside relay, and no sources to build it from: clone level3 and build it there, or name one with \
             --whatsapp-program FILE. {WITHOUT}"
        );
        return Err(RelayCliError::Refused(told));
    };
    build(&package, word)?;
    there(&built).ok_or_else(|| RelayCliError::Refused(format!("cargo made no {}; {WITHOUT}", built.display())))
}

fn there(program: &Path) -> Option<PathBuf> {
    program.is_file().then(|| program.canonicalize().ok()).flatten()
}

/// Builds the program where its sources are, before the eyes of the person.
fn build(package: &Path, word: WhatsAppWord) -> Result<(), RelayCliError> {
    let manifest = package.join("Cargo.toml");
    match Command::new("cargo").arg("--version").stdin(Stdio::null()).output() {
        Ok(ran) if ran.status.success() => {}
        Err(error) if error.kind() != ErrorKind::NotFound => return Err(RelayCliError::file(Path::new("cargo"))(error)),
        Ok(_) | Err(_) => {
            let told = format!(
                "the WhatsApp program has to be built, and there is no cargo: install Rust from https://rustup.rs and come again. {WITHOUT}"
            );
            return Err(RelayCliError::Refused(told));
        }
    }
    let cost = "it takes some 12 minutes of processor time, 2 GB of memory and 3 GB of disk, once";
    if !word.build {
        if !word.at_terminal {
            let told = format!(
                "the WhatsApp program is not built yet ({}); {cost}. If you want that: relay init --channel whatsapp --build-whatsapp. {WITHOUT}",
                package.display()
            );
            return Err(RelayCliError::Refused(told));
        }
        let question = format!(
            "The WhatsApp program is not built yet. Build it in {} with your cargo? {cost}.\nType yes to build it: ",
            package.display()
        );
        if asked(&question)? != "yes" {
            return Err(RelayCliError::Refused(format!("nothing was built. {WITHOUT}")));
        }
    }
    // The words of cargo go to standard error, so that the answer stays alone on standard output.
    let building = Command::new("cargo")
        .args(["build", "--release", "--locked", "--manifest-path"])
        .arg(&manifest)
        .arg("--target-dir")
        .arg(package.join("target"))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .status();
    let ended = building.map_err(RelayCliError::file(Path::new("cargo")))?;
    if ended.success() {
        return Ok(());
    }
    Err(RelayCliError::Refused(format!("cargo did not build the WhatsApp program; its words stand above. {WITHOUT}")))
}

/// Gives the program the person's consent, which it records in its own folder: by an option, or by
/// asking at the terminal in its own words.
pub(super) fn consent(home: &RelayHome, program: &Path, word: WhatsAppWord) -> Result<(), RelayCliError> {
    if !word.consent && !word.at_terminal {
        return Err(refused_without_consent());
    }
    let folder = home.data().join("channels/whatsapp");
    DirBuilder::new().recursive(true).mode(0o700).create(&folder).map_err(RelayCliError::file(&folder))?;
    let mut command = Command::new(program);
    command.arg("consent").arg("--folder").arg(&folder);
    if word.consent {
        let ran = command.arg("--accept-risk").stdin(Stdio::null()).output().map_err(RelayCliError::file(program))?;
        if ran.status.success() {
            return Ok(());
        }
        let said = String::from_utf8_lossy(&ran.stderr).trim().to_owned();
        let told = format!("{} does not take the consent: {said}; name another with --whatsapp-program FILE", program.display());
        return Err(RelayCliError::Refused(told));
    }
    let ended = command.status().map_err(RelayCliError::file(program))?;
    if ended.success() { Ok(()) } else { Err(refused_without_consent()) }
}

/// True if the program has a record of a consent.
pub(super) fn has_consent(home: &RelayHome) -> bool {
    home.data().join("channels/whatsapp").join(RECORD).is_file()
}

/// The consent for a level3 that runs already, whose program has its folder elsewhere.
pub(super) fn consent_for_server(word: WhatsAppWord) -> Result<(), RelayCliError> {
    if word.consent || word.at_terminal && asked(&format!("{RISK}\nType yes to go on: "))? == "yes" {
        return Ok(());
    }
    Err(refused_without_consent())
}

fn refused_without_consent() -> RelayCliError {
    RelayCliError::Refused(format!(
        "WhatsApp needs your consent: {RISK} If you agree: relay init --channel whatsapp --consent. {WITHOUT}"
    ))
}
