//! The properties of the document, tried against the real store: the model is an adversary that
//! calls anything, in any order.

use std::collections::BTreeMap;

use level3::model::Entry;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use serde_json::{Value, json};
use tokio::runtime::Handle;
use tokio::task::block_in_place;

use super::{STEPS, Talk, message, result};
use crate::support::{calls, text};

/// Tries a story on so many values.
pub(super) fn for_all<S: Strategy>(cases: u32, values: &S, story: impl AsyncFn(S::Value)) {
    let mut runner = TestRunner::new(Config { cases, failure_persistence: None, ..Config::default() });
    let tried = runner.run(values, |value| {
        block_in_place(|| Handle::current().block_on(story(value)));
        Ok(())
    });
    tried.unwrap();
}

/// A call that a model makes up: any function, with names that may mean something.
pub(super) fn any_call() -> impl Strategy<Value = (&'static str, Value)> {
    let name = || {
        prop::sample::select(vec!["Dinner", "din", "it", "#1", "#2", "Lunch", "lnch", "that task", "nothing", "Supper", "Brunch"])
    };
    let step = || prop::sample::select(vec!["shop", "cook", "it", "#2", "invite", "sing"]);
    let title = || prop::sample::select(vec!["Supper", "Brunch", "", "two\nlines"]);
    let minutes = prop::sample::select(vec![json!(25), json!("5"), json!(0), json!(601), json!("soon")]);
    prop_oneof![
        (title(), any::<bool>()).prop_map(|(title, yes)| ("createTask", json!({"description": title, "confirmed": yes}))),
        (name(), any::<bool>()).prop_map(|(name, yes)| ("deleteTask", json!({"taskName": name, "confirmed": yes}))),
        any::<bool>().prop_map(|yes| ("clearCompletedTasks", json!({"confirmed": yes}))),
        name().prop_map(|name| ("completeTask", json!({"taskName": name}))),
        (step(), prop::option::of(name()))
            .prop_map(|(step, name)| ("completeSubtask", json!({"subtaskName": step, "taskName": name}))),
        (name(), title()).prop_map(|(name, title)| ("renameTask", json!({"taskName": name, "newName": title}))),
        (step(), title()).prop_map(|(step, title)| ("renameSubtask", json!({"subtaskName": step, "newName": title}))),
        (name(), title()).prop_map(|(name, title)| ("addSubtask", json!({"taskName": name, "subtaskName": title}))),
        step().prop_map(|step| ("removeSubtask", json!({"subtaskName": step}))),
        (minutes, prop::option::of(name()))
            .prop_map(|(minutes, name)| ("startTimer", json!({"minutes": minutes, "taskName": name}))),
        prop::sample::select(vec!["pauseTimer", "resumeTimer", "stopTimer", "getTimerStatus", "getNextSubtask", "listTasks"])
            .prop_map(|function| (function, json!({}))),
        name().prop_map(|name| ("setRecurrence", json!({"taskName": name, "rule": "daily"}))),
        name().prop_map(|name| ("setReminder", json!({"taskName": name, "at": "2027-01-01T09:00"}))),
    ]
}

/// The titles of the person's tasks, by number.
async fn titles(talk: &Talk) -> BTreeMap<i64, String> {
    let rows = "SELECT task_id, title FROM tasks ORDER BY task_id";
    let rows: Vec<(i64, String)> = sqlx::query_as(rows).fetch_all(&mut talk.app.behind().await).await.unwrap();
    rows.into_iter().collect()
}

/// **Feature: vapi-voice-agent, Property 1: Task creation requires explicit confirmation**
/// **Validates: Requirements 4.1, 4.2, 4.7**
///
/// **Feature: vapi-voice-agent, Property 4: Destructive operations require confirmation**
/// **Validates: Requirements 7.1, 7.2, 7.3, 7.4**
///
/// **Feature: vapi-voice-agent, Property 11: Context updates after task operations**
/// **Validates: Requirements 13.5**
#[tokio::test(flavor = "multi_thread")]
async fn whatever_a_model_calls_no_task_comes_or_goes_without_a_yes_and_the_next_prompt_has_what_is_there() {
    let mut talk = Talk::start().await;
    talk.create("Dinner").await;
    talk.create("Lunch").await;
    let talk = tokio::sync::Mutex::new(talk);
    for_all(24, &prop::collection::vec(any_call(), 1..4), async |asked| {
        let mut talk = talk.lock().await;
        let before: Vec<_> = titles(&talk).await.into_keys().collect();
        talk.app.script([calls(&asked), text("I see.")]);
        talk.say("go on").await;
        // Every question is declined.
        loop {
            let frame = talk.client.frame().await;
            if frame["type"] == "approval" && frame["state"] == "pending" {
                talk.client.deny(&frame).await;
            }
            if frame["type"] == "turn" && frame["state"] == "completed" {
                break;
            }
        }
        talk.app.script.forget();
        let after = titles(&talk).await;
        // A task that comes round brings the next one; nothing else may come, and nothing may go.
        let came: Vec<_> = after.keys().filter(|id| !before.contains(id)).collect();
        let completed = asked.iter().filter(|(function, _)| *function == "completeTask").count();
        assert!(came.len() <= completed, "{asked:?}: {came:?}");
        assert!(before.iter().all(|id| after.contains_key(id)), "{asked:?}");
        talk.app.script([text("Here you are.")]);
        talk.say("hello").await;
        talk.client.turn().await;
        let request = talk.app.script.requests().pop().unwrap();
        let said = |entry: &&Entry| matches!(entry, Entry::User(_));
        let Some(Entry::User(prompt)) = request.entries.iter().rfind(said) else { panic!("the person said something") };
        let active = "SELECT task_id, title FROM tasks WHERE status = 'pending'";
        let active: Vec<(i64, String)> = sqlx::query_as(active).fetch_all(&mut talk.app.behind().await).await.unwrap();
        for (id, title) in active {
            assert!(prompt.contains(&format!("#{id} {title}")), "{id} {title}: {prompt}");
        }
    });
    talk.lock().await.app.check_replay().await;
}

/// **Feature: vapi-voice-agent, Property 2: Completion operations mark the correct item**
/// **Validates: Requirements 5.1, 5.2, 5.4**
///
/// **Feature: vapi-voice-agent, Property 7: Disambiguation requested for ambiguous matches**
/// **Validates: Requirements 5.3**
///
/// **Feature: vapi-voice-agent, Property 10: Pronoun resolution uses last referenced task**
/// **Validates: Requirements 13.3, 13.4**
#[tokio::test(flavor = "multi_thread")]
async fn a_name_of_one_item_completes_it_a_name_of_several_none_and_it_means_the_last() {
    let talk = tokio::sync::Mutex::new(Talk::start().await);
    let words = prop::collection::vec(prop::sample::select(vec!["red", "blue", "green"]), 2..5);
    for_all(8, &(words, 0..3usize), async |(words, named)| {
        let mut talk = talk.lock().await;
        let unset = talk.count("SELECT count(*) FROM last_named").await == 0;
        if unset {
            assert_eq!(message(&talk.call("getTaskDetails", json!({"taskName": "it"})).await), "Which task do you mean?");
        }
        let mut made = Vec::new();
        for word in &words {
            let question = json!({"description": format!("paint it {word}"), "confirmed": true});
            talk.asks("createTask", question).await;
            talk.app.script([text("no"), text("no"), text("I see.")]);
            talk.say("yes").await;
            made.push((result(&talk.client.turn().await)["data"]["task"]["id"].as_i64().unwrap(), *word));
        }
        let word = ["red", "blue", "green"][named];
        let meant: Vec<_> = made.iter().filter(|(_, of)| *of == word).collect();
        let answer = talk.call("completeTask", json!({"taskName": word})).await;
        let done = "SELECT task_id FROM tasks WHERE status = 'done'";
        let done: Vec<i64> = sqlx::query_scalar(done).fetch_all(&mut talk.app.behind().await).await.unwrap();
        match meant.as_slice() {
            [] => assert_eq!((&answer["error"], done.len()), (&json!("not_found"), 0)),
            [(id, _)] => {
                assert_eq!((done, &answer["success"]), (vec![*id], &json!(true)));
                let it = talk.call("getTaskDetails", json!({"taskName": "it"})).await;
                assert_eq!(it["data"]["task"]["id"], json!(id));
            }
            _ => assert_eq!((&answer["error"], done.len()), (&json!("ambiguous"), 0), "{answer}"),
        }
        // The next try begins with an empty list.
        for (id, _) in &made {
            talk.asks("deleteTask", json!({"taskName": format!("#{id}"), "confirmed": true})).await;
            talk.app.script([text("I see.")]);
            talk.say("yes").await;
            talk.client.turn().await;
        }
    });
    talk.lock().await.app.check_replay().await;
}

/// **Feature: vapi-voice-agent, Property 3: Edit operations modify the correct items**
/// **Validates: Requirements 6.1, 6.2, 6.3, 6.4, 6.5**
#[tokio::test(flavor = "multi_thread")]
async fn an_edit_changes_the_item_that_was_named_and_says_so() {
    let mut talk = Talk::start().await;
    talk.create("Dinner").await;
    let talk = tokio::sync::Mutex::new(talk);
    // The model of the list: what it has to be after each edit.
    let list = tokio::sync::Mutex::new(STEPS.map(str::to_owned).to_vec());
    let edits = (0..3u8, any::<prop::sample::Index>(), "[a-z]{12}");
    for_all(24, &edits, async |(edit, at, title)| {
        let (mut talk, mut list) = (talk.lock().await, list.lock().await);
        let edit = if list.is_empty() { 1 } else { edit };
        let answer = match edit {
            0 => {
                let (place, old) = (at.index(list.len()), list[at.index(list.len())].clone());
                list[place] = title.clone();
                talk.call("renameSubtask", json!({"subtaskName": old, "newName": title, "taskName": "dinner"})).await
            }
            1 => {
                list.push(title.clone());
                talk.call("addSubtask", json!({"subtaskName": title, "taskName": "dinner"})).await
            }
            _ => {
                let place = at.index(list.len());
                let gone = list.remove(place);
                talk.call("removeSubtask", json!({"subtaskName": gone})).await
            }
        };
        assert_eq!(answer["success"], true, "{answer}");
        let titles: Vec<String> = sqlx::query_scalar("SELECT title FROM subtasks ORDER BY sort_order")
            .fetch_all(&mut talk.app.behind().await)
            .await
            .unwrap();
        assert_eq!(titles, *list, "{}", message(&answer));
    });
    talk.lock().await.app.check_replay().await;
}

/// **Feature: vapi-voice-agent, Property 5: Timer operations correctly transition state**
/// **Validates: Requirements 9.1, 9.2, 9.3, 9.4**
///
/// **Feature: vapi-voice-agent, Property 6: Query operations return accurate information**
/// **Validates: Requirements 9.5, 10.1, 10.2, 10.3**
#[tokio::test(flavor = "multi_thread")]
async fn the_timer_goes_as_its_table_says_and_every_answer_is_what_the_rows_say() {
    let talk = tokio::sync::Mutex::new(Talk::start().await);
    let state = tokio::sync::Mutex::new("idle");
    for_all(24, &prop::sample::select(vec!["startTimer", "pauseTimer", "resumeTimer", "stopTimer"]), async |function| {
        let (mut talk, mut state) = (talk.lock().await, state.lock().await);
        let arguments = if function == "startTimer" { json!({"minutes": 600}) } else { json!({}) };
        let answer = talk.call(function, arguments).await;
        let (next, taken) = match (*state, function) {
            ("idle", "startTimer") | ("paused", "resumeTimer") => ("running", true),
            ("running", "pauseTimer") => ("paused", true),
            (_, "stopTimer") => ("idle", true),
            (stays, _) => (stays, false),
        };
        *state = next;
        assert_eq!(answer["success"], taken, "{function}: {answer}");
        let told = talk.call("getTimerStatus", json!({})).await;
        let row = "SELECT state FROM timers";
        let row: Option<String> = sqlx::query_scalar(row).fetch_optional(&mut talk.app.behind().await).await.unwrap();
        assert_eq!(told["data"]["state"], row.as_deref().unwrap_or("idle"));
        assert_eq!(told["data"]["state"], next);
    });
    talk.lock().await.app.check_replay().await;
}

/// **Feature: vapi-voice-agent, Property 12: Chat history limited to 50 messages**
/// **Validates: Requirements 14.1, 14.2**
#[tokio::test(flavor = "multi_thread")]
async fn a_chat_never_has_more_than_fifty_messages_and_they_are_the_newest() {
    let talk = tokio::sync::Mutex::new(Talk::start().await);
    let said = tokio::sync::Mutex::new(Vec::new());
    for_all(12, &(1..7usize), async |turns| {
        let (mut talk, mut said) = (talk.lock().await, said.lock().await);
        for _ in 0..turns {
            let words = format!("word {}", said.len());
            talk.app.script([text("I see.")]);
            talk.say(&words).await;
            talk.client.turn().await;
            said.extend([words, "I see.".to_owned()]);
        }
        let conversation = "SELECT conversation_id FROM conversations WHERE profile = 'lea'";
        let conversation = level3::domain::ConversationId(talk.count(conversation).await);
        let chat = talk.app.store().owners().chat(conversation).await.unwrap();
        let kept: Vec<_> = chat.messages.into_iter().map(|message| message.content).collect();
        assert_eq!(kept, said[said.len().saturating_sub(50)..]);
    });
}
