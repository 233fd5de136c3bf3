//! Branches of conversations, and conversations as files.

use std::collections::BTreeMap;

use reqwest::Method;
use serde_json::{Value, json};

use crate::support::api::{ask, client};
use crate::support::{Client, TestApp, call, of_type, text};

/// All words of the newest request to the model.
fn newest_request(app: &TestApp) -> String {
    format!("{:?}", app.script.requests().pop().unwrap().entries)
}

/// A new conversation that goes on from this place.
async fn branch(app: &TestApp, conversation: &Value, seq: &Value) -> Value {
    let body = json!({"from": {"conversation": conversation, "seq": seq}});
    let (status, made) = ask(app, Method::POST, "/api/conversations", Some(body)).await;
    assert_eq!(status, 201, "{made}");
    made["conversation"].clone()
}

/// Says something in a conversation; the frames up to the end of its turn.
async fn say_in(talk: &mut Client, conversation: &Value, words: &str) -> Vec<Value> {
    talk.send(json!({"type": "message", "conversation": conversation, "content": words})).await;
    talk.until(|frame| frame["type"] == "turn" && frame["state"] == "completed").await
}

#[tokio::test]
async fn a_branch_goes_on_from_the_place_it_was_made_at() {
    let app = TestApp::start().await;
    let mut talk = app.connect().await;
    app.script([text("A fine name.")]);
    let first = talk.ask("My cat is called Mia.").await;
    let seq = first.last().unwrap()["seq"].as_i64().unwrap();
    app.script([text("Rex, then.")]);
    let second = talk.ask("My dog is called Rex.").await;
    let main = second.last().unwrap()["conversation"].clone();

    // A place in the middle of the second turn is as good: that turn had not ended there.
    for place in [seq, seq + 2] {
        let branched = branch(&app, &main, &json!(place)).await;
        app.script([text("Mia.")]);
        say_in(&mut talk, &branched, "What is my cat called?").await;
        let read = newest_request(&app);
        assert!(read.contains("called Mia") && read.contains("A fine name.") && !read.contains("Rex"), "{read}");
        let (_, frames) = ask(&app, Method::GET, &format!("/api/conversations/{branched}/frames"), None).await;
        assert_eq!(frames["from"], json!({"conversation": main, "seq": place}));
        assert_eq!(frames["frames"][0]["content"], "What is my cat called?");

        // A branch of a branch has the turns of all three, and one of its very beginning those of
        // the first.
        let last = frames["frames"].as_array().unwrap().last().unwrap()["seq"].clone();
        for (from, whole) in [(last, true), (json!(0), false)] {
            let twice = branch(&app, &branched, &from).await;
            app.script([text("Yes.")]);
            say_in(&mut talk, &twice, "Really?").await;
            let read = newest_request(&app);
            assert!(read.contains("called Mia") && !read.contains("Rex"), "{read}");
            assert_eq!(read.contains("What is my cat"), whole, "{read}");
        }
    }

    // The conversation itself goes on as if nothing had happened.
    app.script([text("I see.")]);
    talk.ask("And now?").await;
    let read = newest_request(&app);
    assert!(read.contains("Rex") && !read.contains("What is my cat"), "{read}");
    let (_, frames) = ask(&app, Method::GET, &format!("/api/conversations/{main}/frames"), None).await;
    assert_eq!(frames["from"], Value::Null);
    let (_, listed) = ask(&app, Method::GET, "/api/conversations", None).await;
    let listed = listed["conversations"].as_array().unwrap();
    let of_main: Vec<_> = listed.iter().filter(|one| one["from"]["conversation"] == main).collect();
    let told: Vec<_> = of_main.iter().map(|one| (&one["title"], &one["from"]["seq"])).collect();
    let title = json!("What is my cat called?");
    assert_eq!(told, [(&title, &json!(seq + 2)), (&title, &json!(seq))], "{listed:?}");
    assert!(listed.iter().any(|one| one["id"] == main && one["from"].is_null()), "{listed:?}");
    app.check_replay().await;
}

#[tokio::test]
async fn a_call_before_the_place_of_a_branch_counts_as_done_in_it_and_one_after_it_does_not() {
    const CLAIM: &str = "I have created the table, yes.";
    let app = TestApp::start().await;
    let mut talk = app.connect().await;
    app.script([text("Hello.")]);
    let before = talk.ask("hello").await;
    app.script([call("execute_sql", json!({"query": "CREATE TABLE agent.books (title text)"})), text("Done.")]);
    let after = talk.ask("make a table of books").await;
    for (frames, replies, unproven) in
        [(&before, vec![text(CLAIM), text("No, there is none.")], true), (&after, vec![text(CLAIM)], false)]
    {
        let place = frames.last().unwrap();
        let branched = branch(&app, &place["conversation"], &place["seq"]).await;
        app.script(replies);
        let frames = say_in(&mut talk, &branched, "Did you create the table?").await;
        assert_eq!(of_type(&frames, "assistant")["unproven"] == true, unproven, "{frames:?}");
    }
}

#[tokio::test]
async fn a_conversation_tells_its_branches_also_one_that_was_put_away() {
    let app = TestApp::start().await;
    let mut talk = app.connect().await;
    app.script([text("A fine name.")]);
    let first = talk.ask("My cat is called Mia.").await;
    let (main, seq) = (first[0]["conversation"].clone(), first.last().unwrap()["seq"].clone());
    let branches = async || ask(&app, Method::GET, &format!("/api/conversations/{main}"), None).await.1["branches"].clone();
    assert_eq!(branches().await, Value::Null);
    let mut made = Vec::new();
    for place in [&json!(1), &seq] {
        let branched = branch(&app, &main, place).await;
        app.script([text("Mia.")]);
        say_in(&mut talk, &branched, "What is my cat called?").await;
        made.push(branched);
    }
    branch(&app, &main, &seq).await;
    let at = |branched: &Value, place: &Value| json!({"conversation": branched, "seq": place});
    let (one, other) = (at(&made[0], &json!(1)), at(&made[1], &seq));
    assert_eq!(branches().await, json!([one, other]), "nothing was said in the third");
    let of = |branched: &Value| format!("/api/conversations/{branched}");
    assert_eq!(ask(&app, Method::PATCH, &of(&made[0]), Some(json!({"archived": true}))).await.0, 200);
    assert_eq!(ask(&app, Method::DELETE, &format!("{}?confirmed=true", of(&made[1])), None).await.0, 200);
    assert_eq!(branches().await, json!([one]));
}

#[tokio::test]
async fn a_branch_is_exported_with_its_own_turns_and_names_the_one_that_has_those_before() {
    let app = TestApp::start().await;
    let mut talk = app.connect().await;
    app.script([text("A fine name.")]);
    let first = talk.ask("My cat is called Mia.").await;
    let (main, seq) = (first[0]["conversation"].clone(), first.last().unwrap()["seq"].clone());
    let branched = branch(&app, &main, &seq).await;
    app.script([text("Mia.")]);
    say_in(&mut talk, &branched, "What is my cat called?").await;
    let exported = async |conversation: &Value| {
        let at = format!("http://{}/api/conversations/{conversation}/export", app.address());
        client().get(at).send().await.unwrap().text().await.unwrap()
    };
    let read = exported(&branched).await;
    let named =
        format!("> It goes on from frame {seq} of conversation {main}, “My cat is called Mia.”; the turns before are there.");
    assert!(
        read.starts_with(&format!("# What is my cat called?\n\n{named}\n\n## You")),
        "the titles are those of the list: {read}"
    );
    assert!(read.contains("What is my cat called?") && !read.contains("A fine name."), "{read}");
    let titled = ask(&app, Method::PATCH, &format!("/api/conversations/{main}"), Some(json!({"title": "Pets"}))).await;
    assert_eq!(titled.0, 200);
    let read = exported(&branched).await;
    assert!(read.contains(&format!("of conversation {main}, “Pets”; the turns")), "{read}");
    assert!(!exported(&main).await.contains("goes on from"), "it is no branch");
}

#[tokio::test]
async fn a_conversation_is_exported_to_be_read_and_to_be_kept() {
    let app = TestApp::start().await;
    let mut talk = app.connect().await;
    app.script([call("execute_sql", json!({"query": "SELECT 1 AS one"})), text("It is **one**.")]);
    let frames = talk.ask("How much is 1?").await;
    let main = frames[0]["conversation"].clone();
    let at = format!("http://{}/api/conversations/{main}/export", app.address());
    let read = client().get(&at).send().await.unwrap();
    assert_eq!(read.headers()["content-type"], "text/markdown; charset=utf-8");
    assert_eq!(read.headers()["content-disposition"], format!("attachment; filename=\"conversation-{main}.md\""));
    assert_eq!(read.headers()["x-content-type-options"], "nosniff", "no browser takes what was said for a page");
    let read = read.text().await.unwrap();
    for part in ["## You, 2026-", "How much is 1?", "> `execute_sql`: It gave 1 row.", "## Assistant, 2026-", "It is **one**."] {
        assert!(read.contains(part), "{part}: {read}");
    }
    assert!(!read.contains("SELECT 1"), "{read}");
    let kept: Value = client().get(format!("{at}?format=json")).send().await.unwrap().json().await.unwrap();
    assert!(read.starts_with("# How much is 1?\n") && kept["title"] == "How much is 1?", "{read}");
    let seqs = |frames: &[Value]| {
        frames.iter().filter(|frame| frame["seq"].is_i64()).map(|frame| frame["seq"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(seqs(kept["frames"].as_array().unwrap()), seqs(&frames));
}

#[tokio::test]
async fn words_that_mean_harm_are_exported_as_they_were_said_and_change_no_header() {
    const HOSTILE: [&str; 8] = [
        "<script>alert(1)</script>",
        "<!doctype html><html><body onload=alert(1)><img src=x onerror=alert(1)>",
        "[click](javascript:alert(1)) ![see](https://evil.example/a.png)",
        "a\r\nSet-Cookie: stolen=1\r\nContent-Type: text/html\r\n\r\n<p>b",
        "x\"; filename=\"evil.html",
        "x.html\"; filename*=UTF-8''evil.html",
        "\u{202e}lmth.dm </title><svg onload=alert(1)>",
        "\u{feff}+ADw-script+AD4-alert(1)+ADw-/script+AD4-",
    ];
    let app = TestApp::start().await;
    let mut talk = app.connect().await;
    app.script([text("Hello.")]);
    let main = talk.ask("hello").await[0]["conversation"].clone();
    let export = async || {
        let at = format!("http://{}/api/conversations/{main}/export", app.address());
        let answer = client().get(at).send().await.unwrap();
        let headers = answer.headers().iter();
        let mut headers: BTreeMap<_, _> =
            headers.map(|(name, value)| (name.to_string(), value.to_str().unwrap().to_owned())).collect();
        // Only these two follow from what is in the file and from when it was read.
        headers.retain(|name, _| name != "content-length" && name != "date");
        (headers, answer.text().await.unwrap())
    };
    let (harmless, _) = export().await;
    let disposition = format!("attachment; filename=\"conversation-{main}.md\"");
    for (name, value) in [
        ("content-type", "text/markdown; charset=utf-8"),
        ("content-disposition", disposition.as_str()),
        ("x-content-type-options", "nosniff"),
    ] {
        assert_eq!(harmless.get(name).map(String::as_str), Some(value));
    }
    for hostile in HOSTILE {
        let titled = ask(&app, Method::PATCH, &format!("/api/conversations/{main}"), Some(json!({"title": hostile}))).await;
        assert_eq!(titled.0, 200, "{hostile}");
        app.script([text(hostile)]);
        talk.ask(hostile).await;
        let (headers, read) = export().await;
        assert_eq!(headers, harmless, "{hostile}");
        assert!(read.matches(hostile).count() >= 2, "said and answered, letter by letter: {hostile}: {read}");
        assert!(read.starts_with("# "), "{read}");
    }
}
