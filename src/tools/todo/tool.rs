//! A function as a tool: it reads a call, asks if a person has to say yes, and decides on what
//! changes.

use std::sync::Arc;

use futures::FutureExt;
use futures::future::BoxFuture;
use serde_json::Value;

use super::asking::{PersonAsked, asking};
use super::breakdown::broken_down;
use super::functions::spec_of;
use super::order::FunctionCall;
use super::result::FunctionResult;
use super::work::{Ended, Stop, Work};
use super::{subtasks, tasks, times};
use crate::domain::todo::{TimerOperation, TodoFunction};
use crate::domain::{Effect, FailureWords, Outcome, ToolSpec};
use crate::model::choice::ModelSource;
use crate::store::StoreError;
use crate::tools::kit::Kit;
use crate::tools::tool::{Act, CallCard, Doing, Executed, Prepared, Preparing, Tool, ToolError, at_once};

/// The word under which the arguments have what a person said yes to.
const TARGET: &str = "target";

/// A function as a tool.
pub(super) struct TodoTool {
    pub(super) function: TodoFunction,
    /// The model that breaks tasks down.
    pub(super) models: Arc<ModelSource>,
}

/// A call that is carried out.
struct Carried {
    call: FunctionCall,
    asking: Option<PersonAsked>,
    models: Arc<ModelSource>,
}

/// A call whose result is known already.
struct Answered(FunctionResult);

impl Tool for TodoTool {
    fn spec(&self) -> ToolSpec {
        spec_of(self.function)
    }

    fn prepare<'a>(&'a self, asked: Preparing<'a>) -> BoxFuture<'a, Result<Prepared, ToolError>> {
        async move {
            let call = FunctionCall::of(self.function, asked.arguments.clone())?;
            let models = Arc::clone(&self.models);
            let effect = self.function.effect();
            if effect != Effect::Confirm {
                return Ok(Prepared::new(Carried { call, asking: None, models }, effect));
            }
            let kit = asked.kit();
            let todos = kit.store.todos_in(asked.lease).await?.todos;
            match asking(&call, &todos) {
                // Nobody is asked about something that will not happen.
                Err(known) => Ok(Prepared::new(Answered(known), Effect::Read)),
                Ok(asking) => {
                    let mut arguments = asked.arguments;
                    if let Some(asking) = &asking {
                        arguments[TARGET] = asking.target.clone();
                    }
                    let prepared = Prepared::new(Carried { call, asking, models }, effect);
                    Ok(Prepared { arguments: Some(arguments), ..prepared })
                }
            }
        }
        .boxed()
    }

    fn changes(&self, _: &Value) -> bool {
        self.function.effect() != Effect::Read
    }
}

impl Act for Answered {
    fn card<'a>(&'a self, _: &'a Kit) -> BoxFuture<'a, Result<CallCard, StoreError>> {
        at_once(Ok(CallCard::of(vec!["Nothing is changed.".to_owned()])))
    }

    fn execute<'a>(self: Box<Self>, _: Doing<'a>) -> BoxFuture<'a, Result<Executed, StoreError>> {
        at_once(Ok(Executed::Outcome(self.0.outcome())))
    }
}

impl Act for Carried {
    fn card<'a>(&'a self, _: &'a Kit) -> BoxFuture<'a, Result<CallCard, StoreError>> {
        let question = self.asking.as_ref().map(|asking| asking.question.clone());
        let what = question.clone().unwrap_or_else(|| "Changes your to-dos, as the arguments say.".to_owned());
        at_once(Ok(CallCard { question, ..CallCard::of(vec![what]) }))
    }

    fn execute<'a>(self: Box<Self>, doing: Doing<'a>) -> BoxFuture<'a, Result<Executed, StoreError>> {
        async move {
            match self.carried_out(doing).await {
                Err(StoreError::Database(error)) => {
                    tracing::warn!(%error, "a function over to-dos failed");
                    Ok(Executed::Outcome(refused()))
                }
                carried => carried,
            }
        }
        .boxed()
    }
}

/// The outcome if the database says no: nothing was kept.
fn refused() -> Outcome {
    FunctionResult::refused("database", FailureWords::BROKEN).outcome()
}

impl Carried {
    async fn carried_out(&self, doing: Doing<'_>) -> Result<Executed, StoreError> {
        let kit = doing.kit();
        // No transaction stays open while a model is asked.
        let broken = match &self.call {
            FunctionCall::CreateTask(asked) => broken_down(&self.models, doing, asked.description.trim()).await?,
            _ => Vec::new(),
        };
        let now = kit.clock.now();
        let kept = kit.store.todos_in(doing.lease).await?;
        if kept.todos.disabled {
            return Ok(Executed::Outcome(FunctionResult::refused("forbidden", FailureWords::FORBIDDEN).outcome()));
        }
        let mut work = Work::new(&kit.store, kept, doing.permit, doing.lease, now);
        work.notice_end_of_timer();
        let result = match self.function(&mut work, doing, &broken).await {
            Ok(result) | Err(Stop::Told(result)) => result,
            Err(Stop::Store(error)) => return Err(error),
        };
        let (todos, outcome) = (work.changes, result.outcome());
        if todos.is_empty() {
            return Ok(Executed::Outcome(outcome));
        }
        Ok(Executed::Changing { todos, outcome, refused: Some(refused()) })
    }

    /// The function of the call.
    async fn function(&self, work: &mut Work<'_>, doing: Doing<'_>, broken: &[String]) -> Ended {
        match &self.call {
            FunctionCall::CreateTask(asked) => tasks::create(work, asked, broken).await,
            FunctionCall::CompleteTask(asked) => tasks::complete(work, asked).await,
            FunctionCall::CompleteSubtask(asked) => subtasks::complete(work, asked),
            FunctionCall::RenameTask(asked) => tasks::rename(work, asked),
            FunctionCall::RenameSubtask(asked) => subtasks::rename(work, asked),
            FunctionCall::AddSubtask(asked) => subtasks::add(work, asked).await,
            FunctionCall::RemoveSubtask(asked) => subtasks::remove(work, asked),
            call @ (FunctionCall::DeleteTask(_) | FunctionCall::ClearCompletedTasks(_)) => {
                tasks::delete(work, call, &doing.proposal.arguments[TARGET])
            }
            FunctionCall::SetReminder(asked) => times::set_reminder(work, asked),
            FunctionCall::RemoveReminder(asked) => times::remove_reminder(work, asked),
            FunctionCall::SetRecurrence(asked) => times::set_recurrence(work, asked),
            FunctionCall::StartTimer(asked) => times::start_timer(work, asked),
            FunctionCall::PauseTimer(_) => times::timer(work, TimerOperation::Pause),
            FunctionCall::ResumeTimer(_) => times::timer(work, TimerOperation::Resume),
            FunctionCall::StopTimer(_) => times::timer(work, TimerOperation::Stop),
            FunctionCall::GetTimerStatus(_) => times::timer(work, TimerOperation::Status),
            FunctionCall::ListTasks(asked) => Ok(tasks::list(work, *asked)),
            FunctionCall::GetTaskDetails(asked) => tasks::details(work, asked),
            FunctionCall::GetNextSubtask(_) => tasks::next(work),
        }
    }
}
