//! Summarises older turns, inside the turn that has no room for them.

use super::{Conversation, size};
use crate::agent::Agent;
use crate::executor::RunningTurn;
use crate::model::{Model, ModelErrorKind, Request};
use crate::store::{NewSummary, RequestCost, StoreError, Wanted};

impl Agent {
    /// Asks for a summary if the turns before this one have outgrown their room beside `around`
    /// bytes of tools, and stores it with its cost. True if the model answered, so that more is
    /// used up. A summary is never needed: if the model gives none, the turn goes on without the
    /// turns that do not fit.
    pub(in crate::agent) async fn compact(
        &self,
        turn: &RunningTurn<'_>,
        model: &dyn Model,
        conversation: &mut Conversation<'_>,
        around: usize,
    ) -> Result<bool, StoreError> {
        let (lease, meter) = (turn.lease, turn.meter());
        let most = self.sizes.most(model, lease.conversation).saturating_sub(around);
        let Some(plan) = conversation.outgrown(most) else { return Ok(false) };
        let up_to = plan.up_to;
        tracing::info!(%up_to, "the conversation has outgrown its room; asking for a summary of its older turns");
        let request = Request { meter: meter.clone(), ..plan.request.clone() };
        let answered = model.answer(request, &|_| {}).await;
        self.store.count_broken(lease, &meter.take(), self.clock.now()).await?;
        let answer = match answered {
            Ok(answer) => answer,
            Err(error) => {
                self.metrics.model_error(error.kind);
                if error.kind == ModelErrorKind::ContextOverflow {
                    self.sizes.refused(model, lease.conversation, size(&plan.request.entries));
                }
                tracing::warn!(kind = ?error.kind, %error, "no summary from the model; the older turns are left out");
                return Ok(false);
            }
        };
        let content = plan.read(&answer);
        if content.is_none() {
            tracing::warn!("the summary was of no use; the older turns are left out");
        }
        let asked = RequestCost { rate: model.rate(&answer.model), model: answer.model, usage: answer.usage };
        let summary = NewSummary { up_to, content: content.as_deref(), asked: &asked };
        self.store.store_summary(lease, summary, self.clock.now()).await?;
        // The summary is read back, since the store keeps it without the values of secrets.
        let stored = self.store.standing(lease, Wanted::turn_alone(self.clock.now())).await?;
        if let Some(summary) = stored.summaries.latest {
            conversation.summarise(summary);
        }
        Ok(true)
    }
}
