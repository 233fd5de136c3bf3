//! A person at a terminal: a command runs in a real one, made by `script`; what it prints is read,
//! and a QR code on it is scanned with a camera's eyes.

use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::sync::{Arc, Mutex};

use rqrr::PreparedImage;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, ChildStdin, Command};

use crate::program::{PATIENCE, comes};

/// The pixels of a module of a code, and the modules of light around it.
const PIXELS: usize = 4;
const AROUND: usize = 4;

/// The terminal.
pub struct Terminal {
    child: Child,
    keys: ChildStdin,
    seen: Arc<Mutex<Vec<u8>>>,
}

impl Terminal {
    /// Runs a command in a terminal of 100 columns, in this folder and with these settings alone.
    pub fn run(command: &str, folder: &Path, settings: &[(&str, &str)]) -> Self {
        Self::run_in(100, command, folder, settings)
    }

    /// The same in a terminal of so many columns.
    pub fn run_in(columns: u16, command: &str, folder: &Path, settings: &[(&str, &str)]) -> Self {
        let mut terminal = Command::new("script");
        // Kept for the document, if somebody wants it.
        let kept = std::env::var("LEVEL3_TYPESCRIPT").unwrap_or_else(|_| "/dev/null".to_owned());
        terminal.args(["-qefac", &format!("stty cols {columns} rows 60; exec {command}"), &kept]);
        terminal.env_clear().env("PATH", std::env::var("PATH").unwrap_or_default()).env("SHELL", "/bin/sh");
        terminal.env("TERM", "xterm").env("HOME", folder).envs(settings.iter().copied()).current_dir(folder);
        terminal.stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true);
        let mut child = terminal.spawn().expect("`script` makes a terminal (package bsdutils)");
        let (keys, mut screen) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        let seen: Arc<Mutex<Vec<u8>>> = Arc::default();
        let to = Arc::clone(&seen);
        tokio::spawn(async move {
            let mut some = [0; 4096];
            while let Ok(many @ 1..) = screen.read(&mut some).await {
                to.lock().unwrap().extend_from_slice(&some[..many]);
            }
        });
        Self { child, keys, seen }
    }

    /// All that was printed, without what colours it.
    pub fn text(&self) -> String {
        let text = String::from_utf8_lossy(&self.seen.lock().unwrap()).replace('\r', "");
        let mut parts = text.split("\u{1b}[");
        let first = parts.next().unwrap_or_default().to_owned();
        parts.fold(first, |text, part| text + part.split_once('m').map_or("", |(_, rest)| rest))
    }

    /// Waits until it has printed these words.
    pub async fn prints(&self, words: &str) {
        assert!(comes(|| self.text().contains(words)).await, "it never printed `{words}`:\n{}", self.text());
    }

    /// Types.
    pub async fn types(&mut self, keys: &str) {
        self.keys.write_all(keys.as_bytes()).await.unwrap();
        self.keys.flush().await.unwrap();
    }

    /// Waits for a QR code, and reads it as a camera does.
    pub async fn scans(&self) -> String {
        let mut code = None;
        let found = comes(|| {
            code = modules(&self.text()).and_then(|modules| read(&modules));
            code.is_some()
        });
        assert!(found.await, "no QR code:\n{}", self.text());
        code.unwrap()
    }

    /// Waits for a pairing code, and reads it.
    pub async fn reads_code(&self) -> String {
        let mut code = None;
        let shown = comes(|| {
            code = pairing_code(&self.text());
            code.is_some()
        });
        assert!(shown.await, "no pairing code:\n{}", self.text());
        code.unwrap()
    }

    /// Presses Ctrl-C, and waits for the end.
    pub async fn interrupts(mut self) -> ExitStatus {
        self.types("\u{3}").await;
        self.ends().await
    }

    /// Waits for the end.
    pub async fn ends(&mut self) -> ExitStatus {
        let ended = tokio::time::timeout(PATIENCE, self.child.wait()).await;
        ended.unwrap_or_else(|_| panic!("it does not end:\n{}", self.text())).unwrap()
    }
}

/// The pairing code in a text, if it is there whole.
fn pairing_code(text: &str) -> Option<String> {
    let (_, after) = text.split_once("and then this code:\n")?;
    let (line, _) = after.split_once('\n')?;
    Some(line.trim().to_owned())
}

/// The dark modules of the last code in a text, row by row; nothing if it is not there whole.
fn modules(text: &str) -> Option<Vec<Vec<bool>>> {
    let is_row = |line: &&str| line.chars().count() > 20 && line.chars().all(|cell| " ▀▄█".contains(cell)) && line.contains('█');
    let lines: Vec<&str> = text.lines().collect();
    let end = lines.iter().rposition(is_row)? + 1;
    let begin = lines[..end].iter().rposition(|line| !is_row(line))? + 1;
    let rows = &lines[begin..end];
    let wide = rows[0].chars().count();
    if rows.len() != wide.div_ceil(2) {
        return None;
    }
    let half = |row: &str, light: &str| row.chars().map(|cell| !light.contains(cell)).collect::<Vec<_>>();
    Some(rows.iter().flat_map(|row| [half(row, "▀█"), half(row, "▄█")]).collect())
}

/// The text of a code.
fn read(modules: &[Vec<bool>]) -> Option<String> {
    let side = (modules.len().max(modules[0].len()) + 2 * AROUND) * PIXELS;
    let is_dark = |x: usize, y: usize| {
        let at = |place: usize| (place / PIXELS).checked_sub(AROUND);
        at(y).zip(at(x)).is_some_and(|(row, cell)| modules.get(row).and_then(|row| row.get(cell)).is_some_and(|dark| *dark))
    };
    let mut image = PreparedImage::prepare_from_bitmap(side, side, is_dark);
    image.detect_grids().first()?.decode().ok().map(|(_, text)| text)
}
