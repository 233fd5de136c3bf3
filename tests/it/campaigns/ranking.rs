//! A proposed scoring config is shown with the ranking that it changes, before a person decides.
//! The scores of many leads do not depend on their order.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use level3::domain::campaign::lead::MOST_ROWS;
use reqwest::Method;
use serde_json::{Value, json};
use sqlx::Executor;

use super::Desk;
use crate::support::{Reply, call, text};

const TITLES: &str = r#"{"base": 5, "rules": [{"attribute": "title", "equals": "cto", "weight": 7}]}"#;

/// One with tests of each kind, and with both limits.
const CLAMPED: &str = r#"{"base": 5, "rules": [{"attribute": "title", "equals": "cto", "weight": 7}, {"attribute": "age", "at_least": 40, "weight": -20}, {"attribute": "full_name", "contains": "99", "weight": 3}], "min": 0, "max": 13}"#;

/// A task that is done with so many versions of a config.
fn wants(version: i32) -> Value {
    json!([{"description": "Score them", "requires": [
        {"kind": "artifact_exists", "type": "lead_scoring_config", "key": "scores", "min_version": version}
    ]}])
}

fn proposes() -> Reply {
    call("persist_artifact", json!({"task": 1, "type": "lead_scoring_config", "key": "scores", "content": TITLES}))
}

impl Desk {
    async fn import(&self, csv: &str) {
        let (status, told) = self.ask(Method::POST, "/1/leads", Some(json!({"csv": csv}))).await;
        assert_eq!(status, 200, "{told}");
    }
}

/// The lines about the ranking in the question to the person.
fn ranking(approval: &Value) -> Vec<&str> {
    let what = approval["shown"]["what"].as_array().unwrap();
    assert_eq!(what[2], TITLES, "{approval}");
    what[3..].iter().map(|line| line.as_str().unwrap()).collect()
}

#[tokio::test]
async fn campaign_scoring_config_is_approved_with_the_ranking_it_changes_in_sight() {
    let desk = Desk::start(wants(2)).await;
    let mut csv = "full_name,profile_url,title\n".to_owned();
    for n in 1..=25 {
        let _ = writeln!(csv, "Lead {n},https://x.example/{n},{}", if n < 24 { "Cook" } else { "CTO" });
    }
    desk.import(&csv).await;
    desk.keep("lead_scoring_config", "scores", r#"{"base": 5, "rules": []}"#).await;
    desk.app.script([proposes()]);
    desk.present().await;
    let approval = desk.asked().await;
    let lines = ranking(&approval);
    assert_eq!(lines[0], "Scores the 25 leads anew: 2 get another score, 25 another rank.");
    assert!(lines[1].starts_with("The best 20 by it, and those that leave the best 20"), "{lines:?}");
    let mut expected = vec!["24 → 1, Lead 24, 5 → 12".to_owned(), "25 → 2, Lead 25, 5 → 12".to_owned()];
    // Lead 19 and 20 leave the best 20, and stand at the end.
    expected.extend((1..=20).map(|n| format!("{n} → {}, Lead {n}, 5 → 5", n + 2)));
    assert_eq!(lines[2..], expected);
    assert_eq!(desk.app.count("SELECT count(*) FROM leads WHERE weight_score = 5").await, 25, "nothing is scored before");
    desk.decide(&approval, "approve").await;
    desk.app.run_until_idle().await;
    assert_eq!(desk.get("/1").await["campaign"]["status"], "completed");
    let leads = desk.get("/1/leads").await;
    for (rank, name, score) in [(0, "Lead 24", 12), (1, "Lead 25", 12), (2, "Lead 1", 5), (21, "Lead 20", 5)] {
        let lead = &leads["leads"][rank];
        assert_eq!((&lead["full_name"], &lead["weight_score"]), (&json!(name), &json!(score)), "the ranking that was shown");
    }
    desk.check().await;
}

#[tokio::test]
async fn campaign_scoring_config_is_shown_without_leads_and_with_names_that_would_be_lines() {
    let desk = Desk::start(wants(1)).await;
    desk.app.script([proposes()]);
    desk.present().await;
    let approval = desk.asked().await;
    assert_eq!(ranking(&approval), ["There are no leads yet that it would score."]);
    desk.decide(&approval, "deny").await;
    desk.app.run_until_idle().await;
    desk.app.script([proposes()]);
    desk.import("full_name,profile_url,title\n\"Eve\n9 → 1, Bob\",https://x.example/eve,CTO\n").await;
    let approval = desk.asked().await;
    assert_eq!(ranking(&approval)[2..], ["1 → 1, Eve 9 → 1, Bob, 0 → 12"]);
    desk.decide(&approval, "deny").await;
    desk.app.run_until_idle().await;
    desk.check().await;
}

#[tokio::test]
async fn campaign_scoring_config_is_asked_about_anew_if_the_leads_are_others_when_it_is_approved() {
    let desk = Desk::start(wants(1)).await;
    desk.import("full_name,profile_url,title\nAda,https://x.example/a,CTO\n").await;
    desk.app.script([proposes()]);
    desk.present().await;
    let first = desk.asked().await;
    assert_eq!(ranking(&first)[2..], ["1 → 1, Ada, 0 → 12"]);
    desk.import("full_name,profile_url,title\nZoe,https://x.example/z,Cook\n").await;
    desk.decide(&first, "approve").await;
    let second = desk.asked().await;
    assert_eq!(ranking(&second)[2..], ["1 → 1, Ada, 0 → 12", "2 → 2, Zoe, 0 → 5"]);
    assert_eq!(desk.app.count("SELECT count(*) FROM artifacts").await, 0, "nothing is kept by the first approval");
    desk.decide(&second, "approve").await;
    desk.app.run_until_idle().await;
    assert_eq!(desk.get("/1").await["campaign"]["status"], "completed");
    desk.check().await;
}

#[tokio::test]
async fn campaign_scoring_config_that_is_denied_is_not_kept_although_leads_are_others_by_then_and_a_word_allows_it() {
    let desk = Desk::start(wants(1)).await;
    desk.import("full_name,profile_url,title\nAda,https://x.example/a,CTO\n").await;
    desk.app.script([proposes()]);
    desk.present().await;
    let asked = desk.asked().await;
    let (status, told) = desk.ask(Method::POST, "/1/leads/status", Some(json!({"lead": 1, "status": "qualified"}))).await;
    assert_eq!(status, 200, "{told}");
    let until = (desk.app.now() + chrono::TimeDelta::hours(1)).to_rfc3339();
    let allow = json!({"kind": "persist", "count": 5, "until": until});
    assert_eq!(desk.ask(Method::POST, "/1/contexts", Some(allow)).await.0, 200);
    desk.decide(&asked, "deny").await;
    desk.app.run_until_idle().await;
    let kept = "SELECT (SELECT count(*) FROM artifacts) + (SELECT count(*) FROM leads WHERE weight_score <> 0)";
    assert_eq!(desk.app.count(kept).await, 0, "the no was about the call");
    let shown = desk.get("/1").await;
    assert_eq!(shown["contexts"][0]["uses_left"], 5, "{shown}");
    desk.check().await;
}

#[tokio::test]
async fn campaign_scores_from_before_keys_were_recorded_are_not_written_anew() {
    let desk = Desk::start(wants(9)).await;
    desk.import("full_name,profile_url,title\nAda,https://x.example/a,CTO\nBob,https://x.example/b,Cook\n").await;
    desk.keep("lead_scoring_config", "scores", TITLES).await;
    desk.app.rewrites("the rows are made as they were before");
    desk.app.behind().await.execute("UPDATE leads SET scored = scored - 'key'").await.unwrap();
    desk.import("full_name,profile_url,title\nEve,https://x.example/e,CTO\n").await;
    assert_eq!(desk.app.count("SELECT count(*) FROM leads WHERE scored -> 'key' IS NOT NULL").await, 1, "the new one");
}

/// A file with a row for each of these numbers, in their order.
fn many(numbers: impl Iterator<Item = usize>) -> String {
    let mut csv = "full_name,profile_url,title,age\n".to_owned();
    for n in numbers {
        let title = if n.is_multiple_of(3) { "CTO" } else { "Cook" };
        let _ = writeln!(csv, "Lead {n},https://x.example/{n},{title},{}", n % 90);
    }
    csv
}

/// All leads of an export by their addresses, without that which their order decides: numbers and
/// times.
fn by_address(export: &Value) -> BTreeMap<String, Value> {
    let leads = export["state"]["leads"].as_array().unwrap().iter().cloned().map(|mut lead| {
        let fields = lead.as_object_mut().unwrap();
        for of_order in ["id", "campaign_id", "sequence", "created_at", "updated_at"] {
            assert!(fields.remove(of_order).is_some(), "{of_order}");
        }
        (lead["profile_url"].as_str().unwrap().to_owned(), lead)
    });
    leads.collect()
}

#[tokio::test]
async fn campaign_10_000_leads_get_the_same_scores_in_each_order_and_a_file_of_one_more_is_refused() {
    let desk = Desk::start(wants(1)).await;
    let too_many = json!({"csv": many(0..=MOST_ROWS)});
    let (status, refused) = desk.ask(Method::POST, "/1/leads", Some(too_many)).await;
    let told = refused["error"].as_str().unwrap();
    assert!(status == 400 && told.contains("line 10002: a file has at most 10000 rows"), "{told}");
    assert_eq!(desk.app.count("SELECT count(*) FROM leads").await, 0, "and nothing is half imported");

    let (status, made) = desk.ask(Method::POST, "", Some(json!({"name": "Mixed", "tasks": wants(1)}))).await;
    assert_eq!((status, &made["id"]), (200, &json!(2)), "{made}");
    desk.app.script([text("ready")]);
    assert_eq!(desk.ask(Method::POST, "/2/start", None).await.0, 200);
    // 7 and 10,000 have no divisor in common: each number comes once.
    let mixed = (0..MOST_ROWS).rev().map(|n| n * 7 % MOST_ROWS);
    let mut exports = Vec::new();
    for (campaign, csv) in [(1, many(0..MOST_ROWS)), (2, many(mixed))] {
        let (status, told) = desk.ask(Method::POST, &format!("/{campaign}/leads"), Some(json!({"csv": csv}))).await;
        assert_eq!((status, &told["told"]), (200, &json!("10000 leads are new, 0 were changed.")), "{told}");
        let config = json!({"task": campaign, "type": "lead_scoring_config", "key": "scores", "content": CLAMPED});
        desk.app.script([call("persist_artifact", config)]);
        assert_eq!(desk.ask(Method::POST, &format!("/{campaign}/present"), None).await.0, 200);
        let approval = desk.asked().await;
        assert!(approval["shown"]["what"].to_string().contains("Scores the 10000 leads anew: "), "{approval}");
        desk.decide(&approval, "approve").await;
        desk.app.run_until_idle().await;
        let path = |from: &str| format!("/{campaign}/export?from={from}");
        let [tables, events] = [desk.get(&path("tables")).await, desk.get(&path("events")).await];
        assert_eq!(tables["state"]["campaign"]["status"], "completed", "{}", tables["state"]["campaign"]);
        assert!(tables == events, "the state of campaign {campaign} does not follow from its events");
        let (_, verified) = desk.ask(Method::POST, &format!("/{campaign}/verify"), None).await;
        assert_eq!(verified["clean"], true, "{verified}");
        exports.push(tables);
    }
    let first = exports.iter().map(|export| export["state"]["leads"][0]["profile_url"].as_str().unwrap());
    assert_eq!(first.collect::<Vec<_>>(), ["https://x.example/0", "https://x.example/9993"], "they came in another order");
    let [straight, mixed] = [by_address(&exports[0]), by_address(&exports[1])];
    assert_eq!(straight.len(), MOST_ROWS);
    for (address, lead) in &straight {
        assert_eq!(Some(lead.to_string()), mixed.get(address).map(Value::to_string), "{address}");
    }
    assert_eq!(mixed.len(), MOST_ROWS);
    let scores: BTreeSet<_> = straight.values().filter_map(|lead| lead["weight_score"].as_i64()).collect();
    assert_eq!(scores, BTreeSet::from([0, 5, 8, 12, 13]));
    let best = &straight["https://x.example/399"];
    let points = json!([{"rule": 0, "weight": 7}, {"rule": 2, "weight": 3}]);
    let scored = json!({"key": "scores", "version": 1, "points": points, "sum": 15});
    assert_eq!((&best["weight_score"], &best["scored"]), (&json!(13), &scored), "{best}");
    // The end of the story looks whether all tables follow from events.
}
