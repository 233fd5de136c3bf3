//! Images in `/v1`: attachments of the message as if sent in the page, part of a request's
//! fingerprint, and never fetched.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use level3::model::Entry;
use serde_json::{Value, json};

use crate::images::PNG;
use crate::support::api;
use crate::support::{Peer, TestApp, text};
use crate::v1::{assistant, body, content, post, say, seen, sent, user};

/// A message with a text, unless it is empty, and images.
fn shows(text: &str, images: &[Value]) -> Value {
    let text = (!text.is_empty()).then(|| json!({"type": "text", "text": text}));
    json!({"role": "user", "content": text.into_iter().chain(images.iter().cloned()).collect::<Vec<_>>()})
}

fn at(url: &str) -> Value {
    json!({"type": "image_url", "image_url": {"url": url, "detail": "low"}})
}

/// The image of one pixel; `other` follows it and makes each another image.
fn png(other: &[u8]) -> Value {
    let bytes = [&STANDARD.decode(PNG).unwrap(), other].concat();
    at(&format!("data:image/png;base64,{}", STANDARD.encode(bytes)))
}

/// The addresses of the images in each entry of the newest request.
fn shown(app: &TestApp) -> Vec<Vec<String>> {
    let request = app.script.requests().pop().expect("a request");
    let images = |entry: &Entry| match entry {
        Entry::UserWithImages { images, .. } => images.iter().map(|picture| picture.url.to_string()).collect(),
        _ => Vec::new(),
    };
    request.entries.iter().skip(1).map(images).collect()
}

fn url(image: &Value) -> String {
    image["image_url"]["url"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn an_image_is_an_attachment_of_its_message_and_its_history_is_recognized() {
    let app = TestApp::start().await;
    app.script.sees();
    app.script([text("A pixel."), text("It is grey."), text("No.")]);
    let first = shows("what is this?", &[png(b"")]);
    let one = say(&app, std::slice::from_ref(&first)).await;
    assert_eq!((content(&one), shown(&app)), ("A pixel.", vec![vec![url(&png(b""))]]));
    assert!(seen(&app)[0].ends_with("what is this?"), "{:?}", seen(&app));
    let sha256: String = sqlx::query_scalar("SELECT sha256 FROM attachments").fetch_one(&mut app.behind().await).await.unwrap();
    let attachment = format!("http://{}/api/attachments/{sha256}", app.address());
    let kept = api::client().get(attachment).send().await.unwrap();
    assert_eq!(kept.bytes().await.unwrap(), STANDARD.decode(PNG).unwrap());

    // The client sends everything again, the image included; the conversation keeps it once.
    let history = [first, assistant("A pixel."), user("which colour?")];
    let two = say(&app, &history).await;
    assert_eq!(two["level3"]["conversation"], one["level3"]["conversation"]);
    assert_eq!(shown(&app), [vec![url(&png(b""))], vec![], vec![]]);
    assert_eq!(app.count("SELECT count(*) FROM messages WHERE images <> '[]'").await, 1);
    // A history with another image in its place is another history.
    let mut other = history;
    other[0] = shows("what is this?", &[png(b"other")]);
    let three = say(&app, &other).await;
    assert_ne!(three["level3"]["conversation"], one["level3"]["conversation"]);
    app.check_replay().await;
}

#[tokio::test]
async fn a_model_that_cannot_see_is_told_so_and_an_image_needs_no_words() {
    let app = TestApp::start().await;
    app.script([text("I cannot see images.")]);
    say(&app, &[shows("", &[png(b""), png(b"")])]).await;
    let told = seen(&app);
    assert!(told[0].ends_with("[image 2, image/png, 1 KB: this model cannot see images]"), "{told:?}");
    assert_eq!(app.count("SELECT count(*) FROM attachments").await, 1, "the same bytes are kept once");
    app.check_replay().await;
}

#[tokio::test]
async fn what_is_no_image_is_refused_and_nothing_is_fetched_or_accepted() {
    let app = TestApp::start().await;
    let html = STANDARD.encode("<html><script>alert(1)</script>");
    let many: Vec<_> = (0..5).map(|n| png(&[n])).collect();
    let inside = Peer::start().await;
    for (images, reason) in [
        (
            vec![at(&format!("{}/secret.png", inside.host()))],
            "level3 fetches nothing for a client: send the image itself, as a data: URL",
        ),
        (vec![png(b""), at("https://example.com/a.png")], "image 2 is an address"),
        (vec![at("file:///etc/passwd")], "no data: URL"),
        (vec![at(&format!("data:image/png;base64,{html}"))], "is not image/png"),
        (vec![at(&format!("data:image/svg+xml;base64,{html}"))], "image/webp"),
        (vec![at(&format!("data:image/gif;base64,{PNG}"))], "is image/png and not image/gif"),
        (many, "5 images; 4 is the most"),
    ] {
        let (status, refused) = sent(post(&app, &body(&[shows("look", &images)]))).await;
        assert_eq!((status, &refused["error"]["code"]), (400, &json!("unsupported_content")), "{refused}");
        assert!(refused["error"]["message"].as_str().unwrap().contains(reason), "{refused}");
        assert!(refused["error"]["param"].as_str().unwrap().starts_with("messages"), "{refused}");
    }
    assert_eq!(app.count("SELECT count(*) FROM turns").await + app.count("SELECT count(*) FROM attachments").await, 0);
    assert_eq!(inside.arrived().len(), 0);
}

#[tokio::test]
async fn the_same_words_with_another_image_are_another_request() {
    let app = TestApp::start().await;
    app.script([text("one"), text("two")]);
    let asked = |image: &[u8]| body(&[shows("what is this?", &[png(image)])]);
    let keyed = |image: &[u8]| post(&app, &asked(image)).header("Idempotency-Key", "k1");
    let first = sent(keyed(b"1")).await;
    assert_eq!((first.0, content(&first.1)), (200, "one"));
    assert_eq!(sent(keyed(b"1")).await, first);
    let (status, refused) = sent(keyed(b"2")).await;
    assert_eq!((status, &refused["error"]["code"]), (400, &json!("idempotency_key_reused")));
    assert_eq!(app.count("SELECT count(*) FROM attachments").await, 1, "what was refused left nothing");
    // A client that says it tries again, without a key.
    let again = |image: &[u8]| post(&app, &asked(image)).header("x-stainless-retry-count", "1");
    assert_eq!(sent(again(b"1")).await, first);
    assert_eq!(content(&sent(again(b"2")).await.1), "two");
    app.check_replay().await;
}

#[tokio::test]
async fn the_newest_images_of_a_history_that_is_not_known_come_along() {
    let app = TestApp::start().await;
    app.script.sees();
    app.script([text("four"), text("named")]);
    let history = [
        shows("these", &[png(b"1"), png(b"2"), at("https://example.com/gone.png")]),
        assistant("fine"),
        shows("this too", &[png(b"3")]),
        assistant("fine"),
        shows("and these", &[png(b"4"), png(b"5")]),
    ];
    let answer = say(&app, &history).await;
    assert_eq!(shown(&app), [[b"2", b"3", b"4", b"5"].map(|image| url(&png(image))).to_vec()]);
    let told = seen(&app);
    assert!(told[0].contains("user: this too\n[image 2, which comes with this message]"), "{told:?}");
    assert!(told[0].contains("[an image, which was not given to level3]") && told[0].ends_with("and these"), "{told:?}");
    // If a client names the conversation, only the new messages count.
    let number = answer["level3"]["conversation"].to_string();
    let named = post(&app, &body(&[history[0].clone(), assistant("x"), user("only this")]));
    assert_eq!(sent(named.header("X-Level3-Conversation", number)).await.0, 200);
    assert_eq!(app.count("SELECT count(*) FROM attachments").await, 4);
    app.check_replay().await;
}

#[tokio::test]
async fn as_many_of_the_largest_images_as_a_message_may_have_fit_into_a_request() {
    let app = TestApp::start().await;
    app.script.sees();
    app.script([text("Many.")]);
    let image = |n: u8| {
        let mut bytes = STANDARD.decode(PNG).unwrap();
        bytes.resize(5 << 20, n);
        at(&format!("data:image/png;base64,{}", STANDARD.encode(bytes)))
    };
    let images = [image(1), image(2), image(3), image(4)];
    let answer = say(&app, &[shows(&"long ".repeat(50_000), &images)]).await;
    assert_eq!((content(&answer), shown(&app)[0].len()), ("Many.", 4));
    // A longer history with further images is too much, and the refusal says what to do.
    let history = [shows("look", &images), assistant("Many."), shows("look", &images)];
    let (status, refused) = sent(post(&app, &body(&history))).await;
    assert_eq!(status, 413);
    assert!(refused["error"]["message"].as_str().unwrap().contains("x-level3-conversation"), "{refused}");
    app.check_replay().await;
}
