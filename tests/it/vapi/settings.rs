//! The settings of Vapi: without them it is off, the page's policy depends on them, and the doctor
//! examines them.

use reqwest::Method;
use serde_json::{Value, json};

use super::Vapi;
use crate::support::{Peer, TestApp, api};

#[tokio::test]
async fn without_its_settings_vapi_is_off_and_says_what_is_missing() {
    for (settings, missing) in [
        (&[][..], "VOICE_VAPI_KEY and VOICE_PUBLIC_URL"),
        (&[("VOICE_VAPI_KEY", "VAPI")], "VOICE_PUBLIC_URL"),
        (&[("VOICE_PUBLIC_URL", "https://law.example.test")], "VOICE_VAPI_KEY"),
    ] {
        let app = TestApp::with(settings).await;
        let (status, told) = api::ask(&app, Method::POST, "/api/voice/calls", Some(json!({"adapter": "vapi"}))).await;
        assert_eq!((status, &told["error"]), (409, &json!(format!("Vapi is not set up here: set {missing} (docs/voice.md)"))));
        assert_eq!(app.count("SELECT count(*) FROM voice_calls").await, 0);
        let door = format!("http://{}/voice/vapi/1/chat/completions", app.address());
        assert_eq!(api::client().post(door).bearer_auth("x").body("{}").send().await.unwrap().status(), 401);
    }
}

#[tokio::test]
async fn daily_is_let_in_on_the_pages_document_alone_and_only_if_vapi_can_be_called() {
    let policy = async |app: &TestApp, path: &str| {
        let answer = api::client().get(format!("http://{}{path}", app.address())).send().await.unwrap();
        answer.headers()["content-security-policy"].to_str().unwrap().to_owned()
    };
    let vapi = Vapi::with(&[]).await;
    let page = policy(&vapi.app, "/").await;
    for part in [
        "script-src 'self' https://c.daily.co;",
        "connect-src 'self' https://*.daily.co wss://*.daily.co https://*.pluot.blue;",
        "worker-src 'self' blob:;",
        "frame-ancestors 'none'",
    ] {
        assert!(page.contains(part), "{part}: {page}");
    }
    assert!(!page.contains("unsafe") && !page.contains("sentry"), "{page}");
    let plain = TestApp::start().await;
    let usual = policy(&plain, "/").await;
    assert!(!usual.contains("daily"), "{usual}");
    for path in ["/loopback", "/api/voice", "/nothing"] {
        assert_eq!(policy(&vapi.app, path).await, usual, "{path}");
    }
    assert_eq!(api::ask(&vapi.app, Method::GET, "/api/assistant", None).await.1["hears"], true);
    assert_eq!(api::ask(&plain, Method::GET, "/api/assistant", None).await.1["hears"], false);
}

#[tokio::test]
async fn the_doctor_says_what_is_missing_and_asks_the_name_from_outside() {
    let examine = async |settings: &[(&str, &str)]| {
        let ran = api::level3_with(settings, &["doctor", "--json"], "").await;
        let report: Value = serde_json::from_str(&ran.out).unwrap();
        let checks = report["server"].as_array().unwrap().clone();
        let of = |what: &str| checks.iter().find(|check| check["what"] == what).cloned().unwrap_or_default();
        [of("vapi"), of("public name"), of("clock")]
    };
    let [missing, ..] = examine(&[("VOICE_VAPI_KEY", "VAPI")]).await;
    assert_eq!(
        (&missing["state"], &missing["said"]),
        (&json!("failed"), &json!("calls by Vapi are off: set VOICE_PUBLIC_URL (docs/voice.md)"))
    );
    let peer = Peer::start().await;
    let url = format!("{}/call/web", peer.host());
    // A name that has no address anywhere.
    let settings = [("VOICE_VAPI_KEY", "VAPI"), ("VOICE_VAPI_URL", &*url), ("VOICE_PUBLIC_URL", "https://law.example.invalid")];
    let [nothing, name, clock] = examine(&settings).await;
    assert_eq!(nothing, Value::Null);
    assert!(name["state"] == "failed" && name["said"].as_str().unwrap().contains("does not lead here"), "{name}");
    assert_eq!((&clock["state"], &clock["said"]), (&json!("ok"), &json!("the clock is right")));
    assert_eq!(examine(&[]).await, [Value::Null, Value::Null, Value::Null]);
}
