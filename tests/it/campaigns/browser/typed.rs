//! A field is read back after typing: one that holds another text proves nothing.

use serde_json::{Value, json};

use super::{Visit, does};
use crate::support::Chromium;

async fn types(visit: &Visit, field: &str, typed: &str, taken: bool) -> String {
    let node = visit.node(field).await;
    visit.cycle(does("browser_type", json!({"node": node, "text": typed})), taken).await
}

#[tokio::test(flavor = "multi_thread")]
async fn campaign_typing_that_a_field_does_not_take_is_not_done_and_says_what_stands_there() {
    let proven = |typed: &str| json!({"kind": "tool_succeeded", "tool": "browser_type", "arguments": {"text": typed}});
    let mut requires = vec![json!({"kind": "page_read", "host": "127.0.0.1", "contains": "Thank you"})];
    requires.extend(["abc", "abcdef", "loud", "large", "2026-01-02"].map(proven));
    let requires = Value::Array(requires);
    let Some(visit) = Visit::start(requires, Chromium::port).await else { return };
    let desk = &visit.desk;
    visit.allow(50).await;
    visit.open("/fields").await;
    for (field, typed, words) in [
        ("spinbutton Count", "abc", "did not take the text: nothing stands there now"),
        ("textbox Short", "abcdef", "did not take the text as it is: “abc” stands there now"),
        ("textbox Loud", "loud", "did not take the text as it is: “LOUD” stands there now"),
        ("combobox Size", "large", "did not take the text as it is: “small” stands there now"),
        ("Date Born", "tomorrow", "takes a value like 2026-01-31, and “tomorrow” is none"),
    ] {
        let came = types(&visit, field, typed, false).await;
        assert!(came.contains(words), "{field}: {came}");
        assert_eq!(visit.touch().await["state"], "failed", "{field}");
    }
    for (field, typed) in [
        ("spinbutton Count", "12"),
        ("textbox Note", "Two\nlines"),
        ("textbox Rich", "new  words\nand more"),
        ("Date Born", "2026-01-02"),
    ] {
        let came = types(&visit, field, typed, true).await;
        assert!(came.contains("was done"), "{field}: {came}");
    }
    let tasks = desk.get("/1").await["tasks"].clone();
    let unproven = tasks[0]["unproven"].as_array().unwrap();
    assert!(!tasks[0]["unproven"].to_string().contains("2026-01-02"), "{unproven:?}");
    for typed in ["abc", "abcdef", "loud", "large"] {
        let quoted = format!("\"{typed}\"");
        assert!(unproven.iter().any(|line| line.as_str().unwrap().contains(&quoted)), "{typed}: {unproven:?}");
    }
    let rich = visit.cycle(does("browser_read", json!({})), true).await;
    assert!(rich.contains("was read") && visit.page().await["text"].as_str().unwrap().contains("new words"), "{rich}");
    visit.click("button Send", true).await;
    visit.site.asked_for("POST /fill count=12&born=2026-01-02&short=abc&loud=LOUD&size=small&note=Two%0D%0Alines").await;
    desk.check().await;
}
