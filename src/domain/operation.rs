//! The kinds of operations in the ledger.

use super::turn::text_enum;

text_enum! {
    /// The target of an operation: something that a capability reaches by a power, or that level3
    /// itself reaches for a call.
    OperationKind {
        /// A request of a capability.
        Http = "http",
        /// A statement of a capability.
        Sql = "sql",
        /// A value that a capability keeps.
        Kv = "kv",
        /// A tool that a capability calls.
        Tools = "tools",
        /// A tool of an external MCP server.
        Mcp = "mcp",
        /// A message that a channel carries to somebody.
        Channel = "channel",
        /// An action in a browser.
        Browser = "browser",
        /// A file outside the database.
        File = "file",
    }
}
