//! The files of a campaign: they come back for everybody who looks, and they are never a reason not
//! to show it.

use std::fs;
use std::path::Path;

use serde_json::json;

use super::Desk;

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
