//! The files of a campaign: they come back for everybody who looks, and they are never a reason not
//! to show it.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::path::Path;

use reqwest::Method;
use serde_json::json;

use super::Desk;
use crate::support::in_time;

/// Takes the folder away, also from under one who still writes into it after the campaign was made.
fn remove(folder: &Path) {
    while folder.exists() {
        let _ = fs::remove_dir_all(folder);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn many_who_look_at_once_see_the_campaign_and_its_files_come_back() {
    let desk = Desk::start(json!([{"description": "Keep a note"}])).await;
    let folder = desk.app.data().join("campaigns/1");
    for _ in 0..20 {
        remove(&folder);
        let looks = futures::future::join_all((0..16).map(|_| desk.get("/1"))).await;
        assert!(looks.iter().all(|look| look["campaign"]["id"] == 1), "{looks:?}");
        let mut names: Vec<_> = fs::read_dir(&folder).unwrap().map(|file| file.unwrap().file_name()).collect();
        names.sort();
        assert_eq!(names, ["context.md", "environment.md", "tasks.md"], "and nothing beside them");
    }
    desk.check().await;
}

#[tokio::test]
async fn a_folder_that_takes_no_files_hides_no_campaign() {
    let desk = Desk::start(json!([{"description": "Keep a note"}])).await;
    let folder = desk.app.data().join("campaigns/1");
    remove(&folder);
    while fs::write(&folder, "in the way").is_err() {
        remove(&folder);
    }
    assert_eq!(desk.get("/1").await["campaign"]["id"], 1);
    fs::remove_file(&folder).unwrap();
    desk.get("/1").await;
    assert!(folder.join("tasks.md").exists());
    desk.check().await;
}

/// The files of a folder, each with its bytes.
fn bytes(folder: &Path) -> BTreeMap<OsString, Vec<u8>> {
    let files = fs::read_dir(folder).unwrap().map(Result::unwrap);
    files.map(|file| (file.file_name(), fs::read(file.path()).unwrap_or_default())).collect()
}

/// Waits until a file fits. Nobody looks at the campaign meanwhile.
async fn until_file(file: &Path, fits: impl Fn(&str) -> bool) {
    let written = async {
        while !fs::read_to_string(file).is_ok_and(|text| fits(&text)) {
            tokio::task::yield_now().await;
        }
    };
    in_time("the writing of a file of a campaign", written).await;
}

#[tokio::test]
async fn campaign_files_have_the_same_bytes_again_after_junk_a_look_and_a_restart() {
    let mut desk = Desk::start(json!([{"description": "Keep a note"}])).await;
    desk.keep("context", "campaign_context", "Sell").await;
    let folder = desk.app.data().join("campaigns/1");
    until_file(&folder.join("context.md"), |text| text.contains("Sell")).await;
    until_file(&folder.join("tasks.md"), |text| text.contains("(active)")).await;
    desk.get("/1").await;
    let before = bytes(&folder);
    assert_eq!(before.len(), 3, "{before:?}");
    let spoil = || {
        for name in before.keys() {
            fs::write(folder.join(name), "junk").unwrap();
        }
    };
    spoil();
    desk.get("/1").await;
    assert_eq!(bytes(&folder), before, "a look writes them anew");

    desk.app.stop().await;
    spoil();
    desk.app.start_again().await;
    for name in before.keys() {
        until_file(&folder.join(name), |text| text.as_bytes() == before[name]).await;
    }
    assert_eq!(desk.get("/1").await["campaign"]["status"], "active");
    assert_eq!(bytes(&folder), before, "nothing stands beside them");
    desk.check().await;
}

#[tokio::test]
async fn campaign_files_follow_a_task_and_an_artifact_without_a_look() {
    let desk = Desk::start(json!([{"description": "Keep a note"}])).await;
    let folder = desk.app.data().join("campaigns/1");
    let add = json!({"description": "Water the plants"});
    assert_eq!(desk.ask(Method::POST, "/1/tasks", Some(add)).await.0, 200);
    until_file(&folder.join("tasks.md"), |text| text.contains("- [ ] 2: Water the plants (pending)\n")).await;
    desk.keep("context", "campaign_context", "Sell plants").await;
    let context = "## campaign_context (version 1, by user)\n\nSell plants\n";
    until_file(&folder.join("context.md"), |text| text.contains(context)).await;
    desk.keep("environment", "environment", r#"{"hosts": ["example.com"]}"#).await;
    until_file(&folder.join("environment.md"), |text| text.contains("## Hosts\n\n- example.com\n")).await;
    desk.check().await;
}
