//! One of the six as a tool: it reads the call, and carries it out in the transaction that records
//! its outcome.

use futures::FutureExt;
use futures::future::BoxFuture;
use serde_json::Value;

use super::parameters::{
    self, EndConversation, MarkTodoItem, NoCall, RequestHumanIntervention, ScheduleNextHeartbeat, SendMessage,
};
use crate::domain::relay::RelayTodoStatus;
use crate::domain::{Effect, Outcome, SEND_MESSAGE, ToolSpec};
use crate::profiles::CONTACT_TOOLS;
use crate::store::StoreError;
use crate::tools::kit::Kit;
use crate::tools::tool::{Act, CallCard, Doing, Executed, Prepared, Preparing, Tool, ToolError, at_once, read, spec};

/// One of the six.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ContactTool {
    SendMessage,
    MarkTodoItem,
    EndConversation,
    ScheduleNextHeartbeat,
    PlaceCall,
    RequestHumanIntervention,
}

/// A call as it is carried out.
enum ContactCall {
    Send(String),
    Mark(i64, RelayTodoStatus),
    End(String),
    Heartbeat(i32),
    Call,
    Person(String),
}

impl ContactTool {
    /// All of them, in the order of [`CONTACT_TOOLS`].
    pub(super) const ALL: [Self; 6] = [
        Self::SendMessage,
        Self::MarkTodoItem,
        Self::EndConversation,
        Self::ScheduleNextHeartbeat,
        Self::PlaceCall,
        Self::RequestHumanIntervention,
    ];

    fn name(self) -> &'static str {
        CONTACT_TOOLS[self as usize]
    }

    fn effect(self) -> Effect {
        match self {
            Self::SendMessage => Effect::Send,
            Self::PlaceCall => Effect::Read,
            Self::MarkTodoItem | Self::EndConversation | Self::ScheduleNextHeartbeat | Self::RequestHumanIntervention => {
                Effect::Write
            }
        }
    }

    fn call(self, arguments: Value) -> Result<ContactCall, ToolError> {
        Ok(match self {
            Self::SendMessage => ContactCall::Send(read::<SendMessage>(arguments)?.checked()?),
            Self::MarkTodoItem => {
                let asked = read::<MarkTodoItem>(arguments)?;
                ContactCall::Mark(asked.id()?, asked.status)
            }
            Self::EndConversation => ContactCall::End(parameters::reason(&read::<EndConversation>(arguments)?.reason)?),
            Self::ScheduleNextHeartbeat => ContactCall::Heartbeat(read::<ScheduleNextHeartbeat>(arguments)?.seconds()?),
            Self::PlaceCall => ContactCall::Call,
            Self::RequestHumanIntervention => {
                ContactCall::Person(parameters::reason(&read::<RequestHumanIntervention>(arguments)?.reason)?)
            }
        })
    }
}

impl Tool for ContactTool {
    fn spec(&self) -> ToolSpec {
        let name = self.name();
        match self {
            Self::SendMessage => {
                spec::<SendMessage>(name, "Sends a message to the contact. Nothing else that you write reaches them.")
            }
            Self::MarkTodoItem => spec::<MarkTodoItem>(name, "Marks one of your to-dos."),
            Self::EndConversation => spec::<EndConversation>(
                name,
                &format!("Ends the conversation for good. Say goodbye with {SEND_MESSAGE} first, if that is fitting."),
            ),
            Self::ScheduleNextHeartbeat => {
                spec::<ScheduleNextHeartbeat>(name, "Sets when you follow up if the contact does not answer.")
            }
            Self::PlaceCall => spec::<NoCall>(name, "Calls the contact by telephone. Not yet available."),
            Self::RequestHumanIntervention => spec::<RequestHumanIntervention>(
                name,
                "Hands the conversation to a person of ours, if you cannot or may not go on.",
            ),
        }
    }

    fn prepare<'a>(&'a self, asked: Preparing<'a>) -> BoxFuture<'a, Result<Prepared, ToolError>> {
        at_once(self.call(asked.arguments).map(|call| Prepared::new(call, self.effect())))
    }

    fn changes(&self, _: &Value) -> bool {
        self.effect() != Effect::Read
    }

    fn may_send(&self) -> bool {
        *self == Self::SendMessage
    }
}

impl Act for ContactCall {
    fn card<'a>(&'a self, _: &'a Kit) -> BoxFuture<'a, Result<CallCard, StoreError>> {
        let what = match self {
            Self::Send(text) => format!("Sends this to the contact: {text}"),
            Self::Mark(id, status) => format!("Marks to-do {id} as {status}."),
            Self::End(reason) => format!("Ends the conversation: {reason}"),
            Self::Heartbeat(seconds) => format!("Plans a follow-up after {seconds} seconds."),
            Self::Call => "Nothing is done.".to_owned(),
            Self::Person(reason) => format!("Hands the conversation to a person: {reason}"),
        };
        at_once(Ok(CallCard::of(vec![what])))
    }

    fn execute<'a>(self: Box<Self>, doing: Doing<'a>) -> BoxFuture<'a, Result<Executed, StoreError>> {
        async move {
            let kit = doing.kit();
            let (permit, lease) = (&**doing.permit, doing.lease);
            let mut unit = kit.store.begin(kit.clock.now()).await?;
            let done = match *self {
                Self::Send(text) => unit.write_to_contact(permit, lease, &text).await?,
                Self::Mark(id, status) => unit.mark_relay_todo(permit, lease, id, status).await?,
                Self::End(reason) => unit.end_with_contact(permit, lease, &reason).await?,
                Self::Heartbeat(seconds) => unit.plan_heartbeat(permit, lease, seconds).await?,
                Self::Person(reason) => unit.ask_for_person(permit, lease, &reason).await?,
                Self::Call => {
                    tracing::info!(turn = %lease.turn, "the agent would call a contact; calls are not yet available");
                    return Ok(Executed::Outcome(Outcome::failed("Calls are not yet available. Write a message instead.")));
                }
            };
            Ok(Executed::Within(unit, done.map_or_else(Outcome::failed, Outcome::ok)))
        }
        .boxed()
    }
}
