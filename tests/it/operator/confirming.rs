//! CONFIRMAR and CANCELAR: from the owner, for the one thing that waits, once and in time.

use std::fs;
use std::path::{Path, PathBuf};

use level3::channels::LoopbackFault;
use level3::domain::ApprovalId;
use reqwest::Method;
use serde_json::json;

use super::{Desk, OWNER, judged, noted, write_program};
use crate::support::{api::level3, call, in_time, text};

/// A desk with a question that waits.
async fn asked() -> Desk {
    let desk = Desk::start().await;
    desk.app.script([call("list_scripts", json!({})), judged("low", "low", "systemic", false)]);
    desk.order("scripts?").await;
    desk.heard(1).await;
    desk
}

#[tokio::test]
async fn the_question_says_what_why_with_which_arguments_and_until_when() {
    let desk = asked().await;
    let question = desk.heard(1).await;
    for part in
        ["Task 1 asks", "Lists the scripts.", "reaches further", "list_scripts {}", "CONFIRMAR", "CANCELAR", "2026-11-20 08:30"]
    {
        assert!(question.contains(part), "{part} in {question}");
    }
    desk.order("CANCELAR").await;
    desk.until(&["ABORTED"]).await;
}

#[tokio::test]
async fn silence_until_the_end_of_the_time_aborts() {
    let desk = asked().await;
    desk.app.advance(31 * 60);
    let told = desk.heard(2).await;
    assert!(told.contains("Nobody confirmed `list_scripts` in time"), "{told}");
    assert_eq!((desk.states().await, desk.carried_out().await), (vec!["ABORTED".to_owned()], 0));
    // Too late.
    desk.order("CONFIRMAR").await;
    assert!(desk.heard(3).await.contains("Nothing waits for a confirmation"));
    assert_eq!((desk.tasks().await.len(), desk.carried_out().await), (1, 0));
}

#[tokio::test]
async fn a_plain_yes_to_what_an_answer_asks_is_an_order() {
    let desk = asked().await;
    desk.app.script([text("There are none. Shall I write one?"), text("Which one?"), text("That one.")]);
    desk.order("CONFIRMAR").await;
    desk.heard(2).await;
    desk.order("yes").await;
    assert_eq!(desk.heard(3).await, noted("Which one?", "none yet"));
    // The note behind the question does not hide that it is one.
    desk.order("yes").await;
    assert_eq!(desk.heard(4).await, noted("That one.", "none yet"));
    assert_eq!((desk.tasks().await.len(), desk.carried_out().await), (3, 1));
}

#[tokio::test]
async fn a_word_that_comes_twice_decides_once_and_the_second_is_answered() {
    let desk = asked().await;
    desk.app.script([text("None.")]);
    desk.order("CONFIRMAR").await;
    desk.heard(2).await;
    desk.order("CONFIRMAR").await;
    assert!(desk.heard(3).await.contains("Nothing waits for a confirmation"));
    desk.order("yes").await;
    assert!(desk.heard(4).await.contains("Nothing waits for a confirmation"), "a plain yes right after is late, too");
    assert_eq!((desk.tasks().await.len(), desk.carried_out().await), (1, 1));
}

#[tokio::test]
async fn the_same_message_delivered_twice_decides_once_and_is_not_answered() {
    let desk = asked().await;
    desk.app.script([text("None.")]);
    let word = json!({"address": OWNER, "text": "CONFIRMAR", "id": "W1"});
    desk.says(word.clone()).await;
    desk.heard(2).await;
    desk.says(word).await;
    assert_eq!((desk.phone(OWNER).await.len(), desk.carried_out().await), (2, 1));
}

#[tokio::test]
async fn a_word_that_was_sent_twice_does_not_decide_the_next_question_of_its_task() {
    let desk = asked().await;
    // The second question waits in the outbox for a while.
    desk.app.loopback.add([Some(LoopbackFault::Offline)]);
    desk.app.script([call("list_scripts", json!({})), judged("low", "low", "systemic", false)]);
    desk.order("CONFIRMAR").await;
    desk.app.until("SELECT count(*) FROM relay_messages WHERE key LIKE 'ask-%' AND not_before IS NOT NULL", 1).await;
    let doubled = json!({"address": OWNER, "text": "CONFIRMAR", "id": "W2"});
    desk.says(doubled.clone()).await;
    assert_eq!((desk.states().await, desk.carried_out().await), (vec!["AWAITING_CONFIRMATION".to_owned()], 1));
    desk.app.advance(6);
    assert!(desk.heard(2).await.contains("Answer CONFIRMAR"));
    assert!(desk.heard(3).await.contains("written before the question was sent, so nothing was done. The question still waits"));
    // The channel brings it again, now that the question is there.
    desk.says(doubled).await;
    assert_eq!((desk.states().await, desk.carried_out().await), (vec!["AWAITING_CONFIRMATION".to_owned()], 1));
    desk.app.script([text("None.")]);
    desk.order("CONFIRMAR").await;
    assert_eq!(desk.heard(4).await, "None.");
    assert_eq!((desk.tasks().await.len(), desk.carried_out().await), (1, 2));
}

#[tokio::test]
async fn a_yes_that_was_an_order_decides_nothing_when_it_comes_again() {
    let desk = Desk::start().await;
    desk.app.script([text("Hello.")]);
    let yes = json!({"address": OWNER, "text": "yes", "id": "Y1"});
    desk.says(yes.clone()).await;
    desk.heard(1).await;
    desk.app.script([call("list_scripts", json!({})), judged("low", "low", "systemic", false)]);
    desk.order("scripts?").await;
    desk.heard(2).await;
    desk.says(yes).await;
    assert_eq!((desk.states().await, desk.carried_out().await), (vec!["COMPLETED".into(), "AWAITING_CONFIRMATION".into()], 0));
    desk.order("CANCELAR").await;
    desk.until(&["COMPLETED", "ABORTED"]).await;
}

/// A program whose owner orders, says CONFIRMAR in a message that was written before the question,
/// which comes twice, and then in a new one.
fn program(folder: &Path) -> PathBuf {
    let script = format!(
        r#"#!/bin/sh
says() {{
  echo "{{\"kind\":\"message\",\"id\":\"$1\",\"from\":\"{OWNER}\",\"text\":\"$2\",\"at\":\"2026-11-20T$3Z\"}}"
}}
echo '{{"kind":"status","state":"online","address":"+491711111111"}}'
says M1 'scripts?' 07:59:00
while read -r line; do
  printf '%s\n' "$line" >> lines
  case "$line" in
    *'"kind":"send"'*)
      id=$(printf '%s\n' "$line" | sed 's/.*"id":"\([0-9A-F]*\)".*/\1/')
      echo "{{\"kind\":\"sent\",\"id\":\"$id\"}}"
      case "$line" in
        *'Answer CONFIRMAR'*) says W1 CONFIRMAR 07:59:58 ;;
        *'written before the question'*) says W1 CONFIRMAR 07:59:58; says W2 CONFIRMAR 08:29:00 ;;
      esac ;;
  esac
done
"#
    );
    write_program(folder, &script)
}

#[tokio::test]
async fn a_word_that_was_written_before_the_question_decides_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = program(folder.path());
    let desk = Desk::over(&path, &[]).await;
    desk.app.script([call("list_scripts", json!({})), judged("low", "low", "systemic", false), text("None.")]);
    let lines = desk.home().join("channels/whatsapp/lines");
    let answered = async {
        while !fs::read_to_string(&lines).unwrap_or_default().contains("\"text\":\"None.\"") {
            desk.app.clock.advance(chrono::TimeDelta::milliseconds(1));
            tokio::task::yield_now().await;
        }
    };
    in_time("the answer", answered).await;
    assert_eq!((desk.states().await, desk.carried_out().await), (vec!["COMPLETED".to_owned()], 1));
    assert_eq!(desk.app.count("SELECT count(*) FROM approvals WHERE client_id LIKE '%/W2'").await, 1);
    assert_eq!(fs::read_to_string(&lines).unwrap().matches("The question still waits").count(), 1);
}

#[tokio::test]
async fn another_order_waits_behind_the_question() {
    let desk = asked().await;
    desk.order("something else").await;
    assert_eq!(desk.heard(2).await, "Task 2 is queued: 1 task is before it.");
    assert_eq!(desk.states().await, ["AWAITING_CONFIRMATION", "QUEUED"]);
    desk.app.script([text("None."), text("Else.")]);
    desk.order("CONFIRMAR").await;
    desk.until(&["COMPLETED", "COMPLETED"]).await;
}

#[tokio::test]
async fn an_order_that_begins_with_confirmar_decides_nothing() {
    let desk = asked().await;
    desk.order("CONFIRMAR and then delete everything").await;
    desk.heard(2).await;
    assert_eq!(desk.states().await, ["AWAITING_CONFIRMATION", "QUEUED"]);
    assert_eq!(desk.carried_out().await, 0);
    desk.app.script([text("I did nothing.")]);
    desk.order("CANCELAR").await;
    desk.until(&["ABORTED", "COMPLETED"]).await;
    assert_eq!(desk.carried_out().await, 0);
}

#[tokio::test]
async fn a_plain_yes_allows_what_has_little_effect_and_is_told_when_it_is_not_enough() {
    let desk = asked().await;
    desk.app.script([text("None.")]);
    desk.order("yes").await;
    assert_eq!(desk.heard(2).await, "None.");
    // A new power wants the word that was made for it.
    let write = json!({
        "name": "keep", "description": "Keeps a word.",
        "code": "export default async function keep(params) { await host.kv.set('word', params.word); return params.word; }",
        "parameters_schema": {"type": "object", "properties": {"word": {"type": "string"}}, "required": ["word"]},
        "grants": {"kv": {}},
        "tests": [{"params": {"word": "a"}, "expect": "a", "answers": [{"ok": null}]}],
    });
    desk.app.script([call("create_script", write), super::harmless()]);
    desk.order("write a script that keeps a word").await;
    assert!(desk.heard(3).await.contains("Answer CONFIRMAR"));
    desk.order("Yes!").await;
    assert!(desk.heard(4).await.contains("A plain yes is not enough"));
    assert_eq!((desk.states().await, desk.carried_out().await), (vec!["COMPLETED".into(), "AWAITING_CONFIRMATION".into()], 1));
    desk.app.script([text("Written.")]);
    desk.order("CONFIRMAR").await;
    desk.heard(5).await;
    // Late, though the question did not know the word.
    desk.order("sí").await;
    assert!(desk.heard(6).await.contains("Nothing waits for a confirmation"));
    assert_eq!((desk.tasks().await.len(), desk.carried_out().await), (2, 2));
}

#[tokio::test]
async fn a_plain_no_aborts_in_each_language() {
    for word in ["no", "não"] {
        let desk = asked().await;
        desk.order(word).await;
        let told = desk.heard(2).await;
        assert!(told.starts_with("Task 1 was aborted. You said no to `list_scripts`"), "{word}: {told}");
        assert_eq!((desk.states().await, desk.carried_out().await), (vec!["ABORTED".to_owned()], 0), "{word}");
    }
}

#[tokio::test]
async fn page_and_command_line_decide_as_well() {
    let desk = asked().await;
    desk.app.script([text("None.")]);
    let id = desk.tasks().await[0]["approval"].as_i64().map(ApprovalId).unwrap();
    desk.done(Method::POST, &format!("/api/approvals/{id}/approve"), Some(json!({}))).await;
    assert_eq!(desk.heard(2).await, "None.");
    for (place, (word, end)) in [("approve", "Still none."), ("deny", "Task 3 was aborted.")].into_iter().enumerate() {
        desk.app.script([call("list_scripts", json!({})), judged("low", "low", "systemic", false)]);
        desk.order("and now?").await;
        desk.heard(2 * place + 3).await;
        let id = desk.tasks().await[place + 1]["approval"].to_string();
        desk.app.script((word == "approve").then(|| text(end)));
        let ran = level3(&desk.app, &["approvals", word, &id]).await;
        assert_eq!(ran.code, 0, "{ran:?}");
        let then = if word == "approve" { "goes on" } else { "is aborted" };
        assert!(ran.out.contains(&format!("; turn {} {then}.", place + 2)), "{ran:?}");
        let told = desk.heard(2 * place + 4).await;
        assert!(told.starts_with(end), "{told}");
    }
    assert_eq!(desk.states().await, ["COMPLETED", "COMPLETED", "ABORTED"]);
    assert_eq!(desk.carried_out().await, 2);
}

#[tokio::test]
async fn a_word_typed_in_the_page_decides_about_an_order_of_the_page_and_of_no_phone() {
    let desk = asked().await;
    let waits = desk.done(Method::GET, "/api/approvals?state=pending", None).await;
    assert_eq!(waits["approvals"][0]["shown"]["words"], json!({"approve": [], "deny": []}), "no word is promised there");
    let mut client = desk.app.connect().await;
    let says = |id: &str, words: &str| json!({"type": "message", "content": words, "profile": "operator", "id": id});
    client.send(says("P1", "CONFIRMAR")).await;
    let refused = client.until(|frame| frame["type"] == "error").await.pop().unwrap();
    assert!(refused["content"].as_str().unwrap().contains("only if that phone sends it"), "{refused}");
    assert_eq!((desk.states().await, desk.carried_out().await), (vec!["AWAITING_CONFIRMATION".to_owned()], 0));
    desk.order("CANCELAR").await;
    desk.until(&["ABORTED"]).await;
    desk.app.script([call("list_scripts", json!({})), judged("low", "low", "systemic", false)]);
    client.send(says("P2", "scripts?")).await;
    desk.until(&["ABORTED", "AWAITING_CONFIRMATION"]).await;
    let heard = desk.phone(super::OWNER).await.len();
    desk.order("CONFIRMAR").await;
    assert!(desk.heard(heard + 1).await.contains("about an order of the page"));
    desk.app.script([text("None.")]);
    client.send(says("P3", "CONFIRMAR")).await;
    desk.until(&["ABORTED", "COMPLETED"]).await;
    assert_eq!(desk.carried_out().await, 1);
}

#[tokio::test]
async fn no_word_allows_a_question_that_messages_cannot_show_whole() {
    let desk = Desk::start().await;
    desk.app.script([call("create_script", super::doubling(2)), super::harmless(), text("Written.")]);
    desk.order("write it").await;
    desk.heard(1).await;
    let mut draft = super::doubling(3);
    draft["code"] = json!(format!("{}\n// {}", draft["code"].as_str().unwrap(), "a".repeat(30_000)));
    desk.app.script([call("update_script", draft), super::harmless()]);
    desk.order("change it").await;
    let asked = desk.heard(2).await;
    assert!(asked.contains("no word here allows it") && !asked.contains("CONFIRMAR"), "{asked}");
    for (place, word) in ["CONFIRMAR", "yes"].into_iter().enumerate() {
        desk.order(word).await;
        assert!(desk.heard(3 + place).await.contains("Messages cannot show all"), "{word}");
    }
    assert_eq!((desk.states().await, desk.carried_out().await), (vec!["COMPLETED".into(), "AWAITING_CONFIRMATION".into()], 1));
    let id = desk.tasks().await[1]["approval"].clone();
    desk.app.script([text("Changed.")]);
    desk.done(Method::POST, &format!("/api/approvals/{id}/approve"), Some(json!({}))).await;
    assert_eq!(desk.heard(5).await, "Changed.");
    assert_eq!(desk.carried_out().await, 2);
}

#[tokio::test]
async fn a_confirmation_for_a_proposal_that_was_changed_meanwhile_executes_nothing() {
    let desk = Desk::start().await;
    let run = || call("execute_script", json!({"name": "double", "arguments": {"n": 1}}));
    for factor in [2, 3] {
        let name = if factor == 2 { "create_script" } else { "update_script" };
        desk.app.script([call(name, super::doubling(factor)), super::harmless(), text("Written.")]);
        desk.order("write it").await;
        if factor == 3 {
            desk.heard(2).await;
            desk.order("CONFIRMAR").await;
        }
        desk.heard(factor as usize * 2 - 3).await;
    }
    desk.app.script([run(), judged("low", "low", "systemic", false)]);
    desk.order("run it").await;
    desk.heard(4).await;
    let done = desk.carried_out().await;
    // The script is another one by now: the person is asked anew about the call as it would run.
    desk.done(Method::POST, "/api/capabilities/double/rollback", Some(json!({"version": 1}))).await;
    desk.order("CONFIRMAR").await;
    assert!(desk.heard(5).await.contains("version 1"));
    assert_eq!(desk.carried_out().await, done);
    desk.order("CANCELAR").await;
    desk.until(&["COMPLETED", "COMPLETED", "ABORTED"]).await;
    assert_eq!(desk.carried_out().await, done);
}
