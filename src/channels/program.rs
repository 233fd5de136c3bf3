//! A channel that is another program: started, watched, and started again. It gets no environment
//! of ours, and is spoken to over stdin and stdout.

use std::collections::{BTreeMap, HashMap};
use std::fs::DirBuilder;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Component, Path, PathBuf};
use std::process::Stdio;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use chrono::TimeDelta;
use futures::FutureExt;
use futures::future::BoxFuture;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::process::{Child, ChildStderr, ChildStdout, Command};
use tokio::sync::{mpsc, oneshot, watch};
use tokio_util::sync::CancellationToken;

use super::inbox::{IncomingFile, IncomingMessage};
use super::media;
use super::protocol::{FromProgram, MOST_LINE, ProgramMedia, ReceiptState, SentMedia, ToProgram, VERSION};
use super::{ChannelFeatures, ChannelStatus, ContactChannel, Inbox};
use crate::clock::Clock;
use crate::domain::relay::{ChannelState, MediaNote};
use crate::store::{Came, ClaimedMessage, SendEnd, StoreError};

/// The shortest and the longest pause before a program is started again, in seconds.
const PAUSES: (i64, i64) = (1, 60);
/// A program that ran for so long begins anew with the shortest.
const RAN_WELL: TimeDelta = TimeDelta::seconds(60);
/// The pauses before a message that could not be kept is tried again, in seconds. Together they are
/// shorter than [`ANSWER`]: meanwhile no line is read.
const TRIED_AGAIN: [i64; 3] = [1, 2, 4];
/// How long a program has to answer about a message.
const ANSWER: Duration = Duration::from_secs(30);
/// How long it has to end by itself.
const ENDING: Duration = Duration::from_secs(5);
/// Of a line of its log so many bytes are kept.
const MOST_LOGGED: usize = 2 << 10;
/// The code of a refusal that says that the account is locked.
const LOCKED: &str = "403";
/// The folder for its files, within its own.
const MEDIA: &str = "media";
/// The folder of the files that it sends, in that.
const OUT: &str = "out";

/// A channel program.
pub struct Program {
    name: &'static str,
    path: PathBuf,
    folder: PathBuf,
    environment: BTreeMap<String, String>,
    /// The folder of files that are kept, from which those that we send are copied.
    kept: PathBuf,
    /// The number for which a pairing code is wanted.
    pair: Option<String>,
    clock: Arc<dyn Clock>,
    status: watch::Sender<ChannelStatus>,
    /// The way to the program that runs.
    lines: Mutex<Option<mpsc::UnboundedSender<String>>>,
    /// The attempts that wait for an answer, by their id at the peer.
    waiting: Mutex<HashMap<String, oneshot::Sender<SendEnd>>>,
}

/// The reason why a run of the program is over.
enum Over {
    /// The server ends.
    Shutdown,
    /// The program ended, or does not read any more.
    Ended,
    /// It said something that this version does not understand.
    Misspoke(String),
    /// A message of it cannot be kept. It waits for `accepted` without limit, and brings the
    /// message again only after a start.
    Unkept(StoreError),
}

impl Program {
    /// The program at `path`, which lives in `folder`. Of the server's environment it gets PATH
    /// alone.
    pub fn new(
        name: &'static str,
        path: PathBuf,
        folder: PathBuf,
        programs: &BTreeMap<String, String>,
        kept: PathBuf,
        clock: Arc<dyn Clock>,
    ) -> Self {
        let status = watch::Sender::new(ChannelStatus::of(ChannelState::Connecting, clock.now()));
        let found = programs.get("PATH").map(|path| ("PATH".to_owned(), path.clone()));
        let home = ("HOME".to_owned(), folder.display().to_string());
        Self {
            name,
            path,
            folder,
            environment: found.into_iter().chain([home]).collect(),
            kept,
            pair: None,
            clock,
            status,
            lines: Mutex::default(),
            waiting: Mutex::default(),
        }
    }

    /// The same, which also asks for a pairing code for this number.
    pub fn paired_with(self, pair: Option<String>) -> Self {
        Self { pair, ..self }
    }

    fn set(&self, state: ChannelState, reason: Option<String>) {
        self.change(|status| *status = ChannelStatus { reason, ..ChannelStatus::of(state, status.since) });
    }

    /// Changes the status. A state that is told again has been there since it came.
    fn change(&self, change: impl FnOnce(&mut ChannelStatus)) {
        self.status.send_modify(|status| {
            let (state, since) = (status.state, status.since);
            change(status);
            status.since = if status.state == state { since } else { self.clock.now() };
        });
    }

    /// Takes the account for locked, since the service said so about a message. Nothing is sent
    /// until the program tells of another state.
    fn lock(&self, reason: &str) {
        self.change(|status| {
            if status.state == ChannelState::Online {
                (status.state, status.reason) = (ChannelState::Locked, Some(format!("{LOCKED}: {reason}")));
            }
        });
    }

    fn say(&self, line: &ToProgram<'_>) -> bool {
        held(&self.lines).as_ref().is_some_and(|lines| lines.send(line.line()).is_ok())
    }

    fn settle(&self, id: &str, end: SendEnd) -> Option<SendEnd> {
        match held(&self.waiting).remove(id) {
            Some(waits) => waits.send(end).err(),
            None => Some(end),
        }
    }

    /// Starts the program once, and stays with it until it ends.
    async fn run_once(&self, inbox: &Inbox, shutdown: &CancellationToken) -> io::Result<Over> {
        let media = self.folder.join(MEDIA);
        DirBuilder::new().recursive(true).mode(0o700).create(&media)?;
        // Files of attempts whose end nobody heard: an earlier run of the program had them, or an
        // earlier server.
        let _ = tokio::fs::remove_dir_all(media.join(OUT)).await;
        let mut child = Command::new(&self.path)
            .env_clear()
            .envs(&self.environment)
            .current_dir(&self.folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            // Ctrl-C in the terminal is for the server, which then ends the program.
            .process_group(0)
            .kill_on_drop(true)
            .spawn()?;
        let missing = || io::Error::other("the program has no pipes");
        let mut stdin = child.stdin.take().ok_or_else(missing)?;
        let stdout = child.stdout.take().ok_or_else(missing)?;
        let logging = tokio::spawn(log(self.name, child.stderr.take().ok_or_else(missing)?));
        let (lines, mut written) = mpsc::unbounded_channel::<String>();
        *held(&self.lines) = Some(lines);
        let writing = tokio::spawn(async move {
            while let Some(line) = written.recv().await {
                if stdin.write_all(line.as_bytes()).await.is_err() || stdin.flush().await.is_err() {
                    return;
                }
            }
        });
        self.say(&ToProgram::Start {
            version: VERSION,
            folder: &self.folder,
            media: &media,
            name: "level3",
            pair: self.pair.as_deref(),
        });
        let over = tokio::select! {
            () = shutdown.cancelled() => Over::Shutdown,
            over = self.listen(stdout, inbox) => over,
        };
        // Without its sender the writer ends, and with it the program's stdin.
        *held(&self.lines) = None;
        end(&mut child).await;
        writing.abort();
        logging.abort();
        for (_, waits) in held(&self.waiting).drain() {
            let _ = waits.send(SendEnd::Unknown("the program of the channel ended before it had answered".to_owned()));
        }
        Ok(over)
    }

    async fn listen(&self, stdout: ChildStdout, inbox: &Inbox) -> Over {
        let mut reader = BufReader::new(stdout);
        let mut line = Vec::new();
        loop {
            line.clear();
            let most = u64::try_from(MOST_LINE + 1).unwrap_or(u64::MAX);
            match (&mut reader).take(most).read_until(b'\n', &mut line).await {
                Ok(0) | Err(_) => return Over::Ended,
                Ok(_) if !line.ends_with(b"\n") && line.len() > MOST_LINE => {
                    return Over::Misspoke("a line is too long".to_owned());
                }
                // It died in the middle of a line.
                Ok(_) if !line.ends_with(b"\n") => return Over::Ended,
                Ok(_) => {}
            }
            match FromProgram::read(&line) {
                Ok(said) => {
                    if let Err(error) = self.hear(said, inbox).await {
                        return Over::Unkept(error);
                    }
                }
                Err(error) => return Over::Misspoke(format!("a line cannot be read: {error}")),
            }
        }
    }

    /// Takes what the program says. An error: a message of it cannot be kept.
    async fn hear(&self, said: FromProgram, inbox: &Inbox) -> Result<(), StoreError> {
        match said {
            FromProgram::Status { state, address, reason, code, until, pairing_code } => {
                let reason = [code, reason].into_iter().flatten().collect::<Vec<_>>().join(": ");
                let reason = (!reason.is_empty()).then_some(reason);
                self.change(|status| {
                    // A pairing code comes beside the QR code, which stays.
                    let qr = pairing_code.as_ref().and(status.qr.take());
                    *status = ChannelStatus { state, since: status.since, qr, pairing_code, address, reason, until };
                });
            }
            FromProgram::Qr { text } => {
                self.change(|status| {
                    let pairing_code = status.pairing_code.take();
                    let needs_scan = ChannelStatus::of(ChannelState::NeedsScan, status.since);
                    *status = ChannelStatus { qr: Some(text), pairing_code, ..needs_scan };
                });
            }
            FromProgram::Message { id, from, text, at, chat, own, media, to, note, quoted } => {
                let file = media.map(|media| self.file(media));
                let here = match &file {
                    Some(IncomingFile::At(path)) => Some(path.clone()),
                    _ => None,
                };
                let (id_of, from_whom, note) = (id.clone(), from.clone(), note.is_some());
                let message = IncomingMessage { id: id_of, from: from_whom, text, chat, own, file, to, note, at, quoted };
                let came = self.keep(&message, inbox).await?;
                tracing::debug!(channel = self.name, ?came, "a message came");
                if let Some(path) = here {
                    let _ = tokio::fs::remove_file(path).await;
                }
                self.say(&ToProgram::Accepted { from: &from, id: &id });
            }
            FromProgram::Sent { id, peer_id } => {
                self.answered(&id, SendEnd::Sent(peer_id.unwrap_or_else(|| id.clone())), inbox).await
            }
            FromProgram::Refused { id, code, reason, left } => {
                let reason = reason.unwrap_or_else(|| "the service refused it".to_owned());
                if code.as_deref() == Some(LOCKED) {
                    self.lock(&reason);
                }
                let end = if left {
                    SendEnd::Refused(code.unwrap_or_else(|| "refused".to_owned()), reason)
                } else {
                    SendEnd::NotSent(reason)
                };
                self.answered(&id, end, inbox).await;
            }
            FromProgram::Receipt { id, state } => {
                let end = match state {
                    ReceiptState::Delivered => SendEnd::Delivered,
                    ReceiptState::Read => SendEnd::Read,
                };
                self.late(&id, &end, inbox).await;
            }
        }
        Ok(())
    }

    /// Has the inbox take a message, and tries it again for a while if it cannot be kept.
    async fn keep(&self, message: &IncomingMessage, inbox: &Inbox) -> Result<Option<Came>, StoreError> {
        for pause in TRIED_AGAIN {
            match inbox.take(message.clone()).await {
                Ok(came) => return Ok(came),
                Err(error) => {
                    tracing::warn!(error = &error as &dyn std::error::Error, "a contact's message could not be kept yet");
                }
            }
            self.clock.sleep_until(self.clock.now() + TimeDelta::seconds(pause)).await;
        }
        inbox.take(message.clone()).await
    }

    /// Passes an answer to the attempt that waits for it; one that nobody waits for is recorded as
    /// it comes.
    async fn answered(&self, id: &str, end: SendEnd, inbox: &Inbox) {
        self.take_away(id).await;
        if let Some(end) = self.settle(id, end) {
            self.late(id, &end, inbox).await;
        }
    }

    async fn late(&self, id: &str, end: &SendEnd, inbox: &Inbox) {
        if let Err(error) = inbox.settle(id, end).await {
            tracing::warn!(error = &error as &dyn std::error::Error, "the word of a channel about a message is lost");
        }
    }

    /// Removes the file that went out with a message, also after an answer that came late. The
    /// program says the id, so it is no path here.
    async fn take_away(&self, id: &str) {
        let Ok(mut files) = tokio::fs::read_dir(self.folder.join(MEDIA).join(OUT)).await else { return };
        while let Ok(Some(file)) = files.next_entry().await {
            if file.path().file_stem().is_some_and(|stem| stem == id) {
                let _ = tokio::fs::remove_file(file.path()).await;
            }
        }
    }

    /// Puts a file of ours where the program may read it; its path below the program's folder, its
    /// kind and its name.
    fn out(&self, note: &MediaNote, id: &str) -> io::Result<(String, String, String)> {
        let missing = || io::Error::new(io::ErrorKind::NotFound, "it is not kept");
        let from = media::kept_at(note, &self.kept).ok_or_else(missing)?;
        let ending =
            note.kind.rsplit('/').next().filter(|ending| ending.bytes().all(|b| b.is_ascii_alphanumeric())).unwrap_or("bin");
        let folder = self.folder.join(MEDIA).join(OUT);
        DirBuilder::new().recursive(true).mode(0o700).create(&folder)?;
        let name = format!("{id}.{ending}");
        std::fs::copy(from, folder.join(&name))?;
        Ok((format!("{MEDIA}/{OUT}/{name}"), note.kind.clone(), name))
    }

    /// The file of a message: only one within the program's own folder for files.
    fn file(&self, media: ProgramMedia) -> IncomingFile {
        let plain = |path: &&String| {
            let mut parts = Path::new(path.as_str()).components();
            let first = parts.next() == Some(Component::Normal(MEDIA.as_ref()));
            first && matches!(parts.next(), Some(Component::Normal(_))) && parts.next().is_none()
        };
        match media.path.as_ref().filter(plain) {
            Some(path) if !media.omitted => IncomingFile::At(self.folder.join(path)),
            _ => IncomingFile::Omitted { bytes: media.bytes, kind: media.kind },
        }
    }
}

impl ContactChannel for Program {
    fn name(&self) -> &'static str {
        self.name
    }

    fn kind(&self) -> &'static str {
        "program"
    }

    fn features(&self) -> ChannelFeatures {
        ChannelFeatures { typing: true, arrives_at_once: false }
    }

    fn run(self: Arc<Self>, inbox: Inbox, shutdown: CancellationToken) -> BoxFuture<'static, ()> {
        async move {
            let mut pause = PAUSES.0;
            loop {
                let begun = self.clock.now();
                let over = self.run_once(&inbox, &shutdown).await;
                match over {
                    Ok(Over::Shutdown) => return self.set(ChannelState::Off, None),
                    Ok(Over::Ended) => self
                        .set(ChannelState::Connecting, Some("the program of the channel ended, and is started again".to_owned())),
                    Ok(Over::Misspoke(why)) => {
                        tracing::error!(channel = self.name, why, "a channel program breaks the protocol");
                        self.set(ChannelState::Outdated, Some(why));
                    }
                    Ok(Over::Unkept(error)) => {
                        tracing::error!(
                            channel = self.name,
                            error = &error as &dyn std::error::Error,
                            "a message cannot be kept; its program is started again"
                        );
                        let why = "a message could not be kept; the program of the channel is started again, and brings it again";
                        self.set(ChannelState::Connecting, Some(why.to_owned()));
                    }
                    Err(error) => {
                        tracing::error!(channel = self.name, %error, "a channel program does not start");
                        self.set(ChannelState::Off, Some(format!("{} does not start: {error}", self.path.display())));
                    }
                }
                if self.clock.now() - begun >= RAN_WELL {
                    pause = PAUSES.0;
                }
                tokio::select! {
                    () = shutdown.cancelled() => return,
                    () = self.clock.sleep_until(self.clock.now() + TimeDelta::seconds(pause)) => {}
                }
                pause = (pause * 2).min(PAUSES.1);
            }
        }
        .boxed()
    }

    fn send<'a>(&'a self, message: &'a ClaimedMessage) -> BoxFuture<'a, SendEnd> {
        async move {
            if self.status.borrow().state != ChannelState::Online {
                return SendEnd::NotSent("the channel is not online".to_owned());
            }
            let file = match message.media().map(|note| self.out(note, message.peer_id())).transpose() {
                Ok(file) => file,
                Err(error) => return SendEnd::Refused("media".to_owned(), format!("the file cannot be read: {error}")),
            };
            let media = file.as_ref().map(|(path, kind, name)| SentMedia { path, kind, name });
            let (told, answer) = oneshot::channel();
            held(&self.waiting).insert(message.peer_id().to_owned(), told);
            if !self.say(&ToProgram::Send { id: message.peer_id(), to: message.to(), text: message.text(), media }) {
                held(&self.waiting).remove(message.peer_id());
                self.take_away(message.peer_id()).await;
                return SendEnd::NotSent("the program of the channel is not there".to_owned());
            }
            let unknown = |why: &str| SendEnd::Unknown(why.to_owned());
            match tokio::time::timeout(ANSWER, answer).await {
                Ok(Ok(end)) => end,
                Ok(Err(_)) => unknown("the program of the channel gave no answer"),
                Err(_) => {
                    held(&self.waiting).remove(message.peer_id());
                    unknown("the program of the channel did not answer within 30 seconds")
                }
            }
        }
        .boxed()
    }

    fn typing<'a>(&'a self, to: &'a str, on: bool) -> BoxFuture<'a, ()> {
        self.say(&ToProgram::Typing { to, on });
        std::future::ready(()).boxed()
    }

    fn status(&self) -> watch::Receiver<ChannelStatus> {
        self.status.subscribe()
    }

    fn logout(&self) -> BoxFuture<'_, ()> {
        self.say(&ToProgram::Logout);
        std::future::ready(()).boxed()
    }
}

fn held<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Ends a program: its stdin is closed already. One that does not end by itself is asked, and at
/// last killed.
async fn end(child: &mut Child) {
    if tokio::time::timeout(ENDING, child.wait()).await.is_ok() {
        return;
    }
    if let Some(id) = child.id().and_then(|id| i32::try_from(id).ok()) {
        // SAFETY: the child has not been waited for, so the number is still its own.
        unsafe { libc::kill(id, libc::SIGTERM) };
    }
    if tokio::time::timeout(ENDING, child.wait()).await.is_err() {
        let _ = child.kill().await;
    }
}

/// Passes the program's log on, a line at a time, cut.
async fn log(channel: &'static str, stderr: ChildStderr) {
    let mut reader = BufReader::new(stderr);
    let mut line = Vec::new();
    loop {
        line.clear();
        match (&mut reader).take(1 << 16).read_until(b'\n', &mut line).await {
            Ok(0) | Err(_) => return,
            Ok(_) => {
                let text = String::from_utf8_lossy(&line[..line.len().min(MOST_LOGGED)]);
                tracing::info!(channel, program = text.trim_end());
            }
        }
    }
}
