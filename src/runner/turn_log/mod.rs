//! A log of every turn: `turn-N.jsonl` for programs, and readable lines in the log of the server.
//! Both come from committed events, so they say only what has happened, and missed events are read
//! from the database. Old files are removed: see [`kept`].

mod files;
mod kept;
mod lines;

use std::collections::{HashMap, HashSet};
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use chrono::TimeDelta;
use tokio::sync::broadcast::error::{RecvError, TryRecvError};
use tokio_util::sync::CancellationToken;

use crate::clock::Clock;
use crate::domain::operator::written_out;
use crate::domain::{ConversationId, TurnId};
use crate::facts::{Event, EventRecord, StepAnswered, ToolCallProposed, TurnQueued, TurnStarted};
use crate::store::{Announced, Store, StoreError};

use files::LogFolder;
use lines::{LineInputs, TurnLogLine};

/// Events read at a time.
const PAGE: i64 = 200;
/// How soon to try again after an error of the disk or the database.
const RETRY_AFTER: TimeDelta = TimeDelta::seconds(5);
/// How many letters of a text the log of the server has.
const LETTERS: usize = 160;
/// Of so many queued turns the words are kept until they start, if the words are no longer than
/// this; others are read then.
const WAITING: usize = 256;
const LONGEST_WAITING: usize = 16 << 10;

/// Writes the logs of turns.
pub struct TurnLog {
    store: Store,
    clock: Arc<dyn Clock>,
    path: Option<PathBuf>,
    keeps_all: bool,
}

/// The reason why a line could not be logged.
#[derive(Debug, thiserror::Error)]
enum LogError {
    #[error("the log of turns cannot be written")]
    Disk(#[from] io::Error),
    #[error("the events cannot be read")]
    Store(#[from] StoreError),
}

/// The place of the logs, and how far they are written.
struct Book {
    folder: Option<LogFolder>,
    /// How far each conversation was shown, if there is no folder.
    shown: HashMap<ConversationId, i64>,
    /// The words that queued turns react to.
    waiting: HashMap<TurnId, String>,
}

impl TurnLog {
    /// `path` is the folder of the files; without one, lines only go to the log of the server.
    pub fn new(store: Store, clock: Arc<dyn Clock>, path: Option<PathBuf>) -> Self {
        Self { store, clock, path, keeps_all: false }
    }

    /// The same; if `all`, no file is ever removed.
    pub fn keeping_all(self, all: bool) -> Self {
        Self { keeps_all: all, ..self }
    }

    /// Writes until `ended`, and then the events committed until then. It begins with those that an
    /// earlier process left unwritten.
    pub async fn run(self, ended: CancellationToken) {
        // The log subscribes before it reads anything, so that it misses no event between.
        let mut events = self.store.signals().events();
        let mut book: Option<Book> = None;
        let (mut behind, mut told) = (true, false);
        loop {
            let mut batch = Vec::new();
            if !behind {
                tokio::select! {
                    biased;
                    record = events.recv() => match record {
                        Ok(record) => batch.push(record),
                        Err(RecvError::Lagged(_)) => behind = true,
                        Err(RecvError::Closed) => return,
                    },
                    () = ended.cancelled() => return,
                }
            }
            loop {
                match events.try_recv() {
                    Ok(record) => batch.push(record),
                    Err(TryRecvError::Lagged(_)) => behind = true,
                    Err(TryRecvError::Empty | TryRecvError::Closed) => break,
                }
            }
            match self.write(&mut book, behind, batch).await {
                Ok(()) => (behind, told) = (false, false),
                Err(error) => {
                    if !told {
                        tracing::warn!(error = &error as &dyn std::error::Error, "trying again soon");
                    }
                    (behind, told) = (true, true);
                    tokio::select! {
                        () = self.clock.sleep_until(self.clock.now() + RETRY_AFTER) => {}
                        // The next start writes the missing events.
                        () = ended.cancelled() => return,
                    }
                }
            }
        }
    }

    /// Writes the announced events or, if it is behind, all that are not written yet.
    async fn write(&self, book: &mut Option<Book>, behind: bool, batch: Vec<Announced<EventRecord>>) -> Result<(), LogError> {
        let first = book.is_none();
        let mut open = match book.take() {
            Some(book) => book,
            None => self.open().await?,
        };
        let written = self.write_in(&mut open, first, behind, batch).await;
        // After a failure of the disk the folder is opened anew, which reads what is really on it.
        if open.folder.is_some() == self.path.is_some() {
            *book = Some(open);
        }
        written
    }

    async fn open(&self) -> Result<Book, LogError> {
        let Some(path) = self.path.clone() else {
            // Without a folder, only the events from now on are logged.
            let shown = self.store.newest_sequences().await?.into_iter().collect();
            return Ok(Book { folder: None, shown, waiting: HashMap::new() });
        };
        let (now, all) = (self.clock.now(), self.keeps_all);
        let folder =
            tokio::task::spawn_blocking(move || LogFolder::open(&path, now, all)).await.expect("opening does not panic")?;
        Ok(Book { folder: Some(folder), shown: HashMap::new(), waiting: HashMap::new() })
    }

    async fn write_in(
        &self,
        book: &mut Book,
        first: bool,
        behind: bool,
        batch: Vec<Announced<EventRecord>>,
    ) -> Result<(), LogError> {
        if behind {
            for (conversation, newest) in self.store.newest_sequences().await? {
                if newest > book.position(conversation) {
                    // An earlier process showed the events before this start.
                    self.catch_up(book, conversation, !first).await?;
                }
            }
        }
        let mut ready = Vec::new();
        let mut at: HashMap<ConversationId, i64> = HashMap::new();
        for record in batch {
            let position = *at.entry(record.conversation).or_insert_with(|| book.position(record.conversation));
            match record.sequence - position {
                ..=0 => {}
                1 => {
                    at.insert(record.conversation, record.sequence);
                    ready.push(record);
                }
                _ => {
                    self.put(book, std::mem::take(&mut ready), true).await?;
                    self.catch_up(book, record.conversation, true).await?;
                    at.insert(record.conversation, book.position(record.conversation));
                }
            }
        }
        self.put(book, ready, true).await
    }

    async fn catch_up(&self, book: &mut Book, conversation: ConversationId, show: bool) -> Result<(), LogError> {
        loop {
            let records = self.store.stream_after(conversation, book.position(conversation), PAGE).await?;
            if records.is_empty() {
                return Ok(());
            }
            self.put(book, records.into_iter().map(Announced::new).collect(), show).await?;
        }
    }

    /// Writes the events that follow the written ones.
    async fn put(&self, book: &mut Book, records: Vec<Announced<EventRecord>>, show: bool) -> Result<(), LogError> {
        if records.is_empty() {
            return Ok(());
        }
        let inputs = self.inputs(&mut book.waiting, &records).await?;
        // The owner reads the log; what members say is theirs.
        let (theirs, mut owners) = (self.store.owners(), HashSet::new());
        for record in &records {
            if theirs.owns(record.conversation).await? {
                owners.insert(record.conversation);
            }
        }
        let lines = move |record: &EventRecord| match owners.contains(&record.conversation) {
            true => lines::lines(record, &inputs),
            false => Vec::new(),
        };
        let mut written = Vec::new();
        if let Some(mut folder) = book.folder.take() {
            let now = self.clock.now();
            let work = move || -> io::Result<(LogFolder, Vec<TurnLogLine>)> {
                let mut passed: HashMap<ConversationId, i64> = HashMap::new();
                for record in &records {
                    let over = matches!(record.event, Event::TurnEnded(_));
                    written.extend(folder.append(lines(record), over, now)?);
                    passed.insert(record.conversation, record.sequence);
                }
                for (conversation, seq) in passed {
                    folder.pass(conversation, seq)?;
                }
                Ok((folder, written))
            };
            let (folder, lines) = tokio::task::spawn_blocking(work).await.expect("writing does not panic")?;
            (book.folder, written) = (Some(folder), lines);
        } else {
            for record in &records {
                written.extend(lines(record));
                book.shown.insert(record.conversation, record.sequence);
            }
        }
        if show {
            written.iter().for_each(tell);
        }
        Ok(())
    }

    /// The words that the turns which begin here react to, and the texts of the steps whose calls
    /// stand here. Their own events do not say them, those that queued them do.
    async fn inputs(
        &self,
        waiting: &mut HashMap<TurnId, String>,
        records: &[Announced<EventRecord>],
    ) -> Result<LineInputs, StoreError> {
        let mut inputs = LineInputs::default();
        for record in records {
            match &record.event {
                Event::TurnQueued(TurnQueued { turn, content, .. }) if content.len() <= LONGEST_WAITING => {
                    if waiting.len() >= WAITING {
                        waiting.clear();
                    }
                    waiting.insert(*turn, content.clone());
                }
                Event::TurnStarted(TurnStarted { turn, fence: 1 }) => {
                    let words = match waiting.remove(turn) {
                        Some(words) => words,
                        None => self.store.input_of(*turn).await?,
                    };
                    inputs.turns.insert(*turn, words);
                }
                Event::StepAnswered(StepAnswered { step, content, last: false, .. }) => {
                    inputs.steps.insert(*step, content.clone());
                }
                // The page of events ended between the two.
                Event::ToolCallProposed(ToolCallProposed { step, .. }) if !inputs.steps.contains_key(step) => {
                    inputs.steps.insert(*step, self.store.text_of_step(*step).await?);
                }
                _ => {}
            }
        }
        Ok(inputs)
    }
}

impl Book {
    fn position(&self, conversation: ConversationId) -> i64 {
        match &self.folder {
            Some(folder) => folder.position(conversation),
            None => self.shown.get(&conversation).copied().unwrap_or(0),
        }
    }
}

/// The beginning of some words in one line, for a person at a terminal.
fn shown(words: &str) -> String {
    let head: String = words.chars().take(LETTERS).map(|letter| if letter.is_control() { ' ' } else { letter }).collect();
    let rest = if head.len() < words.len() { "…" } else { "" };
    written_out(&head) + rest
}

/// Writes a line into the log of the server.
fn tell(line: &TurnLogLine) {
    let words = shown(&line.words);
    let (step, call) = (line.step.map(|step| step.0), line.call.map(|call| call.0));
    let colon = if words.is_empty() { "" } else { ": " };
    tracing::info!(turn = line.turn.0, step, call, "{}{colon}{words}", line.event);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_for_a_terminal_has_no_character_that_turns_it() {
        assert_eq!(shown("x\u{202e} rev\nend"), "x\\u202e rev end");
        assert!(shown(&"a".repeat(LETTERS + 1)).ends_with("a…"));
    }
}
