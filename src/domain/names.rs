//! The names of the tools that every builder begins with, for code that has to speak of one of
//! them.

/// Runs SQL.
pub const EXECUTE_SQL: &str = "execute_sql";
/// Makes a capability.
pub const WRITE_CAPABILITY: &str = "write_capability";
/// Makes, changes and lists tasks.
pub const MANAGE_TASKS: &str = "manage_tasks";
/// Loads capabilities afresh, or restarts the process.
pub const RESTART: &str = "restart";
/// Overwrites a script of the operator; its impact is systemic, whatever a model says.
pub const UPDATE_SCRIPT: &str = "update_script";
/// Takes a picture of the screen.
pub const TAKE_SCREENSHOT: &str = "take_screenshot";
/// Orders conversations with contacts. It is there only if a rule allows it.
pub const RELAY: &str = "relay";
