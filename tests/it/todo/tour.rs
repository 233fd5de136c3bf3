//! Without a model, the tour plays Lea: a person without a key sees the real thing.

use super::{Talk, message, result};
use crate::support::{TestApp, of_type};

#[tokio::test]
async fn a_task_is_made_with_a_plain_sentence_and_a_yes() {
    let mut talk = Talk::on(TestApp::tour().await).await;
    talk.say("add prepare the dinner party").await;
    let question = talk.client.asked().await;
    assert_eq!(question["question"], "Should I create a task called “prepare the dinner party”?");
    talk.say("Yes").await;
    let frames = talk.client.turn().await;
    assert!(message(&result(&frames)).starts_with("Created the task “prepare the dinner party” with 4 subtasks"));
    assert!(of_type(&frames, "task")["task"]["subtasks"].as_array().unwrap().len() == 4);
    talk.say("what's next").await;
    assert!(message(&result(&talk.client.turn().await)).contains("prepare the dinner party"));
    talk.say("sing").await;
    let told = talk.client.turn().await;
    assert!(of_type(&told, "assistant")["content"].as_str().unwrap().contains("I am the built-in tour and play Lea"));
    talk.app.check_replay().await;
}
