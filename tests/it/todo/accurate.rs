//! The properties about calls, context and queries, tried against the real store with lists that
//! are made up.

use level3::domain::todo::TodoFunction;
use level3::model::Entry;
use proptest::prelude::*;
use serde_json::{Map, Value, json};
use sqlx::{Connection, Executor};

use super::Talk;
use super::properties::for_all;
use crate::support::{call, results, text};

/// A task that is made up: what its state is, when it changed, and which of its steps are ticked.
type MadeUp = (&'static str, i64, Vec<bool>);

fn made_up(most: usize) -> impl Strategy<Value = Vec<MadeUp>> {
    let state = prop::sample::select(vec!["pending", "pending", "in_progress", "done", "cancelled"]);
    prop::collection::vec((state, 0..9i64, prop::collection::vec(any::<bool>(), 0..5)), 0..most)
}

/// Puts exactly these tasks into the list, numbered from 1.
async fn set(talk: &Talk, tasks: &[MadeUp]) {
    let mut behind = talk.app.behind().await;
    let mut transaction = behind.begin().await.unwrap();
    transaction.execute("DELETE FROM last_named; DELETE FROM tasks").await.unwrap();
    for (number, (state, changed, steps)) in (1i64..).zip(tasks) {
        let steps: Vec<_> = (1i64..)
            .zip(steps)
            .map(|(step, completed)| json!({"id": number * 100 + step, "title": format!("step {step} of {number}"), "completed": completed}))
            .collect();
        let made = "INSERT INTO tasks (task_id, conversation_id, title, status, subtasks, created_at, updated_at)
                    SELECT $1, conversation_id, 'task number ' || $1, $2, $3, '2026-11-20', '2026-11-20'::timestamptz + $4 * interval '1 minute'
                    FROM conversations WHERE profile = 'lea'";
        let made = sqlx::query(made).bind(number).bind(state).bind(json!(steps)).bind(changed);
        made.execute(&mut *transaction).await.unwrap();
    }
    transaction.commit().await.unwrap();
}

async fn talk() -> tokio::sync::Mutex<Talk> {
    let mut talk = Talk::start().await;
    talk.small_talk("hello").await;
    talk.app.rewrites("the lists are made up");
    tokio::sync::Mutex::new(talk)
}

fn is_active(state: &str) -> bool {
    matches!(state, "pending" | "in_progress")
}

/// The active tasks by their numbers, those that changed last first.
fn active(tasks: &[MadeUp]) -> Vec<i64> {
    let mut numbers: Vec<_> = (1i64..).zip(tasks).filter(|(_, task)| is_active(task.0)).collect();
    numbers.sort_by_key(|(number, task)| (-task.1, -number));
    numbers.into_iter().map(|(number, _)| number).collect()
}

/// **Feature: vapi-voice-agent, Property 6: Query operations return accurate information**
/// **Validates: Requirements 9.5, 10.1, 10.2, 10.3**
#[tokio::test(flavor = "multi_thread")]
async fn what_a_query_says_is_what_the_rows_say() {
    let talk = talk().await;
    for_all(16, &(made_up(7), any::<prop::sample::Index>()), async |(tasks, which)| {
        let mut talk = talk.lock().await;
        set(&talk, &tasks).await;
        for (filter, wanted) in [("active", Some(true)), ("completed", Some(false)), ("all", None)] {
            let listed = talk.call("listTasks", json!({"filter": filter})).await;
            let mut numbers: Vec<_> =
                listed["data"]["tasks"].as_array().unwrap().iter().map(|task| task["id"].as_i64().unwrap()).collect();
            numbers.sort_unstable();
            let fits = |state: &str| wanted.is_none_or(|active| is_active(state) == active);
            let there: Vec<_> = (1i64..).zip(&tasks).filter(|(_, task)| fits(task.0)).map(|(number, _)| number).collect();
            assert_eq!(numbers, there, "{filter}: {tasks:?}");
        }
        if !tasks.is_empty() {
            let at = which.index(tasks.len());
            let details = talk.call("getTaskDetails", json!({"taskName": format!("#{}", at + 1)})).await["data"]["task"].clone();
            let ticked: Vec<_> =
                details["subtasks"].as_array().unwrap().iter().map(|step| step["completed"].as_bool().unwrap()).collect();
            assert_eq!((&details["status"], &ticked), (&json!(tasks[at].0), &tasks[at].2));
        }
        let next = talk.call("getNextSubtask", json!({})).await;
        // The highest share done, then what changed last; by hand, from the end of the document's
        // words.
        let open = |number: &&i64| tasks[(**number - 1) as usize].2.contains(&false);
        let share = |number: &i64| {
            let steps = &tasks[(*number - 1) as usize].2;
            steps.iter().filter(|ticked| **ticked).count() * 60 / steps.len()
        };
        let candidates = active(&tasks);
        let best = candidates.iter().filter(open).map(share).max();
        let meant: Vec<_> = candidates.iter().filter(open).filter(|number| Some(share(number)) == best).collect();
        let newest = meant.iter().map(|number| tasks[(**number - 1) as usize].1).max();
        match next["data"]["task"]["id"].as_i64() {
            None => assert!(best.is_none(), "{tasks:?}: {next}"),
            Some(said) => {
                let (_, changed, steps) = &tasks[(said - 1) as usize];
                assert!(meant.contains(&&said) && Some(*changed) == newest, "{tasks:?}: {next}");
                let first = steps.iter().position(|ticked| !ticked).unwrap() as i64 + 1;
                assert_eq!(next["data"]["subtask"]["id"], json!(said * 100 + first));
            }
        }
    });
}

/// **Feature: vapi-voice-agent, Property 8: Function calls include required parameters**
/// **Validates: Requirements 2.2**
#[tokio::test(flavor = "multi_thread")]
async fn a_call_without_what_is_required_does_nothing() {
    let talk = talk().await;
    set(&*talk.lock().await, &[("pending", 1, vec![false, true]), ("done", 2, vec![])]).await;
    let functions = prop::sample::select(TodoFunction::ALL.to_vec());
    for_all(32, &(functions, prop::collection::vec(any::<bool>(), 3), any::<bool>()), async |(function, left_out, as_null)| {
        let mut talk = talk.lock().await;
        let spec = level3::tools::todo::spec_of(function);
        let required = spec.parameters["required"].as_array().cloned().unwrap_or_default();
        let mut arguments = Map::new();
        for (name, left_out) in required.iter().filter_map(Value::as_str).zip(left_out) {
            let value = match name {
                "confirmed" => json!(true),
                "minutes" => json!(5),
                _ => json!("task number 1"),
            };
            match (left_out, as_null) {
                (false, _) => drop(arguments.insert(name.to_owned(), value)),
                (true, true) => drop(arguments.insert(name.to_owned(), Value::Null)),
                (true, false) => {}
            }
        }
        let is_whole =
            required.iter().filter_map(Value::as_str).all(|name| arguments.get(name).is_some_and(|value| !value.is_null()));
        if is_whole {
            return;
        }
        let state = "SELECT md5(coalesce((SELECT string_agg(t::text, ',' ORDER BY task_id) FROM tasks t), '')
                        || coalesce((SELECT string_agg(t::text, ',') FROM timers t), ''))";
        let before: String = sqlx::query_scalar(state).fetch_one(&mut talk.app.behind().await).await.unwrap();
        talk.app.script([call(function.as_str(), Value::Object(arguments.clone())), text("I see.")]);
        talk.say("go on").await;
        let told = results(&talk.client.turn().await);
        assert!(!told[0].0, "{function} {arguments:?}: {told:?}");
        let after: String = sqlx::query_scalar(state).fetch_one(&mut talk.app.behind().await).await.unwrap();
        assert_eq!(before, after, "{function} {arguments:?}");
        assert_eq!(talk.count("SELECT count(*) FROM approvals").await, 0, "nobody is asked about it");
    });
}

/// **Feature: vapi-voice-agent, Property 9: Task context limited to 20 active tasks**
/// **Validates: Requirements 13.1, 13.2**
#[tokio::test(flavor = "multi_thread")]
async fn a_prompt_has_at_most_twenty_tasks_all_active_and_the_last_changed_first() {
    let talk = talk().await;
    for_all(12, &made_up(45), async |tasks| {
        let mut talk = talk.lock().await;
        set(&talk, &tasks).await;
        talk.small_talk("hello").await;
        let request = talk.app.script.requests().pop().unwrap();
        let Some(Entry::User(prompt)) = request.entries.last() else { panic!("the person's words come last") };
        // A server that keeps what it read has to read nothing of this again.
        let Entry::System(rules) = &request.entries[0] else { panic!("the rules come first") };
        assert!(!rules.contains("task number") && !rules.contains("timer is running"), "{rules}");
        let numbers =
            prompt.lines().filter_map(|line| line.strip_prefix('#')?.split_once(" task number ")?.0.parse::<i64>().ok());
        let shown: Vec<_> = numbers.collect();
        let all = active(&tasks);
        assert_eq!(shown, all[..all.len().min(20)], "{tasks:?}\n{prompt}");
    });
}
