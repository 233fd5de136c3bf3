//! Things: rows that are kept, looked up and changed, whatever becomes of turns. The queue imports
//! things, and no thing imports the queue.

pub(super) mod activity;
pub(super) mod attachments;
mod bodies;
mod branches;
pub(super) mod breakdowns;
pub(super) mod capabilities;
pub(super) mod capability_life;
mod capability_use;
pub(super) mod catalogue;
mod chats;
mod conversations;
pub(super) mod finding;
pub(super) mod history;
pub(super) mod known_messages;
pub(super) mod kv;
pub(super) mod mcp_servers;
mod measures;
pub(super) mod operations;
pub(super) mod policies;
pub(super) mod reviews;
pub(super) mod secrets;
pub(super) mod summaries;
pub(super) mod tasks;
mod tiers;
pub(super) mod todo_changes;
pub(super) mod todos;
mod tools_used;
mod usage;
