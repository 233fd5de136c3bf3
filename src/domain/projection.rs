//! What events add up to: tables whose rows can be made again from events alone.

use serde_json::{Map, Value};

use super::turn::text_enum;

text_enum! {
    /// A table that follows from events, by its name.
    Projection {
        /// How far each stream goes.
        Conversations = "conversations",
        /// Where each turn stands.
        Turns = "turns",
        /// What models answered.
        Steps = "steps",
        /// What answers used up that never came to their end.
        BrokenAnswers = "broken_answers",
        /// What they asked for.
        ToolCalls = "tool_calls",
        /// What was said, and what models were told of their calls.
        Messages = "messages",
        /// The images that came with messages.
        Attachments = "attachments",
        /// What was asked of a person.
        Approvals = "approvals",
        /// What capabilities did outside their sandbox.
        Operations = "operations",
        /// The to-dos there are.
        Tasks = "tasks",
        /// The versions of capabilities that are kept.
        CapabilityVersions = "capability_versions",
        /// Which of them are live.
        Capabilities = "capabilities",
    }
}

/// What an event does to one row.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// The table.
    pub of: Projection,
    /// Which row; unique in its table, and shown to people.
    pub key: String,
    /// The columns it sets, others staying as they are; `created_at` is set by the first change of a row only. `None`: the row is gone.
    pub row: Option<Map<String, Value>>,
}
