//! The real program in a story: started as level3 starts it, spoken with over its stdin and stdout.

use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};

use crate::mock::Mock;

/// How long anything may take: debug builds on a busy machine.
pub const PATIENCE: Duration = Duration::from_secs(120);

/// The number of the account that the program is linked with.
pub const OURS: &str = "4915100000001";

/// The program's device of that account.
pub const DEVICE: &str = "4915100000001:1";

/// A folder for the program, with the consent in it.
pub struct Home(tempfile::TempDir);

impl Home {
    /// A folder in which somebody agreed.
    pub fn new() -> Self {
        let home = Self::without_consent();
        let agreed = std::process::Command::new(env!("CARGO_BIN_EXE_level3-whatsapp"))
            .args(["consent", "--accept-risk", "--folder"])
            .arg(home.path())
            .output()
            .unwrap();
        assert!(agreed.status.success(), "{agreed:?}");
        home
    }

    /// A folder in which nobody agreed.
    pub fn without_consent() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    /// The folder.
    pub fn path(&self) -> PathBuf {
        self.0.path().join("whatsapp")
    }
}

/// The running program.
pub struct Program {
    child: Child,
    stdin: Option<ChildStdin>,
    stdout: Lines<BufReader<ChildStdout>>,
    /// Every line that it said.
    pub said: Vec<Value>,
}

impl Program {
    /// Starts it and says nothing yet. A minute of its pauses takes 100 ms.
    pub fn mute(mock: &Mock, home: &Home) -> Self {
        std::fs::create_dir_all(home.path()).unwrap();
        let mut child = Command::new(env!("CARGO_BIN_EXE_level3-whatsapp"))
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .env("HOME", home.path())
            .env("LEVEL3_WHATSAPP_SERVER", mock.url())
            .env("LEVEL3_WHATSAPP_MINUTE_MS", "100")
            .envs(std::env::var_os("LEVEL3_WHATSAPP_LOG").map(|value| ("LEVEL3_WHATSAPP_LOG", value)))
            .current_dir(home.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let stdout = BufReader::new(child.stdout.take().unwrap()).lines();
        Self { stdin: child.stdin.take(), child, stdout, said: Vec::new() }
    }

    /// Starts it, with `start` said.
    pub async fn start(mock: &Mock, home: &Home) -> Self {
        let mut program = Self::mute(mock, home);
        program.order(start(&home.path())).await;
        program
    }

    /// Starts it, scans its code and waits until it is online.
    pub async fn paired(mock: &Mock, home: &Home) -> Self {
        let mut program = Self::start(mock, home).await;
        let qr = program.until(|line| line["kind"] == "qr").await;
        mock.scan(qr["text"].as_str().unwrap(), OURS, 1);
        program.status("online").await;
        program
    }

    /// Says a line to it.
    pub async fn order(&mut self, line: Value) {
        self.raw(&format!("{line}\n")).await;
    }

    /// Says something to it.
    pub async fn raw(&mut self, text: &str) {
        self.stdin.as_mut().unwrap().write_all(text.as_bytes()).await.unwrap();
    }

    /// The next line that it says, or nothing at its end.
    pub async fn line(&mut self) -> Option<Value> {
        let line = tokio::time::timeout(PATIENCE, self.stdout.next_line()).await;
        let line = line.unwrap_or_else(|_| panic!("it says nothing more; it said {:#?}", self.said)).unwrap()?;
        let value: Value = serde_json::from_str(&line).unwrap();
        self.said.push(value.clone());
        Some(value)
    }

    /// The first line from now on that is wanted.
    pub async fn until(&mut self, wanted: impl Fn(&Value) -> bool) -> Value {
        let begun = std::time::Instant::now();
        loop {
            assert!(begun.elapsed() < PATIENCE, "it never said it; it said {:#?}", self.said);
            match self.line().await {
                Some(line) if wanted(&line) => return line,
                Some(_) => {}
                None => panic!("it ended; it said {:#?}", self.said),
            }
        }
    }

    /// The first line that is wanted, of those that it has said already too: receipts come in any
    /// order.
    pub async fn ever(&mut self, wanted: impl Fn(&Value) -> bool) -> Value {
        match self.said.iter().find(|line| wanted(line)) {
            Some(line) => line.clone(),
            None => self.until(wanted).await,
        }
    }

    /// Hears it for a while, for words that must not come.
    pub async fn listens(&mut self) {
        self.listens_for(Duration::from_millis(1500)).await;
    }

    /// The same, for so long.
    pub async fn listens_for(&mut self, long: Duration) {
        let end = tokio::time::Instant::now() + long;
        while let Ok(line) = tokio::time::timeout_at(end, self.stdout.next_line()).await {
            let line = line.unwrap().unwrap_or_else(|| panic!("it ended; it said {:#?}", self.said));
            self.said.push(serde_json::from_str(&line).unwrap());
        }
    }

    /// True if it has said a line of this kind.
    pub fn has_said(&self, kind: &str) -> bool {
        self.said.iter().any(|line| line["kind"] == kind)
    }

    /// The next status with this state.
    pub async fn status(&mut self, state: &str) -> Value {
        self.until(|line| line["kind"] == "status" && line["state"] == state).await
    }

    /// The next message that came in with this text.
    pub async fn message(&mut self, text: &str) -> Value {
        self.until(|line| line["kind"] == "message" && line["text"] == text).await
    }

    /// Accepts a message.
    pub async fn accept(&mut self, message: &Value) {
        self.order(json!({"kind": "accepted", "from": message["from"], "id": message["id"]})).await;
    }

    /// Sends a text under the id that this number makes.
    pub async fn send(&mut self, id: u32, to: &str, text: &str) {
        self.order(json!({"kind": "send", "id": id_of(id), "to": format!("+{to}"), "text": text})).await;
    }

    /// Its answer to what was sent under this id.
    pub async fn answer(&mut self, id: u32) -> Value {
        self.until(|line| (line["kind"] == "sent" || line["kind"] == "refused") && line["id"] == id_of(id)).await
    }

    /// Its memory, as the system tells it.
    pub fn memory(&self) -> String {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id().unwrap())).unwrap();
        status.lines().find(|line| line.starts_with("VmRSS")).unwrap_or_default().to_owned()
    }

    /// Kills it at once.
    pub async fn kill(mut self) {
        self.child.kill().await.unwrap();
    }

    /// Closes its input, and waits for its end.
    pub async fn close(&mut self) -> ExitStatus {
        drop(self.stdin.take());
        tokio::time::timeout(Duration::from_secs(5), self.child.wait()).await.expect("it ends within 5 s").unwrap()
    }

    /// Waits for an end of its own.
    pub async fn end(&mut self) -> ExitStatus {
        tokio::time::timeout(PATIENCE, self.child.wait()).await.expect("it ends").unwrap()
    }
}

/// The first line.
pub fn start(folder: &Path) -> Value {
    json!({"kind": "start", "version": 1, "folder": folder, "media": folder.join("media"), "name": "level3"})
}

/// An id as level3 chooses them.
pub fn id_of(number: u32) -> String {
    format!("{number:032X}")
}

/// Waits until something is true.
pub async fn soon(what: &str, is: impl FnMut() -> bool) {
    assert!(comes(is).await, "it never came to: {what}");
}

/// The same; false if it has not come in time.
pub async fn comes(mut is: impl FnMut() -> bool) -> bool {
    let end = tokio::time::Instant::now() + PATIENCE;
    while tokio::time::Instant::now() < end {
        if is() {
            return true;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    false
}
