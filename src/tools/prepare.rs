//! The first phase of a call: arguments become an action, and the action says what it would do. Nothing has happened yet, and a
//! person is never asked about something that could not be done.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::external::External;
use super::manage_tasks::ManageTasks;
use super::write_capability::{self, WriteCapability};
use super::{BUILT_IN, Tools, arguments, trial};
use crate::domain::{CallRequest, CapabilityVersion, Draft, Effect, Outcome};
use crate::governor::sql;
use crate::sandbox::Checked;
use crate::store::{McpTool, StoreError};

#[derive(Deserialize, JsonSchema)]
pub(super) struct ExecuteSql {
    /// SQL query to execute
    pub(super) query: String,
    /// Values for $1, $2, … in the query
    #[serde(default)]
    pub(super) params: Vec<Value>,
}

#[derive(Deserialize, JsonSchema)]
pub(super) struct Restart {
    /// 'reload' to hot-reload capabilities, 'full' to restart the process
    #[serde(default)]
    pub(super) mode: RestartMode,
}

#[derive(Clone, Copy, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum RestartMode {
    #[default]
    Reload,
    Full,
}

/// Whether a call that was made can have changed something, as far as it says itself. Of a capability nobody knows.
pub fn changes(request: &CallRequest) -> bool {
    let given = || arguments::parse(&request.arguments).ok();
    let more_than_reading = |effects: &BTreeSet<Effect>| effects.iter().any(|effect| *effect != Effect::Read);
    match request.name.as_str() {
        "execute_sql" => given()
            .and_then(|given| arguments::read::<ExecuteSql>(given).ok())
            .is_some_and(|request| more_than_reading(&sql::classify(&request.query).effects)),
        "manage_tasks" => given()
            .and_then(|given| arguments::read::<ManageTasks>(given).ok())
            .is_some_and(|request| request.effect() != Effect::Read),
        _ => true,
    }
}

/// Whether a call that was made can have sent something to somebody. None of the built-in tools does.
pub fn may_send(request: &CallRequest) -> bool {
    !BUILT_IN.contains(&request.name.as_str())
}

/// A tool that is there to be called.
pub(super) enum Found {
    BuiltIn,
    Capability(Box<CapabilityVersion>),
    /// As its server last listed it.
    External(Box<McpTool>),
}

/// A capability that was checked and is not yet live.
pub(super) struct Written {
    pub(super) draft: Draft,
    pub(super) checked: Checked,
    /// The live version it would replace.
    pub(super) live: Option<CapabilityVersion>,
    /// What came of a trial call, where the author gave no tests.
    pub(super) trial: Option<String>,
}

/// What a call comes to.
pub(super) enum Action {
    Sql(ExecuteSql),
    Tasks(ManageTasks),
    Write(Box<Written>),
    Restart(RestartMode),
    Call(Box<CapabilityVersion>),
    External(Box<External>),
}

/// A call that could be carried out.
pub(super) struct Prepared {
    pub(super) action: Action,
    /// What it would do.
    pub(super) effects: BTreeSet<Effect>,
    /// The capability's version it is about.
    pub(super) version: Option<i32>,
    /// The arguments as they are proposed, where they were completed.
    pub(super) arguments: Option<Value>,
}

/// Why there is nothing to carry out.
pub(super) enum Unprepared {
    /// What the model reads.
    Refused(String),
    Store(StoreError),
}

impl From<StoreError> for Unprepared {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl Unprepared {
    /// The refusal as an outcome.
    pub(super) fn outcome(self) -> Result<Outcome, StoreError> {
        match self {
            Self::Refused(text) => Ok(Outcome::failed(text)),
            Self::Store(error) => Err(error),
        }
    }
}

impl Tools {
    /// Makes an action of a call's arguments.
    pub(super) async fn prepare(&self, tool: &str, found: Found, given: Value) -> Result<Prepared, Unprepared> {
        if let Found::Capability(live) = found {
            if let Err(error) = self.hands.sandbox.validate_params(&live, &given) {
                return Err(Unprepared::Refused(error.to_json().to_string()));
            }
            let version = Some(live.version);
            return Ok(Prepared { action: Action::Call(live), effects: [Effect::Call].into(), version, arguments: None });
        }
        if let Found::External(known) = found {
            return self.prepare_external(*known, given).await;
        }
        let prepared = |action, effect| Prepared { action, effects: [effect].into(), version: None, arguments: None };
        Ok(match tool {
            "execute_sql" => {
                let request: ExecuteSql = read(given)?;
                let effects = sql::classify(&request.query).effects;
                let may_be_asked = effects.iter().any(|effect| !matches!(effect, Effect::Read | Effect::Write));
                if may_be_asked
                    && let Some(problem) = self.store.agent_sql_problem(&sql::statements(&request.query), &request.params).await?
                {
                    return Err(Unprepared::Refused(problem));
                }
                Prepared { action: Action::Sql(request), effects, version: None, arguments: None }
            }
            "manage_tasks" => {
                let request: ManageTasks = read(given)?;
                let effect = request.effect();
                if effect == Effect::Delete && !request.finds_its_task(&mut self.store.begin(self.clock.now()).await?).await? {
                    return Ok(prepared(Action::Tasks(request), Effect::Read)); // it will be told so
                }
                prepared(Action::Tasks(request), effect)
            }
            "restart" => prepared(Action::Restart(read::<Restart>(given)?.mode), Effect::Restart),
            "write_capability" => self.prepare_draft(given).await?,
            other => return Err(Unprepared::Refused(gone(other))),
        })
    }

    /// Prepares a draft. Where its author said nothing of grants, what the trial call shows to be needed is asked for in their place, and a
    /// person decides about it as about any grant: the completed arguments are the proposal.
    async fn prepare_draft(&self, mut given: Value) -> Result<Prepared, Unprepared> {
        let silent = given.get("grants").is_none_or(|grants| grants.is_null() || *grants == json!({}));
        loop {
            let refusal = match self.prepare_writing(read(given.clone())?).await? {
                Ok(prepared) => return Ok(Prepared { arguments: silent.then_some(given), ..prepared }),
                Err(refusal) => refusal,
            };
            let source = given["code"].as_str().unwrap_or_default();
            let mut grants = given.get("grants").and_then(Value::as_object).cloned().unwrap_or_default();
            if let Some(Value::Object(more)) = trial::grants_of_source(&refusal, source).filter(|_| silent) {
                grants.extend(more);
            }
            let grants = Value::Object(grants);
            if grants == given["grants"] || grants == json!({}) {
                return Err(Unprepared::Refused(refusal.to_string()));
            }
            given["grants"] = grants;
        }
    }

    /// The inner error is the refusal of a draft that cannot do its work as it is.
    async fn prepare_writing(&self, request: WriteCapability) -> Result<Result<Prepared, Value>, Unprepared> {
        let mut draft = request.into_draft().map_err(Unprepared::Refused)?;
        let checked = self.hands.sandbox.check(&draft).await.map_err(|error| Unprepared::Refused(json!(error).to_string()))?;
        draft.source.clone_from(&checked.source);
        write_capability::known_tools(&draft)?;
        if let Some(tool) = self.find_external(&draft.name).await? {
            let message = format!("`{}` is a tool of the MCP server `{}`; choose another name", draft.name, tool.server);
            return Err(Unprepared::Refused(json!({ "error": "taken", "message": message }).to_string()));
        }
        let live = self.store.capability(&draft.name).await?;
        if live.is_none() && self.store.is_disabled(&draft.name).await? {
            let message =
                format!("the user disabled the capability `{}`; ask them to enable it, or choose another name", draft.name);
            return Err(Unprepared::Refused(json!({ "error": "disabled", "message": message }).to_string()));
        }
        // Powers that a person approved for the live version need no second approval; more than these do.
        let within = live.as_ref().is_some_and(|live| live.grants.cover(&draft.grants));
        let effect = if draft.grants.need_approval() && !within { Effect::Grant } else { Effect::Install };
        let version = live.as_ref().map(|live| live.version);
        let mut written = Written { draft, checked, live, trial: None };
        // Where the author gave no tests, one call with made-up arguments still shows whether it does what was meant. It reaches nothing.
        if written.draft.tests.is_empty() {
            let tools: Vec<_> = self.capabilities().await?.into_iter().map(|summary| summary.name).collect();
            match trial::try_once(&self.hands.sandbox, &written.version(), &tools).await {
                Ok(told) => written.trial = told,
                Err(refusal) => return Ok(Err(refusal)),
            }
        }
        let action = Action::Write(Box::new(written));
        Ok(Ok(Prepared { action, effects: [effect].into(), version, arguments: None }))
    }
}

fn read<T: serde::de::DeserializeOwned>(given: Value) -> Result<T, Unprepared> {
    arguments::read(given).map_err(Unprepared::Refused)
}

pub(super) fn gone(capability: &str) -> String {
    format!("The capability `{capability}` was removed or disabled a moment ago.")
}
