//! Everything that helps weak models, in one room, switched by the profile. The coach speaks to a
//! model after an answer that does nothing, claims something that nothing shows, or calls a tool
//! that is not there; and it says when a model is held to a call. It reads the history and the
//! names of tools. Its words follow from them, so a turn that is taken up again is coached as
//! before.

mod claims;
mod idle;
mod insist;
mod repeated;
mod truth;
mod unknown;

use crate::domain::{CallRequest, Coaching, Exchange, RefusalCode, WRITE_CAPABILITY};
use crate::model::Answer;

pub use truth::{Claimed, MARKED, Made, TAKE_BACK, Truth};

use idle::{Idle, Idling};

/// The names of the tools of a step.
#[derive(Clone, Debug, Default)]
pub struct Toolbox {
    /// Those that the request lists.
    pub offered: Vec<String>,
    /// The other tools there are.
    pub others: Vec<String>,
}

impl Toolbox {
    /// True if there is a tool of this name, listed or not.
    pub fn has(&self, name: &str) -> bool {
        self.offered.iter().chain(&self.others).any(|tool| tool == name)
    }

    fn names(&self) -> Vec<&str> {
        self.offered.iter().map(String::as_str).collect()
    }
}

/// The way an earlier answer without calls is shown.
#[derive(Clone, Debug, PartialEq)]
pub enum Showing {
    /// As it is.
    Itself,
    /// Not at all: a model that reads its own words goes on with them.
    Nothing,
    /// As the call that it was meant to be, with these words for its result. A model that reads its
    /// own text goes on writing it; one that reads a refused call makes another.
    Refused(CallRequest, String),
}

/// Coaches one step.
#[derive(Debug)]
pub struct Coach<'a> {
    coaching: Coaching,
    /// The running turn.
    turn: Option<&'a Exchange>,
    toolbox: Toolbox,
    idling: Idling<'a>,
    /// The words for the model, after everything else.
    words: Vec<String>,
}

/// Says that a rule helped, for the evaluation.
fn helped(rule: &str) {
    tracing::debug!(target: "level3::help", rule);
}

/// Takes the lines out of an answer that begin as the controller's notes do. A model that was shown
/// such a note writes it, too; in an answer it would be read as the program's own word.
pub fn strip_controller(content: &mut String) {
    const NOTE: &str = "[controller]";
    if content.contains(NOTE) {
        let own: Vec<_> = content.lines().filter(|line| !line.trim_start().starts_with(NOTE)).collect();
        *content = own.join("\n").trim_end().to_owned();
    }
}

/// The last words of a turn in which the model said nothing twice.
pub fn gives_up(coaching: Coaching, history: &[Exchange]) -> Option<&'static str> {
    let idling = Idling::of(history.last().filter(|_| coaching != Coaching::Off));
    idling.twice_empty().then_some(idle::TWICE)
}

impl<'a> Coach<'a> {
    /// The coach of the next step of the running turn, which is the last one of the history.
    pub fn new(coaching: Coaching, history: &'a [Exchange], toolbox: Toolbox) -> Self {
        let turn = history.last();
        let idling = Idling::of(turn.filter(|_| coaching != Coaching::Off));
        let repeated = turn.filter(|_| coaching != Coaching::Off).and_then(repeated::warnings).inspect(|_| helped("repeated"));
        let words = repeated.into_iter().chain(idling.words_for_model(toolbox.has(WRITE_CAPABILITY))).collect();
        Self { coaching, turn, toolbox, idling, words }
    }

    /// The words for the model, after everything else.
    pub fn words(&self) -> &[String] {
        &self.words
    }

    /// True if the next answer has to be a call. If the coach has said something, the model may
    /// want to answer that.
    pub fn must_call(&self) -> bool {
        let mistaken = || self.turn.is_some_and(|turn| insist::insists(turn, |name| self.toolbox.has(name)));
        let held = self.coaching == Coaching::Full && self.words.is_empty() && mistaken();
        if held {
            helped("insist");
        }
        held
    }

    /// The way an answer of the history is shown that asked for no calls; `again` if the model was
    /// asked once more after it.
    pub fn shows(&self, exchange: &Exchange, place: usize, content: &str, again: bool) -> Showing {
        if self.coaching == Coaching::Off || !again {
            return Showing::Itself;
        }
        match idle::idle(content, exchange.input().unwrap_or_default()) {
            None => Showing::Itself,
            Some(Idle::Empty | Idle::AsPerson) => Showing::Nothing,
            Some(Idle::Written(written)) => {
                let told = idle::refusal(&written, &self.toolbox.names(), place + 1 == exchange.entries.len());
                Showing::Refused(CallRequest { id: format!("written_{place}"), ..written }, told)
            }
        }
    }

    /// The lesson beside the result of a call that was refused.
    pub fn lesson(&self, exchange: &Exchange, id: &str, refusal: Option<RefusalCode>) -> Option<String> {
        if self.coaching != Coaching::Full || refusal != Some(RefusalCode::UnknownTool) {
            return None;
        }
        let call = exchange.steps().flatten().find(|call| call.id == id)?;
        unknown::lesson(&self.toolbox.names(), &call.name, &call.arguments).inspect(|_| helped("unknown"))
    }

    /// True if text that is written the way a model writes a call is read as one.
    pub fn rescues(&self) -> bool {
        self.coaching == Coaching::Full
    }

    /// The claim of an answer, if the coach checks claims.
    pub fn claimed(&self, answer: &Answer) -> Option<Claimed> {
        match self.coaching {
            Coaching::Full | Coaching::Truth => truth::claimed(answer, self.turn),
            Coaching::Off => None,
        }
    }

    /// True if an answer does nothing, so that the model is asked again.
    pub fn asks_again(&self, content: &str) -> bool {
        let again = self.coaching != Coaching::Off && self.idling.again(content);
        if again {
            helped("idle");
        }
        again
    }
}
