//! The tasks and leads that the conditions of a task name: those of its own campaign, and no
//! others. A number of another campaign would never hold here, and its task would wait for good.
//! And the conditions that still have to be met.

use std::collections::BTreeSet;

use super::state::CampaignState;
use super::{CampaignTask, CampaignTaskStatus, Requirement, TaskMetadata};
use crate::domain::{CampaignTaskId, LeadId};

/// The conditions of a list, each with its place.
fn listed<'a>(name: &'static str, all: &'a [Requirement]) -> impl Iterator<Item = (String, &'a Requirement)> {
    all.iter().enumerate().map(move |(n, wanted)| (format!("{name}[{n}]"), wanted))
}

/// Preconditions, then required effects, each with its place.
fn placed<'a>(preconditions: &'a [Requirement], requires: &'a [Requirement]) -> impl Iterator<Item = (String, &'a Requirement)> {
    listed("preconditions", preconditions).chain(listed("requires", requires))
}

/// The conditions of the tasks that are neither done nor set aside, each with its task.
pub fn needed(state: &CampaignState) -> impl Iterator<Item = (CampaignTaskId, &Requirement)> {
    let is_open = |task: &&CampaignTask| !matches!(task.status, CampaignTaskStatus::Done | CampaignTaskStatus::Blocked);
    state.tasks.iter().filter(is_open).flat_map(|task| {
        let all = task.metadata.preconditions.iter().chain(&task.metadata.requires);
        all.map(move |wanted| (task.id, wanted))
    })
}

/// Checks that all tasks that conditions name are the campaign's own.
///
/// # Errors
/// A sentence with the place and what is expected.
pub fn check_tasks(state: &CampaignState, preconditions: &[Requirement], requires: &[Requirement]) -> Result<(), String> {
    let unknown = placed(preconditions, requires).find_map(|(at, wanted)| match wanted {
        Requirement::TaskDone { task } if state.task(task.0).is_none() => Some((at, task)),
        _ => None,
    });
    let Some((at, task)) = unknown else { return Ok(()) };
    let there: Vec<_> = state.tasks.iter().map(|task| task.id.to_string()).collect();
    let there = if there.is_empty() { "it has none".to_owned() } else { format!("its tasks are {}", there.join(", ")) };
    Err(format!("{at}.task: this campaign has no task {task}; {there}"))
}

/// The leads that conditions name, each with its place.
pub fn leads_in(preconditions: &[Requirement], requires: &[Requirement]) -> Vec<(String, LeadId)> {
    let leads = placed(preconditions, requires).filter_map(|(at, wanted)| match wanted {
        Requirement::LeadStatus { lead, .. } => Some((format!("{at}.lead"), *lead)),
        _ => None,
    });
    leads.collect()
}

/// Gives the tasks that the conditions of a new campaign's task name by place, from 1, the numbers
/// that they get.
///
/// # Errors
/// A sentence with the place and what is expected.
pub fn number_tasks(metadata: &mut TaskMetadata, numbers: &[CampaignTaskId]) -> Result<(), String> {
    for (name, all) in [("preconditions", &mut metadata.preconditions), ("requires", &mut metadata.requires)] {
        for (n, wanted) in all.iter_mut().enumerate() {
            if let Requirement::TaskDone { task } = wanted {
                let place = usize::try_from(task.0).ok().and_then(|nth| nth.checked_sub(1));
                let Some(number) = place.and_then(|place| numbers.get(place)) else {
                    return Err(format!("{name}[{n}].nth: is {task}; the places are 1 to {}", numbers.len()));
                };
                *task = *number;
            }
        }
    }
    Ok(())
}

/// The place, from 0, of a task of a new campaign that would wait for good, since the tasks that it
/// names by place wait for each other.
pub fn waits_for_good(tasks: &[&TaskMetadata]) -> Option<usize> {
    let mut waiting: BTreeSet<usize> = (0..tasks.len()).collect();
    let awaits = |n: usize, waiting: &BTreeSet<usize>| {
        let mut wanted = tasks[n].preconditions.iter().chain(&tasks[n].requires);
        wanted.any(|wanted| match wanted {
            Requirement::TaskDone { task } => usize::try_from(task.0).is_ok_and(|nth| nth > 0 && waiting.contains(&(nth - 1))),
            _ => false,
        })
    };
    while let Some(free) = waiting.iter().copied().find(|n| !awaits(*n, &waiting)) {
        waiting.remove(&free);
    }
    waiting.first().copied()
}
