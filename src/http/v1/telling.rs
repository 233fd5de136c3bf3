//! The words of a turn, as one text that only grows: pieces while a model writes, and the recorded
//! text in any case. It sees only deltas and events, so a client that asks again later gets the
//! same text as one that listens.

use crate::domain::{ApprovalId, Failure, Shown, ToolCallId, TurnId, TurnState};
use crate::facts::{Event, EventRecord, StepAnswered, TurnEnded};
use crate::model::REPETITION;
use crate::wire::v1::{Called, CompletionUsage};

/// Something to tell the client.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::http) enum StreamPiece {
    /// More text.
    Text(String),
    /// A tool is about to be called.
    Calls(Called),
    /// A tool was called.
    Called(Called),
}

/// The reason why nothing more comes.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::http) enum Ending {
    /// The turn has its answer; true if a limit of tokens cut it.
    Answered(bool),
    /// The turn waits for this approval.
    Waiting(ApprovalId, Box<Shown>),
    /// The turn stands behind another that waits for this approval.
    Behind(ApprovalId),
    /// A person stopped the turn.
    Stopped,
    /// The turn ended without an answer, for this reason.
    Failed(Option<Failure>, String),
    /// The turn ended without an answer, since the model has too many requests; the reason, and the
    /// seconds after which it may take one.
    Busy(String, u32),
}

/// The step that a model writes.
#[derive(Debug, Default)]
struct Step {
    number: i32,
    attempt: i64,
    /// The text of its newest attempt.
    written: String,
    /// The part of this step that the client heard, since the step last began anew.
    told: String,
}

/// The text of a turn, from one event on.
#[derive(Debug)]
pub(in crate::http) struct Telling {
    turn: TurnId,
    step: Step,
    /// The newest recorded step.
    recorded: i32,
    /// Deltas of earlier steps may lack their beginning, and are left out; `None` while that is
    /// unknown.
    whole_from: Option<i32>,
    started: bool,
    /// All text that the client heard.
    text: String,
    cut: bool,
    usage: Option<CompletionUsage>,
    waiting: Option<(ApprovalId, Box<Shown>)>,
    behind: Option<ApprovalId>,
    over: Option<Ending>,
    /// The words below an answer whose claims nothing shows: the last one, and one that is made
    /// anew.
    marks: [&'static str; 2],
}

/// Stands below an answer that claims work of which its turn has no record.
const UNPROVEN: &str = "[level3: no recorded effect in this turn shows what is said above]";
/// The same if the model is asked once more.
const TAKEN_BACK: &str = "[level3: taken back, since no recorded effect in this turn showed what is said above]";

/// Both as a person hears them.
const SPOKEN_UNPROVEN: &str = "I am not sure that this was done.";
const SPOKEN_TAKEN_BACK: &str = "Let me correct that. ";

impl Telling {
    /// `listening`: this client gets every delta of the turn.
    pub(in crate::http) fn of(turn: TurnId, listening: bool) -> Self {
        Self {
            turn,
            step: Step::default(),
            recorded: 0,
            whole_from: listening.then_some(1),
            started: false,
            text: String::new(),
            cut: false,
            usage: None,
            waiting: None,
            behind: None,
            over: None,
            marks: [UNPROVEN, TAKEN_BACK],
        }
    }

    /// The same for ears: its own words are made to be spoken.
    pub(in crate::http) fn spoken(mut self) -> Self {
        self.marks = [SPOKEN_UNPROVEN, SPOKEN_TAKEN_BACK];
        self
    }

    /// All text that the client heard.
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// The tokens of the steps, as far as providers count them.
    pub(super) fn usage(&self) -> Option<CompletionUsage> {
        self.usage
    }

    /// The client missed deltas.
    pub(in crate::http) fn missed(&mut self) {
        self.whole_from = None;
    }

    /// The turn stands behind this approval of an earlier one.
    pub(super) fn stands_behind(&mut self, approval: ApprovalId) {
        self.behind = Some(approval);
    }

    /// The reason why nothing more comes, once there is one.
    pub(in crate::http) fn ending(&self) -> Option<Ending> {
        let waiting = || self.waiting.clone().map(|(id, shown)| Ending::Waiting(id, shown));
        let behind = || self.behind.filter(|_| !self.started).map(Ending::Behind);
        self.over.clone().or_else(waiting).or_else(behind)
    }

    /// Text of this program's own, on a line of its own.
    pub(super) fn add(&mut self, text: &str) -> String {
        let piece = format!("{}{text}", self.gap());
        self.text.push_str(&piece);
        piece
    }

    /// A piece of text that a model has just written.
    pub(in crate::http) fn delta(&mut self, step: i32, attempt: i64, content: &str) -> Option<StreamPiece> {
        if step <= self.recorded || self.whole_from.is_none_or(|from| step < from) {
            return None;
        }
        self.begin(step);
        if attempt < self.step.attempt {
            return None;
        }
        if attempt > self.step.attempt {
            self.step.attempt = attempt;
            self.step.written.clear();
        }
        self.step.written.push_str(content);
        self.grow(false)
    }

    /// The next event of the turn's conversation.
    pub(in crate::http) fn record(&mut self, record: &EventRecord) -> Vec<StreamPiece> {
        if record.event.about().turn != Some(self.turn) {
            match &record.event {
                Event::ApprovalRequested(asked) if asked.turn < self.turn => self.behind = Some(asked.approval),
                Event::ApprovalDecided(decided) if self.behind == Some(decided.approval) => self.behind = None,
                _ => {}
            }
            return Vec::new();
        }
        match &record.event {
            Event::TurnStarted(_) => self.started = true,
            Event::StepAnswered(step) => return self.answered(step),
            Event::ToolCallProposed(proposed) => {
                return vec![StreamPiece::Calls(called(proposed.call, &proposed.request.name, None))];
            }
            Event::ToolCallEnded(ended) => {
                return vec![StreamPiece::Called(called(ended.call, &ended.name, Some(ended.outcome.ok)))];
            }
            Event::ApprovalRequested(asked) => self.waiting = Some((asked.approval, asked.shown.clone())),
            Event::ApprovalDecided(_) => self.waiting = None,
            Event::TurnEnded(TurnEnded { state, reason, failure, retry_after, .. }) => {
                self.over = Some(match (state, retry_after) {
                    (TurnState::Failed, Some(wait)) => Ending::Busy(reason.clone().unwrap_or_default(), *wait),
                    (TurnState::Failed, None) => Ending::Failed(*failure, reason.clone().unwrap_or_default()),
                    (TurnState::Aborted, _) => Ending::Stopped,
                    (TurnState::Queued | TurnState::Running | TurnState::AwaitingApproval | TurnState::Completed, _) => {
                        Ending::Answered(self.cut)
                    }
                });
            }
            _ => {}
        }
        Vec::new()
    }

    fn answered(&mut self, step: &StepAnswered) -> Vec<StreamPiece> {
        self.begin(step.number);
        self.recorded = step.number;
        // A client that began to listen in the middle of this step hears the next but one whole, at
        // the latest.
        self.whole_from.get_or_insert(step.number.saturating_add(2));
        self.cut = matches!(step.finish_reason.as_str(), "length" | REPETITION);
        if let Some(used) = step.usage {
            let all = self.usage.get_or_insert_default();
            all.prompt_tokens += used.input;
            all.completion_tokens += used.output;
            all.total_tokens += used.input + used.output;
        }
        self.step.written = step.said().into_owned();
        let mut pieces: Vec<_> = self.grow(true).into_iter().collect();
        if step.unproven {
            pieces.push(StreamPiece::Text(self.add(self.marks[usize::from(!step.last)])));
        }
        pieces
    }

    fn begin(&mut self, step: i32) {
        if self.step.number != step {
            self.step = Step { number: step, ..Step::default() };
        }
    }

    /// The gap before a text that does not go on from the last one.
    fn gap(&self) -> &'static str {
        if self.text.is_empty() { "" } else { "\n\n" }
    }

    /// Tells the new part of the step. Told text cannot be taken back: if a new attempt, or the
    /// record, has other words, they are told whole, below the first.
    fn grow(&mut self, whole: bool) -> Option<StreamPiece> {
        let gap = self.gap();
        let Step { written, told, .. } = &mut self.step;
        if written.trim().is_empty() {
            return None;
        }
        let piece = match written.strip_prefix(told.as_str()) {
            Some("") => return None,
            Some(rest) if !told.is_empty() => rest.to_owned(),
            // Either the new attempt has not come as far as the old one, or the record lacks blanks
            // at the end.
            None if !whole && told.starts_with(written.as_str()) => return None,
            None if told.trim_end() == written.trim_end() => return None,
            _ => format!("{gap}{written}"),
        };
        told.clone_from(written);
        self.text.push_str(&piece);
        Some(StreamPiece::Text(piece))
    }
}

fn called(call: ToolCallId, name: &str, ok: Option<bool>) -> Called {
    Called { call, name: name.to_owned(), ok }
}

#[cfg(test)]
mod tests;
