//! The public name under which Vapi reaches the server: two doors, and nothing of the rest.

use reqwest::Method;

use crate::support::TestApp;
use crate::support::api::client;
use crate::walk::mounted;

/// Every route, asked for under the public name with whatever opens the house: two doors are there,
/// and nothing else is.
#[tokio::test]
async fn the_public_name_opens_two_doors_and_no_other() {
    const NAME: &str = "law.example.test";
    let public = format!("https://{NAME}");
    let app = TestApp::with(&[("VOICE_PUBLIC_URL", &public), ("LEVEL3_TOKEN", "s3cret-token")]).await;
    let base = format!("http://{}", app.address());
    let client = client();
    let mut asked = mounted();
    let others = [
        "/",
        "/index.html",
        "/loopback",
        "/s/0/shell/index.js",
        "/nothing",
        "/voice",
        "/voice/vapi",
        "/voice/vapi/1",
        "//voice/vapi/1/events",
    ];
    asked.extend(others.into_iter().map(|path| ("GET".to_owned(), path.to_owned())));
    asked.extend(
        [("GET", "/voice/vapi/1/events"), ("PUT", "/voice/vapi/1/chat/completions")].map(|(a, b)| (a.to_owned(), b.to_owned())),
    );
    let mut doors = 0;
    for (method, path) in asked {
        let path = path.split('/').map(|part| if part.starts_with('{') { "1" } else { part }).collect::<Vec<_>>().join("/");
        let method: Method = if method == "ANY" { Method::POST } else { method.parse().unwrap() };
        for host in [NAME.to_owned(), NAME.to_uppercase(), format!("{NAME}:443"), format!("{NAME}.")] {
            let request = client.request(method.clone(), format!("{base}{path}")).header("host", &host);
            let request = request.bearer_auth("s3cret-token").header("cookie", "level3_session=x");
            let answer = request.header("content-type", "application/json").body("{}").send().await.unwrap();
            let is_door = method == Method::POST && path.starts_with("/voice/vapi/1/");
            doors += usize::from(is_door);
            // A door asks for the secrets of a call, which the token of the house is not.
            assert_eq!(answer.status().as_u16(), if is_door { 401 } else { 404 }, "{method} {host}{path}");
            assert!(answer.headers().get("set-cookie").is_none(), "{method} {host}{path}");
        }
    }
    assert_eq!(doors, 3 * 4, "both doors, one of them twice, under each form of the name");
    let upgrade = client.get(format!("{base}/chat")).header("host", NAME).bearer_auth("s3cret-token");
    let upgrade = upgrade.header("connection", "upgrade").header("upgrade", "websocket").header("sec-websocket-version", "13");
    assert_eq!(upgrade.header("sec-websocket-key", "x3JJHMbDL1EzLkh9GBhXDw==").send().await.unwrap().status(), 404);
    let own = client.get(format!("{base}/api/usage")).bearer_auth("s3cret-token").send().await.unwrap();
    assert_eq!(own.status(), 200, "under its own name the server is as ever");
}
