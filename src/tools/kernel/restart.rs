//! `restart`: loads capabilities afresh, or ends the process so that it starts again.

use futures::FutureExt;
use futures::future::BoxFuture;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::domain::{Effect, Outcome, RESTART, ToolSpec, WRITE_CAPABILITY};
use crate::store::StoreError;
use crate::tools::kit::Kit;
use crate::tools::tool::{Act, CallCard, Doing, Executed, Prepared, Preparing, Tool, ToolError, at_once, read, spec};

const DESCRIPTION: &str =
    "Reload capabilities (mode='reload') or restart the entire process (mode='full'). Turns survive a restart.";

/// The tool.
pub(super) struct Restart;

#[derive(Deserialize, JsonSchema)]
struct Order {
    /// 'reload' to hot-reload capabilities, 'full' to restart the process
    #[serde(default)]
    mode: Mode,
}

#[derive(Clone, Copy, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Mode {
    #[default]
    Reload,
    Full,
}

impl Tool for Restart {
    fn spec(&self) -> ToolSpec {
        spec::<Order>(RESTART, DESCRIPTION)
    }

    fn prepare<'a>(&'a self, asked: Preparing<'a>) -> BoxFuture<'a, Result<Prepared, ToolError>> {
        at_once(read::<Order>(asked.arguments).map(|order| Prepared::new(order, Effect::Restart)))
    }
}

impl Act for Order {
    fn card<'a>(&'a self, _: &'a Kit) -> BoxFuture<'a, Result<CallCard, StoreError>> {
        let what = match self.mode {
            Mode::Reload => "Loads every capability afresh.",
            Mode::Full => "Restarts the server. Turns that run go on afterwards.",
        };
        at_once(Ok(CallCard::of(vec![what.to_owned()])))
    }

    fn execute<'a>(self: Box<Self>, doing: Doing<'a>) -> BoxFuture<'a, Result<Executed, StoreError>> {
        match self.mode {
            Mode::Reload => reload(doing.kit()).map(|outcome| outcome.map(Executed::Outcome)).boxed(),
            Mode::Full => at_once(Ok(Executed::Restart(Outcome::ok("The restart was begun. This turn goes on after it.")))),
        }
    }
}

/// Loads every live capability afresh. The outcome names one that cannot be loaded; the others
/// stay.
async fn reload(kit: &Kit) -> Result<Outcome, StoreError> {
    kit.hands.sandbox.forget();
    let (mut loaded, mut broken) = (Vec::new(), Vec::new());
    for summary in kit.capabilities().await? {
        let Some(capability) = kit.store.capability(&summary.name).await? else { continue };
        match kit.hands.sandbox.load(&capability).await {
            Ok(()) => loaded.push(summary.name),
            Err(error) => broken.push(json!({ "name": summary.name, "message": error.to_string() })),
        }
    }
    let mut told = json!({ "reloaded": loaded });
    if !broken.is_empty() {
        told["broken"] = Value::from(broken);
        told["message"] = json!(format!("The broken ones are skipped; write them again with {WRITE_CAPABILITY}."));
    }
    if kit.safe_mode {
        told["message"] = json!("Safe mode: capabilities stay off until the server is started without LEVEL3_SAFE_MODE.");
    }
    Ok(Outcome::ok(told.to_string()))
}
