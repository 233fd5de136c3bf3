//! A turn's states, and the inputs that begin turns.

/// Declares an enum stored as lower-case text, with the same words in Postgres, in JSON and in
/// Rust.
macro_rules! text_enum {
    ($(#[$doc:meta])* $name:ident { $($(#[$vdoc:meta])* $variant:ident = $text:literal),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
        pub enum $name {
            $($(#[$vdoc])* #[serde(rename = $text)] $variant),+
        }

        impl $name {
            /// Every value, in declaration order.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// The word in the database and on the wire.
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $text),+ }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl std::str::FromStr for $name {
            type Err = String;

            /// # Errors
            /// A sentence that lists the allowed words.
            fn from_str(text: &str) -> Result<Self, String> {
                match text {
                    $($text => Ok(Self::$variant),)+
                    other => Err(format!("`{other}` is none of: {}", [$($text),+].join(", "))),
                }
            }
        }
    };
}
pub(super) use text_enum;

text_enum! {
    /// The state of a turn; the `Machine` of turns says how it changes.
    TurnState {
        /// Accepted, nobody works on it yet.
        Queued = "queued",
        /// A runner holds its lease.
        Running = "running",
        /// A person has to decide first.
        AwaitingApproval = "awaiting_approval",
        /// It ended with an answer.
        Completed = "completed",
        /// A person stopped it.
        Aborted = "aborted",
        /// It ended without an answer.
        Failed = "failed",
    }
}

text_enum! {
    /// The failure that kept a turn from its answer.
    Failure {
        /// No model answered.
        Model = "model",
        /// The server could not see it through.
        Server = "server",
    }
}

text_enum! {
    /// The input that a turn reacts to.
    Origin {
        /// A person wrote.
        Message = "message",
        /// Tasks fell due.
        Task = "task",
        /// A person, or another agent over MCP, gave the controller an order, for example to
        /// install a capability; no model is asked.
        Command = "command",
        /// A contact was silent until the time of a follow-up.
        FollowUp = "follow_up",
        /// A campaign is to be brought one step further.
        Cycle = "cycle",
    }
}

text_enum! {
    /// The author of a message.
    Role {
        /// A person, or the heartbeat.
        User = "user",
        /// The model.
        Assistant = "assistant",
        /// The result of a tool call.
        Tool = "tool",
    }
}

#[cfg(test)]
mod tests;
