//! Each input in each state of a campaign, through the API and the store: it is refused in so many
//! words, or recorded exactly once.

use level3::domain::CampaignId;
use level3::domain::campaign::CampaignInput;
use reqwest::Method;
use serde_json::{Value, json};

use super::{Desk, two_tasks};
use crate::support::{TestApp, text};

const STATES: [&str; 5] = ["initializing", "active", "paused", "completed", "error"];

/// The inputs, the states that each is for, and the state that it leads to.
const INPUTS: [(CampaignInput, &[&str], &str); 5] = [
    (CampaignInput::Start, &["initializing"], "active"),
    (CampaignInput::Pause, &["active"], "paused"),
    (CampaignInput::Resume, &["paused"], "active"),
    (CampaignInput::Complete, &["active"], "completed"),
    (CampaignInput::Break, &["initializing", "active", "paused", "completed"], "error"),
];

/// Gives a campaign an input: a person by the API, what only the controller does by the store.
/// Gives the words of a refusal.
async fn give(desk: &Desk, id: i64, input: CampaignInput) -> Result<(), String> {
    if matches!(input, CampaignInput::Complete | CampaignInput::Break) {
        let steered = desk.app.store().steer_campaign(CampaignId(id), input, desk.app.now()).await;
        return steered.map(|_| ()).map_err(|error| error.to_string());
    }
    if input == CampaignInput::Start {
        desk.app.script([text("ready")]);
    }
    let (status, told) = desk.ask(Method::POST, &format!("/{id}/{input}"), None).await;
    if status == 200 {
        return Ok(());
    }
    assert_eq!(status, 409, "{told}");
    Err(told["error"].as_str().unwrap().to_owned())
}

/// A new campaign, brought to this state.
async fn made(desk: &Desk, state: &str) -> i64 {
    let (status, made) = desk.ask(Method::POST, "", Some(json!({"name": "Outreach", "tasks": two_tasks()}))).await;
    assert_eq!(status, 200, "{made}");
    let id = made["id"].as_i64().unwrap();
    let way: &[CampaignInput] = match state {
        "initializing" => &[],
        "active" => &[CampaignInput::Start],
        "paused" => &[CampaignInput::Start, CampaignInput::Pause],
        "completed" => &[CampaignInput::Start, CampaignInput::Complete],
        _ => &[CampaignInput::Break],
    };
    for input in way {
        give(desk, id, *input).await.unwrap();
    }
    assert_eq!(status_of(desk, id).await, state);
    id
}

async fn status_of(desk: &Desk, id: i64) -> Value {
    desk.get(&format!("/{id}")).await["campaign"]["status"].clone()
}

/// The inputs that its log has, in their order.
async fn inputs(desk: &Desk, id: i64) -> Vec<Value> {
    let events = desk.get(&format!("/{id}/log?log=events&kind=campaign_changed")).await;
    let inputs = events.as_array().unwrap().iter().map(|event| event["payload"]["input"].clone());
    inputs.filter(|input| !input.is_null()).collect()
}

#[tokio::test]
async fn campaign_takes_each_input_in_the_states_of_the_document_and_refuses_it_in_the_others() {
    let desk = Desk { app: TestApp::start().await };
    let (mut taken, mut refused) = (0, 0);
    for state in STATES {
        for (input, from, to) in INPUTS {
            let id = made(&desk, state).await;
            let before = inputs(&desk, id).await;
            let given = give(&desk, id, input).await;
            let (mut wanted, name) = (before, input.to_string());
            if from.contains(&state) {
                assert_eq!(given, Ok(()), "{name} in {state}");
                wanted.push(json!(name));
                taken += 1;
            } else {
                let why = format!("campaign {id} is {state}; `{name}` is for one that is {}", from.join(" or "));
                assert_eq!(given, Err(why));
                refused += 1;
            }
            let now = if from.contains(&state) { to } else { state };
            assert_eq!(status_of(&desk, id).await, now, "{name} in {state}");
            assert_eq!(inputs(&desk, id).await, wanted, "{name} in {state}");
        }
    }
    assert_eq!((taken, refused), (8, 17));
    desk.app.check_replay().await;
}
