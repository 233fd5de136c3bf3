//! All of a person's to-dos at a moment, and what the person's names mean among them.

use chrono_tz::Tz;

use super::list::{SubtaskView, TaskView};
use super::lookup::{Candidate, LookedUp, NamedKind, SaidBefore, look_up};
use super::meant::Meant;
use super::timer::FocusTimer;
use crate::domain::{SubtaskId, TaskId, UserId};

/// The task and the subtask that were named last: “it”.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LastNamed {
    /// The task, which may be gone.
    pub task: Option<TaskId>,
    /// The subtask, if one was named after the task.
    pub subtask: Option<SubtaskId>,
}

/// All of a person's to-dos.
#[derive(Clone, Debug, PartialEq)]
pub struct Todos {
    /// Whose.
    pub user: UserId,
    /// True if the person's account is disabled: nothing of theirs changes then.
    pub disabled: bool,
    /// The zone of the person's clocks.
    pub zone: Tz,
    /// Every task, the one that changed last first.
    pub tasks: Vec<TaskView>,
    /// The focus timer.
    pub timer: FocusTimer,
    /// The meaning of “it”.
    pub last: LastNamed,
    /// The names of the calls before in the running turn, the latest last.
    pub meant: Vec<Meant>,
}

/// A name that does not mean exactly one thing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unfound {
    /// A word for the reason.
    pub error: &'static str,
    /// The question, or the sentence, for the person.
    pub message: String,
}

impl Todos {
    /// The number of active tasks.
    pub fn active(&self) -> usize {
        self.tasks.iter().filter(|task| task.status.is_active()).count()
    }

    /// The task of this number.
    pub fn task(&self, id: TaskId) -> Option<&TaskView> {
        self.tasks.iter().find(|task| task.id == id)
    }

    /// The title of the timer's task, if it is there.
    pub fn timed(&self) -> Option<&str> {
        Some(self.task(self.timer.task()?)?.title.as_str())
    }

    /// The one task that a name means.
    ///
    /// # Errors
    /// [`Unfound`], if there is not exactly one.
    pub fn find_task(&self, name: &str) -> Result<&TaskView, Unfound> {
        let candidates = self.tasks.iter().map(|task| {
            let open = task.status.is_active();
            Candidate { number: task.id.0, title: &task.title, of: None, open }
        });
        let (candidates, before) = (candidates.collect::<Vec<_>>(), self.said_before(NamedKind::Task, None));
        let number = found(name, NamedKind::Task, &look_up(name, NamedKind::Task, &candidates, &before))?;
        self.task(TaskId(number)).ok_or_else(|| Unfound::nothing(name, NamedKind::Task))
    }

    /// The one subtask that a name means, with its task: one of an active task, else of one that is
    /// over. `of` is the name of its task, if the person said it.
    ///
    /// # Errors
    /// [`Unfound`], if there is not exactly one.
    pub fn find_subtask(&self, name: &str, of: Option<&str>) -> Result<(&TaskView, &SubtaskView), Unfound> {
        let within = of.map(|of| self.find_task(of)).transpose()?;
        let tasks = || self.tasks.iter().filter(move |task| within.is_none_or(|within| within.id == task.id));
        let all = || tasks().flat_map(|task| task.in_order().into_iter().map(move |subtask| (task, subtask)));
        let before = self.said_before(NamedKind::Subtask, within.map(|task| task.id));
        // Tasks that are over have many subtasks of the same names.
        let [active, over] = [true, false].map(|active| {
            let of_these = all().filter(|(task, _)| task.status.is_active() == active);
            let candidates = of_these.map(|(task, subtask)| {
                let of = within.is_none().then_some(task.title.as_str());
                let open = active && !subtask.completed;
                Candidate { number: subtask.id.0, title: &subtask.title, of, open }
            });
            look_up(name, NamedKind::Subtask, &candidates.collect::<Vec<_>>(), &before)
        });
        let looked_up = if active.is_found() || !over.is_found() { active } else { over };
        let number = found(name, NamedKind::Subtask, &looked_up)?;
        all().find(|(_, subtask)| subtask.id.0 == number).ok_or_else(|| Unfound::nothing(name, NamedKind::Subtask))
    }

    /// The things of a kind that were named before. A subtask of another task than `within` is
    /// another one.
    fn said_before(&self, kind: NamedKind, within: Option<TaskId>) -> SaidBefore<'_> {
        let last = match kind {
            NamedKind::Task => self.last.task.map(|task| task.0),
            NamedKind::Subtask => self.last.subtask.map(|subtask| subtask.0),
        };
        let of_these = |meant: &&Meant| meant.kind == kind && (within.is_none() || meant.of == within);
        SaidBefore { last, meant: self.meant.iter().filter(of_these).map(|meant| (&*meant.words, meant.number)).collect() }
    }
}

impl Unfound {
    fn nothing(name: &str, kind: NamedKind) -> Self {
        let message = LookedUp::Nothing(Vec::new()).question(name, kind).unwrap_or_default();
        Self { error: "not_found", message }
    }
}

/// The number of the one candidate that is meant.
fn found(name: &str, kind: NamedKind, looked_up: &LookedUp<'_>) -> Result<i64, Unfound> {
    let error = match looked_up {
        LookedUp::One(one) => return Ok(one.number),
        LookedUp::Several(..) => "ambiguous",
        LookedUp::Nothing(_) => "not_found",
        LookedUp::NoLastOne => "which_one",
    };
    Err(Unfound { error, message: looked_up.question(name, kind).unwrap_or_default() })
}

#[cfg(test)]
mod tests;
