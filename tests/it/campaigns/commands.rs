//! `level3 campaign`: each of its commands, what it prints, and how it refuses.

use std::process::Stdio;

use chrono::TimeDelta;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, BufReader};

use super::{Desk, two_tasks};
use crate::support::api::{Ran, level3};
use crate::support::{TestApp, call, in_time, text};

/// Runs `level3 campaign` with these arguments.
async fn campaign(app: &TestApp, arguments: &[&str]) -> Ran {
    level3(app, &[&["campaign"][..], arguments].concat()).await
}

/// The printed text of a command that was done.
async fn done(app: &TestApp, arguments: &[&str]) -> String {
    let ran = campaign(app, arguments).await;
    assert_eq!(ran.code, 0, "{arguments:?}: {ran:?}");
    ran.out
}

/// A command that ends with this code and these words, and prints nothing else.
async fn refused(app: &TestApp, arguments: &[&str], code: i32, said: &str) {
    let ran = campaign(app, arguments).await;
    assert_eq!((ran.code, ran.out.as_str()), (code, ""), "{arguments:?}: {ran:?}");
    assert!(ran.err.contains(said), "{said}: {ran:?}");
}

/// The JSON that a command prints.
async fn printed(app: &TestApp, arguments: &[&str]) -> Value {
    serde_json::from_str(&done(app, arguments).await).unwrap()
}

/// Files to give to commands.
struct Files(tempfile::TempDir);

impl Files {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    /// Writes one; gives its path.
    fn file(&self, name: &str, content: &str) -> String {
        let path = self.0.path().join(name);
        std::fs::write(&path, content).unwrap();
        path.to_str().unwrap().to_owned()
    }
}

#[tokio::test]
async fn campaign_commands_make_list_show_steer_and_copy() {
    let (app, files) = (TestApp::start().await, Files::new());
    assert_eq!(done(&app, &["list"]).await, "There is no campaign yet: level3 campaign create NAME\n");
    let tasks = files.file("tasks.json", &json!({"tasks": two_tasks()}).to_string());
    let made = done(&app, &["create", "Outreach", "--tasks", &tasks]).await;
    assert_eq!(made, "Campaign 1 is made. Start it: level3 campaign start 1\n");
    refused(&app, &["create", "x", "--tasks", &files.file("cut.json", "{")], 2, "cut.json is no JSON").await;
    let luck = files.file("luck.json", r#"[{"description": "d", "requires": [{"kind": "luck"}]}]"#);
    let marked = files.file("marked.json", "\u{feff}[{\"description\": \"d\", \"requires\": [{\"kind\": \"luck\"}]}]");
    for file in [&luck, &marked] {
        refused(&app, &["create", "x", "--tasks", file], 1, "tasks[0].requires[0]: `luck` is not known").await;
    }
    let list = done(&app, &["list"]).await;
    assert!(list.contains("Outreach") && list.contains("initializing") && list.lines().count() == 2, "{list}");

    let shown = done(&app, &["show", "1"]).await;
    let head = "Campaign 1: Outreach (initializing), 0 cycles\nNobody is there.\n";
    for part in [head, "Keep a note", "the heuristic note is kept"] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    let file = app.data().join("campaigns/1/tasks.md");
    while file.exists() {
        std::fs::remove_file(&file).unwrap();
    }
    assert_eq!(done(&app, &["open", "1"]).await, shown);
    assert!(file.exists(), "its files are written anew");

    refused(&app, &["pause", "1"], 1, "campaign 1 is initializing").await;
    app.script([text("ready")]);
    let works = "Campaign 1 is active. It works while somebody is there: level3 campaign run 1\n";
    assert_eq!(done(&app, &["start", "1"]).await, works);
    assert_eq!(done(&app, &["pause", "1"]).await, "Campaign 1 is paused.\n");
    assert_eq!(done(&app, &["resume", "1"]).await, works);
    assert_eq!(done(&app, &["copy", "1"]).await, "Campaign 2 is a copy, and not started.\n");
    let copy = printed(&app, &["--json", "show", "2"]).await;
    assert_eq!(
        (&copy["campaign"]["copy_of"], &copy["campaign"]["status"], copy["tasks"].as_array().map(Vec::len)),
        (&json!(1), &json!("initializing"), Some(2)),
        "{copy}"
    );
    refused(&app, &["show", "9"], 1, "there is no campaign 9").await;
}

#[tokio::test]
async fn campaign_open_writes_each_file_that_can_be_written_and_names_the_one_that_cannot() {
    let desk = Desk::start(two_tasks()).await;
    let folder = desk.app.data().join("campaigns/1");
    let (stuck, tasks) = (folder.join("environment.md"), folder.join("tasks.md"));
    // The server may write it a moment after the campaign was made.
    while std::fs::create_dir(&stuck).is_err() {
        let _ = std::fs::remove_file(&stuck);
    }
    std::fs::write(&tasks, "junk").unwrap();
    let ran = campaign(&desk.app, &["open", "1"]).await;
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(ran.err.contains(&format!("{}: Is a directory", stuck.display())) && !ran.err.contains("tasks.md"), "{ran:?}");
    assert!(ran.out.contains("Keep a note"), "it is shown all the same: {ran:?}");
    assert!(std::fs::read_to_string(&tasks).unwrap().contains("# Tasks of"));
    std::fs::remove_dir(&stuck).unwrap();
    done(&desk.app, &["open", "1"]).await;
    assert!(stuck.is_file());
    desk.check().await;
}

#[tokio::test]
async fn campaign_tasks_of_the_command_line_have_preconditions_required_effects_and_needs() {
    let (desk, files) = (Desk::start(two_tasks()).await, Files::new());
    let app = &desk.app;
    let preconditions = json!([{"kind": "task_done", "task": 2}]);
    let requires = json!([{"kind": "user_answered", "question": "sent"}]);
    let needs = json!([{"type": "message", "key": "hello"}]);
    let [first, wanted, shown] = [&preconditions, &requires, &needs].map(Value::to_string);
    let add = ["task", "1", "add", "Send it", "--preconditions", &first, "--requires", &wanted, "--needs", &shown];
    assert_eq!(done(app, &add).await, "Task 3 is made.\n");
    let task = json!({"description": "Look again", "preconditions": preconditions, "needs": needs});
    assert_eq!(
        done(app, &["task", "1", "add", "--from", &files.file("task.json", &task.to_string())]).await,
        "Task 4 is made.\n"
    );
    assert_eq!(done(app, &["task", "1", "add", "Ask", &wanted]).await, "Task 5 is made.\n", "the effects may follow the words");
    let tasks = desk.get("/1").await["tasks"].clone();
    let none = json!([]);
    for (at, description, expected) in [
        (2_usize, "Send it", [&preconditions, &requires, &needs]),
        (3, "Look again", [&preconditions, &none, &needs]),
        (4, "Ask", [&none, &requires, &none]),
    ] {
        let metadata = &tasks[at]["metadata"];
        assert_eq!(tasks[at]["description"], description, "{tasks}");
        assert_eq!([&metadata["preconditions"], &metadata["requires"], &metadata["needs"]], expected, "{tasks}");
    }

    let odd = files.file("odd.json", r#"{"tasks": []}"#);
    for (given, code, said) in [
        (vec!["--preconditions", "["], 2, "--preconditions: EOF while parsing"),
        (vec!["--requires", "{}"], 2, "expected a list in JSON like [{\"kind\""),
        (vec!["--needs", "null"], 2, "expected a list in JSON like [{\"type\""),
        (vec![wanted.as_str(), "--requires", wanted.as_str()], 2, "cannot be used with"),
        (vec!["--from", odd.as_str()], 2, "cannot be used with"),
        (vec!["--preconditions", r#"[{"kind": "luck"}]"#], 1, "preconditions[0]: `luck` is not known"),
        (
            vec!["--requires", r#"[{"kind": "artifact_exists", "type": "message", "key": "A B"}]"#],
            1,
            "requires[0].key: `A B` is no key",
        ),
        (vec!["--needs", r#"[{"key": "hello"}]"#], 1, "needs[0]: missing field `type`; expected like"),
        (vec!["--needs", r#"[{"type": "message"}, {"type": "context", "key": "A B"}]"#], 1, "needs[1].key: `A B` is no key"),
    ] {
        refused(app, &[&["task", "1", "add", "No"][..], &given[..]].concat(), code, said).await;
    }
    refused(app, &["task", "1", "add", "--from", &odd], 2, "unknown field `tasks`, expected one of `description`").await;
    refused(app, &["task", "1", "add", "--from", "nowhere.json"], 2, "nowhere.json cannot be read").await;
    refused(app, &["task", "1", "finish", "4", "--needs", &shown], 2, "are for `add`").await;
    refused(app, &["task", "1", "finish", "abc"], 2, "abc is no number of a task").await;
    refused(app, &["task", "1", "skip", "4"], 1, "`skip` is none of").await;
    assert_eq!(desk.get("/1").await["tasks"].as_array().map(Vec::len), Some(5), "what was refused made nothing");

    refused(app, &["task", "1", "block", "3"], 1, "reason: is empty").await;
    let blocked = done(app, &["task", "1", "block", "3", "Not before Friday."]).await;
    assert_eq!(blocked, "Task 3 is blocked, by a person.\n");
    assert_eq!(done(app, &["task", "1", "unblock", "3"]).await, "Task 3 is taken up again.\n");
    refused(app, &["task", "1", "finish", "3"], 1, "has required effects").await;
    refused(app, &["task", "1", "finish", "4"], 1, "task 4 cannot be finished yet: it begins when task 2 is done").await;
    assert_eq!(done(app, &["task", "1", "add", "Rest"]).await, "Task 6 is made.\n");
    assert_eq!(done(app, &["task", "1", "finish", "6"]).await, "Task 6 is done, by a person.\n");
    desk.check().await;
}

#[tokio::test]
async fn campaign_leads_artifacts_contexts_logs_and_exports_of_the_command_line() {
    let (desk, files) = (Desk::start(two_tasks()).await, Files::new());
    let app = &desk.app;
    assert_eq!(done(app, &["lead", "1"]).await, "There are no leads; import some with --import FILE.\n");
    let people = files.file("people.csv", "full_name,profile_url\nAda,https://x.example/a\nBob,https://x.example/b\n");
    assert_eq!(done(app, &["lead", "1", "--import", &people]).await, "2 leads are new, 0 were changed.\n");
    let bad = files.file("bad.csv", "full_name,profile_url\n,https://x.example/c\n");
    refused(app, &["lead", "1", "--import", &bad], 1, "nothing was imported. line 2").await;
    assert_eq!(done(app, &["lead", "1", "--set", "1=qualified"]).await, "Lead 1 is qualified.\n");
    refused(app, &["lead", "1", "--set", "1"], 2, "expected LEAD=STATUS").await;
    refused(app, &["lead", "1", "--set", "Ada=won"], 2, "Ada is no number of a lead").await;
    refused(app, &["lead", "1", "--set", "9=won"], 1, "campaign 1 has no lead 9").await;
    refused(app, &["lead", "1", "--set", "2=won", "--import", &people], 2, "cannot be used with").await;
    let leads = done(app, &["lead", "1"]).await;
    assert!(leads.contains("Ada") && leads.contains("qualified") && leads.lines().count() == 3, "{leads}");

    let about = files.file("about.md", "Sell the house");
    let kept = done(app, &["artifact", "1", "context", "campaign_context", &about]).await;
    assert_eq!(kept, "The context campaign_context is kept as version 1.\n");
    let about = files.file("about.md", "Sell the flat \u{200c}\u{202e}");
    let kept = done(app, &["artifact", "1", "context", "campaign_context", &about]).await;
    assert_eq!(kept, "The context campaign_context is kept as version 2.\n");
    let versions = printed(app, &["artifact", "1", "context", "campaign_context"]).await;
    assert_eq!(versions["versions"][1]["content"], "Sell the flat \u{200c}\u{202e}", "{versions}");
    refused(app, &["artifact", "1", "context", "other"], 1, "campaign 1 has no context other").await;
    for key in ["A B", ".", ".."] {
        refused(app, &["artifact", "1", "context", key, &about], 1, &format!("key: `{key}` is no key")).await;
    }
    refused(app, &["artifact", "1", "poem", "ode", &about], 1, "`poem` is none of").await;

    let until = (app.now() + TimeDelta::hours(1)).to_rfc3339();
    let allowed = done(app, &["context", "1", "persist", "--count", "2", "--until", &until, "--type", "message"]).await;
    assert!(allowed.ends_with("the next 2 of `persist` of type `message` are not asked about.\n"), "{allowed}");
    let context = desk.get("/1").await["contexts"][0].clone();
    assert_eq!((&context["artifact_type"], &context["uses_left"]), (&json!("message"), &json!(2)), "{context}");
    refused(app, &["context", "1", "persist", "--count", "51", "--until", &until], 1, "1 to 50 can be allowed at once").await;
    refused(app, &["context", "1", "persist"], 2, "--until").await;
    let typed = ["context", "1", "interact", "--until", &until, "--type", "message"];
    refused(app, &typed, 1, "`persist` alone has one, and `interact` has none").await;
    let never = ["context", "1", "persist", "--until", &until, "--type", "environment"];
    refused(app, &never, 1, "type: no proposal keeps an `environment`").await;
    let number = context["id"].to_string();
    for both in [&["interact"][..], &["--count", "3"], &["--until", &until], &["--type", "message"]] {
        refused(app, &[&["context", "1", "--revoke", &number][..], both].concat(), 2, "cannot be used with").await;
    }
    assert_eq!(desk.get("/1").await["contexts"][0]["void"], false, "one of the two is not done without the other");
    let revoked = done(app, &["context", "1", "--revoke", &number]).await;
    assert!(revoked.ends_with("holds no more.\n"), "{revoked}");
    refused(app, &["context", "1", "--revoke", "99"], 1, "has no approval context 99").await;

    let events = printed(app, &["log", "1", "events"]).await;
    let kinds: Vec<_> = events.as_array().unwrap().iter().map(|line| line["kind"].as_str().unwrap()).collect();
    assert!(kinds.len() > 5, "{events}");
    let some = printed(app, &["log", "1", "events", "--kind", kinds[0]]).await;
    assert_eq!(some.as_array().map(Vec::len), Some(kinds.iter().filter(|kind| **kind == kinds[0]).count()), "{some}");
    assert_eq!(printed(app, &["log", "1"]).await, json!([]), "no cycle has begun");
    refused(app, &["log", "1", "chat"], 1, "`log` is `chat`; it is audit or events").await;

    let export = done(app, &["export", "1"]).await;
    assert_eq!(done(app, &["export", "1", "--from-events"]).await, export);
    let export: Value = serde_json::from_str(&export).unwrap();
    assert_eq!((&export["state"]["campaign"]["id"], export["state_sha256"].is_string()), (&json!(1), true), "{export}");
    desk.check().await;
}

#[tokio::test]
async fn campaign_run_of_the_command_line_is_there_until_the_end_and_the_rest_looks_back_on_it() {
    let asks = json!([{"description": "Ask", "requires": [{"kind": "user_answered", "question": "tone"}]}]);
    let desk = Desk::start(asks).await;
    let (app, place) = (&desk.app, Files::new());
    app.script([call("request_user_input", json!({"task": 1, "question": "tone", "text": "Formal?"}))]);
    let mut run = tokio::process::Command::new(env!("CARGO_BIN_EXE_level3"));
    run.args(["campaign", "run", "1"]).env_clear().env("LEVEL3_LISTEN", app.address().to_string()).current_dir(place.0.path());
    run.stdin(Stdio::null()).stdout(Stdio::piped()).kill_on_drop(true);
    let mut terminal = run.spawn().unwrap();
    let mut lines = BufReader::new(terminal.stdout.take().unwrap()).lines();
    for beginning in ["You are there; end with Ctrl-C.", "active, "] {
        let line = in_time("a line of the terminal", lines.next_line()).await.unwrap().unwrap();
        assert!(line.starts_with(beginning), "{line}");
    }
    // The start asked whether the model answers.
    in_time("the cycle", app.script.asked(2)).await;
    app.run_until_idle().await;
    assert_eq!(desk.get("/1").await["watched"], true);
    terminal.kill().await.unwrap();
    app.advance(41);
    assert_eq!(desk.get("/1").await["watched"], false, "a terminal that is closed says no more that somebody is there");

    refused(app, &["answer", "1", "1", "colour", "Red"], 1, "task 1 has no question colour").await;
    let answered = done(app, &["answer", "1", "1", "tone", "Formal"]).await;
    assert_eq!(answered, "Question tone of task 1 is answered.\n");
    let ended = done(app, &["run", "1"]).await;
    assert!(ended.contains("\ncompleted, 1 cycles"), "{ended}");
    for _ in 0..2 {
        let verified = done(app, &["verify", "1"]).await;
        assert_eq!(verified, "1 model requests were made again from the events before each.\n");
        let forgot = done(app, &["forget-chat", "1"]).await;
        assert!(forgot.ends_with(" messages are forgotten.\n"), "{forgot}");
    }
    let audit = printed(app, &["log", "1", "--kind", "request_user_input"]).await;
    assert_eq!(audit[0]["payload"]["outcome"], "done", "{audit}");
    desk.check().await;
}

#[tokio::test]
async fn campaign_goes_on_while_one_of_two_who_watch_over_it_is_left() {
    let desk = Desk::start(two_tasks()).await;
    desk.app.script([call("persist_artifact", super::note())]);
    let mut pages = [desk.app.connect().await, desk.app.connect().await];
    for page in &mut pages {
        page.send(json!({"type": "present", "campaign": 1})).await;
        // The answer to a sign for no campaign says that the one before it was heard.
        page.send(json!({"type": "present", "campaign": 7})).await;
        page.until(|frame| frame["type"] == "error").await;
    }
    let approval = desk.asked().await;
    let [first, mut second] = pages;
    drop(first);
    desk.app.advance(30);
    second.send(json!({"type": "present", "campaign": 1})).await;
    second.send(json!({"type": "present", "campaign": 7})).await;
    second.until(|frame| frame["type"] == "error").await;
    // The sign of the first page is a minute old now, and that of the second half a minute.
    desk.app.advance(30);
    desk.app.script([call("request_user_input", json!({"task": 2, "question": "tone", "text": "Formal?"}))]);
    desk.decide(&approval, "approve").await;
    desk.app.run_until_idle().await;
    let shown = desk.get("/1").await;
    assert_eq!(
        (&shown["watched"], &shown["tasks"][0]["status"], &shown["tasks"][1]["metadata"]["questions"][0]["question"]),
        (&json!(true), &json!("done"), &json!("tone")),
        "{shown}"
    );
    // A terminal comes, and the other page goes.
    desk.present().await;
    drop(second);
    desk.app.advance(39);
    assert_eq!(desk.get("/1").await["watched"], true);
    desk.app.advance(1);
    assert_eq!(desk.get("/1").await["watched"], false, "nobody is left");
    desk.check().await;
}
