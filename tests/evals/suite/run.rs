//! Does one task, and reports its outcome.

use std::sync::Arc;
use std::time::{Duration, Instant};

use level3::config::Config;
use level3::model::choice::ModelSource;
use serde_json::Value;

use super::{House, Task, Wrong};

/// The outcome of a task.
pub struct Outcome {
    pub name: &'static str,
    /// The conditions that do not hold; none if the task is done.
    pub wrong: Vec<String>,
    pub seconds: f64,
    /// Model requests, tool calls, and the failed ones among these.
    pub steps: i64,
    pub calls: i64,
    pub failed: i64,
    /// Tokens read and written, as the model's server counts them.
    pub tokens: (i64, i64),
    /// Every event of the conversation, oldest first.
    pub transcript: Vec<Value>,
}

/// Does a task with this model. Before the checks, `happened` changes something behind the agent's
/// back.
pub async fn run(
    task: &Task,
    peer: crate::support::Peer,
    models: Arc<ModelSource>,
    config: Config,
    limit: Duration,
    happened: bool,
) -> Outcome {
    let house = House::start(task.profile, models, config, peer).await;
    house.prepare(task).await;
    let begun = Instant::now();
    let doing = async {
        for said in &task.says {
            house.say(said, task.person).await;
        }
        if task.falls_due {
            house.wake(task.person).await;
        }
    };
    let in_time = tokio::time::timeout(limit, doing).await.is_ok();
    let seconds = begun.elapsed().as_secs_f64();
    let mut wrong = Vec::new();
    let mut outcome = counted(&house, task.name).await;
    if !in_time {
        wrong.push(format!("not at its end after {} s", limit.as_secs()));
    }
    if happened && let Wrong::Happened(what) = task.wrong {
        sqlx::raw_sql(what).execute(&mut house.behind().await).await.expect("it can happen");
    }
    // If time ran out, the agent may still be at work.
    for check in task.checks.iter().filter(|_| in_time) {
        wrong.extend(check.look(&house).await.err());
    }
    house.end().await;
    (outcome.wrong, outcome.seconds) = (wrong, seconds);
    outcome
}

/// The agent's work and its costs until now. The person's orders do not count.
async fn counted(house: &House, name: &'static str) -> Outcome {
    const COUNTS: &str = "WITH theirs AS (SELECT turn_id FROM turns WHERE origin <> 'command')
        SELECT (SELECT count(*) FROM steps JOIN theirs USING (turn_id) WHERE model <> 'level3'),
               (SELECT count(*) FROM tool_calls JOIN theirs USING (turn_id)),
               (SELECT count(*) FROM tool_calls JOIN theirs USING (turn_id) WHERE state = 'failed'),
               (SELECT coalesce(sum(input_tokens), 0)::bigint FROM steps JOIN theirs USING (turn_id)),
               (SELECT coalesce(sum(output_tokens), 0)::bigint FROM steps JOIN theirs USING (turn_id))";
    let mut behind = house.behind().await;
    let (steps, calls, failed, read, written): (i64, i64, i64, i64, i64) =
        sqlx::query_as(COUNTS).fetch_one(&mut behind).await.unwrap();
    let transcript = house.transcript().await;
    Outcome { name, wrong: Vec::new(), seconds: 0.0, steps, calls, failed, tokens: (read, written), transcript }
}
