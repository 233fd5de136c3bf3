//! A profile: all that differs between agents, as plain data. A conversation names one for life.

use std::collections::BTreeSet;

use chrono::{DateTime, TimeDelta, Utc};

use super::{DecidingWords, Effect, Words};

/// The profile of a conversation that names none.
pub const DEFAULT_PROFILE: &str = "builder";

/// Whose words come in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Audience {
    /// The person whose server this is: may decide about approvals.
    Owner,
    /// Somebody outside: untrusted, decides nothing.
    Contact,
    /// Another program: decides nothing.
    Machine,
}

impl Audience {
    /// Whether a word of theirs may decide about an approval.
    pub fn may_decide(self) -> bool {
        self == Self::Owner
    }
}

/// The tools a profile may be offered and may call. A tool that is not in it does not exist for the profile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Toolset {
    /// The four first tools, every capability, every external tool.
    Builder,
    /// These, and nothing else, whatever is installed, connected or granted later.
    Only(&'static [&'static str]),
}

impl Toolset {
    /// Whether a tool of this name is in it.
    pub fn has(self, tool: &str) -> bool {
        match self {
            Self::Builder => true,
            Self::Only(tools) => tools.contains(&tool),
        }
    }
}

/// What a model is shown besides the running turn.
#[derive(Clone, Copy, Debug)]
pub enum Context {
    /// The turns before it.
    Conversation {
        /// How many messages of them; `None`: as many as is set for the server.
        history: Option<usize>,
        /// Whether a model sums up those that have no room.
        summaries: bool,
    },
    /// No turn before it: a text that is made anew for each step and stands at the end of the system prompt.
    Snapshot(fn(&Moment<'_>) -> String),
}

/// What a snapshot is made of.
#[derive(Clone, Copy, Debug)]
pub struct Moment<'a> {
    /// The time.
    pub now: DateTime<Utc>,
    /// What the running turn reacts to.
    pub said: &'a str,
}

/// How many tool calls an answer makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallsPerStep {
    /// At most so many; the model is told of the others that they were not made. An answer without a call ends the turn.
    Many(usize),
    /// One. An answer without a call, or with several, is refused and asked for again; a call that did something ends the turn.
    ExactlyOne,
}

/// Where the text of answers goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AnswersTo {
    /// To the page, piece by piece as it is written.
    Page,
    /// To a channel that takes whole texts.
    Channel,
    /// Nowhere: it is dropped, and only calls count.
    Nowhere,
}

/// How much a profile's model is helped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Coaching {
    /// With everything there is for weak models.
    Full,
    /// Only held to what is recorded: an answer that claims what nothing shows is taken back.
    Truth,
    /// Not at all.
    Off,
}

/// All that differs between agents.
#[derive(Clone, Debug)]
pub struct Profile {
    /// Its name, which conversations and policies carry.
    pub name: &'static str,
    /// Whose words come in.
    pub audience: Audience,
    /// The system prompt, with its places to fill in.
    pub prompt: &'static str,
    /// Which tools there are for it.
    pub tools: Toolset,
    /// What a model is shown besides the running turn.
    pub context: Context,
    /// How many calls an answer makes.
    pub calls: CallsPerStep,
    /// Where the text of answers goes.
    pub answers: AnswersTo,
    /// How much its model is helped.
    pub coaching: Coaching,
    /// The most tokens of an answer; `None`: as many as the model's provider takes.
    pub answer_tokens: Option<u32>,
    /// How freely the model chooses its words; `None`: as its provider does.
    pub temperature: Option<f64>,
    /// The most steps of a turn, if its policy has no such budget; `None`: as many as is set for the server.
    pub steps: Option<u32>,
    /// The words that decide about approvals, if its audience may.
    pub words: DecidingWords,
    /// How long an approval waits; `None`: as long as is set for the server.
    pub approval_expiry: Option<TimeDelta>,
    /// Whether a message that is no such word declines the question that waits and is said into its turn. Otherwise it queues.
    pub talked_over: bool,
}

impl Profile {
    /// The words for a proposal with these effects, as the person is shown them; `asks`: the text beside it asks something.
    pub fn words_about(&self, effects: &BTreeSet<Effect>, asks: bool) -> Words {
        if !self.audience.may_decide() {
            return Words::none();
        }
        Words { others_decline: self.talked_over, ..self.words.about(effects, asks) }
    }

    /// How many of the `asked_for` calls of an answer are made.
    pub fn calls_made(&self, asked_for: usize) -> usize {
        match self.calls {
            CallsPerStep::Many(most) => asked_for.min(most),
            CallsPerStep::ExactlyOne if asked_for == 1 => 1,
            CallsPerStep::ExactlyOne => 0,
        }
    }
}
