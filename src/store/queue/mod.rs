//! The queue: all that moves a turn. A message, a call or a due task comes in; steps and approvals
//! move it on; an answer, a failure or a person ends it.

pub(super) mod accepting;
mod account;
mod anew;
pub(super) mod answers;
pub(super) mod approvals;
pub(super) mod calls;
pub(super) mod commands;
pub(super) mod crashes;
mod cut;
pub(super) mod due_tasks;
pub(super) mod mcp;
pub(super) mod meter;
mod reminders;
pub(super) mod signs;
pub(super) mod standing;
mod steering;
pub(super) mod steps;
mod turn_log;
pub(super) mod turns;
pub(super) mod v1;
mod wake_ups;
pub(super) mod writing;
