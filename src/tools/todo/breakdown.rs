//! One model request breaks a task down, before the task is made.

use serde_json::json;

use crate::domain::todo::{BREAKDOWN_PROMPT, Breakdown};
use crate::failpoint::{self, Point};
use crate::model::choice::ModelSource;
use crate::model::{Entry, Request};
use crate::profiles::TALKING;
use crate::store::{Meter, NewBreakdown, RequestCost, StoreError};
use crate::tools::tool::Doing;

/// The requests for one breakdown: an answer that breaks the schema is asked for once more.
const ATTEMPTS: usize = 2;

/// The subtasks of a task that the call is about to make; none if no model gave any that can be
/// used. They are kept with the call, so a call that is run again asks nobody.
pub(super) async fn broken_down(models: &ModelSource, doing: Doing<'_>, title: &str) -> Result<Vec<String>, StoreError> {
    let (kit, lease, call) = (doing.kit(), doing.lease, doing.permit.call());
    if let Some(kept) = kit.store.breakdown_of_call(call).await? {
        return Ok(kept);
    }
    let policy = kit.store.policy(&lease.profile).await?;
    let model = models.chosen(models.preferred(TALKING.model, &policy.models), &policy.models).await;
    let meter = Meter::default();
    let mut entries = vec![Entry::System(BREAKDOWN_PROMPT.to_owned()), Entry::User(json!({ "task": title }).to_string())];
    let (mut asked, mut subtasks) = (Vec::new(), Vec::new());
    for _ in 0..ATTEMPTS {
        let (answer_tokens, temperature) = (TALKING.answer_tokens, TALKING.temperature);
        let request =
            Request { entries: entries.clone(), answer_tokens, temperature, meter: meter.clone(), ..Request::default() };
        let answer = match model.answer(request, &|_| {}).await {
            Ok(answer) => answer,
            Err(error) => {
                // The model has used up its own retries.
                tracing::warn!(kind = ?error.kind, %error, "no model broke the task down; it is made without subtasks");
                break;
            }
        };
        asked.push(RequestCost { rate: model.rate(&answer.model), model: answer.model, usage: answer.usage });
        match Breakdown::read(&answer.content) {
            Ok(breakdown) => {
                subtasks = breakdown.subtasks;
                break;
            }
            Err(problem) => {
                tracing::info!(problem, "a breakdown was rejected");
                let again = format!("[controller] Rejected: {problem}. Answer with exactly one JSON object of the form given.");
                entries.extend([Entry::Assistant { content: answer.content, calls: Vec::new() }, Entry::User(again)]);
            }
        }
    }
    let now = kit.clock.now();
    kit.store.count_broken(lease, &meter.take(), now).await?;
    kit.store.keep_breakdown(lease, call, NewBreakdown { subtasks: &subtasks, asked: &asked }, now).await?;
    failpoint::hit(Point::AfterBreakdown).map_err(StoreError::broken)?;
    Ok(subtasks)
}
