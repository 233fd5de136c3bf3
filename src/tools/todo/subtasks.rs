//! The functions over subtasks.

use super::parameters::{AddSubtask, RenameSubtask, SubtaskNamed};
use super::work::{Ended, Work};
use crate::domain::SubtaskId;
use crate::domain::todo::{SubtaskView, TaskView, complete_subtask, room_for_subtask, valid_title};

/// The task with one of its subtasks changed; `None` takes it away, and the rest closes up.
fn with(task: TaskView, id: SubtaskId, change: impl Fn(SubtaskView) -> Option<SubtaskView>) -> TaskView {
    let change = |subtask: &SubtaskView| if subtask.id == id { change(subtask.clone()) } else { Some(subtask.clone()) };
    let kept = task.in_order().into_iter().filter_map(change);
    let subtasks = (0..).zip(kept).map(|(place, subtask)| SubtaskView { sort_order: place, ..subtask }).collect();
    TaskView { subtasks, ..task }
}

pub(super) fn complete(work: &mut Work<'_>, asked: &SubtaskNamed) -> Ended {
    let (task, subtask) = work.subtask(&asked.subtask_name, asked.task_name.as_deref())?;
    let message = complete_subtask(&task, &subtask)?;
    let changed = work.change(&with(task, subtask.id, |one| Some(SubtaskView { completed: true, ..one })))?;
    Ok(work.done_to(subtask.id, message, &changed))
}

pub(super) fn rename(work: &mut Work<'_>, asked: &RenameSubtask) -> Ended {
    let title = valid_title(&asked.new_name)?;
    let (task, subtask) = work.subtask(&asked.subtask_name, asked.task_name.as_deref())?;
    let message = format!("Renamed the subtask “{}” of “{}” to “{title}”.", subtask.title, task.title);
    let renamed = with(task, subtask.id, |one| Some(SubtaskView { title: title.clone(), ..one }));
    let renamed = work.change(&renamed)?;
    Ok(work.done_to(subtask.id, message, &renamed))
}

pub(super) async fn add(work: &mut Work<'_>, asked: &AddSubtask) -> Ended {
    let title = valid_title(&asked.subtask_name)?;
    let mut task = work.active_task(&asked.task_name)?;
    room_for_subtask(task.subtasks.len())?;
    let id = work.store.subtask_number().await?;
    let last = task.subtasks.iter().map(|subtask| subtask.sort_order).max().unwrap_or(-1);
    let message = format!("Added the subtask “{title}” to “{}”.", task.title);
    task.subtasks.push(SubtaskView { id, title, completed: false, sort_order: last + 1 });
    let changed = work.change(&task)?;
    work.named(changed.id, Some(id));
    Ok(work.done_to(id, message, &changed))
}

pub(super) fn remove(work: &mut Work<'_>, asked: &SubtaskNamed) -> Ended {
    let (task, subtask) = work.subtask(&asked.subtask_name, asked.task_name.as_deref())?;
    let message = format!("Removed the subtask “{}” from “{}”.", subtask.title, task.title);
    let changed = work.change(&with(task, subtask.id, |_| None))?;
    Ok(work.done_to(subtask.id, message, &changed))
}
