//! Images that come with messages: they are kept with them, shown to a model that sees, told to one
//! that does not, and given back.

use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use level3::model::Entry;
use reqwest::Method;
use serde_json::{Value, json};
use tokio::sync::Notify;

use crate::support::api::{self, ask};
use crate::support::{Client, Reply, TestApp, call, kinds, of_type, text};

/// A PNG of one pixel.
pub const PNG: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

fn png() -> Value {
    json!({"media_type": "image/png", "data": PNG})
}

async fn send(client: &mut Client, content: &str, images: &[Value]) -> Vec<Value> {
    client.send(json!({"type": "message", "content": content, "id": "m1", "images": images})).await;
    client.turn().await
}

fn said(entry: &Entry) -> (&str, usize) {
    match entry {
        Entry::User(content) => (content, 0),
        Entry::UserWithImages { content, images } => (content, images.len()),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn an_image_is_kept_with_its_message_and_shown_to_a_model_that_sees() {
    let app = TestApp::start().await;
    app.script.sees();
    app.script([text("A pixel.")]);
    let mut client = app.connect().await;
    let frames = send(&mut client, "what is this?", &[png()]).await;
    let image = &frames[0]["images"][0];
    assert_eq!((&image["media_type"], &image["size"]), (&json!("image/png"), &json!(70)));
    let requests = app.script.requests();
    let Some(Entry::UserWithImages { content, images }) = requests[0].entries.last() else { panic!("{:?}", requests[0]) };
    assert!(content.ends_with("what is this?"));
    assert_eq!(&*images[0].url, format!("data:image/png;base64,{PNG}"));

    let url = format!("http://{}/api/attachments/{}", app.address(), image["sha256"].as_str().unwrap());
    let shown = api::client().get(&url).send().await.unwrap();
    let header = |name: &str| shown.headers()[name].to_str().unwrap().to_owned();
    assert_eq!((header("content-type"), header("x-content-type-options")), ("image/png".into(), "nosniff".into()));
    assert!(header("content-security-policy").contains("sandbox") && header("cache-control").contains("immutable"));
    assert_eq!(shown.bytes().await.unwrap(), STANDARD.decode(PNG).unwrap());
    let (status, told) = ask(&app, Method::GET, "/api/attachments/nothing", None).await;
    assert_eq!((status, told["error"].as_str()), (404, Some("there is no such attachment")));
    app.check_replay().await;
}

#[tokio::test]
async fn a_model_that_cannot_see_is_told_what_there_was() {
    let app = TestApp::start().await;
    app.script([text("I cannot see it.")]);
    let frames = send(&mut app.connect().await, "", &[png(), png()]).await;
    assert_eq!(kinds(&frames), ["turn queued", "turn running", "assistant", "turn completed"]);
    let requests = app.script.requests();
    let (content, images) = said(requests[0].entries.last().unwrap());
    let line = "[image 2, image/png, 1 KB: this model cannot see images]";
    assert!(content.contains("image 1") && content.ends_with(line) && images == 0, "{content}");
    assert_eq!(app.count("SELECT count(*) FROM attachments").await, 1, "the same bytes are kept once");
    app.check_replay().await;
}

#[tokio::test]
async fn images_of_older_turns_are_told_and_not_sent_again() {
    let app = TestApp::start().await;
    app.script.sees();
    app.script(["1", "2", "3", "4"].map(text));
    let mut client = app.connect().await;
    send(&mut client, "look", &[png()]).await;
    for question in ["two", "three", "four"] {
        client.ask(question).await;
    }
    let requests = app.script.requests();
    let first = |request: usize| said(&requests[request].entries[1]);
    assert_eq!([first(0).1, first(1).1, first(2).1, first(3).1], [1, 1, 1, 0]);
    assert!(first(3).0.contains("not sent again"), "{}", first(3).0);
}

#[tokio::test]
async fn what_is_no_image_is_refused_and_nothing_is_accepted() {
    let app = TestApp::start().await;
    let mut client = app.connect().await;
    let html = STANDARD.encode("<html><script>alert(1)</script>");
    let refusals = [
        (vec![json!({"media_type": "image/png", "data": html})], "is not image/png"),
        (vec![json!({"media_type": "image/svg+xml", "data": html})], "image/webp"),
        (vec![json!({"media_type": "image/gif", "data": PNG})], "is image/png and not image/gif"),
        (vec![json!({"media_type": "image/png", "data": "?"})], "not base64"),
        (vec![png(); 5], "4 is the most"),
    ];
    for (images, reason) in refusals {
        client.send(json!({"type": "message", "content": "look", "id": "m1", "images": images})).await;
        let refused = client.frame().await;
        assert_eq!((&refused["type"], &refused["id"]), (&json!("error"), &json!("m1")));
        assert!(refused["content"].as_str().unwrap().contains(reason), "{refused}");
    }
    assert_eq!(app.count("SELECT count(*) FROM turns").await + app.count("SELECT count(*) FROM attachments").await, 0);
}

#[tokio::test]
async fn four_images_of_the_largest_size_fit_into_one_frame() {
    let app = TestApp::start().await;
    app.script.sees();
    app.script([text("Many.")]);
    let image = |n: u8| {
        let mut bytes = STANDARD.decode(PNG).unwrap();
        bytes.resize(5 << 20, n);
        json!({"media_type": "image/png", "data": STANDARD.encode(bytes)})
    };
    let frames = send(
        &mut app.connect().await,
        &"\u{1}".repeat(level3::wire::MAX_MESSAGE_BYTES),
        &[image(1), image(2), image(3), image(4)],
    )
    .await;
    assert_eq!(of_type(&frames, "assistant")["content"], "Many.");
    assert_eq!(said(app.script.requests()[0].entries.last().unwrap()).1, 4);
    app.check_replay().await;
}

#[tokio::test]
async fn an_image_that_is_said_into_a_turn_moves_with_its_message() {
    let app = TestApp::with(&[("MAX_TOOL_ITERATIONS", "1")]).await;
    app.script.sees();
    let signal = Arc::new(Notify::new());
    let asking = call("execute_sql", json!({"query": "SELECT 1"}));
    app.script([Reply::After(Arc::clone(&signal), Box::new(asking)), text("I see.")]);
    let mut client = app.connect().await;
    client.say("go").await;
    app.script.asked(1).await;
    client.send(json!({"type": "message", "content": "see", "id": "s1", "steer": true, "images": [png()]})).await;
    let steered = client.until(|frame| frame["id"] == "s1").await.pop().unwrap();
    signal.notify_one();
    let frames = client.turn().await;
    let queued = frames.iter().find(|frame| frame["id"] == "s1").expect("a turn of its own");
    assert_eq!((&queued["images"], &queued["moved"]), (&steered["images"], &steered["message"]));
    client.turn().await;
    assert_eq!(said(app.script.requests()[1].entries.last().unwrap()).1, 1);
    app.check_replay().await;
}

#[tokio::test]
async fn an_image_that_was_changed_behind_the_servers_back_is_found() {
    let app = TestApp::start().await;
    app.rewrites("an image is changed by hand");
    app.script([text("Thanks.")]);
    send(&mut app.connect().await, "look", &[png()]).await;
    app.check_replay().await;
    let change = "UPDATE attachments SET bytes = bytes || '\\x00'";
    sqlx::query(change).execute(&mut app.behind().await).await.unwrap();
    let found = level3::replay::check(app.store()).await.unwrap();
    let columns: Vec<_> = found.differences.iter().map(|row| (row.table.as_str(), row.column.as_deref())).collect();
    assert_eq!(columns, [("attachments", Some("bytes_sha256")), ("attachments", Some("size"))]);
}

/// Images come with their message, in the transaction that accepts it; so nothing is left to clear
/// away.
#[tokio::test]
async fn no_image_is_kept_that_no_message_has() {
    const UNSENT: &str = "SELECT count(*) FROM attachments a WHERE NOT EXISTS (
        SELECT FROM messages m WHERE m.images @> jsonb_build_array(jsonb_build_object('sha256', a.sha256)))";
    let app = TestApp::with(&[("MAX_TOOL_ITERATIONS", "1")]).await;
    app.rewrites("an image is written by hand");
    let image = |n: u8| {
        let mut bytes = STANDARD.decode(PNG).unwrap();
        bytes.push(n);
        json!({"media_type": "image/png", "data": STANDARD.encode(bytes)})
    };
    let message = |id: &str, content: &str, n: u8, steer: bool| json!({"type": "message", "content": content, "id": id, "steer": steer, "images": [image(n)]});
    let mut client = app.connect().await;
    let kept = async || app.count("SELECT count(*) FROM attachments").await;
    let unsent = async || app.count(UNSENT).await;

    // The server refuses it because of its second image.
    client
        .send(
            json!({"type": "message", "content": "", "id": "m0", "images": [image(0), {"media_type": "image/png", "data": "?"}]}),
        )
        .await;
    assert_eq!(client.frame().await["type"], "error");
    assert_eq!(kept().await, 0);

    // The client sends it again under the same id, with another image.
    app.script([text("one")]);
    client.send(message("m1", "look", 1, false)).await;
    client.turn().await;
    client.send(message("m1", "look", 2, false)).await;
    client.until(|frame| frame["id"] == "m1").await;
    assert_eq!((kept().await, unsent().await), (1, 0));

    // A word with an image decides nothing: it declines, and becomes a turn of its own, since the
    // limit ends the turn that asked.
    let code = "export default async (params) => (await fetch('https://a.example/')).status";
    let written = json!({"name": "reach", "description": "Reaches.", "code": code, "parameters_schema": {"type": "object"},
        "grants": {"http": {"hosts": ["a.example"]}}});
    app.script([call("write_capability", written), text("I see.")]);
    client.say("build").await;
    client.asked().await;
    client.send(message("m2", "CANCELAR", 3, false)).await;
    client.turn().await;
    client.turn().await;
    assert_eq!((kept().await, unsent().await), (2, 0));

    // Two are said into a turn: a step sees the first, and a stop leaves the second where it is.
    for (id, n, stop) in [("s1", 4, false), ("s2", 5, true)] {
        let signal = Arc::new(Notify::new());
        let before = app.script.requests().len();
        let asking = call("execute_sql", json!({"query": "SELECT 1"}));
        app.script([Reply::After(Arc::clone(&signal), Box::new(asking))]);
        client.say("go").await;
        app.script.asked(before + 1).await;
        client.send(message(id, "see", n, true)).await;
        client.until(|frame| frame["id"] == id).await;
        if stop {
            client.stop().await;
            client.turn().await;
        } else {
            app.script([text("seen")]);
            signal.notify_one();
            client.turn().await;
            client.turn().await;
        }
        assert_eq!(unsent().await, 0, "{id}");
    }
    assert_eq!(kept().await, 4);
    app.check_replay().await;
    // Replay finds an image that came in some other way.
    let strange = "INSERT INTO attachments VALUES (repeat('a', 64), 'image/png', 'x', now())";
    sqlx::query(strange).execute(&mut app.behind().await).await.unwrap();
    let found = level3::replay::check(app.store()).await.unwrap();
    assert!(!found.clean && found.differences.iter().any(|row| row.table == "attachments"), "{found:#?}");
}

#[tokio::test]
async fn the_agents_own_sql_does_not_reach_the_images() {
    let app = TestApp::start().await;
    app.script([call("execute_sql", json!({"query": "SELECT bytes FROM level3.attachments"})), text("No.")]);
    let frames = send(&mut app.connect().await, "look", &[png()]).await;
    let result = of_type(&frames, "tool_result");
    assert_eq!(result["ok"], false, "{result}");
}
