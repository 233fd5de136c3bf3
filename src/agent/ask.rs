//! The third part of a step: asks the model, with as much of the conversation as it takes.

use std::sync::atomic::{AtomicBool, Ordering};

use chrono::TimeDelta;
use tokio::time::Instant;

use super::Agent;
use super::context::{self, Extent};
use super::decide::Asking;
use crate::coach;
use crate::domain::{AnswersTo, FailureWords};
use crate::executor::RunningTurn;
use crate::failpoint::{self, Point};
use crate::model::{Answer, ModelError, ModelErrorKind, Request};
use crate::store::{Pen, StoreError};
use crate::wire::ServerFrame;

const NOTHING_SHORTER: &str =
    "Nothing more can be left out: say less at once, or set LLM_MODEL to a model with a longer context. All messages are kept.";

/// A complete answer.
pub(super) struct HeldAnswer {
    pub(super) answer: Answer,
    /// Held until the answer is stored: until then a stop finds the text so far through it.
    _pen: Pen,
}

impl Agent {
    /// Asks the model, and counts the cost even if no answer came.
    pub(super) async fn ask(
        &self,
        turn: &RunningTurn<'_>,
        asking: &Asking<'_>,
        extent: &mut Extent,
    ) -> Result<Result<HeldAnswer, ModelError>, StoreError> {
        let begun = Instant::now();
        let pen = self.store.writing().begin(turn.lease, turn.steps, &asking.model.info().name);
        let answered = self.answer(turn, asking, extent, &pen).await;
        self.metrics.step(begun.elapsed(), answered.is_ok());
        self.store.count_broken(turn.lease, &turn.meter().take(), self.clock.now()).await?;
        Ok(answered.map(|answer| HeldAnswer { answer, _pen: pen }))
    }

    /// Asks with as much of the conversation as the model is known to take. If the model finds that
    /// too long, asks with less and less of it. The extent that was enough holds for the rest of
    /// the turn; the size that was learnt holds for all turns.
    async fn answer(
        &self,
        turn: &RunningTurn<'_>,
        Asking { model, conversation, blank, owes: _ }: &Asking<'_>,
        extent: &mut Extent,
        pen: &Pen,
    ) -> Result<Answer, ModelError> {
        let (lease, answers) = (turn.lease, turn.law.profile.answers);
        let heard = AtomicBool::new(false);
        let on_delta = |piece: &str| {
            heard.store(true, Ordering::Relaxed);
            if answers != AnswersTo::Nowhere {
                pen.write(piece);
            }
            // This callback cannot fail; the connection to the model can.
            let _ = failpoint::hit(Point::FirstByte);
            if answers == AnswersTo::Page {
                let (conversation, turn, step, attempt) = (lease.conversation, lease.turn, turn.steps, lease.fence);
                self.store.signals().write(ServerFrame::Delta { conversation, turn, step, attempt, content: piece.to_owned() });
            }
        };
        let around = context::size_of_tools(&blank.tools);
        let most = self.sizes.most(&**model, lease.conversation).saturating_sub(around);
        let mut shown = conversation.fitting(extent, most);
        loop {
            pen.begin_again();
            let bytes = context::size(&shown) + around;
            let request = Request { entries: shown, ..blank.clone() };
            let answer = match turn.law.profile.failures {
                FailureWords::Full | FailureWords::OfHome => model.answer(request, &on_delta).await,
                FailureWords::Short => self.patiently(turn, model.answer(request, &on_delta), &heard).await,
            };
            let error = match answer {
                Err(error) if error.kind == ModelErrorKind::ContextOverflow => error,
                Err(error) => return Err(error),
                Ok(mut answer) => {
                    self.sizes.taken(&**model, lease.conversation, bytes, answer.usage);
                    match answers {
                        AnswersTo::Nowhere => answer.content.clear(),
                        _ => coach::strip_controller(&mut answer.content),
                    }
                    return Ok(answer);
                }
            };
            self.sizes.refused(&**model, lease.conversation, bytes);
            let Some((next, less)) = conversation.shorter(*extent) else {
                let message = format!("{} {NOTHING_SHORTER}", error.message);
                return Err(ModelError { message, ..error });
            };
            tracing::info!(extent = ?next, "the conversation is too long for the model; asking with less of it");
            (*extent, shown) = (next, less);
        }
    }

    /// Waits for an answer. If its first word takes long, the person is told that it does.
    async fn patiently(
        &self,
        turn: &RunningTurn<'_>,
        answer: impl Future<Output = Result<Answer, ModelError>>,
        heard: &AtomicBool,
    ) -> Result<Answer, ModelError> {
        let mut answer = std::pin::pin!(answer);
        tokio::select! {
            biased;
            answered = &mut answer => return answered,
            () = self.clock.sleep_until(self.clock.now() + TimeDelta::seconds(FailureWords::LONG)) => {}
        }
        if !heard.load(Ordering::Relaxed) {
            let (conversation, turn, content) = (turn.lease.conversation, turn.lease.turn, FailureWords::SLOW.to_owned());
            self.store.signals().write(ServerFrame::Notice { conversation, turn, content });
        }
        answer.await
    }
}
