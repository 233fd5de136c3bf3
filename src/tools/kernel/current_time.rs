//! `current_time`: says the time of the server's clock. A turn may be long, and its message begins
//! with the time at which it was sent.

use chrono::SecondsFormat;
use futures::future::BoxFuture;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::domain::{Effect, Outcome, ToolSpec};
use crate::store::{Catalogue, StoreError};
use crate::tools::kit::Kit;
use crate::tools::tool::{Act, CallCard, Doing, Executed, Prepared, Preparing, Tool, ToolError, at_once, read, spec};

const NAME: &str = "current_time";
const DESCRIPTION: &str = "Tell the current time, in UTC.";

/// The tool.
pub(super) struct CurrentTime;

#[derive(Deserialize, JsonSchema)]
struct TimeAsked {}

impl Tool for CurrentTime {
    fn spec(&self) -> ToolSpec {
        spec::<TimeAsked>(NAME, DESCRIPTION)
    }

    fn prepare<'a>(&'a self, asked: Preparing<'a>) -> BoxFuture<'a, Result<Prepared, ToolError>> {
        at_once(read::<TimeAsked>(asked.arguments).map(|asked| Prepared::new(asked, Effect::Read)))
    }

    fn changes(&self, _: &Value) -> bool {
        false
    }

    fn for_person(&self, _: &Kit, _: &Catalogue) -> Option<String> {
        Some("tell the time".to_owned())
    }
}

impl Act for TimeAsked {
    fn card<'a>(&'a self, _: &'a Kit) -> BoxFuture<'a, Result<CallCard, StoreError>> {
        at_once(Ok(CallCard::of(vec!["Looks at the clock.".to_owned()])))
    }

    fn execute<'a>(self: Box<Self>, doing: Doing<'a>) -> BoxFuture<'a, Result<Executed, StoreError>> {
        let told = json!({ "now": doing.now.to_rfc3339_opts(SecondsFormat::Secs, true) });
        at_once(Ok(Executed::Outcome(Outcome::ok(told.to_string()))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_takes_nothing_and_changes_nothing() {
        let told = CurrentTime.spec();
        assert_eq!(
            (told.name.as_str(), &told.parameters["type"], told.parameters.get("required")),
            (NAME, &json!("object"), None)
        );
        assert!(!CurrentTime.changes(&json!({})));
    }
}
