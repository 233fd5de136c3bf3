//! A profile: all that differs between agents, as plain data. A conversation names one for life.

use chrono::TimeDelta;

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

/// The tools a profile may be offered and may call. What is not in it does not exist for the profile.
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

/// How many tool calls of one answer are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallsPerStep {
    /// At most so many; the model is told of the others that they were not made.
    Many(usize),
    /// One, always: an answer without a call, or with several, is none.
    ExactlyOne,
}

/// Where the text of answers goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AnswersTo {
    /// The page.
    Page,
    /// The channel the message came by.
    Channel,
    /// Nowhere: only calls count.
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
    /// How many calls of an answer are made.
    pub calls: CallsPerStep,
    /// Where the text of answers goes.
    pub answers: AnswersTo,
    /// How much its model is helped.
    pub coaching: Coaching,
    /// How long an approval waits; `None`: as long as is set for the server.
    pub approval_expiry: Option<TimeDelta>,
    /// Whether something that is said while a question waits declines it and is said into the same turn.
    pub talked_over: bool,
}
