//! The server itself: its settings, its models, and a backup made over `/api`.

use reqwest::Method;
use serde_json::{Value, json};

use crate::support::api::{ask, ask_at};
use crate::support::{Server, TestApp, text};

fn setting<'a>(answer: &'a Value, name: &str) -> &'a Value {
    answer["settings"].as_array().unwrap().iter().find(|setting| setting["name"] == name).unwrap()
}

#[tokio::test]
async fn settings_are_changed_for_the_next_start_and_the_environment_wins() {
    let app = TestApp::with(&[("APPROVAL_EXPIRY", "600"), ("GROQ_API_KEY", "canary-771")]).await;
    let put = async |body: Value| ask(&app, Method::PUT, "/api/settings", Some(body)).await;
    let (_, before) = ask(&app, Method::GET, "/api/settings", None).await;
    let expiry = setting(&before, "APPROVAL_EXPIRY");
    assert_eq!(
        (&expiry["value"], &expiry["origin"], &expiry["can_change"]),
        (&json!("600"), &json!("environment"), &json!(false))
    );
    let key = setting(&before, "GROQ_API_KEY");
    assert_eq!((&key["value"], &key["origin"]), (&Value::Null, &json!("environment")));
    assert!(!before.to_string().contains("canary-771"));

    let (status, refused) = put(json!({"APPROVAL_EXPIRY": "60"})).await;
    let told = "APPROVAL_EXPIRY is set in the environment, which wins; change it there";
    assert_eq!((status, &refused["error"]), (409, &json!(told)));
    let (status, after) = put(json!({"HEARTBEAT_INTERVAL": "60", "LEVEL3_TURN_LOG": "0"})).await;
    assert_eq!(status, 200, "{after}");
    let heartbeat = setting(&after, "HEARTBEAT_INTERVAL");
    assert_eq!((&heartbeat["value"], &heartbeat["waits"], &heartbeat["next"]), (&Value::Null, &json!(true), &json!("60")));
    assert!(after["said"].as_str().unwrap().contains("next start"));
    // Both or none.
    assert_eq!(put(json!({"HEARTBEAT_INTERVAL": "90", "MAX_TOOL_ITERATIONS": "none"})).await.0, 400);
    let (_, still) = put(json!({"LEVEL3_TURN_LOG": null})).await;
    assert_eq!(setting(&still, "HEARTBEAT_INTERVAL")["next"], "60");
    assert_eq!(setting(&still, "LEVEL3_TURN_LOG")["waits"], false);
    // A time by which a clock would overflow.
    let (status, refused) = put(json!({"LEVEL3_MCP_SECONDS": "99999999999999"})).await;
    let told =
        "LEVEL3_MCP_SECONDS is `99999999999999`: expected a whole number of seconds from 1 to 315360000, which is ten years";
    assert_eq!((status, &refused["error"]), (400, &json!(told)));
    // A switch is no path.
    let (status, refused) = put(json!({"LEVEL3_TURN_LOG": "/var/log/level3.log"})).await;
    let says = "`/var/log/level3.log` cannot be used here: expected 1 for on, or 0 for off.";
    assert_eq!((status, &refused["at"]), (400, &json!({"field": "LEVEL3_TURN_LOG", "says": says})));
}

#[tokio::test]
async fn the_model_is_named_and_tried() {
    let app = TestApp::start().await;
    let (status, found) = ask(&app, Method::GET, "/api/models", None).await;
    assert_eq!((status, &found["current"]["name"]), (200, &json!("scripted")), "{found}");
    assert!(found["providers"].as_array().unwrap().iter().any(|provider| provider["provider"] == "groq"), "{found}");
    app.script([text("ready")]);
    let (_, tried) = ask(&app, Method::POST, "/api/models/test", None).await;
    assert_eq!((&tried["ok"], &tried["model"], &tried["said"]), (&json!(true), &json!("script/scripted"), &json!("It answers.")));
    assert_eq!(app.count("SELECT count(*) FROM turns").await, 0, "it belongs to no turn");
    // A provider without its key is not asked, and the answer says which variable is missing.
    let (status, tried) = ask(&app, Method::POST, "/api/models/test", Some(json!({"model": "groq/some"}))).await;
    assert_eq!((status, &tried["ok"]), (200, &json!(false)), "{tried}");
    assert!(tried["said"].as_str().unwrap().contains("GROQ_API_KEY"), "{tried}");
    let tour = TestApp::tour().await;
    assert_eq!(ask(&tour, Method::POST, "/api/models/test", None).await.0, 409);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_backup_is_made_while_the_server_runs_and_its_settings_hold_after_a_start() {
    let place = tempfile::tempdir().unwrap();
    let data = place.path().join("data");
    let server = Server::start(&data, &[]).await;
    let url = |path: &str| format!("http://{}/api/{path}", server.address);
    let (status, made) = ask_at(&url("backup"), Method::POST, Some(json!({}))).await;
    assert_eq!(status, 201, "{made}");
    let file = std::path::Path::new(made["file"].as_str().unwrap());
    assert!(file.is_file() && file.parent().unwrap().ends_with("backups"), "{made}");
    assert!(made["said"].as_str().unwrap().contains("Secrets in it are sealed"), "{made}");
    let (status, _) = ask_at(&url("settings"), Method::PUT, Some(json!({"HEARTBEAT_INTERVAL": "77"}))).await;
    assert_eq!(status, 200);
    server.terminate().await;
    let server = Server::start(&data, &[]).await;
    let (_, told) = ask_at(&format!("http://{}/api/settings", server.address), Method::GET, None).await;
    let heartbeat = setting(&told, "HEARTBEAT_INTERVAL");
    assert_eq!((&heartbeat["value"], &heartbeat["origin"]), (&json!("77"), &json!("page")));
}
