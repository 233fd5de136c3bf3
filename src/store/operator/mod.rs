//! The operator in the database: its tasks as they are read, what is said to its person by the
//! outbox, and what it remembers between tasks.

mod context;
mod recorded;
mod said;
mod tasks;

pub use recorded::RecordedAction;
pub use said::{LastWords, OperatorWords, Unsaid};
pub use tasks::OperatorTask;
