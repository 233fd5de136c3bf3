//! The operator in the database: its tasks as they are read, what is said to its person by the
//! outbox, what it remembers between tasks, and the numbers that may order no more.

mod context;
mod former;
mod recorded;
mod said;
mod tasks;

pub use recorded::RecordedAction;
pub use said::{LastWords, OperatorWords, Unsaid};
pub use tasks::OperatorTask;
