//! What an operation in the ledger works on.

use super::turn::text_enum;

text_enum! {
    /// What an operation in the ledger works on: what a power of a capability reaches, or what level3 itself reaches for a call.
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
        /// A message to somebody, by a channel.
        Channel = "channel",
        /// An action in a browser.
        Browser = "browser",
        /// A file outside the database.
        File = "file",
    }
}
