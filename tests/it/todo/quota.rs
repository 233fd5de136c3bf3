//! Tiers: how much a person may say, by the person's own day.

use reqwest::Method;
use serde_json::json;
use sqlx::Executor;

use super::{STEPS, Talk, breakdown};
use crate::support::{api, text};

#[tokio::test]
async fn the_message_after_the_last_is_refused_and_is_no_row_until_the_persons_midnight() {
    let mut talk = Talk::start().await;
    talk.app.behind().await.execute("UPDATE users SET tier = 'free', time_zone = 'Pacific/Auckland'").await.unwrap();
    let (status, tiers) =
        api::ask(&talk.app, Method::PUT, "/api/tiers/free", Some(json!({"messages_per_day": 2, "voice_minutes_per_month": 0})))
            .await;
    assert_eq!((status, &tiers["tiers"][0]["messages_per_day"]), (200, &json!(2)));
    talk.app.script([text("Hello.")]);
    talk.say("hello").await;
    talk.client.turn().await;
    // A word that decides counts nothing.
    talk.asks("createTask", json!({"description": "dinner", "confirmed": true})).await;
    talk.app.script([breakdown(&STEPS), text("I see.")]);
    talk.say("yes").await;
    talk.client.turn().await;
    let left = api::ask(&talk.app, Method::GET, "/api/assistant", None).await.1;
    // In Auckland it is 21:00 on the 20th.
    let allowed = json!({"tier": "free", "messages_left": 0, "next_day_at": "2026-11-20T11:00:00Z", "voice": false});
    assert_eq!(left["allowances"], allowed);
    talk.client.send(json!({"type": "message", "content": "one more", "profile": "lea", "id": "m9"})).await;
    let refused = talk.client.frame().await;
    assert_eq!(refused["content"], "You've reached your daily message limit. Upgrade for more!");
    assert_eq!((&refused["id"], &refused["upgrade"]), (&json!("m9"), &json!(true)));
    assert_eq!(talk.count("SELECT count(*) FROM messages WHERE content = 'one more'").await, 0);
    // If no tier allows more, nobody is told to take another one.
    let set = async |tier: &str, limits| api::ask(&talk.app, Method::PUT, &format!("/api/tiers/{tier}"), Some(limits)).await;
    assert_eq!(set("paid", json!({"messages_per_day": 1, "voice_minutes_per_month": 60})).await.0, 200);
    talk.client.send(json!({"type": "message", "content": "one more", "profile": "lea", "id": "m9"})).await;
    let refused = talk.client.frame().await;
    assert_eq!(refused["content"], "You've reached your daily message limit.");
    assert_ne!(refused["upgrade"], json!(true));
    // A limit that is left out is not taken for none.
    for (limits, missing) in [
        (json!({}), "messages_per_day"),
        (json!({"voice_minutes_per_month": 60}), "messages_per_day"),
        (json!({"messages_per_day": null}), "voice_minutes_per_month"),
    ] {
        let (status, told) = set("paid", limits).await;
        assert!(status == 400 && told.to_string().contains(&format!("missing field `{missing}`")), "{told}");
    }
    // The builder's messages are not counted.
    talk.app.script([text("Hello.")]);
    talk.client.ask("hello").await;
    talk.app.advance(3 * 3600);
    talk.app.script([text("Good morning.")]);
    talk.client.send(json!({"type": "message", "content": "one more", "profile": "lea", "id": "m9"})).await;
    talk.client.turn().await;
    // The same again is the same, and counts nothing.
    talk.client.send(json!({"type": "message", "content": "one more", "profile": "lea", "id": "m9"})).await;
    talk.client.until(|frame| frame["id"] == "m9").await;
    let counted = "SELECT messages::bigint FROM message_counts WHERE day = '2026-11-21'";
    assert_eq!(talk.count(counted).await, 1);
    talk.app.check_replay().await;
}

#[tokio::test]
async fn a_free_user_says_a_hundred_things_a_day_and_not_one_more() {
    let mut talk = Talk::start().await;
    let tiers = api::ask(&talk.app, Method::GET, "/api/tiers", None).await.1;
    let bounds =
        |tier: usize| (tiers["tiers"][tier]["messages_per_day"].clone(), tiers["tiers"][tier]["voice_minutes_per_month"].clone());
    assert_eq!([bounds(0), bounds(1)], [(json!(100), json!(0)), (json!(500), json!(60))]);
    talk.app.behind().await.execute("UPDATE users SET tier = 'free'").await.unwrap();
    for _ in 0..100 {
        assert_eq!(talk.small_talk("hello").await.last().unwrap()["state"], "completed");
    }
    talk.say("the hundred and first").await;
    assert_eq!(talk.client.frame().await["content"], "You've reached your daily message limit. Upgrade for more!");
    assert_eq!(talk.count("SELECT count(*) FROM messages WHERE role = 'user'").await, 100);
    talk.app.advance(16 * 3600);
    talk.small_talk("good morning").await;
    assert_eq!(talk.count("SELECT count(*) FROM messages WHERE role = 'user'").await, 101);
    talk.app.check_replay().await;
}

#[tokio::test]
async fn a_message_that_is_too_long_is_refused_with_the_number() {
    let mut talk = Talk::start().await;
    talk.say(&"word ".repeat(1601)).await;
    let refused = talk.client.frame().await;
    assert_eq!(refused["content"], "Your message has about 2002 tokens, and 2000 is the most. Please make it shorter.");
    assert_eq!(talk.count("SELECT count(*) FROM messages").await, 0);
}

#[tokio::test]
async fn a_chat_has_its_newest_fifty_messages_since_it_was_begun_anew() {
    let mut talk = Talk::start().await;
    for _ in 0..26 {
        talk.app.script([text("I see.")]);
        talk.say("hello").await;
        talk.client.turn().await;
    }
    let chat = async |talk: &Talk, method: Method| api::ask(&talk.app, method, "/api/assistant/chat", None).await.1;
    assert_eq!(chat(&talk, Method::GET).await["messages"].as_array().unwrap().len(), 50);
    let last = talk.app.script.requests().pop().unwrap();
    assert!(last.entries.len() <= 12, "the prompt, ten messages and the new one: {}", last.entries.len());
    assert_eq!(chat(&talk, Method::DELETE).await["messages"], json!([]));
    talk.app.script([text("A fresh start.")]);
    talk.say("hello again").await;
    talk.client.turn().await;
    assert_eq!(talk.app.script.requests().pop().unwrap().entries.len(), 2, "the prompt and the new one");
    let anew = chat(&talk, Method::GET).await;
    assert_eq!((anew["messages"].as_array().unwrap().len(), &anew["messages"][0]["content"]), (2, &json!("hello again")));
    assert_eq!(talk.count("SELECT count(*) FROM messages WHERE role = 'user'").await, 27, "the rows are kept");
    talk.app.check_replay().await;
}
