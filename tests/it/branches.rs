//! Branches of conversations, and conversations as files.

use reqwest::Method;
use serde_json::{Value, json};

use crate::support::api::{ask, client};
use crate::support::{TestApp, call, text};

/// All words of the newest request to the model.
fn newest_request(app: &TestApp) -> String {
    format!("{:?}", app.script.requests().pop().unwrap().entries)
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
        let body = json!({"from": {"conversation": main, "seq": place}});
        let (status, made) = ask(&app, Method::POST, "/api/conversations", Some(body)).await;
        assert_eq!(status, 201, "{made}");
        let branch = made["conversation"].as_i64().unwrap();
        app.script([text("Mia.")]);
        talk.send(json!({"type": "message", "conversation": branch, "content": "What is my cat called?"})).await;
        talk.until(|frame| frame["type"] == "turn" && frame["state"] == "completed").await;
        let read = newest_request(&app);
        assert!(read.contains("called Mia") && read.contains("A fine name.") && !read.contains("Rex"), "{read}");
        let (_, frames) = ask(&app, Method::GET, &format!("/api/conversations/{branch}/frames"), None).await;
        assert_eq!(frames["from"], json!({"conversation": main, "seq": place}));
        assert_eq!(frames["frames"][0]["content"], "What is my cat called?");

        // A branch of a branch has the turns of all three.
        let last = frames["frames"].as_array().unwrap().last().unwrap()["seq"].clone();
        let body = json!({"from": {"conversation": branch, "seq": last}});
        let (_, made) = ask(&app, Method::POST, "/api/conversations", Some(body)).await;
        app.script([text("Yes.")]);
        talk.send(json!({"type": "message", "conversation": made["conversation"], "content": "Really?"})).await;
        talk.until(|frame| frame["type"] == "turn" && frame["state"] == "completed").await;
        let read = newest_request(&app);
        assert!(read.contains("called Mia") && read.contains("What is my cat") && !read.contains("Rex"), "{read}");
    }

    // The conversation itself goes on as if nothing had happened.
    app.script([text("I see.")]);
    talk.ask("And now?").await;
    let read = newest_request(&app);
    assert!(read.contains("Rex") && !read.contains("What is my cat"), "{read}");
    let (_, frames) = ask(&app, Method::GET, &format!("/api/conversations/{main}/frames"), None).await;
    assert_eq!(frames["from"], Value::Null);
    let (_, listed) = ask(&app, Method::GET, "/api/conversations", None).await;
    let of_main = |one: &&Value| one["from"]["conversation"] == main;
    let listed = listed["conversations"].as_array().unwrap();
    let titles: Vec<_> = listed.iter().filter(of_main).map(|one| (&one["title"], &one["from"]["seq"])).collect();
    let title = json!("What is my cat called?");
    assert_eq!(titles, [(&title, &json!(seq + 2)), (&title, &json!(seq))], "{listed:?}");
    assert!(listed.iter().any(|one| one["id"] == main && one["from"].is_null()), "{listed:?}");
    app.check_replay().await;
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
    let read = read.text().await.unwrap();
    for part in ["## You, 2026-", "How much is 1?", "> `execute_sql`: It gave 1 row.", "## Assistant, 2026-", "It is **one**."] {
        assert!(read.contains(part), "{part}: {read}");
    }
    assert!(!read.contains("SELECT 1"), "{read}");
    let kept: Value = client().get(format!("{at}?format=json")).send().await.unwrap().json().await.unwrap();
    let seqs = |frames: &[Value]| {
        frames.iter().filter(|frame| frame["seq"].is_i64()).map(|frame| frame["seq"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(seqs(kept["frames"].as_array().unwrap()), seqs(&frames));
}
