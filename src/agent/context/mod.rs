//! The entries that a model is shown: the system prompt, a summary of turns that are too old, then
//! the conversation.

mod budget;
mod compact;
mod cut;
mod extent;
mod offer;
mod summary;
#[cfg(test)]
mod tests;

use chrono::{DateTime, SecondsFormat, Utc};
use serde_json::json;

use super::gather::Gathered;
use super::pictures::Pictures;
use crate::coach::{self, Coach, Showing};
use crate::domain::{
    CallRequest, Context, ConversationId, DueTasks, Exchange, History, HistoryEntry, Image, MANAGE_TASKS, Moment, Profile, Task,
    ToolCallId, TurnId, TurnState, seen_name,
};
use crate::model::Entry;
use crate::sandbox::teaching;
use crate::store::Summary;
use crate::tools;

pub(super) use budget::{Sizes, size, size_of_tools};
pub(super) use extent::Extent;

use extent::Detail;

/// Of long details of a task the prompt has the beginning.
const DETAILS_BYTES: usize = 400;
/// Stands before the words that a person said while the model was at work.
const STEERED: &str = "[said while you work on this] ";

/// The system prompt. Its changing parts stand at its end, the capabilities and the due tasks; the
/// time stands before the newest message. So a request begins with the same text as the last one,
/// and providers and local servers need not read that again.
pub(super) fn system_prompt(prompt: &str, capabilities: &str, tasks: &str) -> String {
    let first: Vec<_> = tools::first().iter().map(|tool| tool.name.as_str()).collect();
    prompt
        .replace("{first_tools_number}", &first.len().to_string())
        .replace("{first_tools}", &first.join(", "))
        .replace("{host_interface}", teaching::text())
        .replace("{capabilities_section}", capabilities)
        .replace("{tasks_section}", tasks)
        .trim_end()
        .to_owned()
}

/// The system prompt of a profile, with the snapshot behind it if the profile is shown one.
pub(super) fn system(profile: &Profile, capabilities: &str, gathered: &Gathered) -> String {
    let (now, history) = (gathered.now, gathered.exchanges());
    let prompt = system_prompt(profile.prompt, capabilities, &tasks_section(&gathered.due));
    match profile.context {
        Context::Conversation { .. } => match &gathered.operator {
            Some(known) => format!("{prompt}\n\n{known}"),
            None => prompt,
        },
        Context::Snapshot(made) => {
            let said = history.last().and_then(Exchange::input).unwrap_or_default();
            format!("{prompt}\n\n{}", made(&Moment { now, said }))
        }
        Context::Transcript => {
            let order = gathered.contact.as_ref().map(|contact| contact.order.as_str()).unwrap_or_default();
            format!("{prompt}\n\n{order}")
        }
        Context::Worker => prompt,
    }
}

/// The tasks that are due soon, as JSON.
fn tasks_section(DueTasks { soonest, more }: &DueTasks) -> String {
    if soonest.is_empty() {
        return String::new();
    }
    let shown = soonest.iter().map(|task| Task { details: cut::text(&task.details, DETAILS_BYTES), ..task.clone() });
    let mut section = format!("\nCurrent tasks due soon:\n{}", json!(shown.collect::<Vec<_>>()));
    if *more > 0 {
        section += &format!("\n… and {more} more: {MANAGE_TASKS} lists them.");
    }
    section
}

/// The messages of a conversation, and of those that it goes on from, as a condition of a
/// statement.
fn place(id: ConversationId, earlier: &[(ConversationId, TurnId)]) -> String {
    let own = format!("conversation_id = {id}");
    let before = earlier.iter().map(|(id, up_to)| format!(" OR conversation_id = {id} AND turn_id <= {up_to}"));
    if earlier.is_empty() { own } else { format!("({own}{})", before.collect::<String>()) }
}

/// Everything that a request may show.
pub(super) struct Conversation<'a> {
    /// Its messages, as a condition of a statement.
    place: String,
    /// True if the model can run such a statement.
    reads: bool,
    system: String,
    summary: Option<Summary>,
    /// The turns after those of the summary, the running one last.
    exchanges: &'a [Exchange],
    /// The images that are sent themselves.
    pictures: &'a Pictures,
    /// There are messages before these that no summary covers.
    more: bool,
    /// Stands before the turns: a transcript that a stranger writes, and its images.
    before: Option<(&'a str, &'a [Image])>,
    /// Stands before the newest message and its time: the person's to-dos.
    todos: Option<&'a str>,
    /// The coach of the step; it speaks after everything else.
    coach: Coach<'a>,
    /// The controller's words behind those of the coach.
    last: Vec<Entry>,
}

impl<'a> Conversation<'a> {
    pub(super) fn new(
        id: ConversationId,
        system: String,
        history: &'a History,
        pictures: &'a Pictures,
        coach: Coach<'a>,
        last: Vec<Entry>,
    ) -> Self {
        let (exchanges, more) = (history.exchanges.as_slice(), history.more);
        Self {
            place: place(id, &history.earlier),
            reads: true,
            system,
            summary: None,
            exchanges,
            pictures,
            more,
            before: None,
            todos: None,
            coach,
            last,
        }
    }

    /// The same behind a text in the user's role, with images.
    pub(super) fn behind(self, before: Option<(&'a str, &'a [Image])>) -> Self {
        Self { before, ..self }
    }

    /// The same with the person's to-dos before the newest message. They change from message to
    /// message and begin with the time; behind all that is older they spare a local server from
    /// reading the tools and the conversation again.
    pub(super) fn with_todos(self, text: Option<&'a str>) -> Self {
        Self { todos: text, ..self }
    }

    /// The same for a model that cannot look anything up: nobody tells it where it could.
    pub(super) fn unread(self) -> Self {
        Self { reads: false, ..self }
    }

    /// The coach of the step.
    pub(super) fn coach(&self) -> &Coach<'a> {
        &self.coach
    }

    /// Puts a summary in the place of the turns that it covers.
    pub(super) fn summarise(&mut self, summary: Summary) {
        let covered = self.exchanges.iter().take_while(|exchange| exchange.turn <= summary.up_to).count();
        self.exchanges = &self.exchanges[covered..];
        // If the summary reaches into the loaded turns, nothing lies between.
        self.more &= covered == 0;
        self.summary = Some(summary);
    }

    /// The running turn.
    fn turn(&self) -> TurnId {
        self.exchanges.last().map_or(TurnId(0), |exchange| exchange.turn)
    }

    fn earlier(&self) -> impl Iterator<Item = &'a Exchange> {
        self.exchanges[..self.exchanges.len().saturating_sub(1)].iter()
    }

    fn turns(&self) -> impl Iterator<Item = TurnId> {
        self.exchanges.iter().map(|exchange| exchange.turn)
    }

    /// The entries within an extent. If something is left out, the model is told where it finds it.
    fn entries(&self, extent: Extent) -> Vec<Entry> {
        let shown = |exchange: &&Exchange| exchange.turn >= extent.since || exchange.turn == self.turn();
        let summary = self.summary.as_ref().filter(|_| extent.detail < Detail::Least);
        let left_out = self.more || self.summary.as_ref() != summary || !self.exchanges.iter().all(|exchange| shown(&exchange));
        let mut system = self.system.clone();
        if left_out && self.reads {
            system += &format!(
                "\n\nThe beginning of this conversation is left out here, since it is too long for you. It is kept; where you need it: \
                 SELECT role, content FROM shared.messages WHERE {} ORDER BY message_id",
                self.place
            );
        }
        let mut entries = vec![Entry::System(system)];
        entries.extend(self.before.map(|(text, images)| self.pictures.beside(Entry::User(text.to_owned()), images)));
        entries.extend(summary.into_iter().flat_map(|summary| summary::as_entries(summary, &self.place)));
        entries.extend(self.exchanges.iter().filter(shown).flat_map(|exchange| self.shown(exchange, extent.detail)));
        entries.extend(self.coach.words().iter().cloned().map(Entry::User));
        entries.extend(self.last.iter().cloned());
        entries
    }

    /// A result of at most so many bytes. The model is told how it reads the rest if it can.
    fn result(&self, content: &str, most: usize, call: ToolCallId) -> String {
        if self.reads { cut::result(content, most, call) } else { cut::text(content, most) }
    }

    /// The entries of a turn. If it did not end with an answer, a line behind it says so.
    fn shown(&self, exchange: &Exchange, detail: Detail) -> Vec<Entry> {
        let most = detail.result_bytes();
        let mut entries = Vec::with_capacity(exchange.entries.len());
        for (place, entry) in exchange.entries.iter().enumerate() {
            let entry = match entry {
                HistoryEntry::User(content, at) if exchange.turn == self.turn() => {
                    let todos = self.todos.map(|todos| format!("{todos}\n\n")).unwrap_or_default();
                    Entry::User(todos + &with_time(content, *at))
                }
                HistoryEntry::User(content, _) => Entry::User(content.clone()),
                HistoryEntry::Steered(content, at) => Entry::User(format!("{STEERED}{}", with_time(content, *at))),
                HistoryEntry::Images(images) => {
                    let Some(said) = entries.pop() else { continue };
                    self.pictures.beside(said, images)
                }
                // Some providers refuse an empty answer.
                HistoryEntry::Assistant(content, calls) if calls.is_empty() && seen_name(content).is_empty() => continue,
                HistoryEntry::Assistant(content, calls) if calls.is_empty() => {
                    match self.coach.shows(exchange, place, content, self.went_on(exchange, place)) {
                        Showing::Itself => Entry::Assistant { content: detail.text(content), calls: Vec::new() },
                        Showing::Nothing => continue,
                        Showing::Refused(written, told) => {
                            entries.extend(as_refused(&written, told, most));
                            continue;
                        }
                    }
                }
                HistoryEntry::Assistant(content, calls) => {
                    let calls = calls.iter().map(|call| detail.call(call)).collect();
                    Entry::Assistant { content: detail.text(content), calls }
                }
                HistoryEntry::Tool(id, content, call, logged, refusal) => {
                    let logged = if self.reads { cut::logs(*logged, *call) } else { String::new() };
                    let mut content = self.result(content, most, *call) + &logged;
                    let lesson = self.coach.lesson(exchange, id, *refusal);
                    content.extend(lesson.map(|lesson| format!(" {lesson}")));
                    Entry::Tool { call_id: id.clone(), content, refusal: *refusal }
                }
            };
            entries.push(entry);
            if exchange.unproven.contains(&place) {
                let shown = place + 1 == exchange.entries.len() && exchange.state == TurnState::Completed;
                match entries.last_mut() {
                    Some(Entry::Assistant { content, .. }) if shown => content.push_str(coach::MARKED),
                    _ => entries.push(Entry::User(coach::TAKE_BACK.to_owned())),
                }
            }
        }
        let reason = exchange.reason.as_deref().unwrap_or("no reason was given");
        match exchange.state {
            TurnState::Failed => entries.push(note(&format!("This turn failed: {reason}"))),
            TurnState::Aborted => match entries.last_mut() {
                // The answer was not finished when the person stopped the turn. Some providers
                // refuse two answers in a row.
                Some(Entry::Assistant { content, calls }) if calls.is_empty() => {
                    content.push_str("\n\n[controller] The user stopped this turn here.");
                }
                _ => entries.push(note("The user stopped this turn.")),
            },
            TurnState::Queued | TurnState::Running | TurnState::AwaitingApproval | TurnState::Completed => {}
        }
        entries
    }

    /// True if the model was asked again after an answer that claimed nothing.
    fn went_on(&self, exchange: &Exchange, place: usize) -> bool {
        let again = match exchange.entries.get(place + 1) {
            Some(HistoryEntry::Steered(..)) => false,
            Some(_) => true,
            None => exchange.turn == self.turn(),
        };
        again && !exchange.unproven.contains(&place)
    }
}

/// The text of a call, shown as the call it was meant to be, with its outcome.
fn as_refused(written: &CallRequest, told: String, most: usize) -> [Entry; 2] {
    let call = without_long_arguments(written, most);
    let call_id = call.id.clone();
    [Entry::Assistant { content: String::new(), calls: vec![call] }, Entry::Tool { call_id, content: told, refusal: None }]
}

fn with_time(content: &str, at: DateTime<Utc>) -> String {
    format!("[{}] {content}", at.to_rfc3339_opts(SecondsFormat::Secs, true))
}

fn note(text: &str) -> Entry {
    Entry::Assistant { content: format!("[controller] {text}"), calls: Vec::new() }
}

/// A call with its arguments replaced by their length if they are long.
fn without_long_arguments(call: &CallRequest, most: usize) -> CallRequest {
    let arguments = match call.arguments.len() {
        length if length > most => json!({ "left_out": format!("{length} bytes") }).to_string(),
        _ => call.arguments.clone(),
    };
    CallRequest { arguments, ..call.clone() }
}
