//! Scripts: capabilities, listed, run, made and replaced by the names of the operator's document. A
//! script is found by its exact name alone.

use std::sync::Arc;

use futures::FutureExt;
use futures::future::BoxFuture;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::domain::{
    CREATE_SCRIPT, CapabilityVersion, EXECUTE_SCRIPT, Effect, LIST_SCRIPTS, Outcome, Refusal, RefusalCode, ToolSpec,
    UPDATE_SCRIPT,
};
use crate::store::{Catalogue, StoreError};
use crate::tools::capability;
use crate::tools::kernel::{WriteCapability, WritingManner};
use crate::tools::kit::Kit;
use crate::tools::tool::{Act, CallCard, Doing, Executed, Prepared, Preparing, Tool, ToolError, at_once, read, spec};

const LIST: &str = "Lists the scripts there are, with what they do and the arguments they take.";
const EXECUTE: &str = "Runs a script by its exact name. It gets these arguments and nothing else.";
const UPDATE: &str = "Replaces a script with a new version, given whole. The person confirms it each time.";

/// So many scripts are named to a person.
const MOST_NAMED: usize = 3;

/// No arguments.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
struct NoArguments {}

/// The tool that lists scripts.
pub(super) struct ListScripts;

/// The tool that runs one.
pub(super) struct ExecuteScript;

/// The tool that makes one.
pub(super) struct CreateScript;

/// The tool that replaces one.
pub(super) struct UpdateScript;

/// The list, as it is shown.
struct ScriptList(Value);

impl Tool for ListScripts {
    fn spec(&self) -> ToolSpec {
        spec::<NoArguments>(LIST_SCRIPTS, LIST)
    }

    fn prepare<'a>(&'a self, asked: Preparing<'a>) -> BoxFuture<'a, Result<Prepared, ToolError>> {
        let catalogue = asked.catalogue;
        let scripts = catalogue.capabilities().filter(|_| !asked.kit().safe_mode).map(|listed| {
            let about = &listed.summary;
            json!({ "name": about.name, "description": about.description, "version": about.version, "parameters": about.parameters })
        });
        let mut list = json!({ "scripts": scripts.collect::<Vec<_>>() });
        let disabled = catalogue.capability_names().filter(|name| is_disabled(name, catalogue));
        let disabled: Vec<_> = disabled.map(|name| json!({ "name": name, "comes_back": comes_back(name) })).collect();
        if !disabled.is_empty() {
            list["disabled"] = Value::Array(disabled);
        }
        at_once(Ok(Prepared::new(ScriptList(list), Effect::Read)))
    }

    fn changes(&self, _: &Value) -> bool {
        false
    }
}

impl Act for ScriptList {
    fn card<'a>(&'a self, _: &'a Kit) -> BoxFuture<'a, Result<CallCard, StoreError>> {
        at_once(Ok(CallCard::of(vec!["Lists the scripts.".to_owned()])))
    }

    fn execute<'a>(self: Box<Self>, _: Doing<'a>) -> BoxFuture<'a, Result<Executed, StoreError>> {
        at_once(Ok(Executed::Outcome(Outcome::ok(self.0.to_string()))))
    }
}

/// The arguments of `execute_script`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
struct Execution {
    #[schemars(description = "The exact name of the script")]
    name: String,
    #[serde(default)]
    #[schemars(with = "Map<String, Value>", description = "The arguments, as the script's schema has them")]
    arguments: Map<String, Value>,
}

/// A script with the arguments that it is to get.
struct ScriptCall {
    live: Arc<CapabilityVersion>,
    arguments: Value,
}

impl Tool for ExecuteScript {
    fn spec(&self) -> ToolSpec {
        spec::<Execution>(EXECUTE_SCRIPT, EXECUTE)
    }

    fn prepare<'a>(&'a self, asked: Preparing<'a>) -> BoxFuture<'a, Result<Prepared, ToolError>> {
        async move {
            let (kit, catalogue) = (asked.kit(), asked.catalogue);
            let Execution { name, arguments } = read(asked.arguments.clone())?;
            let live = if kit.safe_mode { None } else { catalogue.live(&kit.store, &name).await? };
            let live = live.ok_or_else(|| unknown(&name, catalogue))?;
            let arguments = Value::Object(arguments);
            kit.hands.sandbox.validate_params(&live, &arguments).map_err(|error| error.refusal())?;
            let version = Some(live.version);
            Ok(Prepared { version, ..Prepared::new(ScriptCall { live, arguments }, Effect::Call) })
        }
        .boxed()
    }

    fn may_send(&self) -> bool {
        true
    }

    fn for_person(&self, kit: &Kit, catalogue: &Catalogue) -> Option<String> {
        let names: Vec<_> = catalogue.capabilities().map(|listed| &*listed.summary.name).collect();
        (!kit.safe_mode).then(|| format!("run a script ({})", some_of(&names)))
    }
}

impl Act for ScriptCall {
    fn card<'a>(&'a self, _: &'a Kit) -> BoxFuture<'a, Result<CallCard, StoreError>> {
        let CapabilityVersion { name, version, grants, .. } = &*self.live;
        let powers = grants.in_words();
        let reach = if powers.is_empty() { vec!["It reaches nothing outside its sandbox.".to_owned()] } else { powers };
        let what = [format!("Runs the script `{name}`, version {version}, with the arguments below.")].into_iter().chain(reach);
        at_once(Ok(CallCard::of(what.collect())))
    }

    fn execute<'a>(self: Box<Self>, doing: Doing<'a>) -> BoxFuture<'a, Result<Executed, StoreError>> {
        async move {
            let Self { live, arguments } = *self;
            capability::run(doing, &live, &arguments).await
        }
        .boxed()
    }
}

impl Tool for CreateScript {
    fn spec(&self) -> ToolSpec {
        let description = format!(
            "Writes a new script, whole, in one step, with its schema and at least one test. A name that is taken is refused: run that \
             script, or replace it with {UPDATE_SCRIPT}."
        );
        ToolSpec { name: CREATE_SCRIPT.to_owned(), description, ..WriteCapability.spec() }
    }

    fn prepare<'a>(&'a self, asked: Preparing<'a>) -> BoxFuture<'a, Result<Prepared, ToolError>> {
        async move {
            let name = named(&asked.arguments);
            if asked.catalogue.capability(&name).is_some() {
                let near = nearest(&name, asked.catalogue, |other| other != name);
                let near = near.map_or_else(String::new, |near| format!(" The nearest other one is `{near}`."));
                let or = match is_disabled(&name, asked.catalogue) {
                    true => format!("already, which is disabled. To have it back, {}", comes_back(&name)),
                    false => format!("already: run it with {EXECUTE_SCRIPT}, replace it with {UPDATE_SCRIPT}"),
                };
                let told = format!("there is a script `{name}` {or}, or choose another name.{near}");
                return Err(Refusal::new(RefusalCode::Taken, told).into());
            }
            if asked.arguments["tests"].as_array().is_none_or(Vec::is_empty) {
                return Err(Refusal::arguments("`tests` holds no test: give at least one, with a result you are sure of").into());
            }
            WriteCapability::prepare_in(asked, WritingManner { what_now: run_by_name, revives: false }).await
        }
        .boxed()
    }

    fn for_person(&self, _: &Kit, _: &Catalogue) -> Option<String> {
        Some("write a new script".to_owned())
    }
}

impl Tool for UpdateScript {
    fn spec(&self) -> ToolSpec {
        ToolSpec { name: UPDATE_SCRIPT.to_owned(), description: UPDATE.to_owned(), ..WriteCapability.spec() }
    }

    fn prepare<'a>(&'a self, asked: Preparing<'a>) -> BoxFuture<'a, Result<Prepared, ToolError>> {
        async move {
            let name = named(&asked.arguments);
            if asked.catalogue.capability(&name).is_none() {
                return Err(unknown(&name, asked.catalogue).into());
            }
            let manner = WritingManner { what_now: run_by_name, revives: true };
            let mut prepared = WriteCapability::prepare_in(asked, manner).await?;
            // Later tasks behave otherwise: a person confirms that each time.
            prepared.effects.insert(Effect::Confirm);
            Ok(prepared)
        }
        .boxed()
    }
}

/// The first of the names, and how many others there are.
fn some_of(names: &[&str]) -> String {
    let first = names.iter().take(MOST_NAMED).copied().collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(MOST_NAMED) {
        _ if names.is_empty() => "none yet".to_owned(),
        0 => first,
        others => format!("{first} and {others} more"),
    }
}

/// The name that a draft names.
fn named(arguments: &Value) -> String {
    arguments["name"].as_str().unwrap_or_default().to_owned()
}

/// The words on a script that was just written.
fn run_by_name(name: &str) -> String {
    format!("`{name}` is there: run it with {EXECUTE_SCRIPT}, by this name and with the arguments that were asked for.")
}

/// True if there is a script of this name, and it is disabled.
fn is_disabled(name: &str, catalogue: &Catalogue) -> bool {
    catalogue.capability(name).is_some_and(|listed| !listed.enabled)
}

/// The ways in which a disabled script comes back.
fn comes_back(name: &str) -> String {
    format!(
        "replace it with {UPDATE_SCRIPT}, or ask the person to enable it: in the page's place Capabilities, or with level3 capability \
         enable {name}"
    )
}

/// The refusal of a name that no live script has. No other script is taken for it.
fn unknown(name: &str, catalogue: &Catalogue) -> Refusal {
    if is_disabled(name, catalogue) {
        let told = format!("the script `{name}` is disabled, so it is not run. To have it back, {}", comes_back(name));
        return Refusal::new(RefusalCode::Disabled, told);
    }
    let near = match nearest(name, catalogue, |_| true) {
        Some(near) => format!("the nearest name is `{near}`; if that is the one, use exactly this name"),
        None if catalogue.capabilities().next().is_some() => {
            format!("none has a name like it; {LIST_SCRIPTS} lists those there are")
        }
        None => format!("there is no script yet; {CREATE_SCRIPT} makes one"),
    };
    Refusal::new(RefusalCode::NotFound, format!("there is no script `{name}`: {near}"))
}

/// The name of a script that is written most alike; `None` if none is alike.
fn nearest(name: &str, catalogue: &Catalogue, counts: impl Fn(&str) -> bool) -> Option<String> {
    let names = catalogue.capabilities().map(|listed| &*listed.summary.name).filter(|other| counts(other));
    most_alike(name, names).map(str::to_owned)
}

/// Small letters and capitals are alike. Of a name that is like this one, more than half of the
/// letters stay.
fn most_alike<'a>(name: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let name = name.to_lowercase();
    let apart = names.map(|other| (strsim::levenshtein(&name, &other.to_lowercase()), other));
    let (apart, other) = apart.min_by_key(|(apart, _)| *apart)?;
    (apart * 2 < name.chars().count().max(other.chars().count())).then_some(other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_name_is_alike_whatever_its_capitals() {
        let nearest = |name| most_alike(name, ["con", "double"].into_iter());
        assert_eq!(["DOUBLE", "doubel", "Con"].map(nearest), [Some("double"), Some("double"), Some("con")]);
        assert_eq!(nearest("list_scripts"), None);
    }

    #[test]
    fn a_person_is_told_of_three_scripts_and_of_how_many_more_there_are() {
        assert_eq!(some_of(&[]), "none yet");
        assert_eq!(some_of(&["double", "triple", "zip"]), "double, triple, zip");
        assert_eq!(some_of(&["double", "triple", "zip", "a", "b"]), "double, triple, zip and 2 more");
    }
}
