//! All of a person's to-dos at a moment, and what the person's names mean among them.

use chrono_tz::Tz;

use super::list::{SubtaskView, TaskView};
use super::lookup::{Candidate, LookedUp, NamedKind, look_up};
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

    /// The one task that a name means: one that is active, else one that is over.
    ///
    /// # Errors
    /// [`Unfound`], if there is not exactly one.
    pub fn find_task(&self, name: &str) -> Result<&TaskView, Unfound> {
        let last = self.last.task.map(|task| task.0);
        let candidates = self.tasks.iter().map(|task| {
            let candidate = Candidate { number: task.id.0, title: &task.title, of: None };
            (task.status.is_active(), candidate)
        });
        let number = found(name, NamedKind::Task, last, candidates)?;
        self.task(TaskId(number)).ok_or_else(|| Unfound::nothing(name, NamedKind::Task))
    }

    /// The one subtask that a name means, with its task: an open one of an active task, else
    /// another. `of` is the name of its task, if the person said it.
    ///
    /// # Errors
    /// [`Unfound`], if there is not exactly one.
    pub fn find_subtask(&self, name: &str, of: Option<&str>) -> Result<(&TaskView, &SubtaskView), Unfound> {
        let within = of.map(|of| self.find_task(of)).transpose()?;
        let last = self.last.subtask.map(|subtask| subtask.0);
        let tasks = || self.tasks.iter().filter(move |task| within.is_none_or(|within| within.id == task.id));
        let all = || tasks().flat_map(|task| task.in_order().into_iter().map(move |subtask| (task, subtask)));
        let candidates = all().map(|(task, subtask)| {
            let of = within.is_none().then_some(task.title.as_str());
            let open = task.status.is_active() && !subtask.completed;
            (open, Candidate { number: subtask.id.0, title: &subtask.title, of })
        });
        let number = found(name, NamedKind::Subtask, last, candidates)?;
        all().find(|(_, subtask)| subtask.id.0 == number).ok_or_else(|| Unfound::nothing(name, NamedKind::Subtask))
    }
}

impl Unfound {
    fn nothing(name: &str, kind: NamedKind) -> Self {
        let message = LookedUp::Nothing(Vec::new()).question(name, kind).unwrap_or_default();
        Self { error: "not_found", message }
    }
}

/// The number of the one candidate that is meant. Those that are open go before the others: only if
/// no open one is meant, another is.
fn found<'a>(
    name: &str,
    kind: NamedKind,
    last: Option<i64>,
    candidates: impl Iterator<Item = (bool, Candidate<'a>)>,
) -> Result<i64, Unfound> {
    let (open, over): (Vec<_>, Vec<_>) = candidates.partition(|(open, _)| *open);
    let [open, over] = [open, over].map(|some| some.into_iter().map(|(_, candidate)| candidate).collect::<Vec<_>>());
    let among_open = look_up(name, kind, &open, last);
    let looked_up = match &among_open {
        LookedUp::One(_) | LookedUp::Several(..) => among_open,
        LookedUp::Nothing(_) | LookedUp::NoLastOne => match look_up(name, kind, &over, last) {
            elsewhere @ (LookedUp::One(_) | LookedUp::Several(..)) => elsewhere,
            LookedUp::Nothing(_) | LookedUp::NoLastOne => among_open,
        },
    };
    let error = match &looked_up {
        LookedUp::One(one) => return Ok(one.number),
        LookedUp::Several(..) => "ambiguous",
        LookedUp::Nothing(_) => "not_found",
        LookedUp::NoLastOne => "which_one",
    };
    Err(Unfound { error, message: looked_up.question(name, kind).unwrap_or_default() })
}

#[cfg(test)]
mod tests;
