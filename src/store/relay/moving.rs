//! An instance takes an input: the new state, the event, and the actions that go with it, in one
//! transaction. A turn's end is such an input too.

use chrono::{DateTime, TimeDelta, Utc};
use futures::FutureExt;
use futures::future::BoxFuture;
use sqlx::{query_as, query_scalar};

use super::rows::{InstanceRow, RelayMessageRow};
use crate::domain::relay::{ContactBriefing, Instance, MOST_DIGESTED, MOST_SHOWN, RelayMessage, TurnWords};
use crate::domain::{ConversationId, InstanceAction, InstanceId, InstanceInput, InstanceState, Origin, RelayMessageId, TurnId};
use crate::facts::RepliesShown;
use crate::failpoint::{self, Point};
use crate::store::{Store, StoreError, Unit};

/// How a turn of a contact's conversation ended.
#[derive(Clone, Copy, Debug)]
pub(in crate::store) enum ContactTurnEnd<'a> {
    /// With an answer, or with words of the controller's own.
    Answered,
    /// A person stopped it.
    Stopped,
    /// No model answered, which a person can mend.
    Unanswered(&'a str),
    /// It cannot be mended.
    Broken(&'a str),
}

/// The reason, if the agent did nothing.
const DID_NOTHING: &str = "the agent neither wrote to the contact nor ended the conversation, although it was asked twice";
/// The reason, if a person stopped the turn.
const STOPPED: &str = "a person stopped the agent's turn";

impl Unit {
    /// Gives an instance an input, with all that goes with it. The caller holds the contact. An
    /// action may move an instance once more, so its future has a type that can be named.
    pub(super) fn move_instance<'a>(
        &'a mut self,
        instance: &'a mut Instance,
        input: InstanceInput,
        reason: Option<&'a str>,
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        async move {
            let from = instance.progress.state;
            let actions = instance.progress.take(input, self.now)?;
            if let Some(reason) = reason {
                instance.progress.reason = Some(self.clean(reason).into_owned());
            }
            for action in &actions {
                match action {
                    InstanceAction::PlanHeartbeat => {
                        let wish = instance.progress.delay_seconds.take().unwrap_or(instance.heartbeat_seconds);
                        instance.progress.heartbeat_at = Some(self.heartbeat_after(instance, wish));
                    }
                    InstanceAction::DropHeartbeat => instance.progress.heartbeat_at = None,
                    InstanceAction::Ask
                    | InstanceAction::LookForReply
                    | InstanceAction::StopTurns
                    | InstanceAction::EmptyOutbox
                    | InstanceAction::StartNext => {}
                }
            }
            self.write_progress(instance, from, Some(input)).await?;
            for action in actions {
                match action {
                    InstanceAction::Ask => self.ask_agent(instance).await?,
                    InstanceAction::LookForReply => self.look_for_reply(instance).await?,
                    InstanceAction::StopTurns => self.stop_open_turns(instance.conversation).await?,
                    InstanceAction::EmptyOutbox => self.empty_outbox(instance).await?,
                    InstanceAction::StartNext => self.start_next(instance).await?,
                    InstanceAction::PlanHeartbeat | InstanceAction::DropHeartbeat => {}
                }
            }
            Ok(())
        }
        .boxed()
    }

    /// The time of a follow-up after so many seconds, which is never in quiet hours.
    pub(super) fn heartbeat_after(&self, instance: &Instance, seconds: i32) -> DateTime<Utc> {
        let at = self.now + TimeDelta::seconds(i64::from(seconds));
        self.relay.pace.awake(at, instance.zone(self.relay.zone))
    }

    /// Leads an instance to ACTIVE by the arrows there are, and then gives it the input. The
    /// actions of the arrows on the way are left out: nothing is asked or planned there.
    pub(super) async fn leave_through_active(
        &mut self,
        instance: &mut Instance,
        input: InstanceInput,
        reason: &str,
    ) -> Result<(), StoreError> {
        for step in instance.progress.state.to_active() {
            let from = instance.progress.state;
            instance.progress.take(*step, self.now)?;
            instance.progress.heartbeat_at = None;
            self.write_progress(instance, from, Some(*step)).await?;
        }
        self.move_instance(instance, input, Some(reason)).await
    }

    /// Queues a turn of the agent for the state that was just reached.
    async fn ask_agent(&mut self, instance: &Instance) -> Result<(), StoreError> {
        let (words, origin) = match instance.progress.state {
            InstanceState::Created => (TurnWords::Begin, Origin::Message),
            InstanceState::WaitingForAgent => (TurnWords::Reply, Origin::Message),
            InstanceState::HeartbeatScheduled => {
                (TurnWords::FollowUp(instance.progress.follow_ups + 1, instance.max_follow_ups), Origin::FollowUp)
            }
            InstanceState::Active
            | InstanceState::WaitingForReply
            | InstanceState::Paused
            | InstanceState::Queued
            | InstanceState::Completed
            | InstanceState::NeedsHumanIntervention
            | InstanceState::Abandoned
            | InstanceState::Failed => (TurnWords::GoOn, Origin::Message),
        };
        self.hold_conversation(instance.conversation).await?;
        self.queue_turn(instance.conversation, origin, None, &words.text()).await?;
        Ok(())
    }

    /// A follow-up is due: its turn is queued, or the instance is given up. The caller has found
    /// the silence.
    pub(super) async fn ask_follow_up(&mut self, instance: &mut Instance) -> Result<(), StoreError> {
        self.move_instance(instance, InstanceInput::Silence, None).await?;
        if instance.progress.follow_ups >= instance.max_follow_ups {
            let told = match instance.progress.follow_ups {
                0 => "the contact did not answer".to_owned(),
                1 => "the contact did not answer 1 follow-up".to_owned(),
                many => format!("the contact did not answer {many} follow-ups"),
            };
            return self.move_instance(instance, InstanceInput::GiveUp, Some(&told)).await;
        }
        self.ask_agent(instance).await
    }

    /// A reply that came where there is no arrow for it counts as coming now.
    async fn look_for_reply(&mut self, instance: &mut Instance) -> Result<(), StoreError> {
        let waits = query_scalar!(
            r#"SELECT EXISTS (SELECT FROM relay_messages WHERE instance_id = $1 AND said_by = 'contact' AND turn_id IS NULL) AS "waits!""#,
            instance.id.0
        );
        if waits.fetch_one(&mut *self.tx).await? {
            instance.progress.follow_ups = 0;
            self.move_instance(instance, InstanceInput::Reply, None).await?;
        }
        Ok(())
    }

    /// Takes the messages that nobody has begun to send out of the outbox.
    async fn empty_outbox(&mut self, instance: &Instance) -> Result<(), StoreError> {
        for mut message in self.queued_messages(instance.id).await? {
            message.delivery.withdraw(self.now)?;
            self.write_delivery(instance.conversation, &message).await?;
        }
        Ok(())
    }

    /// The messages of an instance that wait in the outbox, which nobody claims until this
    /// transaction ends.
    pub(super) async fn queued_messages(&mut self, instance: InstanceId) -> Result<Vec<RelayMessage>, StoreError> {
        let rows = query_as!(
            RelayMessageRow,
            "SELECT * FROM relay_messages WHERE instance_id = $1 AND state = 'queued' ORDER BY message_id FOR UPDATE",
            instance.0
        );
        rows.fetch_all(&mut *self.tx).await?.into_iter().map(RelayMessage::try_from).collect()
    }

    /// Begins the longest waiting instance of a contact, if the contact's place is free.
    async fn start_next(&mut self, of: &mut Instance) -> Result<(), StoreError> {
        let next = query_as!(
            InstanceRow,
            "SELECT * FROM relay_instances i WHERE channel = $1 AND contact = $2 AND state = 'QUEUED'
               AND NOT EXISTS (SELECT FROM relay_instances o WHERE (o.channel, o.contact) = (i.channel, i.contact)
                   AND o.ended_at IS NULL AND o.state <> 'QUEUED' AND o.paused_from IS DISTINCT FROM 'QUEUED')
             ORDER BY instance_id LIMIT 1",
            of.channel,
            of.contact
        );
        let Some(row) = next.fetch_optional(&mut *self.tx).await? else { return Ok(()) };
        if row.instance_id == of.id.0 {
            return self.move_instance(of, InstanceInput::Begin, None).await;
        }
        let mut next = Instance::try_from(row)?;
        self.move_instance(&mut next, InstanceInput::Begin, None).await
    }

    /// All that a turn of a contact's conversation is shown.
    pub(super) async fn briefing(&mut self, instance: &Instance) -> Result<ContactBriefing, StoreError> {
        let most = i64::try_from(MOST_SHOWN + MOST_DIGESTED).unwrap_or(i64::MAX);
        let rows = query_as!(
            RelayMessageRow,
            "SELECT * FROM relay_messages WHERE instance_id = $1 AND (said_by <> 'contact' OR turn_id IS NOT NULL)
             ORDER BY number DESC LIMIT $2",
            instance.id.0,
            most
        );
        let rows = rows.fetch_all(&mut *self.tx).await?;
        let total = query_scalar!(
            r#"SELECT count(*) AS "total!" FROM relay_messages WHERE instance_id = $1 AND (said_by <> 'contact' OR turn_id IS NOT NULL)"#,
            instance.id.0
        );
        let total = total.fetch_one(&mut *self.tx).await?;
        let messages = rows.into_iter().rev().map(RelayMessage::try_from).collect::<Result<_, _>>()?;
        Ok(ContactBriefing { instance: instance.clone(), messages, total })
    }

    /// Moves the instance of a conversation whose turn ends, if it has one. Nothing of the
    /// conversation is written before in this transaction.
    pub(in crate::store) async fn settle_instance(
        &mut self,
        conversation: ConversationId,
        turn: TurnId,
        end: ContactTurnEnd<'_>,
    ) -> Result<(), StoreError> {
        let Some(mut instance) = self.hold_instance_of(conversation).await? else { return Ok(()) };
        let briefing = self.briefing(&instance).await?;
        if instance.rests()
            || instance.progress.state == InstanceState::WaitingForAgent && self.has_other_turn(conversation, turn).await?
        {
            return Ok(());
        }
        match end {
            ContactTurnEnd::Broken(why) => self.leave_through_active(&mut instance, InstanceInput::Break, why).await,
            ContactTurnEnd::Unanswered(why) => self.leave_through_active(&mut instance, InstanceInput::Intervene, why).await,
            ContactTurnEnd::Answered | ContactTurnEnd::Stopped if briefing.owes(turn) => {
                let last = self.last_words(turn).await?;
                let why = match end {
                    ContactTurnEnd::Stopped => STOPPED,
                    _ => last.as_deref().unwrap_or(DID_NOTHING),
                };
                self.leave_through_active(&mut instance, InstanceInput::Intervene, why).await
            }
            ContactTurnEnd::Answered | ContactTurnEnd::Stopped if instance.progress.state == InstanceState::Active => {
                self.move_instance(&mut instance, InstanceInput::Written, None).await
            }
            ContactTurnEnd::Answered | ContactTurnEnd::Stopped => Ok(()),
        }
    }

    /// True if another turn of the conversation is not over.
    async fn has_other_turn(&mut self, conversation: ConversationId, turn: TurnId) -> Result<bool, StoreError> {
        let other = query_scalar!(
            r#"SELECT EXISTS (SELECT FROM turns WHERE conversation_id = $1 AND turn_id <> $2 AND ended_at IS NULL) AS "other!""#,
            conversation.0,
            turn.0
        );
        Ok(other.fetch_one(&mut *self.tx).await?)
    }

    /// The controller's last words in a turn: a model's own are not kept here.
    async fn last_words(&mut self, turn: TurnId) -> Result<Option<String>, StoreError> {
        let said = query_scalar!(
            "SELECT content FROM messages WHERE turn_id = $1 AND role = 'assistant' AND content <> '' ORDER BY message_id DESC LIMIT 1",
            turn.0
        );
        Ok(said.fetch_optional(&mut *self.tx).await?)
    }
}

impl Store {
    /// Shows a turn all that there is to know before its next step. Its first look takes up what
    /// the contact wrote.
    ///
    /// # Errors
    /// [`StoreError::LostLease`], or if the database does not answer; [`StoreError::Unreadable`] if
    /// the conversation has no instance.
    pub async fn brief_contact_turn(
        &self,
        lease: &crate::store::Lease,
        first: bool,
        now: DateTime<Utc>,
    ) -> Result<ContactBriefing, StoreError> {
        let mut unit = self.begin(now).await?;
        if first {
            unit.hold(lease).await?;
        }
        let instance = unit.hold_instance_of(lease.conversation).await?;
        let mut instance =
            instance.ok_or_else(|| StoreError::Unreadable(format!("conversation {} has no instance", lease.conversation)))?;
        if first && !instance.rests() {
            if instance.progress.state == InstanceState::WaitingForAgent {
                unit.move_instance(&mut instance, InstanceInput::TakeUp, None).await?;
            }
            unit.show_replies(&instance, lease.turn).await?;
        }
        let briefing = unit.briefing(&instance).await?;
        failpoint::hit(Point::MidBriefing).map_err(sqlx::Error::Io)?;
        unit.commit().await?;
        Ok(briefing)
    }
}

impl Unit {
    /// Shows a turn what the contact wrote and no turn has been shown.
    async fn show_replies(&mut self, instance: &Instance, turn: TurnId) -> Result<(), StoreError> {
        let shown = query_scalar!(
            "UPDATE relay_messages SET turn_id = $2 WHERE instance_id = $1 AND said_by = 'contact' AND turn_id IS NULL RETURNING message_id",
            instance.id.0,
            turn.0
        );
        let mut messages: Vec<_> = shown.fetch_all(&mut *self.tx).await?.into_iter().map(RelayMessageId).collect();
        messages.sort_unstable();
        if messages.is_empty() {
            return Ok(());
        }
        self.append(instance.conversation, RepliesShown { turn, messages }.into()).await
    }

    /// Holds the contact of a conversation, if it is an instance's: true then. It comes before all
    /// that is written into the conversation.
    pub(in crate::store) async fn hold_contact_of(&mut self, conversation: ConversationId) -> Result<bool, StoreError> {
        let instance = query_scalar!("SELECT hold_contact($1)", conversation.0);
        Ok(instance.fetch_one(&mut *self.tx).await?.is_some())
    }
}
