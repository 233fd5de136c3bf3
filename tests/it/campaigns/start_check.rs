//! The check before a start tells of all that is missing, each with the step that puts it right.

use reqwest::Method;
use serde_json::{Value, json};
use sqlx::Executor;

use super::{Desk, two_tasks};
use crate::support::{TestApp, api, text};

/// A campaign of these tasks that nobody has started, with this environment.
async fn made(tasks: Value, environment: Value) -> Desk {
    let desk = Desk { app: TestApp::start().await };
    assert_eq!(desk.ask(Method::POST, "", Some(json!({"name": "Outreach", "tasks": tasks}))).await.0, 200);
    desk.keep("environment", "environment", &environment.to_string()).await;
    desk
}

/// It does not start; gives the reasons. A model would answer: it is none of them.
async fn refused(desk: &Desk) -> String {
    desk.app.script([text("ready")]);
    let (status, refused) = desk.ask(Method::POST, "/1/start", None).await;
    assert_eq!(status, 409, "{refused}");
    assert_eq!(desk.get("/1").await["campaign"]["status"], "initializing", "it can be started later");
    refused["error"].as_str().unwrap().to_owned()
}

/// It starts.
async fn starts(desk: &Desk) {
    desk.app.script([text("ready")]);
    let (status, started) = desk.ask(Method::POST, "/1/start", None).await;
    assert_eq!((status, &started["status"]), (200, &json!("active")), "{started}");
    desk.check().await;
}

async fn set_secret(desk: &Desk, name: &str) {
    let value = json!({"value": "a-value-of-a-test-1234"});
    let (status, told) = api::ask(&desk.app, Method::PUT, &format!("/api/secrets/{name}"), Some(value)).await;
    assert!((200..300).contains(&status), "{status}: {told}");
}

#[tokio::test]
async fn campaign_start_without_a_secret_that_it_names_says_how_to_set_it() {
    let desk = made(two_tasks(), json!({"secrets": ["NOPE"]})).await;
    let told = refused(&desk).await;
    assert_eq!(told, "campaign 1 cannot start yet:\n- the secret NOPE is not there; set it: level3 secret set NOPE");
    set_secret(&desk, "NOPE").await;
    starts(&desk).await;
}

#[tokio::test]
async fn campaign_start_with_a_secret_that_cannot_be_opened_says_so_and_how_to_set_it_anew() {
    let desk = made(two_tasks(), json!({"secrets": ["TOKEN"]})).await;
    set_secret(&desk, "TOKEN").await;
    let damage = "UPDATE secrets SET sealed = set_byte(sealed, length(sealed) - 1, 255 - get_byte(sealed, length(sealed) - 1))";
    desk.app.behind().await.execute(damage).await.unwrap();
    let told = refused(&desk).await;
    assert!(told.starts_with("campaign 1 cannot start yet:\n- the secret TOKEN cannot be read: "), "{told}");
    assert!(told.ends_with("put that right, or set it anew: level3 secret set TOKEN"), "{told}");
    assert!(!told.contains("a-value-of-a-test"), "{told}");
    set_secret(&desk, "TOKEN").await;
    starts(&desk).await;
}

#[tokio::test]
async fn campaign_start_without_a_browser_that_a_task_needs_says_how_to_set_one() {
    let reads = json!([{"description": "Read", "requires": [{"kind": "page_read", "host": "example.com", "contains": "x"}]}]);
    let desk = made(reads, json!({"hosts": ["example.com"]})).await;
    let told = refused(&desk).await;
    let why = "campaign 1 cannot start yet:\n- no browser is set; set LEVEL3_BROWSER=http://127.0.0.1:9222 and start Chrome: ";
    assert!(told.starts_with(why), "{told}");
    let block = json!({"deed": "block", "reason": "No browser is here."});
    assert_eq!(desk.ask(Method::POST, "/1/tasks/1", Some(block)).await.0, 200);
    // A task that a person has set aside needs none.
    starts(&desk).await;
}
