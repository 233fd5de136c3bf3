//! The owner's number in other spellings, as a channel's program could say it: none of them orders
//! anything, and none decides.

use std::fs;
use std::path::{Path, PathBuf};

use reqwest::Method;
use serde_json::json;

use super::{Desk, OWNER, STRANGER, judged, write_program};
use crate::support::{call, in_time, text};

/// The number of `OWNER` as others write it, and a hidden name (LID) that a program did not
/// translate.
const SPELLINGS: [&str; 9] = [
    "00491701234567",
    "0049 170 1234567",
    "+49 170 1234567",
    "+49-170-1234567",
    " +491701234567",
    "491701234567",
    "491701234567@s.whatsapp.net",
    "123456789012345@lid",
    "+123456789012345",
];
/// The words that are said in each spelling.
const SAID: [&str; 4] = ["CONFIRMAR", "yes", "CANCELAR", "list the scripts"];

/// A program whose owner orders. When the question comes, every spelling says every word, as
/// somebody who writes and as our own account that writes to itself; a stranger's word is the last.
fn program(folder: &Path) -> PathBuf {
    let mut said = String::new();
    for (place, from) in SPELLINGS.iter().enumerate() {
        for (word, text) in SAID.iter().enumerate() {
            for own in [false, true] {
                let id = format!("S{place}-{word}-{own}");
                let message = json!({"kind": "message", "id": id, "from": from, "to": from, "own": own, "text": text});
                said += &format!("      echo '{message}'\n");
            }
        }
    }
    let script = format!(
        r#"#!/bin/sh
echo '{{"kind":"status","state":"online","address":"+491711111111"}}'
echo '{{"kind":"message","id":"M1","from":"{OWNER}","text":"scripts?"}}'
while read -r line; do
  printf '%s\n' "$line" >> lines
  case "$line" in
    *'"kind":"send"'*)
      id=$(printf '%s\n' "$line" | sed 's/.*"id":"\([0-9A-F]*\)".*/\1/')
      echo "{{\"kind\":\"sent\",\"id\":\"$id\"}}" ;;
  esac
  case "$line" in
    *'Answer CONFIRMAR'*)
{said}      echo '{{"kind":"message","id":"LAST","from":"{STRANGER}","text":"hello"}}' ;;
  esac
done
"#
    );
    write_program(folder, &script)
}

#[tokio::test]
async fn the_owners_number_in_another_spelling_or_as_a_lid_orders_nothing_and_decides_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = program(folder.path());
    let desk = Desk::over(&path, &[]).await;
    desk.app.script([call("list_scripts", json!({})), judged("low", "low", "systemic", false)]);
    let lines = desk.home().join("channels/whatsapp/lines");
    let told = async |words: &str| {
        while !fs::read_to_string(&lines).unwrap_or_default().contains(words) {
            desk.app.clock.advance(chrono::TimeDelta::milliseconds(1));
            tokio::task::yield_now().await;
        }
    };
    in_time("all that was said", told(r#""id":"LAST""#)).await;
    // Each word was taken from the program, and the question still waits.
    let accepted = fs::read_to_string(&lines).unwrap().matches(r#""kind":"accepted""#).count();
    assert_eq!(accepted, 2 + SPELLINGS.len() * SAID.len() * 2);
    assert_eq!((desk.states().await, desk.carried_out().await), (vec!["AWAITING_CONFIRMATION".to_owned()], 0));
    let id = desk.tasks().await[0]["approval"].clone();
    desk.app.script([text("None.")]);
    desk.done(Method::POST, &format!("/api/approvals/{id}/approve"), Some(json!({}))).await;
    in_time("the answer", told(r#""text":"None.""#)).await;
    assert_eq!((desk.states().await, desk.carried_out().await), (vec!["COMPLETED".to_owned()], 1));
    // The owner was sent the question and the answer; nobody else was sent anything.
    let sent = fs::read_to_string(&lines).unwrap();
    let sent: Vec<_> = sent.lines().filter(|line| line.contains(r#""kind":"send""#)).collect();
    let to_owner = format!(r#""to":"{OWNER}""#);
    assert!(sent.len() == 2 && sent.iter().all(|line| line.contains(&to_owner)), "{sent:#?}");
}
