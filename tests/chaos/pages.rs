//! kill -9 over a touch of a page, with several campaigns in one Chromium: `unknown` is shown,
//! nothing is repeated by itself, and the site counts one message for each that was approved.

use std::os::unix::process::ExitStatusExt;

use reqwest::Method;
use serde_json::{Value, json};

use crate::campaigns::Person;
use crate::database::elsewhere;
use crate::number;
use crate::rig::Rig;
use crate::support::proposer::{eligible, part, step_in, step_to};
use crate::support::{Chromium, in_time};

use self::site::{Site, name_of};

#[path = "../it/campaigns/browser/site.rs"]
#[allow(dead_code, reason = "shared with the stories of the browser, which use the rest")]
mod site;

/// The places to die at: before the page feels it, and after.
const DEATHS: [&str; 2] = ["after-intent", "after-send"];
/// The touch to die over: the page is opened, the message typed, and sent by a click.
const THE_CLICK: u32 = 3;
/// How often each place is tried for each of `CHAOS_POINTS`, with a campaign of its own; the tabs
/// of all of them stay in one Chromium.
const ROUNDS: u64 = 3;
const MOST_ROUNDS: u64 = 30;

/// The model's answer in such a campaign, by what the snapshot shows alone. `None` if it is asked
/// elsewhere.
pub fn answer(messages: &[Value]) -> Option<Value> {
    let shown =
        messages.iter().filter_map(|message| message["content"].as_str()).find(|content| content.starts_with("# Campaign "))?;
    let (task, description) = eligible(shown).into_iter().next()?;
    let (address, page) = (description.strip_prefix("Write to ")?, part(shown, "Page"));
    let (tool, arguments) =
        step_to(page, address).unwrap_or_else(|| step_in(page, "textbox “Message”", "Good day", "button “Send”"));
    let arguments = json!({"task": task, "tool": tool, "arguments": arguments});
    let function = json!({"name": "execute_tool", "arguments": arguments.to_string()});
    Some(json!({"role": "assistant", "content": "", "tool_calls": [{"id": "call_0", "type": "function", "function": function}]}))
}

/// Makes a campaign that writes to one of the people, and starts it.
async fn order(person: &Person<'_>, site: &Site, number: usize) {
    let wanted = format!("Thank you, {} has your message", name_of(number));
    let requires = json!([{"kind": "page_read", "host": "127.0.0.1", "contains": wanted}]);
    let tasks = json!([{"description": format!("Write to {}", site.at(&format!("/people/{number}"))), "requires": requires}]);
    let made = person.ask(Method::POST, "/campaigns", Some(json!({"name": name_of(number), "tasks": tasks}))).await.unwrap();
    let hosts = json!({"hosts": [site.address.to_string()]}).to_string();
    let kept = json!({"type": "environment", "key": "environment", "content": hosts});
    for (path, body) in [("artifacts", kept), ("start", json!({}))] {
        let told = person.ask(Method::POST, &format!("/campaigns/{}/{path}", made["id"]), Some(body)).await.unwrap();
        assert!(told.get("error").is_none(), "{told}");
    }
}

/// Is there for all that are open; gives how many those are, and the approvals that wait. `None` if
/// the server is gone.
async fn look(person: &Person<'_>) -> Option<(usize, Vec<Value>)> {
    let listed = person.ask(Method::GET, "/campaigns", None).await?;
    let open: Vec<_> =
        listed["campaigns"].as_array()?.iter().filter(|campaign| campaign["status"] != "completed").cloned().collect();
    for campaign in &open {
        person.ask(Method::POST, &format!("/campaigns/{}/present", campaign["id"]), None).await?;
    }
    let waiting = person.ask(Method::GET, "/approvals?state=pending", None).await?;
    Some((open.len(), waiting["approvals"].as_array()?.clone()))
}

/// The number of the person whose page a question is about.
fn about(approval: &Value) -> Option<usize> {
    let shown = approval["shown"]["what"].to_string();
    shown.split_once("/people/")?.1.split(|letter: char| !letter.is_ascii_digit()).next()?.parse().ok()
}

async fn approve(person: &Person<'_>, approval: &Value) {
    person.ask(Method::POST, &format!("/approvals/{}/approve", approval["id"]), None).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn death_over_a_touch_of_a_page_is_unknown_and_the_site_counts_one() {
    let Some(chromium) = Chromium::start().await else { return };
    let site = Site::start().await;
    let rounds = (number("CHAOS_POINTS", 1) * ROUNDS).min(MOST_ROUNDS);
    let browser = ("LEVEL3_BROWSER", chromium.port());
    let mut rig = Rig::on(elsewhere("pages").await).await;
    let mut campaigns = 0;
    for _ in 0..rounds {
        for point in DEATHS {
            campaigns += 1;
            let armed = format!("{point}:abort:{THE_CLICK}");
            assert!(rig.start(&[(browser.0, &browser.1), ("LEVEL3_FAILPOINT", &armed)]).await, "{}", rig.process().log());
            order(&Person(&rig), &site, campaigns).await;
            let die = async {
                // Those before it wait meanwhile: the person approves nothing of theirs.
                while let Some((_, waiting)) = look(&Person(&rig)).await {
                    if let Some(approval) = waiting.iter().find(|approval| about(approval) == Some(campaigns)) {
                        approve(&Person(&rig), approval).await;
                    }
                    tokio::task::yield_now().await;
                }
            };
            in_time(&armed, die).await;
            let (ended, log) = rig.wait_for_end().await;
            assert_eq!(ended.signal(), Some(libc::SIGKILL), "{armed}: {log}");
            assert_eq!(site.count(&message(campaigns)), usize::from(point == "after-send"), "{armed}");
        }
    }
    assert!(rig.start(&[(browser.0, &browser.1)]).await, "{}", rig.process().log());
    let finish = async {
        loop {
            let (open, waiting) = look(&Person(&rig)).await.expect("the server answers");
            if open == 0 {
                return;
            }
            for approval in &waiting {
                approve(&Person(&rig), approval).await;
            }
            tokio::task::yield_now().await;
        }
    };
    in_time("the end of all campaigns", finish).await;
    judge(&rig, &site, campaigns).await;
    rig.stop().await;
}

/// The message to a person as the site has it.
fn message(number: usize) -> String {
    format!("POST /people/{number}/send text=Good+day")
}

/// Counts what the site has, and what nobody knows.
async fn judge(rig: &Rig, site: &Site, campaigns: usize) {
    let mut sent = site.sent();
    sent.sort_unstable();
    let mut wanted: Vec<_> = (1..=campaigns).map(message).collect();
    wanted.sort_unstable();
    assert_eq!(sent, wanted, "each message once");
    let unknown: i64 = sqlx::query_scalar("SELECT count(*) FROM operations WHERE kind = 'browser' AND state = 'unknown'")
        .fetch_one(&mut rig.behind().await)
        .await
        .unwrap();
    assert_eq!(usize::try_from(unknown), Ok(campaigns), "each death is shown");
    let person = Person(rig);
    let listed = person.ask(Method::GET, "/campaigns", None).await.unwrap();
    for campaign in listed["campaigns"].as_array().unwrap() {
        let verified = person.ask(Method::POST, &format!("/campaigns/{}/verify", campaign["id"]), None).await.unwrap();
        assert_eq!(verified["clean"], true, "{verified}");
        let path = format!("/campaigns/{}/log?log=audit&kind=page%20touched", campaign["id"]);
        let touched = person.ask(Method::GET, &path, None).await.unwrap();
        let unknown = touched.as_array().unwrap().iter().filter(|line| line["payload"]["touch"]["state"] == "unknown").count();
        assert_eq!(unknown, 1, "the death over its click stands in its audit: {touched}");
    }
    rig.replays().await;
    crate::tell(&format!("Pages: {campaigns} deaths over a touch, in one Chromium: each unknown, each message sent once"));
}
