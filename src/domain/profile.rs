//! A profile: all that differs between agents, as plain data. A conversation names one for life.

use std::collections::BTreeSet;

use chrono::{DateTime, TimeDelta, Utc};

use super::{DecidingWords, Effect, Origin, UserRole, Words};

/// The profile of a conversation that names none.
pub const DEFAULT_PROFILE: &str = "builder";

/// The kind of people or programs whose words come in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Audience {
    /// The user whose conversation it is, who may decide about its approvals.
    Owner,
    /// A person outside: untrusted, decides nothing.
    Contact,
    /// Another program: decides nothing.
    Machine,
}

impl Audience {
    /// True if their words may decide about an approval.
    pub fn may_decide(self) -> bool {
        self == Self::Owner
    }
}

/// The tools that a profile is offered and may call. No other tool exists for the profile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Toolset {
    /// The first tools, `relay` if a rule of the profile allows it, every capability, every
    /// external tool.
    Builder,
    /// These of the tools that the program brings, and every capability.
    Capabilities(&'static [&'static str]),
    /// These, and nothing else, whatever is installed, connected or granted later.
    Only(&'static [&'static str]),
}

impl Toolset {
    /// True if a tool of this name may be in it.
    pub fn has(self, tool: &str) -> bool {
        match self {
            Self::Builder | Self::Capabilities(_) => true,
            Self::Only(tools) => tools.contains(&tool),
        }
    }

    /// True if an external tool of this name is in it.
    pub fn has_external(self, tool: &str) -> bool {
        match self {
            Self::Builder => true,
            Self::Capabilities(tools) | Self::Only(tools) => tools.contains(&tool),
        }
    }

    /// The set for calls that a capability of it makes. A sealed set stays sealed; elsewhere a
    /// capability reaches what its grants say, whoever calls it.
    pub fn inside(self) -> Self {
        match self {
            Self::Builder | Self::Capabilities(_) => Self::Builder,
            Self::Only(_) => self,
        }
    }
}

/// The part of a model's request besides the running turn.
#[derive(Clone, Copy, Debug)]
pub enum Context {
    /// The turns before it.
    Conversation {
        /// How many messages of them; `None`: the server's setting.
        history: Option<usize>,
        /// True if a model sums up those that do not fit.
        summaries: bool,
    },
    /// No turn before it. A text that is made anew for each step stands at the end of the system
    /// prompt.
    Snapshot(fn(&Moment<'_>) -> String),
    /// No turn before it. The order of an instance of Relay stands at the end of the system prompt,
    /// and its transcript, which a stranger writes, in the user's role. A turn has to write or to
    /// end before it may end.
    Transcript,
    /// A worker of its own, which has the place of the agent, puts each request together. It needs
    /// more than a moment.
    Worker,
}

/// The material of a snapshot.
#[derive(Clone, Copy, Debug)]
pub struct Moment<'a> {
    /// The time.
    pub now: DateTime<Utc>,
    /// The input that the running turn reacts to.
    pub said: &'a str,
}

/// How many tool calls one answer may make.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallsPerStep {
    /// At most so many; the model is told that further calls were not made. An answer without a
    /// call ends the turn.
    Many(usize),
    /// One. An answer without a call, or with several, is refused and asked for again; a call that
    /// had an effect ends the turn.
    ExactlyOne,
}

/// The destination of an answer's text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AnswersTo {
    /// The page, piece by piece as the model writes it.
    Page,
    /// A channel that takes whole texts.
    Channel,
    /// None: the text is dropped, and only calls count.
    Nowhere,
}

/// How much help a profile's model gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Coaching {
    /// All the help there is for weak models.
    Full,
    /// An answer that claims what no record shows is taken back, and one that does nothing (it is
    /// empty, the person's own words, or the text of a call) is asked for again. Nothing is read
    /// into an answer, and no lesson is given.
    Truth,
    /// None.
    Off,
}

/// The tasks that the prompt shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TasksShown {
    /// Those that fall due within the hour.
    DueSoon,
    /// The person's active ones, their timer, and what time it is where they are.
    Todos,
}

/// The words in which a person hears that something did not work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailureWords {
    /// The fault and the way to mend it, for the person who runs the server.
    Full,
    /// The same, where the settings of the model stand in the home of `level3 operator`.
    OfHome,
    /// One short sentence, for a person who only talks; the rest is for the log.
    Short,
}

/// The variables that say a model. They are read if `config.json` says none: halves of two models
/// make none.
const OF_MODEL: [&str; 3] = ["LLM_PROVIDER", "LLM_MODEL", "LLM_BASE_URL"];
/// The settings of a model as variables, and their places in the home of `level3 operator`.
const IN_HOME: [(&str, &str); 10] = [
    ("LLM_PROVIDER", "`model.provider` in config.json"),
    ("LLM_MODEL", "`model.name` in config.json"),
    ("LLM_BASE_URL", "`model.base_url` in config.json"),
    ("LLM_API_KEY", "the file model-key"),
    ("ANTHROPIC_API_KEY", "the file model-key"),
    ("OPENAI_API_KEY", "the file model-key"),
    ("GROQ_API_KEY", "the file model-key"),
    ("OPENROUTER_API_KEY", "the file model-key"),
    ("MISTRAL_API_KEY", "the file model-key"),
    ("GEMINI_API_KEY", "the file model-key"),
];

impl FailureWords {
    /// A text for the person who sets the model, with the names that its settings have for that
    /// person. A server of one's own with an operator has variables instead, so these stay beside
    /// them.
    pub fn named(self, told: &str) -> String {
        match self {
            Self::OfHome => IN_HOME.iter().fold(told.to_owned(), |told, (variable, place)| {
                let only = if OF_MODEL.contains(variable) { ", if `model` there is empty" } else { "" };
                told.replace(variable, &format!("{place} (or {variable}{only})"))
            }),
            Self::Full | Self::Short => told.to_owned(),
        }
    }

    /// The model has written nothing for [`FailureWords::LONG`].
    pub const SLOW: &str = "Taking longer than expected...";
    /// So long a person waits for the first word without being told, in seconds.
    pub const LONG: i64 = 10;
    /// The model has too many requests.
    pub const BUSY: &str = "Please wait a moment";
    /// A call did not fit, and did not fit again.
    pub const MISFIT: &str = "I couldn't do that, please try again";
    /// The database, or the model, failed.
    pub const BROKEN: &str = "Something went wrong, please try again";
    /// The law, the tier or the account does not allow it.
    pub const FORBIDDEN: &str = "You don't have permission to do that";
}

/// The limits of a turn that are set for the server, and hold if its profile does not say
/// otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TurnLimits {
    /// Model requests in one turn, if its profile's budget does not say otherwise, either.
    pub steps: u32,
    /// Earlier messages in a model request.
    pub history: usize,
}

/// All that differs between agents.
#[derive(Clone, Debug)]
pub struct Profile {
    /// Its name, which conversations and policies carry.
    pub name: &'static str,
    /// The kind of people or programs whose words come in.
    pub audience: Audience,
    /// The users who have conversations with it: all of this role, and those above.
    pub open_to: UserRole,
    /// The system prompt, with its places to fill in.
    pub prompt: &'static str,
    /// The tools that exist for it.
    pub tools: Toolset,
    /// The tools that its person may order by hand.
    pub by_hand: Toolset,
    /// The part of a model's request besides the running turn.
    pub context: Context,
    /// The tasks that stand in the prompt, if it has a place for them.
    pub tasks: TasksShown,
    /// The tool with which its model completes a due task that it has done; a turn that due tasks
    /// begin names it. `None`: due tasks are the person's to do, and the person is told of them.
    pub completes_with: Option<&'static str>,
    /// How many calls one answer may make.
    pub calls: CallsPerStep,
    /// The destination of an answer's text.
    pub answers: AnswersTo,
    /// How much help its model gets.
    pub coaching: Coaching,
    /// The most tokens of an answer; `None`: as many as the model's provider takes.
    pub answer_tokens: Option<u32>,
    /// How freely the model chooses its words; `None`: the provider's default.
    pub temperature: Option<f64>,
    /// The model that answers if its provider's key is set and the policy names none, as
    /// `provider/model`; `None`: the server's.
    pub model: Option<&'static str>,
    /// The most steps of a turn, if its policy has no such budget; `None`: the server's setting.
    pub steps: Option<u32>,
    /// The words that decide about approvals, if its audience may decide.
    pub words: DecidingWords,
    /// How long an approval waits; `None`: the server's setting.
    pub approval_expiry: Option<TimeDelta>,
    /// True if a person's messages are counted, and limited by the person's tier.
    pub counted: bool,
    /// The words in which its person hears of failures.
    pub failures: FailureWords,
    /// If true, a message that is no such word declines the waiting question and is said into its
    /// turn. If false, the message queues.
    pub talked_over: bool,
    /// True if its turns are the tasks of the operator, one at a time in one conversation: the
    /// governor classifies every action, reading too, a refusal, silence or a limit aborts the
    /// task, risky actions are recorded, and the prompt shows the global context.
    pub operates: bool,
}

impl Profile {
    /// The words for a proposal with these effects, as the person sees them; `asks`: the text
    /// beside the call asks something.
    pub fn words_about(&self, effects: &BTreeSet<Effect>, asks: bool) -> Words {
        if !self.audience.may_decide() {
            return Words::none();
        }
        Words { others_decline: self.talked_over, ..self.words.about(effects, asks) }
    }

    /// True if its conversations are those of Relay's instances: nobody begins one otherwise, and
    /// nobody is there to be asked.
    pub fn is_relays(&self) -> bool {
        matches!(self.context, Context::Transcript)
    }

    /// True if its conversations are those of campaigns: nobody begins one otherwise.
    pub fn is_campaigns(&self) -> bool {
        matches!(self.context, Context::Worker)
    }

    /// The tools that exist for the calls of a turn of this origin.
    pub fn tools_of(&self, origin: Origin) -> Toolset {
        match origin {
            Origin::Message | Origin::Task | Origin::FollowUp | Origin::Cycle => self.tools,
            Origin::Command => self.by_hand,
        }
    }

    /// How many of an answer's `asked_for` calls are made.
    pub fn calls_made(&self, asked_for: usize) -> usize {
        match self.calls {
            CallsPerStep::Many(most) => asked_for.min(most),
            CallsPerStep::ExactlyOne if asked_for == 1 => 1,
            CallsPerStep::ExactlyOne => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_settings_of_a_model_have_their_places_in_the_home_of_the_operator() {
        let told = "LLM_PROVIDER is `openai`, which needs a key: set OPENAI_API_KEY.";
        assert_eq!(
            FailureWords::OfHome.named(told),
            "`model.provider` in config.json (or LLM_PROVIDER, if `model` there is empty) is `openai`, which needs a key: set the file \
             model-key (or OPENAI_API_KEY)."
        );
        assert_eq!(FailureWords::Full.named(told), told);
    }
}
