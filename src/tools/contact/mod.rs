//! The six tools of an agent that talks with a contact. None of them reaches anything but its own
//! conversation.

mod parameters;
mod tool;

use std::sync::Arc;

use super::tool::Tool;

pub use parameters::{EndConversation, MarkTodoItem, NoCall, RequestHumanIntervention, ScheduleNextHeartbeat, SendMessage};

/// All of them, for the profile that names them.
pub fn tools() -> Vec<Arc<dyn Tool>> {
    let tool = |tool: &tool::ContactTool| -> Arc<dyn Tool> { Arc::new(*tool) };
    tool::ContactTool::ALL.iter().map(tool).collect()
}
