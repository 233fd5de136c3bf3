//! The first tools, those that every builder begins with, one file each. One more is a file here
//! and a line in [`tools`].

mod execute_sql;
mod manage_tasks;
mod restart;
mod write_capability;

use std::sync::Arc;

use super::tool::Tool;

pub(super) use write_capability::{WriteCapability, WritingManner};

/// All of them, in the order of the offer.
pub(super) fn tools() -> Vec<Arc<dyn Tool>> {
    vec![
        Arc::new(execute_sql::ExecuteSql),
        Arc::new(write_capability::WriteCapability),
        Arc::new(manage_tasks::ManageTasks),
        Arc::new(restart::Restart),
    ]
}

#[cfg(test)]
mod tests;
