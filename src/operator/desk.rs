//! The desk: follows what is committed, and tells the operator's person what came of it. All that
//! it says follows from the database, so a desk that was killed says the rest at its next start,
//! and nothing twice.

use chrono::{DateTime, TimeDelta, Utc};
use tokio::sync::broadcast::error::RecvError;
use tokio_util::sync::CancellationToken;

use super::recordings::Unwritten;
use super::{Operator, mirror, recordings};
use crate::channels::Channels;
use crate::domain::operator::{OrderSource, Subject, beginning, question};
use crate::domain::{ConversationId, TurnId, TurnState, seen_name};
use crate::facts::{Event, EventRecord};
use crate::store::{LastWords, OperatorWords, StoreError, Unsaid};

/// How soon to try again after the database did not answer.
const RETRY_AFTER: TimeDelta = TimeDelta::seconds(2);
/// A service shows typing for less than this; it is said again before.
const TYPING: TimeDelta = TimeDelta::seconds(10);
/// The words behind an answer that says that something was done or will be, if nothing recorded in
/// the task shows it.
const UNPROVEN: &str =
    "⚠ Nothing recorded in this task shows what is said above. Order it again in other words, or choose a stronger model.";

/// The desk.
pub(super) struct Desk {
    operator: Operator,
    channels: Channels,
    /// The one who is shown that something is written, and when it is said again.
    typing: Option<(TurnId, OrderSource, DateTime<Utc>)>,
}

/// The work of a look.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Due {
    words: bool,
    scripts: bool,
    context: bool,
    recordings: bool,
}

impl Due {
    const ALL: Self = Self { words: true, scripts: true, context: true, recordings: true };
}

impl Desk {
    pub(super) fn new(operator: Operator, channels: Channels) -> Self {
        Self { operator, channels, typing: None }
    }

    pub(super) async fn run(mut self, shutdown: CancellationToken) {
        let mut events = self.operator.store.signals().events();
        let mut due = Due::ALL;
        let mut retry: Option<DateTime<Utc>> = None;
        loop {
            if due != Due::default() {
                retry = None;
                match self.look(due).await {
                    Ok(()) => due = Due::default(),
                    Err(error) => {
                        tracing::warn!(error = &error as &dyn std::error::Error, "the operator's desk tries again soon");
                        retry = Some(self.operator.clock.now() + RETRY_AFTER);
                    }
                }
            }
            let clock = &self.operator.clock;
            let again = async {
                match (retry, &self.typing) {
                    (Some(at), _) => clock.sleep_until(at).await,
                    (None, Some((.., at))) => clock.sleep_until(*at).await,
                    (None, None) => std::future::pending().await,
                }
            };
            tokio::select! {
                () = shutdown.cancelled() => return,
                event = events.recv() => match event {
                    Ok(record) => self.heard(&record, &mut due).await,
                    Err(RecvError::Lagged(_)) => due = Due::ALL,
                    Err(RecvError::Closed) => return,
                },
                () = again => self.show_typing(true).await,
            }
        }
    }

    async fn heard(&mut self, record: &EventRecord, due: &mut Due) {
        match &record.event {
            Event::TurnStarted(started) => self.begins(started.turn).await,
            Event::TurnEnded(ended) => {
                self.rests(ended.turn).await;
                due.words = true;
            }
            Event::ApprovalRequested(asked) => {
                self.rests(asked.turn).await;
                due.words = true;
            }
            Event::ToolCallEnded(_) => due.recordings = true,
            Event::CapabilityInstalled(_) | Event::CapabilityChanged(_) => due.scripts = true,
            Event::GlobalContextChanged(_) => due.context = true,
            _ => {}
        }
    }

    async fn look(&self, due: Due) -> Result<(), StoreError> {
        let conversation = self.operator.conversation().await?;
        let (store, home) = (&self.operator.store, &self.operator.settings.home);
        // The recording is there before the message that names it.
        let unwritten = match due.recordings || due.words {
            true => recordings::write(store, conversation, home).await?,
            false => Unwritten::new(),
        };
        if due.words {
            for unsaid in store.unsaid_to_operator(conversation).await? {
                self.say(conversation, unsaid, &unwritten).await?;
            }
        }
        if due.scripts {
            mirror::scripts(store, home).await?;
        }
        if due.context {
            mirror::context(&store.operator_context().await?, home);
        }
        Ok(())
    }

    async fn say(&self, conversation: ConversationId, unsaid: Unsaid, unwritten: &Unwritten) -> Result<(), StoreError> {
        let (turn, source, key, text) = match unsaid {
            Unsaid::Asks { turn, source, approval, shown, until } => {
                (turn, source, Subject::Question.key(approval.0), question(turn.0, &shown, until))
            }
            Unsaid::Ended { turn, source, state, reason, answer } => {
                let is_recorded = !self.operator.store.risky_actions(conversation, Some(turn)).await?.is_empty();
                let recorded = is_recorded.then(|| recordings::words_about(turn, unwritten.get(&turn)));
                (turn, source, Subject::Answer.key(turn.0), ended(turn, state, reason, answer, recorded))
            }
        };
        // Nothing is written to a number that may give orders no more.
        if !self.operator.settings.takes(&source.channel, &source.address) {
            return Ok(());
        }
        let (channel, address) = (&*source.channel, &*source.address);
        let words = OperatorWords { conversation, channel, address, key: &key, text: &text, turn: Some(turn), media: None };
        self.operator.store.say_to_operator(words, self.operator.clock.now()).await.map(drop)
    }

    async fn begins(&mut self, turn: TurnId) {
        let source = self.operator.store.source_of(turn).await.ok().flatten();
        if let Some(source) = source {
            self.typing = Some((turn, source, self.operator.clock.now()));
            self.show_typing(true).await;
        }
    }

    async fn rests(&mut self, turn: TurnId) {
        if self.typing.as_ref().is_some_and(|(typing, ..)| *typing == turn) {
            self.show_typing(false).await;
            self.typing = None;
        }
    }

    async fn show_typing(&mut self, on: bool) {
        let next = self.operator.clock.now() + TYPING;
        if let Some((.., again)) = &mut self.typing {
            *again = next;
        }
        if let Some((_, source, _)) = &self.typing
            && let Some(open) = self.channels.get(&source.channel)
            && open.channel.features().typing
        {
            open.channel.typing(&source.address, on).await;
        }
    }
}

/// The words about a task that has ended.
fn ended(turn: TurnId, state: TurnState, reason: Option<String>, answer: Option<LastWords>, recorded: Option<String>) -> String {
    let LastWords { text, unproven, note } = answer.unwrap_or_default();
    let answer = Some(text).filter(|text| !seen_name(text).is_empty());
    let mut text = match state {
        TurnState::Completed => answer.unwrap_or_else(|| format!("Task {turn} is done.")),
        _ => {
            let why = reason.or(answer).unwrap_or_else(|| "no reason is known".to_owned());
            format!("Task {turn} was aborted. {why}")
        }
    };
    // The channel cuts the rest into parts.
    text = beginning(&text).unwrap_or(text);
    let unproven = (unproven && state == TurnState::Completed).then(|| UNPROVEN.to_owned());
    for more in [unproven, note, recorded].into_iter().flatten() {
        text += "\n\n";
        text += &more;
    }
    text
}
