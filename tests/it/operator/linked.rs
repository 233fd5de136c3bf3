//! `level3 operator` without a WhatsApp program: it says what is missing, builds the program if its
//! person wants it, and connects nothing without a yes to the risk. Program and cargo are small
//! scripts.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use serde_json::json;
use tempfile::TempDir;
use tokio::process::Command;

use super::terminal::{Operator, home_with};
use crate::support::{ModelServer, in_time};

/// A WhatsApp program that keeps what it is asked, takes a consent as the real one does, and goes
/// online.
const PROGRAM: &str = r#"#!/bin/sh
if [ "$1" = consent ]; then
  echo "$@" >> "$(dirname "$0")/asked"
  if [ "$4" != --accept-risk ]; then
    echo 'Do you take the risk?'
    read -r answer
    if [ "$answer" != yes ]; then exit 1; fi
  fi
  exit 0
fi
echo '{"kind":"status","state":"online","address":"+491711111111"}'
cat > lines
"#;

/// The way on that every refusal names.
const WITHOUT: &str = "level3 operator --channel loopback";

fn script(path: &Path, body: &str) {
    fs::write(path, body).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

/// The lines that a script kept of what it was asked.
fn asked(script: &Path) -> String {
    fs::read_to_string(script.with_file_name("asked")).unwrap_or_default()
}

/// A clone of level3 with a build in it, and a home. Nothing of the real clone is found from there.
struct Checkout {
    folder: TempDir,
    home: PathBuf,
    level3: PathBuf,
    tools: PathBuf,
}

impl Checkout {
    fn make() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let (home, tools) = (home_with(folder.path()), folder.path().join("tools"));
        let level3 = folder.path().join("clone/target/debug/level3");
        fs::create_dir_all(level3.parent().unwrap()).unwrap();
        fs::create_dir(&tools).unwrap();
        let built = env!("CARGO_BIN_EXE_level3");
        fs::hard_link(built, &level3).or_else(|_| fs::copy(built, &level3).map(drop)).unwrap();
        Self { folder, home, level3, tools }
    }

    fn sources(&self) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join("clone/channels/whatsapp")
    }

    fn with_sources(self) -> Self {
        fs::create_dir_all(self.sources()).unwrap();
        fs::write(self.sources().join("Cargo.toml"), "").unwrap();
        self
    }

    /// A cargo that keeps what it is asked, and does this; `$5` is the folder of what it builds.
    fn with_cargo(self, does: &str) -> Self {
        let asked = self.tools.join("asked");
        let body = format!("#!/bin/sh\necho \"$@\" >> '{}'\necho Compiling level3-whatsapp\n{does}\n", asked.display());
        script(&self.tools.join("cargo"), &body);
        self
    }

    /// The same with one that builds the program.
    fn with_building_cargo(self) -> Self {
        let ready = self.folder.path().join("ready");
        script(&ready, PROGRAM);
        self.with_cargo(&format!("mkdir -p \"$5/release\"\ncp '{}' \"$5/release/level3-whatsapp\"", ready.display()))
    }

    /// The program where a build of its sources puts it.
    fn built(&self) -> PathBuf {
        self.sources().join("target/release/level3-whatsapp")
    }

    /// Runs it without a terminal and with no other tools than ours; the exit code, and all that it
    /// printed.
    async fn run(&self, arguments: &[&str]) -> (Option<i32>, String) {
        let mut command = Command::new(&self.level3);
        command.arg("operator").args(arguments).arg("--home").arg(&self.home).env_clear().env("PATH", &self.tools);
        let ran = command.current_dir(self.folder.path()).stdin(Stdio::null()).output();
        let ran = in_time("its end", ran).await.unwrap();
        (ran.status.code(), String::from_utf8([ran.stdout, ran.stderr].concat()).unwrap())
    }

    /// Starts it in a terminal, with our tools before the others.
    fn in_terminal(&self, model: &ModelServer, arguments: &[&str]) -> Operator {
        let search = format!("{}:{}", self.tools.display(), std::env::var("PATH").unwrap());
        Operator::in_terminal(&self.level3, &self.home, model, arguments, &[("PATH", &search)])
    }

    fn cargo(&self) -> PathBuf {
        self.tools.join("cargo")
    }
}

async fn silent() -> ModelServer {
    ModelServer::start(|_, _| json!({"role": "assistant", "content": "Hello."})).await
}

#[tokio::test]
async fn without_program_sources_cargo_or_a_person_it_says_what_to_do() {
    let (code, told) = Checkout::make().run(&[]).await;
    assert!(code == Some(2) && told.contains("its sources (channels/whatsapp of level3) are not here"), "{code:?}: {told}");
    assert!(told.contains("LEVEL3_WHATSAPP") && told.contains(WITHOUT), "{told}");

    let (code, told) = Checkout::make().with_sources().run(&[]).await;
    assert!(code == Some(2) && told.contains("there is no cargo: install Rust (https://rustup.rs)"), "{code:?}: {told}");
    assert!(told.contains(WITHOUT), "{told}");

    // Nobody is there who could want it, so nothing is built, whatever risk is taken.
    let clone = Checkout::make().with_sources().with_building_cargo();
    let (code, told) = clone.run(&["--accept-risk"]).await;
    assert!(code == Some(2) && told.contains("about ten minutes") && told.contains("AGPL-3.0"), "{code:?}: {told}");
    let by_hand = format!("cargo build --release --locked --manifest-path {}/Cargo.toml", clone.sources().display());
    assert!(told.contains(&by_hand) && told.contains(WITHOUT), "{told}");
    assert_eq!(asked(&clone.cargo()), "");
}

#[tokio::test]
async fn a_build_that_nobody_wants_or_that_fails_connects_nothing() {
    let model = silent().await;
    let clone = Checkout::make().with_sources().with_cargo("exit 101");
    let mut operator = clone.in_terminal(&model, &[]);
    operator.answers("Type yes to build it now: ", "y").await;
    operator.printed_again("build it yourself: cargo build", 1).await;
    operator.ends_with(2).await;
    assert_eq!(asked(&clone.cargo()), "");

    let mut operator = clone.in_terminal(&model, &[]);
    operator.answers("Type yes to build it now: ", "yes").await;
    operator.printed_again("Compiling level3-whatsapp", 1).await;
    operator.printed_again("level3-whatsapp was not built; the lines above say why", 1).await;
    operator.printed_again(WITHOUT, 1).await;
    operator.ends_with(1).await;
    assert_eq!(asked(&clone.cargo()), "build --release --locked --target-dir target\n");
}

#[tokio::test]
async fn the_program_is_built_once_and_connects_after_a_yes_to_the_risk() {
    let model = silent().await;
    let clone = Checkout::make().with_sources().with_building_cargo();
    let consent = format!("consent --folder {}", clone.home.join("channels/whatsapp").display());
    let mut operator = clone.in_terminal(&model, &[]);
    operator.answers("Type yes to build it now: ", "yes").await;
    operator.answers("Do you take the risk?", "no").await;
    operator.printed_again("without your yes to the risk nothing is connected to WhatsApp", 1).await;
    operator.printed_again(WITHOUT, 1).await;
    operator.ends_with(1).await;
    assert_eq!(asked(&clone.built()), format!("{consent}\n"));
    assert!(!clone.home.join("channels/whatsapp/lines").exists(), "it was started without a yes");

    // It is there now, and its risk may be taken beforehand.
    let mut operator = clone.in_terminal(&model, &["--accept-risk"]);
    operator.printed("The channel is online as +491711111111").await;
    operator.ends_by(libc::SIGTERM).await;
    assert_eq!(asked(&clone.built()), format!("{consent}\n{consent} --accept-risk\n"));
    assert_eq!(asked(&clone.cargo()).lines().count(), 1);
}
