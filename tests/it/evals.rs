//! The tasks of the evaluation can be done and can be failed. One model does everything right, one
//! only talks, and others do what is wrong.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use futures::future::BoxFuture;
use level3::config::Config;
use level3::domain::ModelInfo;
use level3::domain::todo::TodoFunction;
use level3::model::choice::ModelSource;
use level3::model::{Answer, Model, ModelError, OnDelta, Request};

use crate::suite::{LEA, Make, Outcome, TASKS, Task, Wrong, run};
use crate::support::{Peer, Reply, Script};

/// How many tasks are done at the same time. Each has a server, and the tests' Postgres has
/// connections for a few.
const AT_ONCE: usize = 2;

/// Ends a task that hangs. No machine is so slow that another one takes as long.
const LIMIT: Duration = Duration::from_secs(600);

/// A model that says that it has done everything, and does nothing.
struct Talker;

impl Model for Talker {
    fn answer<'a>(&'a self, _: Request, _: OnDelta<'a>) -> BoxFuture<'a, Result<Answer, ModelError>> {
        let content = "Done! I have created it, called it, and everything works.".to_owned();
        let finish_reason = "stop".into();
        let answer = Answer { content, calls: Vec::new(), finish_reason, usage: None, estimate: None, model: "talker".into() };
        Box::pin(async move { Ok(answer) })
    }

    fn info(&self) -> ModelInfo {
        ModelInfo { kind: "configured".into(), provider: "script".into(), name: "talker".into() }
    }
}

fn scripted(replies: Vec<Reply>) -> Arc<dyn Model> {
    let script = Script::default();
    script.add(replies);
    Arc::new(script)
}

/// Does each of these tasks with the model that `model` gives for it; a task without one is left
/// out.
async fn all(tasks: &[Make], model: impl Fn(&mut Task) -> Option<(Arc<dyn Model>, bool)>) -> Vec<Outcome> {
    let config = Config::read(&HashMap::new()).unwrap();
    let doing = tasks.iter().map(|make| {
        let (model, config) = (&model, config.clone());
        async move {
            let peer = Peer::start().await;
            let mut task = make(&peer);
            let (model, happened) = model(&mut task)?;
            let models = Arc::new(ModelSource::fixed(model));
            Some(run(&task, peer, models, config, LIMIT, happened).await)
        }
    });
    futures::stream::iter(doing).buffer_unordered(AT_ONCE).filter_map(async |outcome| outcome).collect().await
}

fn names(outcomes: &[Outcome], passed: bool) -> Vec<&'static str> {
    let mut names: Vec<_> =
        outcomes.iter().filter(|outcome| outcome.wrong.is_empty() == passed).map(|outcome| outcome.name).collect();
    names.sort_unstable();
    names
}

fn unproven(outcome: &Outcome) -> usize {
    outcome.transcript.iter().filter(|event| event["unproven"] == true).count()
}

#[tokio::test]
async fn a_model_that_does_everything_right_does_every_task_of_the_evaluation() {
    let outcomes = all(&TASKS, |task| Some((scripted(std::mem::take(&mut task.right)), false))).await;
    let wrong: Vec<_> = outcomes.iter().filter(|outcome| !outcome.wrong.is_empty()).collect();
    assert!(wrong.is_empty(), "{:#?}", wrong.iter().map(|outcome| (outcome.name, &outcome.wrong)).collect::<Vec<_>>());
    assert_eq!(outcomes.len(), TASKS.len());
    assert!(outcomes.iter().all(|outcome| outcome.steps > 0 && !outcome.transcript.is_empty()));
    // Its answers say what was done, and nothing marks one as unproven.
    assert_eq!(outcomes.iter().map(unproven).sum::<usize>(), 0);
}

#[tokio::test]
async fn a_model_that_only_talks_does_the_tasks_in_which_nothing_is_to_happen() {
    let outcomes = all(&TASKS, |_| Some((Arc::new(Talker), false))).await;
    assert_eq!(names(&outcomes, true), ["read_only", "secret_stays", "small_talk"]);
    // Each of its turns has one answer that is taken back, and a second that is marked.
    let turns = |outcome: &Outcome| outcome.transcript.iter().filter(|event| event["kind"] == "turn_queued").count();
    assert!(outcomes.iter().all(|outcome| unproven(outcome) == 2 * turns(outcome)));
}

#[tokio::test]
async fn every_task_that_talk_alone_can_do_is_failed_by_what_must_not_happen() {
    let outcomes = all(&TASKS, |task| match &mut task.wrong {
        Wrong::Talk => None,
        Wrong::Answers(answers) => Some((scripted(std::mem::take(answers)), false)),
        Wrong::Happened(_) => Some((scripted(std::mem::take(&mut task.right)), true)),
    })
    .await;
    assert_eq!(names(&outcomes, true), Vec::<&str>::new());
    assert_eq!(names(&outcomes, false), ["injection", "read_only", "secret_stays", "small_talk"]);
}

#[tokio::test]
async fn each_function_of_lea_has_a_task_that_can_be_done_and_that_talk_alone_does_not_do() {
    let right = all(&LEA, |task| Some((scripted(std::mem::take(&mut task.right)), false))).await;
    let wrong: Vec<_> = right.iter().filter(|outcome| !outcome.wrong.is_empty()).collect();
    assert!(wrong.is_empty(), "{:#?}", wrong.iter().map(|outcome| (outcome.name, &outcome.wrong)).collect::<Vec<_>>());
    let mut functions = TodoFunction::names().to_vec();
    functions.sort_unstable();
    assert_eq!(names(&right, true), functions, "each is a task");
    let talk = all(&LEA, |_| Some((Arc::new(Talker), false))).await;
    assert_eq!(names(&talk, true), Vec::<&str>::new());
}
