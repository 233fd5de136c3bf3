//! Capabilities: tools the agent wrote, as data.

use std::collections::BTreeSet;
use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

use super::turn::text_enum;

text_enum! {
    /// What a capability is written in.
    Language {
        /// An ES module, run by the shared engine.
        JavaScript = "javascript",
        /// The text of a whole component that exports `run`.
        Wat = "wat",
    }
}

text_enum! {
    /// One power a capability can be given; each is a WIT interface of its own.
    Power {
        /// `console.log`, kept with the call.
        Log = "log",
        /// The time, and timers.
        Clock = "clock",
        /// Random numbers.
        Random = "random",
    }
}

/// The powers a capability has. Written as an object, power → its settings, so that later powers can carry hosts and names.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Grants(BTreeSet<Power>);

impl Grants {
    /// The powers every capability gets without asking: none of them reaches outside the sandbox.
    pub fn harmless() -> Self {
        Self(Power::ALL.iter().copied().collect())
    }

    /// No power at all: the component imports nothing from the host.
    pub fn none() -> Self {
        Self(BTreeSet::new())
    }

    /// True when this power was given.
    pub fn has(&self, power: Power) -> bool {
        self.0.contains(&power)
    }

    /// The powers given, in a fixed order.
    pub fn powers(&self) -> impl Iterator<Item = Power> {
        self.0.iter().copied()
    }

    /// Reads the written form.
    ///
    /// # Errors
    /// Names the first power this version does not have.
    pub fn from_json(written: &Map<String, Value>) -> Result<Self, UnknownPower> {
        let power = |name: &String| name.parse().map_err(|_| UnknownPower(name.clone()));
        Ok(Self(written.keys().map(power).collect::<Result<_, _>>()?))
    }

    /// The written form.
    pub fn to_json(&self) -> Map<String, Value> {
        self.0.iter().map(|power| (power.to_string(), Value::Object(Map::new()))).collect()
    }
}

impl Serialize for Grants {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.to_json().serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Grants {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::from_json(&Map::deserialize(deserializer)?).map_err(serde::de::Error::custom)
    }
}

/// A power was asked for that does not exist.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownPower(pub String);

impl fmt::Display for UnknownPower {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let known: Vec<_> = Power::ALL.iter().map(|power| power.as_str()).collect();
        write!(f, "there is no power `{}` to grant; this version has: {}", self.0, known.join(", "))
    }
}

impl std::error::Error for UnknownPower {}

/// An example the author gave: these parameters must give this result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TestCase {
    /// The arguments of the call.
    pub params: Value,
    /// The result expected, compared as JSON; when absent the call only has to succeed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expect: Option<Value>,
}

/// A capability as its author handed it in, before any check.
#[derive(Clone, Debug, PartialEq)]
pub struct Draft {
    /// snake_case; also the name of the function.
    pub name: String,
    /// What it does, for the model.
    pub description: String,
    /// What the source is written in.
    pub language: Language,
    /// The source.
    pub source: String,
    /// JSON Schema of its arguments.
    pub parameters: Value,
    /// The powers asked for.
    pub grants: Grants,
    /// Examples that must hold.
    pub tests: Vec<TestCase>,
}

/// A checked version of a capability, as it is kept and called.
#[derive(Clone, Debug, PartialEq)]
pub struct CapabilityVersion {
    /// snake_case, unique.
    pub name: String,
    /// Counts from 1 for each name.
    pub version: i32,
    /// What it does, for the model.
    pub description: String,
    /// What the source is written in.
    pub language: Language,
    /// The source the component was made from.
    pub source: String,
    /// JSON Schema of its arguments.
    pub parameters: Value,
    /// The powers it has.
    pub grants: Grants,
    /// Examples that held when it was written.
    pub tests: Vec<TestCase>,
    /// The component's bytes.
    pub component: Vec<u8>,
    /// sha256 of `component`, in hexadecimal.
    pub sha256: String,
    /// Which engine it was made for, for example `level3-js-engine-v1`; empty for components that bring their own code.
    pub engine: String,
}

/// The rule a capability's name must keep, in words.
pub const NAME_RULE: &str = "a name is snake_case: a lower-case letter, then lower-case letters, digits or `_`, 64 at most";

/// True when `name` keeps [`NAME_RULE`].
pub fn valid_name(name: &str) -> bool {
    name.len() <= 64
        && name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grants_read_back_as_written() {
        let grants = Grants::harmless();
        let text = serde_json::to_string(&grants).unwrap();
        assert_eq!(text, r#"{"clock":{},"log":{},"random":{}}"#);
        assert_eq!(serde_json::from_str::<Grants>(&text).unwrap(), grants);
    }

    #[test]
    fn a_power_nobody_has_is_refused_with_the_list() {
        let error = serde_json::from_str::<Grants>(r#"{"http":{"hosts":["example.com"]}}"#).unwrap_err();
        assert!(
            error.to_string().starts_with("there is no power `http` to grant; this version has: log, clock, random"),
            "{error}"
        );
    }

    #[test]
    fn names_are_snake_case() {
        for good in ["a", "roman_numeral", "x2"] {
            assert!(valid_name(good), "{good}");
        }
        for bad in ["", "2x", "_a", "romanNumeral", "a-b", "a b", "é", &"a".repeat(65)] {
            assert!(!valid_name(bad), "{bad}");
        }
    }
}
