//! Projections: tables whose rows can be made again from events alone.

use serde_json::{Map, Value};

use super::turn::text_enum;

text_enum! {
    /// A table that follows from events, by its name.
    Projection {
        /// How far each stream goes.
        Conversations = "conversations",
        /// The state of each turn.
        Turns = "turns",
        /// The answers of models.
        Steps = "steps",
        /// The costs of answers that never came to their end.
        BrokenAnswers = "broken_answers",
        /// The calls that models asked for.
        ToolCalls = "tool_calls",
        /// The words of people and models, and the results that models got for their calls.
        Messages = "messages",
        /// The images that came with messages.
        Attachments = "attachments",
        /// The questions to people.
        Approvals = "approvals",
        /// The effects of capabilities outside their sandbox.
        Operations = "operations",
        /// The to-dos.
        Tasks = "tasks",
        /// The kept versions of capabilities.
        CapabilityVersions = "capability_versions",
        /// The live ones of them.
        Capabilities = "capabilities",
    }
}

/// The change of one row by an event.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// The table.
    pub of: Projection,
    /// The row's key; unique in its table, and shown to people.
    pub key: String,
    /// The columns that it sets; the others stay. Only the first change of a row sets `created_at`.
    /// `None`: the row is gone.
    pub row: Option<Map<String, Value>>,
}
