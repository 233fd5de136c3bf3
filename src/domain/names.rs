//! The names of the tools that every builder begins with, and of those that only some profiles
//! have, for code that has to speak of one of them. The functions over to-dos, the proposals of
//! campaigns and the tools of the browser have theirs in files of their own; `tests/tidy/rules.rs`
//! reads all of them.

/// Runs SQL.
pub const EXECUTE_SQL: &str = "execute_sql";
/// Makes a capability.
pub const WRITE_CAPABILITY: &str = "write_capability";
/// Makes, changes and lists tasks.
pub const MANAGE_TASKS: &str = "manage_tasks";
/// Loads capabilities afresh, or restarts the process.
pub const RESTART: &str = "restart";
/// Lists the operator's scripts.
pub const LIST_SCRIPTS: &str = "list_scripts";
/// Runs one of them.
pub const EXECUTE_SCRIPT: &str = "execute_script";
/// Makes one.
pub const CREATE_SCRIPT: &str = "create_script";
/// Overwrites a script of the operator; its impact is systemic, whatever a model says.
pub const UPDATE_SCRIPT: &str = "update_script";
/// Takes a picture of the screen.
pub const TAKE_SCREENSHOT: &str = "take_screenshot";
/// Writes what the operator remembers between tasks.
pub const UPDATE_GLOBAL_CONTEXT: &str = "update_global_context";
/// Sends a message to the contact.
pub const SEND_MESSAGE: &str = "send_message";
/// Marks a to-do of the conversation with the contact.
pub const MARK_TODO_ITEM: &str = "mark_todo_item";
/// Ends the conversation with the contact.
pub const END_CONVERSATION: &str = "end_conversation";
/// Sets when the agent follows up if the contact is silent.
pub const SCHEDULE_NEXT_HEARTBEAT: &str = "schedule_next_heartbeat";
/// Calls the contact by telephone.
pub const PLACE_CALL: &str = "place_call";
/// Hands the conversation to a person.
pub const REQUEST_HUMAN_INTERVENTION: &str = "request_human_intervention";
/// Orders conversations with contacts. It is there only if a rule allows it.
pub const RELAY: &str = "relay";
/// Scores the leads of a campaign; `execute_tool` runs this one and the next two.
pub const SCORE_LEADS: &str = "score_leads";
/// Imports leads from a file of the campaign.
pub const IMPORT_LEADS: &str = "import_leads";
/// Runs a script of the campaign.
pub const RUN_SCRIPT: &str = "run_script";
