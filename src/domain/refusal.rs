//! Refusals: the reason why a call was not carried out, as a value. Code looks at the value; only
//! [`Refusal::for_model`] makes words of it, for a model.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::account::CallFault;
use super::names::{EXECUTE_SQL, MANAGE_TASKS, WRITE_CAPABILITY};
use super::profile::Toolset;
use super::turn::text_enum;

text_enum! {
    /// The kind of a refusal.
    RefusalCode {
        /// The arguments do not fit.
        InvalidArguments = "invalid_arguments",
        /// The name of a capability does not keep the rule, or is reserved.
        InvalidName = "invalid_name",
        /// The parameters of a capability are no JSON Schema of an object.
        InvalidSchema = "invalid_schema",
        /// The grants cannot be read, or name powers that do not exist.
        UnknownGrant = "unknown_grant",
        /// The code uses a power that it asked no grant for.
        MissingGrant = "missing_grant",
        /// The code uses a name that is not defined.
        NotDefined = "not_defined",
        /// The source is too long, or there are too many tests.
        TooLarge = "too_large",
        /// The source cannot be parsed.
        SyntaxError = "syntax_error",
        /// The code fails while it loads, or imports a power that it was not granted.
        ImportError = "import_error",
        /// The code does not define its function.
        MissingFunction = "missing_function",
        /// One of the capability's own tests fails.
        TestFailed = "test_failed",
        /// Postgres refused the statement itself.
        SqlError = "sql_error",
        /// Postgres forbids the statement's effect.
        SqlForbidden = "sql_forbidden",
        /// A capability's code threw.
        CapabilityFailed = "capability_failed",
        /// The same, and the code itself is at fault.
        CapabilityFault = "capability_fault",
        /// A capability ran into a limit of its call.
        LimitExceeded = "limit_exceeded",
        /// The capability cannot be loaded, or broke.
        CapabilityUnusable = "capability_unusable",
        /// The capability would take a name that is taken.
        Taken = "taken",
        /// A person disabled it.
        Disabled = "disabled",
        /// It existed, and does not any more.
        Gone = "gone",
        /// A server of external tools did not carry it out.
        McpServer = "mcp_server",
        /// Nothing has this id.
        NotFound = "not_found",
        /// It may not be done here at all.
        Refused = "refused",
        /// It took too long.
        Timeout = "timeout",
        /// Others use the thing it needs.
        Busy = "busy",
        /// The agent's tables have all the room they may have.
        Quota = "quota",
        /// The device has no room left for the agent's tables.
        DiskFull = "disk_full",
        /// The result is too large to be kept.
        TooMuch = "too_much",
        /// There are as many of them as there may be.
        TooMany = "too_many",
        /// The answer asked for more calls than one answer may make.
        TooManyCalls = "too_many_calls",
        /// The profile has no such tool.
        UnknownTool = "unknown_tool",
        /// The law forbids it in every case: by the mode, or by a rule.
        Forbidden = "forbidden",
        /// The person said no.
        Denied = "denied",
        /// Nobody decided in time.
        Expired = "expired",
    }
}

/// A reason of the law from which a model that is helped is told a lesson: what to do instead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Denial {
    /// A rule switches the tool off.
    SwitchedOff,
    /// The profile may only read.
    OnlyReads,
    /// The person said no, and nothing else.
    PlainNo,
    /// Nobody decided in time.
    TooLate,
}

impl Denial {
    fn code(self) -> RefusalCode {
        match self {
            Self::SwitchedOff | Self::OnlyReads => RefusalCode::Forbidden,
            Self::PlainNo => RefusalCode::Denied,
            Self::TooLate => RefusalCode::Expired,
        }
    }

    fn lesson(self) -> &'static str {
        match self {
            Self::SwitchedOff => "Do without it, or tell the user that they can change the rule in the settings.",
            Self::OnlyReads => "Say what you would do, and let the user do it or change the mode in the settings.",
            Self::PlainNo => "Do not try it again in another way; ask what they want instead.",
            Self::TooLate => "Do not ask again by yourself; tell the user.",
        }
    }
}

/// The form in which a model is told of a code.
enum Form {
    /// As JSON, under this word.
    Named(&'static str),
    /// As a bare sentence.
    Sentence,
}

impl RefusalCode {
    /// True for a mistake that the author of the call can put right. A no of a person or of the law
    /// is no mistake, and neither is a failure of the world.
    pub fn can_be_put_right(self) -> bool {
        match self {
            Self::InvalidArguments
            | Self::InvalidName
            | Self::InvalidSchema
            | Self::UnknownGrant
            | Self::MissingGrant
            | Self::NotDefined
            | Self::SyntaxError
            | Self::ImportError
            | Self::MissingFunction
            | Self::TestFailed
            | Self::SqlError
            | Self::CapabilityFault => true,
            Self::TooLarge
            | Self::SqlForbidden
            | Self::CapabilityFailed
            | Self::LimitExceeded
            | Self::CapabilityUnusable
            | Self::Taken
            | Self::Disabled
            | Self::Gone
            | Self::McpServer
            | Self::NotFound
            | Self::Refused
            | Self::Timeout
            | Self::Busy
            | Self::Quota
            | Self::DiskFull
            | Self::TooMuch
            | Self::TooMany
            | Self::TooManyCalls
            | Self::UnknownTool
            | Self::Forbidden
            | Self::Denied
            | Self::Expired => false,
        }
    }

    fn form(self) -> Form {
        match self {
            Self::SqlForbidden => Form::Named(Self::SqlError.as_str()),
            Self::CapabilityFault => Form::Named(Self::CapabilityFailed.as_str()),
            Self::UnknownTool | Self::Forbidden | Self::Denied | Self::Expired => Form::Sentence,
            named => Form::Named(named.as_str()),
        }
    }
}

/// The names of the values that are advice.
const ADVICE: [&str; 2] = ["hint", "what_now"];

/// A place in a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourcePlace {
    /// Line, from 1.
    pub line: u32,
    /// Column, from 1.
    pub offset: u32,
}

/// The reason why a call was not carried out.
#[derive(Clone, Debug, PartialEq)]
pub struct Refusal {
    /// The kind of refusal.
    pub code: RefusalCode,
    /// The fault and what to do instead, for the model. Of a denial, the reason alone.
    pub message: String,
    /// The law's reason, if a lesson follows from it.
    pub denial: Option<Denial>,
    /// The place in the source.
    pub place: Option<SourcePlace>,
    /// The grants to ask for, as an author writes them.
    pub grants: Option<Value>,
    /// Further values for the model, by name.
    pub more: Map<String, Value>,
    /// The fault as a person is told it, if it says more than the kind.
    pub fault: Option<Box<CallFault>>,
}

impl Refusal {
    /// A refusal of this kind.
    pub fn new(code: RefusalCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), denial: None, place: None, grants: None, more: Map::new(), fault: None }
    }

    /// A call that the law does not let run, for a reason with a lesson.
    pub fn denied(denial: Denial, reason: impl Into<String>) -> Self {
        Self { denial: Some(denial), ..Self::new(denial.code(), reason) }
    }

    /// The same without its lesson, for a model that is not helped.
    pub fn without_lesson(self) -> Self {
        Self { denial: None, ..self }
    }

    /// The same without advice that names a tool which is not among these, those of the model that
    /// reads it.
    pub fn among(mut self, tools: Toolset) -> Self {
        let missing =
            [EXECUTE_SQL, WRITE_CAPABILITY, MANAGE_TASKS].into_iter().filter(|tool| !tools.has(tool)).collect::<Vec<_>>();
        let fits = |advice: &Value| advice.as_str().is_none_or(|advice| !missing.iter().any(|tool| advice.contains(tool)));
        self.more.retain(|name, value| !ADVICE.contains(&name.as_str()) || fits(value));
        self
    }

    /// A tool that is not among those there are.
    pub fn unknown_tool(name: &str, tools: &[&str]) -> Self {
        Self::new(RefusalCode::UnknownTool, format!("There is no tool `{name}`. The tools are: {}.", tools.join(", ")))
    }

    /// Arguments that do not fit.
    pub fn arguments(message: impl Into<String>) -> Self {
        Self::new(RefusalCode::InvalidArguments, message)
    }

    /// The same, about this place.
    pub fn at(self, place: Option<SourcePlace>) -> Self {
        Self { place, ..self }
    }

    /// The same, with grants that the model should ask for.
    pub fn asking_for(self, grants: Value) -> Self {
        Self { grants: Some(grants), ..self }
    }

    /// The same, with one more value for the model.
    pub fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.more.insert(name.to_owned(), value.into());
        self
    }

    /// The same, with the fault as a person is told it.
    pub fn with_fault(self, fault: CallFault) -> Self {
        Self { fault: Some(Box::new(fault)), ..self }
    }

    /// A text of code that threw, as a person is told it. A failed statement gives code its refusal
    /// as JSON, and code throws it on, with words before it or without: a person reads its message.
    pub fn thrown_on(text: &str) -> String {
        #[derive(Deserialize)]
        struct Told {
            #[serde(rename = "error")]
            _error: String,
            message: String,
        }
        let told = text.find('{').map(|at| text.split_at(at));
        match told.map(|(before, json)| (before, serde_json::from_str(json))) {
            Some((before, Ok(Told { message, .. }))) => format!("{before}{message}"),
            _ => text.to_owned(),
        }
    }

    /// The words for a model: those of [`Refusal::to_json`], a sentence without its quotes.
    pub fn for_model(&self) -> String {
        match self.to_json() {
            Value::String(sentence) => sentence,
            told => told.to_string(),
        }
    }

    /// The message, and the lesson that follows from it.
    fn words(&self) -> String {
        match self.denial {
            Some(denial) => format!("{} {}", self.message, denial.lesson()),
            None => self.message.clone(),
        }
    }

    /// The same as a value: an object with `error`, `message` and the rest, or a bare sentence.
    pub fn to_json(&self) -> Value {
        match self.code.form() {
            Form::Sentence => Value::String(worded(&self.words())),
            Form::Named(word) => {
                let mut told = self.more.clone();
                told.insert("error".to_owned(), word.into());
                told.insert("message".to_owned(), worded(&self.words()).into());
                if let Some(SourcePlace { line, offset }) = self.place {
                    told.extend([("line".to_owned(), json!(line)), ("offset".to_owned(), json!(offset))]);
                }
                told.extend(self.grants.clone().map(|grants| ("grants".to_owned(), grants)));
                Value::Object(told)
            }
        }
    }
}

/// Words for a model that no code reads: refusals, and what a heartbeat says before its list. A
/// test that shows that it is so replaces them.
pub fn worded(message: &str) -> String {
    #[cfg(debug_assertions)]
    if REWORDED.load(std::sync::atomic::Ordering::Relaxed) {
        return format!("Altrimenti detto, in {} byte.", message.len());
    }
    message.to_owned()
}

#[cfg(debug_assertions)]
static REWORDED: std::sync::atomic::AtomicBool = std::sync::atomic::AtomicBool::new(false);

/// From now on all that goes through [`worded`] has other words in this process; debug builds
/// only.
#[cfg(debug_assertions)]
pub fn reword() {
    REWORDED.store(true, std::sync::atomic::Ordering::Relaxed);
}

#[cfg(test)]
mod tests;
