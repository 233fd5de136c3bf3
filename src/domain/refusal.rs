//! Refusals: why a call was not carried out, as a value. Code looks at the value; only [`Refusal::told`] makes words of it, for a model.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::turn::text_enum;

text_enum! {
    /// What kind of refusal it is.
    RefusalCode {
        /// The arguments do not fit.
        InvalidArguments = "invalid_arguments",
        /// The name of a capability does not keep the rule, or is reserved.
        InvalidName = "invalid_name",
        /// The parameters of a capability are no JSON Schema of an object.
        InvalidSchema = "invalid_schema",
        /// The grants cannot be read, or there are none like these.
        UnknownGrant = "unknown_grant",
        /// The code uses what it asked no grant for.
        MissingGrant = "missing_grant",
        /// The code uses a name that is not there.
        NotDefined = "not_defined",
        /// The source is too long.
        TooLarge = "too_large",
        /// The source cannot be parsed.
        SyntaxError = "syntax_error",
        /// The code fails while it loads, or imports what it was not granted.
        ImportError = "import_error",
        /// The code does not define its function.
        MissingFunction = "missing_function",
        /// One of the capability's own tests fails.
        TestFailed = "test_failed",
        /// Postgres refused the statement for what it is.
        SqlError = "sql_error",
        /// Postgres forbids what the statement does.
        SqlForbidden = "sql_forbidden",
        /// A capability's code threw.
        CapabilityFailed = "capability_failed",
        /// The same, and the code itself is at fault.
        CapabilityFault = "capability_fault",
        /// A capability ran into a limit of its call.
        LimitExceeded = "limit_exceeded",
        /// The capability cannot be loaded, or broke.
        CapabilityUnusable = "capability_unusable",
        /// A capability would take a name that somebody else has.
        Taken = "taken",
        /// The person disabled it.
        Disabled = "disabled",
        /// It was there, and is not any more.
        Gone = "gone",
        /// A server of external tools did not do it.
        McpServer = "mcp_server",
        /// There is nothing of this id.
        NotFound = "not_found",
        /// It may not be done here at all.
        Refused = "refused",
        /// It took too long.
        Timeout = "timeout",
        /// Others use what it needs.
        Busy = "busy",
        /// The agent's tables have all the room they may have.
        Quota = "quota",
        /// The device has no room left for them.
        DiskFull = "disk_full",
        /// The result is too large to be kept.
        TooMuch = "too_much",
        /// The answer asked for more calls than are made.
        TooManyCalls = "too_many_calls",
        /// There is no such tool for this profile.
        UnknownTool = "unknown_tool",
        /// The law forbids it in every case: by the mode, or by a rule.
        Forbidden = "forbidden",
        /// The person said no.
        Denied = "denied",
        /// Nobody decided in time.
        Expired = "expired",
    }
}

/// How a code is told.
enum Form {
    /// As JSON, under this word.
    Named(&'static str),
    /// As the sentence alone.
    Sentence,
}

impl RefusalCode {
    /// True for a mistake that the author of the call can put right. What a person or the law refused is none, nor what the world did.
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

/// A place in a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// Line, from 1.
    pub line: u32,
    /// Column, from 1.
    pub offset: u32,
}

/// Why a call was not carried out.
#[derive(Clone, Debug, PartialEq)]
pub struct Refusal {
    /// What kind of refusal it is.
    pub code: RefusalCode,
    /// What is wrong and what to do instead, for the model.
    pub message: String,
    /// Where in the source.
    pub place: Option<Place>,
    /// The grants to ask for, as an author writes them.
    pub grants: Option<Value>,
    /// What else is told, by name.
    pub more: Map<String, Value>,
}

impl Refusal {
    /// A refusal of this kind.
    pub fn new(code: RefusalCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), place: None, grants: None, more: Map::new() }
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
    pub fn at(self, place: Option<Place>) -> Self {
        Self { place, ..self }
    }

    /// The same, with the grants to ask for.
    pub fn asking_for(self, grants: Value) -> Self {
        Self { grants: Some(grants), ..self }
    }

    /// The same, with something more to tell.
    pub fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.more.insert(name.to_owned(), value.into());
        self
    }

    /// The words for a model: those of [`Refusal::to_json`], a sentence without its quotes.
    pub fn told(&self) -> String {
        match self.to_json() {
            Value::String(sentence) => sentence,
            told => told.to_string(),
        }
    }

    /// The same as a value: an object with `error`, `message` and what else there is, or a sentence alone.
    pub fn to_json(&self) -> Value {
        match self.code.form() {
            Form::Sentence => Value::String(worded(&self.message)),
            Form::Named(word) => {
                let mut told = self.more.clone();
                told.insert("error".to_owned(), word.into());
                told.insert("message".to_owned(), worded(&self.message).into());
                if let Some(Place { line, offset }) = self.place {
                    told.extend([("line".to_owned(), json!(line)), ("offset".to_owned(), json!(offset))]);
                }
                told.extend(self.grants.clone().map(|grants| ("grants".to_owned(), grants)));
                Value::Object(told)
            }
        }
    }
}

/// The words that are told. Those of a test that shows that nobody reads them are others.
fn worded(message: &str) -> String {
    #[cfg(debug_assertions)]
    if REWORDED.load(std::sync::atomic::Ordering::Relaxed) {
        return format!("Altrimenti detto, in {} byte.", message.len());
    }
    message.to_owned()
}

#[cfg(debug_assertions)]
static REWORDED: std::sync::atomic::AtomicBool = std::sync::atomic::AtomicBool::new(false);

/// From now on every refusal of this process is told in other words; debug builds only.
#[cfg(debug_assertions)]
pub fn reword() {
    REWORDED.store(true, std::sync::atomic::Ordering::Relaxed);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_is_told_as_json_or_as_its_sentence() {
        let fault = Refusal::new(RefusalCode::CapabilityFault, "m").at(Some(Place { line: 2, offset: 3 })).with("hint", "h");
        assert_eq!(fault.told(), r#"{"error":"capability_failed","hint":"h","line":2,"message":"m","offset":3}"#);
        let grant = Refusal::new(RefusalCode::MissingGrant, "m").asking_for(json!({"kv": {}}));
        assert_eq!(grant.told(), r#"{"error":"missing_grant","grants":{"kv":{}},"message":"m"}"#);
        assert_eq!(Refusal::new(RefusalCode::Denied, "The user refused this.").told(), "The user refused this.");
    }

    #[test]
    fn mistakes_are_told_from_what_is_forbidden_and_from_what_the_world_did() {
        let right = RefusalCode::ALL.iter().filter(|code| code.can_be_put_right());
        assert_eq!(right.count(), 12);
        for code in [RefusalCode::SqlForbidden, RefusalCode::CapabilityFailed, RefusalCode::Denied, RefusalCode::Disabled] {
            assert!(!code.can_be_put_right(), "{code}");
        }
    }
}
