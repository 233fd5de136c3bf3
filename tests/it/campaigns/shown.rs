//! An approval is for what was shown: if another thing would happen by then, the person is asked
//! anew.

use serde_json::json;

use super::Desk;
use crate::support::call;

#[tokio::test]
async fn campaign_artifact_is_asked_about_anew_if_a_person_has_kept_a_version_meanwhile() {
    let wanted = json!({"kind": "artifact_exists", "type": "message", "key": "hello", "min_version": 2});
    let desk = Desk::start(json!([{"description": "Draft it", "requires": [wanted]}])).await;
    desk.app.script([call("generate_message", json!({"task": 1, "key": "hello", "text": "Good day"}))]);
    desk.present().await;
    let first = desk.asked().await;
    assert_eq!(first["shown"]["what"][1], "Keeps the message hello as a draft, version 1; nothing is sent.", "{first}");
    desk.keep("message", "hello", "Dear Ada").await;
    desk.decide(&first, "approve").await;
    let second = desk.asked().await;
    assert_eq!(
        second["shown"]["what"][1],
        "Keeps the message hello as a draft, version 2 after version 1, which stays; nothing is sent.",
        "{second}"
    );
    assert_eq!(desk.app.count("SELECT count(*) FROM artifacts").await, 1, "nothing is kept by the first approval");
    desk.decide(&second, "approve").await;
    desk.app.run_until_idle().await;
    assert_eq!(desk.get("/1").await["campaign"]["status"], "completed");
    assert_eq!(desk.app.count("SELECT count(*) FROM approvals WHERE used_at IS NOT NULL").await, 1);
    desk.check().await;
}
