//! Scripts of campaigns at their bounds: each run is asked about, none reaches the machine, and one
//! that wants too much memory ends soon, while other campaigns go on.

use std::time::{Duration, Instant};

use chrono::TimeDelta;
use reqwest::Method;
use serde_json::{Value, json};

use super::Desk;
use super::scripts::{SUM, runs};
use crate::support::{Reply, call, text};

/// The time that a script has.
const DEADLINE: Duration = Duration::from_secs(30);
/// How many scripts have run.
const RAN: &str = "SELECT count(*) FROM events WHERE kind = 'script_ran'";
/// How many approvals were used up.
const USED: &str = "SELECT count(*) FROM approvals WHERE used_at IS NOT NULL";

/// A task that a run alone does not end, so that the script may run again.
pub(super) fn stays_open() -> Value {
    json!([{"description": "Sum the ages", "requires": [
        {"kind": "script_succeeded", "artifact": "sum"},
        {"kind": "user_answered", "question": "enough"}
    ]}])
}

impl Desk {
    /// The model proposes the same run twice, word for word: each is asked about and runs once.
    /// `says`: the words of the question.
    pub(super) async fn is_asked_about_each_run(&self, proposes: fn() -> Reply, says: &str) {
        let before = (self.app.count(RAN).await, self.app.count(USED).await);
        for run in 1..=2 {
            self.app.advance(301);
            self.app.script([proposes(), call("no_op", json!({"task": 1, "why": "enough"}))]);
            self.present().await;
            let approval = self.asked().await;
            assert!(approval["shown"]["what"].to_string().contains(says), "{approval}");
            assert_eq!(self.app.count(RAN).await, before.0 + run - 1, "nothing runs before a person says so");
            self.decide(&approval, "approve").await;
            self.app.run_until_idle().await;
            assert_eq!((self.app.count(RAN).await, self.app.count(USED).await), (before.0 + run, before.1 + run));
            // The state is another, so the same may be proposed again.
            self.keep("heuristic", "seen", &format!("after run {run}")).await;
            self.app.run_until_idle().await;
        }
    }
}

#[tokio::test]
async fn campaign_script_of_the_same_version_is_asked_about_each_time_it_runs() {
    let desk = Desk::start(stays_open()).await;
    desk.keep("js_script", "sum", SUM).await;
    desk.keep("file", "people", "name,age\nAda,36\nBob,6\n").await;
    desk.is_asked_about_each_run(|| runs("sum"), "Runs the script sum version 1, sha256 ").await;
    let ran = desk.audit("script").await;
    assert!(ran.iter().all(|run| run["output"] == "42"), "{ran:?}");
    desk.check().await;
}

#[tokio::test]
async fn campaign_scripts_reach_no_program_no_file_and_no_variable_of_the_machine() {
    let desk = Desk::with_script("return 0").await;
    let until = (desk.app.now() + TimeDelta::hours(20)).to_rfc3339();
    let allow = json!({"kind": "script", "count": 10, "until": until});
    assert_eq!(desk.ask(Method::POST, "/1/contexts", Some(allow)).await.0, 200);
    let reaching = [
        ("return require('child_process').execSync('id').toString()", "not CommonJS"),
        ("return require('fs').readFileSync('/etc/passwd', 'utf8')", "not CommonJS"),
        ("return process.env.PATH", "there are no files, no environment"),
        ("return await fetch('http://127.0.0.1:80/')", "it has no network"),
    ];
    for (source, words) in reaching {
        desk.keep("js_script", "sum", source).await;
        desk.app.run_until_idle().await;
        desk.app.advance(301);
        desk.app.script([runs("sum")]);
        desk.present().await;
        desk.app.run_until_idle().await;
        let came = desk.came().await;
        assert!(came.contains("The script sum failed") && came.contains(words), "{source}: {came}");
    }
    let ran = desk.audit("script").await;
    assert_eq!((ran.len(), ran.iter().filter(|run| run["ok"] == true).count()), (reaching.len(), 0), "{ran:?}");
    assert_eq!(desk.get("/1").await["tasks"][0]["status"], "pending");
    desk.check().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn campaign_script_that_wants_400_mib_ends_in_its_time_while_another_campaign_completes() {
    let desk = Desk::with_script(
        "const all = [];\nfor (let n = 0; n < 400; n++) all.push(new Uint8Array(1 << 20).fill(n));\nreturn all.length",
    )
    .await;
    let tasks =
        json!([{"description": "Keep a note", "requires": [{"kind": "artifact_exists", "type": "heuristic", "key": "note"}]}]);
    assert_eq!(desk.ask(Method::POST, "", Some(json!({"name": "Other", "tasks": tasks}))).await.0, 200);
    desk.app.script([text("ready")]);
    assert_eq!(desk.ask(Method::POST, "/2/start", None).await.0, 200);
    let until = (desk.app.now() + TimeDelta::hours(1)).to_rfc3339();
    assert_eq!(desk.ask(Method::POST, "/2/contexts", Some(json!({"kind": "persist", "count": 1, "until": until}))).await.0, 200);
    desk.app.script([runs("sum")]);
    desk.present().await;
    let approval = desk.asked().await;
    desk.app.script([call("persist_artifact", json!({"task": 2, "type": "heuristic", "key": "note", "content": "Be brief"}))]);
    let begun = Instant::now();
    desk.decide(&approval, "approve").await;
    assert_eq!(desk.ask(Method::POST, "/2/present", None).await.0, 200);
    desk.app.run_until_idle().await;
    assert!(begun.elapsed() < DEADLINE, "{:?}", begun.elapsed());
    let (came, other) = (desk.came().await, desk.get("/2").await);
    assert!(came.contains("more than 256 MiB of memory"), "{came}");
    assert_eq!(other["campaign"]["status"], "completed", "{other}");
    let ran = desk.audit("script").await;
    assert_eq!((ran.len(), &ran[0]["ok"]), (1, &json!(false)), "{ran:?}");
    let shown = desk.get("/1").await;
    assert_eq!((&shown["tasks"][0]["status"], desk.app.count(USED).await), (&json!("pending"), 1), "{shown}");
    desk.check().await;
}
