//! A person's browser: Chromium with an open port and a profile of its own, as the documents say to
//! start it.

use std::io::Write;
use std::path::Path;
use std::process::Stdio;

use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};

use super::in_time;

/// A browser that runs until it is dropped.
pub struct Chromium {
    _child: Child,
    profile: TempDir,
    /// The address of its websocket.
    pub socket: String,
}

impl Chromium {
    /// Starts one; `None` if there is none here and this is not CI.
    pub async fn start() -> Option<Self> {
        let profile = tempfile::tempdir().unwrap();
        // A file that a page makes goes with the profile.
        let downloads = json!({"download": {"default_directory": profile.path().join("downloads")}});
        std::fs::create_dir(profile.path().join("Default")).unwrap();
        std::fs::write(profile.path().join("Default/Preferences"), downloads.to_string()).unwrap();
        let mut command = Command::new("chromium");
        command.args(["--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-dev-shm-usage"]);
        command.args([
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            "--remote-debugging-port=0",
        ]);
        command.arg(format!("--user-data-dir={}", profile.path().display())).arg("about:blank");
        let spawned = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).kill_on_drop(true).spawn();
        let mut child = match spawned {
            Ok(child) => child,
            Err(error) if std::env::var("CI").is_err() => {
                // Past the test harness, which would hide the output of a test that passes.
                let _ = writeln!(
                    std::io::stderr(),
                    "\n!!! SKIPPED: a story of the browser of campaigns, because Chromium cannot be started ({error}). `./run.sh test` \
                     installs it.\n"
                );
                return None;
            }
            Err(error) => panic!("Chromium cannot be started, and under CI no story is skipped: {error}"),
        };
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let listening = async {
            while let Some(line) = lines.next_line().await.unwrap() {
                if let Some((_, socket)) = line.split_once("DevTools listening on ") {
                    return socket.trim().to_owned();
                }
            }
            panic!("Chromium ended before it listened");
        };
        let socket = in_time("Chromium that listens", listening).await;
        // A full pipe would hold it up.
        tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
        Some(Self { _child: child, profile, socket })
    }

    /// The folder of its profile.
    pub fn profile(&self) -> &Path {
        self.profile.path()
    }

    /// The form of the setting with a port.
    pub fn port(&self) -> String {
        let rest = self.socket.strip_prefix("ws://").unwrap();
        format!("http://{}", rest.split_once('/').unwrap().0)
    }

    /// The pages that are open.
    pub async fn pages(&self) -> Vec<Value> {
        let listed: Vec<Value> =
            super::api::client().get(format!("{}/json/list", self.port())).send().await.unwrap().json().await.unwrap();
        listed.into_iter().filter(|target| target["type"] == "page").collect()
    }

    /// Closes a tab, as the person would.
    pub async fn close(&self, tab: &str) {
        let closed = super::api::client().get(format!("{}/json/close/{tab}", self.port())).send().await.unwrap();
        assert!(closed.status().is_success(), "{closed:?}");
    }
}
