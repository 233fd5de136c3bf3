//! The deeds of the agent in a contact's conversation. Each is part of the transaction that records
//! the outcome of its call.

use chrono::TimeDelta;
use sqlx::query;

use super::orders::NewOutgoing;
use crate::domain::relay::{Instance, RelayTodoStatus, SaidBy};
use crate::domain::{InstanceInput, InstanceState, SEND_MESSAGE};
use crate::governor::Permit;
use crate::store::{Lease, StoreError, Unit};

/// The most messages of one turn.
const MOST_A_TURN: i64 = 5;

/// The result of a deed: words for the model, or the reason why it was not done.
pub type DeedResult = Result<String, String>;

impl Unit {
    /// The instance of a turn, with turn and contact held, if the agent may do something there;
    /// else the words for it.
    async fn hold_for_deed(&mut self, lease: &Lease) -> Result<Result<Instance, String>, StoreError> {
        self.hold(lease).await?;
        let Some(instance) = self.hold_instance_of(lease.conversation).await? else {
            return Ok(Err("this conversation has no contact".to_owned()));
        };
        let state = instance.progress.state;
        Ok(if instance.rests() { Err(format!("the conversation is {state}; nothing more is done in it")) } else { Ok(instance) })
    }

    /// Puts a message of the agent into the outbox.
    ///
    /// # Errors
    /// [`StoreError::LostLease`], or if the database does not answer.
    pub async fn write_to_contact(&mut self, _: &Permit, lease: &Lease, text: &str) -> Result<DeedResult, StoreError> {
        let mut instance = match self.hold_for_deed(lease).await? {
            Ok(instance) => instance,
            Err(why) => return Ok(Err(why)),
        };
        let so_far = query!(
            r#"SELECT count(*) FILTER (WHERE said_by = 'agent') AS "written!", coalesce(bool_or(said_by = 'contact'), FALSE) AS "heard!"
               FROM relay_messages WHERE instance_id = $1 AND turn_id = $2"#,
            instance.id.0,
            lease.turn.0
        );
        let so_far = so_far.fetch_one(&mut *self.tx).await?;
        if so_far.written >= MOST_A_TURN {
            return Ok(Err(format!(
                "{MOST_A_TURN} messages were written in this turn, which is the most; wait for the contact's answer"
            )));
        }
        // The contact may have written before the turn for a follow-up began: then it is an answer.
        let follow_up = instance.progress.state == InstanceState::HeartbeatScheduled && !so_far.heard;
        let new = NewOutgoing { said_by: SaidBy::Agent, text, turn: Some(lease.turn), follow_up, key: None };
        self.put_out(&instance, new).await?;
        match instance.progress.state {
            InstanceState::Created => self.move_instance(&mut instance, InstanceInput::Open, None).await?,
            InstanceState::HeartbeatScheduled => {
                instance.progress.follow_ups += i32::from(follow_up);
                self.move_instance(&mut instance, InstanceInput::FollowUp, None).await?;
            }
            _ => {}
        }
        Ok(Ok(
            "The message is on its way. If you have nothing more to do now, end your turn without a further message.".to_owned()
        ))
    }

    /// Marks a to-do of the instance.
    ///
    /// # Errors
    /// As [`Unit::write_to_contact`].
    pub async fn mark_relay_todo(
        &mut self,
        _: &Permit,
        lease: &Lease,
        id: i64,
        status: RelayTodoStatus,
    ) -> Result<DeedResult, StoreError> {
        let mut instance = match self.hold_for_deed(lease).await? {
            Ok(instance) => instance,
            Err(why) => return Ok(Err(why)),
        };
        let there: Vec<_> = instance.progress.todos.iter().map(|todo| todo.id.to_string()).collect();
        let Some(todo) = instance.progress.todos.iter_mut().find(|todo| todo.id == id) else {
            let there = if there.is_empty() { "there are none".to_owned() } else { format!("there are {}", there.join(", ")) };
            return Ok(Err(format!("there is no to-do {id}; {there}")));
        };
        todo.status = status;
        let (told, state) = (format!("To-do {id} is {status}: {}", todo.text), instance.progress.state);
        instance.progress.updated_at = self.now;
        self.write_progress(&instance, state, None).await?;
        Ok(Ok(told))
    }

    /// Ends the conversation.
    ///
    /// # Errors
    /// As [`Unit::write_to_contact`].
    pub async fn end_with_contact(&mut self, _: &Permit, lease: &Lease, reason: &str) -> Result<DeedResult, StoreError> {
        let mut instance = match self.hold_for_deed(lease).await? {
            Ok(instance) => instance,
            Err(why) => return Ok(Err(why)),
        };
        let state = instance.progress.state;
        if [InstanceState::Created, InstanceState::HeartbeatScheduled].contains(&state) {
            let why = "a conversation ends after a message of yours";
            let told = format!("the conversation is {state}, and {why}: call `{SEND_MESSAGE}` first, with your last words");
            return Ok(Err(told));
        }
        self.move_instance(&mut instance, InstanceInput::Complete, Some(reason)).await?;
        Ok(Ok("The conversation is COMPLETED.".to_owned()))
    }

    /// Says when the next follow-up is due if the contact stays silent.
    ///
    /// # Errors
    /// As [`Unit::write_to_contact`].
    pub async fn plan_heartbeat(&mut self, _: &Permit, lease: &Lease, seconds: i32) -> Result<DeedResult, StoreError> {
        let mut instance = match self.hold_for_deed(lease).await? {
            Ok(instance) => instance,
            Err(why) => return Ok(Err(why)),
        };
        let state = instance.progress.state;
        if state == InstanceState::WaitingForReply {
            instance.progress.heartbeat_at = Some(self.heartbeat_after(&instance, seconds));
        } else {
            instance.progress.delay_seconds = Some(seconds);
        }
        instance.progress.updated_at = self.now;
        self.write_progress(&instance, state, None).await?;
        let minutes = TimeDelta::seconds(i64::from(seconds)).num_minutes();
        Ok(Ok(format!("If the contact stays silent, a follow-up is due after {minutes} minutes, and not in quiet hours.")))
    }

    /// Hands the conversation to a person of ours.
    ///
    /// # Errors
    /// As [`Unit::write_to_contact`].
    pub async fn ask_for_person(&mut self, _: &Permit, lease: &Lease, reason: &str) -> Result<DeedResult, StoreError> {
        let mut instance = match self.hold_for_deed(lease).await? {
            Ok(instance) => instance,
            Err(why) => return Ok(Err(why)),
        };
        self.leave_through_active(&mut instance, InstanceInput::Intervene, reason).await?;
        tracing::warn!(instance = %instance.id, "the agent asks for a person; nobody is alerted");
        Ok(Ok("A person of ours has the conversation now. Nobody is alerted: they see it when they look.".to_owned()))
    }
}
