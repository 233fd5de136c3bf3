//! A call that Vapi is to take over, and addresses that name no call.

use reqwest::Method;
use serde_json::json;

use super::{MADE, Vapi};
use crate::support::{TestApp, api};

#[tokio::test]
async fn a_call_that_is_to_be_taken_over_goes_on_until_vapi_has_made_the_new_one() {
    let vapi = Vapi::with(&[]).await;
    let begin = async |adapter: &str, take_over: bool| {
        let body = json!({"adapter": adapter, "take_over": take_over});
        api::ask(&vapi.app, Method::POST, "/api/voice/calls", Some(body)).await
    };
    let running = begin("browser", false).await.1["call"].as_i64().unwrap();
    assert_eq!(vapi.beat(running).await.0, 200);
    assert_eq!((begin("vapi", false).await.0, vapi.peer.arrived().len()), (409, 0), "nobody asks Vapi for it");
    vapi.peer.will_answer(500, "text/html", "<html>");
    assert_eq!(begin("vapi", true).await.0, 502);
    let secret = async |method: Method, body| api::ask(&vapi.app, method, "/api/secrets/VAPI", body).await.0;
    assert_eq!(secret(Method::DELETE, None).await, 200);
    assert_eq!(begin("vapi", true).await.0, 503);
    vapi.app.advance(10);
    assert_eq!(vapi.beat(running).await.1["state"], "active");
    assert_eq!(api::ask(&vapi.app, Method::GET, "/api/voice", None).await.1["call"]["call"], json!(running));
    assert_eq!(secret(Method::PUT, Some(json!({"value": "vapi-12345678"}))).await, 200);
    vapi.peer.will_answer(201, "application/json", MADE);
    let (status, begun) = begin("vapi", true).await;
    assert_eq!(status, 200, "{begun}");
    let asked = vapi.peer.arrived().pop().unwrap();
    assert_eq!(asked.header("idempotency-key"), Some(&*format!("level3-voice-{}", begun["call"])));
    assert_eq!(vapi.app.count("SELECT count(*) FROM voice_calls WHERE reason = 'taken_over' AND adapter = 'browser'").await, 1);
    assert_eq!(vapi.app.count("SELECT count(*) FROM voice_calls WHERE ended_at IS NULL AND vapi_id = '7420f27a'").await, 1);
    assert_eq!(vapi.beat(running).await.0, 410);
    vapi.app.check_replay().await;
}

#[tokio::test]
async fn an_address_that_names_no_call_is_a_strangers() {
    let app = TestApp::start().await;
    for call in ["abc", "1.5", "99999999999999999999", "7"] {
        for door in ["events", "chat/completions"] {
            let url = format!("http://{}/voice/vapi/{call}/{door}", app.address());
            let answer = api::client().post(url).header("content-type", "application/json").body("{}").send().await.unwrap();
            assert_eq!((answer.status().as_u16(), &*answer.text().await.unwrap()), (401, ""), "{call} {door}");
        }
    }
}
