//! Tasks that no model made.

use chrono::{DateTime, Utc};
use level3::domain::{ConversationId, Task, TaskStatus, ToolCallId};

use super::{TestApp, permit};

/// Makes tasks of a conversation, due then.
pub async fn make_tasks(app: &TestApp, conversation: ConversationId, due: impl IntoIterator<Item = DateTime<Utc>>) {
    let now = app.now();
    let mut changes = app.store().todo_changes(now);
    for due_at in due {
        let (id, _) = app.store().task_numbers(0).await.unwrap();
        let task = Task {
            id,
            title: "Look".into(),
            details: String::new(),
            status: TaskStatus::Pending,
            due_at: Some(due_at),
            subtasks: Vec::new(),
            remind_at: None,
            recurrence: None,
            model: None,
            conversation,
            created_at: now,
            updated_at: now,
        };
        changes.make(&permit(ToolCallId(0)), task);
    }
    let mut unit = app.store().begin(now).await.unwrap();
    unit.change_todos(conversation, changes).await.unwrap();
    unit.commit().await.unwrap();
}
