//! Reads where a turn stands, by one statement: all that it goes on from. It gives the number of
//! the catalogue, which has the rest. The function `standing` of the database reads it, so that the
//! statement that ends a call can give it as well.

use std::sync::Arc;

use chrono::{DateTime, Utc};
use serde::Deserialize;
use serde_json::{Value, json};
use sqlx::query_scalar;
use sqlx::types::Json;

use super::steps::OpenCall;
use crate::domain::todo::{MOST_IN_CONTEXT, TodosShown};
use crate::domain::{CallRequest, ConversationId, DueTasks, History, Origin, Spent, Task, ToolCallId, TurnId, Used};
use crate::store::things::history::{self, Message};
use crate::store::things::known_messages::KnownMessages;
use crate::store::things::{tasks, todos};
use crate::store::{CatalogueVersion, Lease, Store, StoreError, Summaries, Summary};

/// After a useless answer, no summary is asked for in so many turns of the conversation.
const TURNS_BETWEEN_TRIES: i64 = 8;

/// How much is read.
#[derive(Clone, Copy, Debug)]
pub struct Wanted {
    /// The most messages of earlier turns.
    pub history: usize,
    /// Tasks that are due before this time, and the most of them.
    pub due: (DateTime<Utc>, usize),
    /// True if the person's to-dos are wanted.
    pub todos: bool,
    /// True if the turn was just taken up: then what stays the same is read, too.
    pub begins: bool,
    /// The time.
    pub now: DateTime<Utc>,
}

impl Wanted {
    /// No earlier turns, and no tasks.
    pub fn turn_alone(now: DateTime<Utc>) -> Self {
        Self { history: 0, due: (DateTime::UNIX_EPOCH, 0), todos: false, begins: false, now }
    }
}

/// A question to the database for the place of a turn: how much is read, and the messages that are
/// known already.
#[derive(Clone, Debug)]
pub(in crate::store) struct Enquiry {
    wanted: Wanted,
    known: Option<Arc<KnownMessages>>,
}

impl Enquiry {
    /// The same for the database, of this turn.
    pub(in crate::store) fn of(&self, lease: &Lease) -> Value {
        let mut wanted = self.shape();
        wanted["turn"] = json!(lease.turn);
        wanted["conversation"] = json!(lease.conversation);
        wanted["profile"] = json!(lease.profile);
        wanted
    }

    /// The same of a turn that the database knows.
    pub(in crate::store) fn shape(&self) -> Value {
        let Wanted { history, due: (due, tasks), todos, begins, now } = self.wanted;
        let most = |count: usize| i64::try_from(count).unwrap_or(i64::MAX);
        json!({
            // One more than wanted: the oldest tells whether its turn is whole.
            "history": most(history.saturating_add(1)), "due": due, "tasks": most(tasks), "today": now.date_naive(), "now": now,
            "begins": begins, "tries": TURNS_BETWEEN_TRIES - 1, "todos": todos.then_some(MOST_IN_CONTEXT),
            "known": self.known.as_ref().and_then(|known| known.place(history)),
        })
    }
}

/// The place where a turn stands.
#[derive(Clone, Debug, PartialEq)]
pub struct Standing {
    /// The catalogue's number at this moment.
    pub catalogue: CatalogueVersion,
    /// Steps stored so far.
    pub steps: i32,
    /// Tool calls of the last step without an outcome, in order.
    pub open: Vec<OpenCall>,
    /// True if a call did something: it succeeded, or failed after an operation.
    pub acted: bool,
    /// The part of the conversation that was wanted, with the turn itself.
    pub history: History,
    /// The summaries of older turns.
    pub summaries: Summaries,
    /// Open tasks that are due.
    pub due: DueTasks,
    /// The person's to-dos, if they were wanted.
    pub todos: Option<TodosShown>,
    /// The amounts used up; in the conversation only if its profile has a budget for that.
    pub used: Used,
    /// The part that stays the same, if it was wanted.
    pub beginning: Beginning,
}

/// The part that stays the same as long as this server has the turn.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Beginning {
    /// Tool and arguments of the calls that have their outcome, oldest first, as the model wrote
    /// them.
    pub made: Vec<(String, String)>,
    /// The model that the turn's task names.
    pub task_model: Option<String>,
    /// The most tokens of an answer that the client asked for.
    pub answer_tokens: Option<u32>,
}

#[derive(Debug, Deserialize)]
struct Open {
    call: ToolCallId,
    #[serde(flatten)]
    request: CallRequest,
}

#[derive(Debug, Deserialize)]
struct SummaryRow {
    up_to: TurnId,
    content: String,
}

/// Sums of one span.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
struct Sums {
    steps: u64,
    input: u64,
    output: u64,
    cost: u64,
    unpriced: u64,
    called: u64,
}

impl Sums {
    fn spent(self, wall_seconds: i64) -> Spent {
        Spent {
            steps: self.steps,
            wall_seconds: u64::try_from(wall_seconds).unwrap_or_default(),
            input_tokens: self.input,
            output_tokens: self.output,
            money_micros: self.cost,
            unpriced: self.unpriced,
            tool_calls: self.called,
        }
    }
}

/// The answer of the function `standing`.
#[derive(Debug, Deserialize)]
pub(in crate::store) struct StandingRow {
    catalogue: i64,
    last_sequence: i64,
    /// True if `history` goes on from the messages that are known.
    goes_on: bool,
    steps: i32,
    open: Vec<Open>,
    acted: bool,
    made: Option<Vec<(String, String)>>,
    task_model: Option<String>,
    answer_tokens: Option<u32>,
    history: Vec<Message>,
    earlier: Option<Vec<(ConversationId, TurnId)>>,
    summary: Option<SummaryRow>,
    failed: bool,
    due: Vec<tasks::Row>,
    all_due: usize,
    in_turn: Sums,
    in_conversation: Option<Sums>,
    in_day: Days,
    seconds: i64,
    todos: Option<todos::ShownRow>,
}

impl Store {
    /// Reads where a turn stands.
    ///
    /// # Errors
    /// If the database does not answer or holds a value that this version cannot read.
    pub async fn standing(&self, lease: &Lease, wanted: Wanted) -> Result<Standing, StoreError> {
        let asked = self.asked(lease.conversation, wanted);
        let row = query_scalar!(r#"SELECT standing($1) AS "standing!: Json<StandingRow>""#, asked.of(lease));
        self.stands(lease, &asked, row.fetch_one(&self.pool).await?.0)
    }

    /// The question for a turn of this conversation: messages that are known are not read again.
    pub(in crate::store) fn asked(&self, conversation: ConversationId, wanted: Wanted) -> Enquiry {
        let known = if wanted.history > 0 { self.known.of(conversation) } else { None };
        Enquiry { wanted, known }
    }

    /// The place where a turn stands, of the database's answer.
    pub(in crate::store) fn stands(&self, lease: &Lease, asked: &Enquiry, row: StandingRow) -> Result<Standing, StoreError> {
        let summary = row.summary.map(|SummaryRow { up_to, content }| {
            // A secret may have been set after somebody wrote its value here.
            Summary { up_to, content: self.clean(&content).into_owned() }
        });
        let wanted = asked.wanted.history;
        let read = row.history.into_iter().map(Arc::new);
        let messages = match (&asked.known, row.goes_on) {
            (Some(known), true) => known.followed_by(read, lease.turn),
            (None, true) => {
                return Err(StoreError::Unreadable("the database goes on from messages that nobody named".to_owned()));
            }
            (_, false) => read.collect(),
        };
        // Nothing says when a conversation changes from which this one goes on.
        if row.earlier.is_none() && wanted > 0 {
            self.known.keep(lease.conversation, lease.turn, row.last_sequence, wanted, &messages);
        }
        let edition = self.scrubber.edition();
        let mut history = history::of(&messages, lease.turn, wanted, edition, |text| self.clean(text));
        history.earlier = row.earlier.unwrap_or_default();
        let Days { of_tasks, of_others } = row.in_day;
        let used = Used {
            turn: row.in_turn.spent(row.seconds),
            conversation: row.in_conversation.unwrap_or_default().spent(0),
            day: of_tasks.and(of_others).spent(0),
            tasks: (lease.origin == Origin::Task).then(|| of_tasks.spent(0)),
        };
        let soonest = row.due.into_iter().map(Task::try_from).collect::<Result<Vec<_>, _>>()?;
        Ok(Standing {
            catalogue: CatalogueVersion(row.catalogue),
            steps: row.steps,
            open: row.open.into_iter().map(|Open { call, request }| OpenCall { call, request }).collect(),
            acted: row.acted,
            history,
            summaries: Summaries { latest: summary, failed_lately: row.failed },
            due: DueTasks { more: row.all_due.saturating_sub(soonest.len()), soonest },
            todos: row.todos.map(TodosShown::try_from).transpose()?,
            used,
            beginning: Beginning {
                made: row.made.unwrap_or_default(),
                task_model: row.task_model.filter(|_| lease.origin == Origin::Task),
                answer_tokens: row.answer_tokens,
            },
        })
    }
}

/// The sums of a day: of turns that tasks began, and of all others.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(default)]
struct Days {
    #[serde(rename = "true")]
    of_tasks: Sums,
    #[serde(rename = "false")]
    of_others: Sums,
}

impl Sums {
    /// Both together.
    fn and(self, other: Self) -> Self {
        Self {
            steps: self.steps.saturating_add(other.steps),
            input: self.input.saturating_add(other.input),
            output: self.output.saturating_add(other.output),
            cost: self.cost.saturating_add(other.cost),
            unpriced: self.unpriced.saturating_add(other.unpriced),
            called: self.called.saturating_add(other.called),
        }
    }
}
