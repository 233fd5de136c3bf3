//! Scripts of campaigns: the body of a function in JavaScript or Python that has `input`, `files`,
//! `log` and a `/tmp` in memory, and reaches nothing else but the hosts of its approval. JavaScript
//! runs in the engine of capabilities, Python in one of its own (`python`); the bounds are the
//! same.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::{Value, json};
use tokio::sync::SemaphorePermit;

use crate::domain::campaign::script::ScriptLanguage;
use crate::domain::{Grants, HttpGrant, Power, RUN_SCRIPT, SourceLanguage};
use crate::governor::Permit;

use super::component::{Bytes, sha256};
use super::host::OneByOne;
use super::run::RunEnd;
use super::template::Kind;
use super::{CallError, Inner, Nothing, PythonError, Reach, Sandbox};

/// The lines before a script.
const BEFORE: &str = include_str!("script.js");
/// The lines after it. The first ends a comment.
const AFTER: &str = "\n}}\nexport default async (given) => level3Whole(await script(given));\n";
/// The beginning of the engine's words about a power that is not granted.
const NOT_GRANTED: &str = "this capability was not granted";
/// The same of our own words about a script.
const REACHES: &str = "a script reaches";
/// The form of a script.
const FORM: &str = "a script is the body of a JavaScript function: it has input, files, log(…) and tmp, imports and exports nothing, and \
                    returns its result";

/// A script in its language.
#[derive(Clone, Copy, Debug)]
pub struct ScriptText<'a> {
    /// The language.
    pub language: ScriptLanguage,
    /// The body of a function.
    pub source: &'a str,
}

/// The end of a script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScriptEnd {
    /// Its result as text, or why it has none.
    pub result: Result<String, String>,
    /// The lines that it logged, the oldest first.
    pub logs: Vec<String>,
}

/// Room for one script to run.
pub struct ScriptSlot<'a> {
    inner: &'a Inner,
    hosts: BTreeSet<HttpGrant>,
    reach: Arc<dyn Reach>,
    _room: Option<SemaphorePermit<'a>>,
}

impl Sandbox {
    /// Says if scripts of a language can be run with these hosts; Python is loaded for it.
    ///
    /// # Errors
    /// [`PythonError`], which says what to do.
    pub async fn ready_for(&self, language: ScriptLanguage, hosts: &BTreeSet<HttpGrant>) -> Result<(), PythonError> {
        match language {
            ScriptLanguage::JavaScript => Ok(()),
            ScriptLanguage::Python => self.0.python.ready_for(hosts).await.map(drop),
        }
    }

    /// Waits until there is room for a script. Scripts that run end in bounded time.
    pub async fn script_slot(&self) -> ScriptSlot<'_> {
        let room = self.0.scripts.acquire().await.ok();
        ScriptSlot { inner: &self.0, hosts: BTreeSet::new(), reach: Arc::new(Nothing), _room: room }
    }
}

impl ScriptSlot<'_> {
    /// The same for a script that may reach these hosts. `reach` does its work outside.
    pub fn reaching(self, hosts: BTreeSet<HttpGrant>, reach: Arc<dyn Reach>) -> Self {
        Self { hosts, reach, ..self }
    }

    /// Runs a script in a fresh instance, with this input and these files: an object of name and
    /// text.
    pub async fn run(self, permit: &Permit, script: ScriptText<'_>, input: &Value, files: &Value) -> ScriptEnd {
        tracing::debug!(call = %permit.call(), language = ?script.language, "script runs");
        let (given, limits) = (json!({ "input": input, "files": files }), self.inner.limits.script);
        let (result, logs) = match script.language {
            ScriptLanguage::JavaScript => self.javascript(script.source, given).await,
            ScriptLanguage::Python => match self.inner.python.ready_for(&self.hosts).await {
                Ok(interpreter) => interpreter.run(script.source, &given, limits, self.one_by_one()).await,
                Err(error) => (Err(crate::telemetry::chain(&error)), Vec::new()),
            },
        };
        let (most, logged) = (limits.output_bytes, logs.iter().map(|line| line.len() + 1).sum::<usize>());
        let result = result.and_then(|result| match result.len() + logged {
            size if size > most => Err(format!("its result and its log have {size} bytes and may have {most} together")),
            _ => Ok(result),
        });
        ScriptEnd { result, logs }
    }

    fn grants(&self) -> Grants {
        Grants { http: self.hosts.clone(), ..Grants::none() }
    }

    /// The requests of a script in Python.
    fn one_by_one(&self) -> OneByOne {
        OneByOne::new(self.grants(), Arc::clone(&self.reach), &self.inner.limits, reaches(&self.hosts))
    }

    async fn javascript(&self, source: &str, mut given: Value) -> (Result<String, String>, Vec<String>) {
        if self.hosts.is_empty() {
            given["nowhere"] = json!(reaches_nothing());
        }
        let grants = Grants { harmless: [Power::Log].into(), ..self.grants() };
        let component = match self.inner.templates.get(&grants) {
            Ok(template) => template.component(Kind::Run, &format!("{BEFORE}{source}{AFTER}")),
            Err(fault) => return (Err(fault), Vec::new()),
        };
        let sum = sha256(&component);
        let bytes = Bytes { component: &component, sha256: &sum, grants: &grants, language: SourceLanguage::JavaScript };
        let RunEnd { result, logs, .. } = match self.inner.load(bytes).await {
            Ok(loaded) => {
                let terms = self.inner.terms_of_script(Arc::clone(&self.reach), reaches(&self.hosts));
                self.inner.run(&loaded, &given, &terms).await
            }
            Err(error) => RunEnd::failed(CallError::Unusable(error.to_string())),
        };
        (result.map_err(|error| words(&error, &self.hosts)), logs)
    }
}

/// The words about a script without hosts.
fn reaches_nothing() -> String {
    format!(
        "{REACHES} nothing: it has no network, no secrets, no database, no tools and no clock; it has input, files, log and tmp, and the \
         hosts that its approval grants (arguments.hosts of {RUN_SCRIPT})"
    )
}

/// The reach of a script with these hosts, in words for its author.
fn reaches(hosts: &BTreeSet<HttpGrant>) -> String {
    if hosts.is_empty() {
        return reaches_nothing();
    }
    let may: Vec<_> = hosts.iter().map(HttpGrant::in_words).collect();
    format!("{REACHES} only what its approval grants: {} Propose it again with what it needs in arguments.hosts", may.join(" "))
}

/// The failure of a script, in words about a script.
fn words(error: &CallError, hosts: &BTreeSet<HttpGrant>) -> String {
    match error {
        CallError::Threw { message, .. } if message.starts_with(NOT_GRANTED) || message.starts_with(REACHES) => reaches(hosts),
        CallError::Threw { name, message, place } => {
            // The first lines are ours.
            let ours = u32::try_from(BEFORE.lines().count()).unwrap_or_default();
            let at = place.and_then(|place| place.line.checked_sub(ours)).filter(|line| *line > 0);
            let at = at.map_or_else(String::new, |line| format!(" (line {line})"));
            let form = if name == "SyntaxError" { format!("; {FORM}") } else { String::new() };
            format!("{name}: {message}{at}{form}")
        }
        CallError::Unusable(fault) => format!("the script cannot be run: {fault}"),
        CallError::InvalidArguments { .. } | CallError::Limit { .. } => error.to_string(),
    }
}
