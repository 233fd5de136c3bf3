//! The words of the house: types, ids and state machines. No I/O, no async, no clock.

mod capability;
mod event;
mod ids;
mod task;
mod tool;
mod turn;

pub use capability::{CapabilityVersion, Draft, Grants, Language, NAME_RULE, Power, TestCase, UnknownPower, valid_name};
pub use event::{Event, EventRecord};
pub use ids::{ConversationId, MessageId, StepId, TaskId, ToolCallId, TurnId};
pub use task::{Task, TaskStatus};
pub use tool::{CallRequest, EffectClass, Outcome, ToolSpec, Usage};
pub use turn::{Failure, Origin, Role, TurnState};
