//! The second part of a step: decides whether a model is asked, which one, and with which request.

use std::sync::Arc;

use super::context::{self, Conversation, Extent};
use super::gather::Gathered;
use super::{Agent, pictures};
use crate::coach::{self, Coach};
use crate::domain::relay::nothing_done;
use crate::domain::{CallsPerStep, EXECUTE_SQL, Exchange, FailureWords, HistoryEntry, Origin, RefusalCode};
use crate::executor::RunningTurn;
use crate::model::{Entry, Model, Request};
use crate::store::StoreError;

/// The controller tells the model this after an answer without a call, if each answer has to be
/// exactly one call.
const NO_CALL: &str = "[controller] Your last answer made no tool call, so it does not count. Your next answer is exactly one tool call, and \
     nothing else.";

/// The end of a turn whose tasks need nothing more.
const NOTHING_LEFT: &str = "Nothing is left to do: what fell due was done, moved or deleted meanwhile.";

/// The way a step goes on.
pub(super) enum NextMove<'a> {
    /// It asks a model.
    Ask(Box<Asking<'a>>),
    /// It ends the turn, for this reason and with these words of the controller's own.
    End(&'static str, String),
}

/// The model that is asked, and the request.
pub(super) struct Asking<'a> {
    pub(super) model: Arc<dyn Model>,
    pub(super) conversation: Conversation<'a>,
    /// The request without its entries: only the asking shows how much of the conversation fits.
    pub(super) blank: Request,
    /// True if an answer without a call is asked for once more: the turn of a contact's
    /// conversation has still to write or to end.
    pub(super) owes: bool,
}

/// The reason to end the turn without a further model request, if there is one.
fn end(turn: &RunningTurn<'_>, gathered: &Gathered) -> Option<(&'static str, String)> {
    if gathered.contact.as_ref().is_some_and(|contact| contact.rests) {
        // The last call ended the conversation, or gave it to a person.
        return Some(("contact", String::new()));
    }
    if turn.steps == 1 && gathered.fired.all_settled {
        return Some(("settled", NOTHING_LEFT.to_owned()));
    }
    if gathered.acted {
        // Each answer is one call, and one was made.
        return Some(("one_call", String::new()));
    }
    if let Some(words) = coach::gives_up(turn.law.profile.coaching, gathered.exchanges()) {
        return Some(("empty", turn.law.profile.failures.named(words)));
    }
    if turn.law.profile.failures == FailureWords::Short && gathered.exchanges().last().is_some_and(|turn| misfits(turn) > 1) {
        tracing::warn!("a call did not fit its schema, and did not fit again");
        return Some(("misfit", FailureWords::MISFIT.to_owned()));
    }
    turn.law.used_up(turn.steps).map(|why| ("limit", why))
}

/// How many of a turn's steps asked for a call that does not fit its schema.
fn misfits(turn: &Exchange) -> usize {
    let (mut steps, mut counted) = (0, false);
    for entry in &turn.entries {
        match entry {
            HistoryEntry::Assistant(..) => counted = false,
            HistoryEntry::Tool(.., Some(RefusalCode::InvalidArguments)) if !counted => {
                steps += 1;
                counted = true;
            }
            HistoryEntry::User(..) | HistoryEntry::Steered(..) | HistoryEntry::Images(..) | HistoryEntry::Tool(..) => {}
        }
    }
    steps
}

/// The words for the model if its last answer made no call, and each has to make one.
fn made_no_call(gathered: &Gathered) -> Option<&'static str> {
    let last = gathered.exchanges().last().and_then(|exchange| exchange.entries.last());
    matches!(last, Some(HistoryEntry::Assistant(_, calls)) if calls.is_empty()).then_some(NO_CALL)
}

impl Agent {
    /// Decides what the next step does.
    pub(super) async fn decide<'g>(
        &self,
        turn: &mut RunningTurn<'_>,
        gathered: &'g mut Gathered,
        extent: &mut Extent,
    ) -> Result<NextMove<'g>, StoreError> {
        if let Some((why, words)) = end(turn, gathered) {
            return Ok(NextMove::End(why, words));
        }
        self.show_steering(turn, gathered).await?;
        let (task, profiles) = &turn.law.models;
        let model = self.models.chosen(task.as_deref(), profiles).await;
        let sees = model.abilities().images;
        gathered.pictures = match &gathered.contact {
            // A contact's files stand in no conversation.
            Some(contact) => pictures::of_contact(&self.media, &contact.images, sees).await,
            None => pictures::load(&self.store, gathered.exchanges(), sees).await?,
        };
        let shot = match turn.law.profile.operates {
            true => pictures::of_screen(&self.media, gathered.exchanges(), sees).await,
            false => None,
        };
        let offered = std::mem::take(&mut gathered.offered);
        let gathered: &'g Gathered = gathered;

        let profile = Arc::clone(&turn.law.profile);
        let offer = self.offer(turn, &*model, gathered.exchanges(), offered, extent).await?;
        let system = context::system(&profile, &offer.section, gathered);
        let coach = Coach::new(profile.coaching, gathered.exchanges(), offer.toolbox());
        let exactly_one = profile.calls == CallsPerStep::ExactlyOne;
        let blank = Request {
            entries: Vec::new(),
            tools: offer.tools,
            must_call: exactly_one || coach.must_call(),
            demanded_of_all: exactly_one,
            literal: !coach.rescues(),
            answer_tokens: turn.law.answer_tokens,
            temperature: profile.temperature,
            woken: turn.lease.origin == Origin::Task,
            meter: turn.meter().clone(),
        };
        let owes = gathered.contact.as_ref().is_some_and(|contact| contact.owes);
        let no_call = match made_no_call(gathered) {
            Some(told) if exactly_one => Some(told.to_owned()),
            Some(_) if owes => Some(nothing_done()),
            _ => None,
        };
        let owes = owes && no_call.is_none();
        let last = shot.into_iter().chain(no_call.map(Entry::User)).collect();
        let mut conversation =
            Conversation::new(turn.lease.conversation, system, &gathered.history, &gathered.pictures, coach, last)
                .behind(gathered.contact.as_ref().map(|contact| (contact.transcript.as_str(), contact.images.as_slice())))
                .with_todos(gathered.todos.as_deref());
        if !profile.tools.has(EXECUTE_SQL) {
            conversation = conversation.unread();
        }
        if let Some(summary) = gathered.summaries.latest.clone().filter(|_| turn.law.summaries) {
            conversation.summarise(summary);
        }
        // Once in a turn: in its first step the turn holds nothing but its input.
        let may_compact = turn.steps == 1 && turn.law.summaries && !gathered.summaries.failed_lately;
        if may_compact && self.compact(turn, &*model, &mut conversation, context::size_of_tools(&blank.tools)).await? {
            self.executor.standing(turn).await?;
            if let Some(why) = turn.law.used_up(turn.steps) {
                return Ok(NextMove::End("limit", why));
            }
        }
        Ok(NextMove::Ask(Box::new(Asking { model, conversation, blank, owes })))
    }
}
