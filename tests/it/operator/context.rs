//! The global context: its version, its size, and who may fill it.

use reqwest::Method;
use serde_json::json;

use super::Desk;
use crate::support::api::{ask, client};
use crate::support::{call, text};

#[tokio::test]
async fn an_older_version_is_refused_and_shown_the_new() {
    let desk = Desk::start().await;
    let put = |version: i32, text: String| json!({"version": version, "document": {"a": text}});
    let written = desk.done(Method::PUT, "/api/operator/context", Some(put(0, "one".into()))).await;
    assert_eq!((&written["version"], &written["bytes"]), (&json!(1), &json!(11)));
    let (status, told) = ask(&desk.app, Method::PUT, "/api/operator/context", Some(put(0, "two".into()))).await;
    assert_eq!((status, told["error"].as_str().unwrap().contains("\"one\"")), (409, true), "{told}");
    let (status, told) = ask(&desk.app, Method::PUT, "/api/operator/context", Some(put(1, "x".repeat(8 << 10)))).await;
    assert_eq!((status, told["error"].as_str().unwrap().contains("8200 bytes")), (400, true), "{told}");
    let (status, _) = ask(&desk.app, Method::PUT, "/api/operator/context", Some(json!({"version": 1, "document": []}))).await;
    assert_eq!(status, 400);
    // The operator's own turn meets the same.
    let stale = json!({"version": 0, "document": {"a": "three"}});
    desk.app.script([call("update_global_context", stale), super::harmless(), text("It was changed.")]);
    desk.order("remember three").await;
    desk.heard(1).await;
    let lines = desk.log(1, "task_completed").await;
    let failed = lines.iter().find(|line| line["event"] == "execution_error").unwrap()["result"].as_str().unwrap().to_owned();
    assert!(failed.contains("version 1") && failed.contains("one"), "{failed}");
}

#[tokio::test]
async fn no_other_profile_has_the_tools_of_the_operator() {
    let desk = Desk::start().await;
    let write = call("update_global_context", json!({"version": 0, "document": {"a": 1}}));
    desk.app.script([write, text("I cannot.")]);
    desk.app.connect().await.ask("remember this").await;
    let kept = desk.done(Method::GET, "/api/operator/context", None).await;
    assert_eq!(kept["version"], 0);
}

#[tokio::test]
async fn a_secret_that_is_a_number_is_hidden_before_the_document_is_kept() {
    let desk = Desk::start().await;
    desk.done(Method::PUT, "/api/secrets/PIN", Some(json!({"value": "1234567890"}))).await;
    let document = json!({"pin": 1_234_567_890, "said": ["it is 1234567890", 7]});
    desk.done(Method::PUT, "/api/operator/context", Some(json!({"version": 0, "document": document}))).await;
    let kept = desk.app.store().operator_context().await.unwrap().document;
    assert_eq!(kept, json!({"pin": "[secret PIN]", "said": ["it is [secret PIN]", 7]}));
}

#[tokio::test]
async fn a_document_is_refused_if_it_would_be_kept_as_another_one() {
    let desk = Desk::start().await;
    for (document, said) in [
        (r#"{"a": 1, "b": {"c": 1, "c": 2}}"#, "the field `c` stands twice"),
        (r#"{"account": 12345678901234567890123}"#, "the number 12345678901234567890123 has more digits"),
    ] {
        let body = format!(r#"{{"version": 0, "document": {document}}}"#);
        let request = client().put(format!("http://{}/api/operator/context", desk.app.address()));
        let answer = request.header("content-type", "application/json").body(body).send().await.unwrap();
        assert_eq!(answer.status(), 400);
        let refused = answer.text().await.unwrap();
        assert!(refused.contains(said), "{refused}");
    }
    assert_eq!(desk.app.store().operator_context().await.unwrap().version, 0);
}
