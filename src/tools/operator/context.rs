//! `update_global_context`: writes what the operator remembers between tasks, whole, from the
//! version that was read.

use futures::FutureExt;
use futures::future::BoxFuture;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::domain::operator::fits;
use crate::domain::{Effect, Outcome, Refusal, ToolSpec, UPDATE_GLOBAL_CONTEXT};
use crate::store::{Catalogue, StoreError};
use crate::tools::kit::Kit;
use crate::tools::tool::{Act, CallCard, Doing, Executed, Prepared, Preparing, Tool, ToolError, at_once, read, spec};

const DESCRIPTION: &str = "Writes what you remember between tasks: one JSON object of at most 8 KiB, given whole, with the version you read. \
     An older version is refused and you are shown the document as it is.";

/// The arguments.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
struct UpdateContext {
    #[schemars(description = "The version of the global context that you read; 0 if there is none yet")]
    version: i32,
    #[schemars(with = "serde_json::Map<String, Value>", description = "The whole new document")]
    document: Value,
}

/// The tool.
pub(super) struct UpdateGlobalContext;

impl Tool for UpdateGlobalContext {
    fn spec(&self) -> ToolSpec {
        spec::<UpdateContext>(UPDATE_GLOBAL_CONTEXT, DESCRIPTION)
    }

    fn prepare<'a>(&'a self, asked: Preparing<'a>) -> BoxFuture<'a, Result<Prepared, ToolError>> {
        let prepared = || {
            let given = read::<UpdateContext>(asked.arguments)?;
            fits(&given.document).map_err(|refused| Refusal::arguments(format!("`document`: {refused}")))?;
            Ok(Prepared::new(given, Effect::Write))
        };
        at_once(prepared())
    }

    fn for_person(&self, _: &Kit, _: &Catalogue) -> Option<String> {
        Some("remember a fact".to_owned())
    }
}

impl Act for UpdateContext {
    fn card<'a>(&'a self, _: &'a Kit) -> BoxFuture<'a, Result<CallCard, StoreError>> {
        let bytes = self.document.to_string().len();
        at_once(Ok(CallCard::of(vec![format!("Writes the global context anew, {bytes} bytes, from version {}.", self.version)])))
    }

    fn execute<'a>(self: Box<Self>, doing: Doing<'a>) -> BoxFuture<'a, Result<Executed, StoreError>> {
        async move {
            let Self { version, document } = *self;
            let mut unit = doing.kit().store.begin(doing.now).await?;
            let changed = unit.write_context(doing.permit, doing.lease.conversation, version, document).await?;
            Ok(match changed {
                Ok(context) => Executed::Within(unit, Outcome::ok(json!({ "version": context.version }).to_string())),
                Err(refused) => Executed::Outcome(Outcome::failed(format!("Nothing was written: {refused}"))),
            })
        }
        .boxed()
    }
}
