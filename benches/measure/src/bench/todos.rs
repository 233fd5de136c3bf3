//! To-dos by talking: a turn with one function, a name among a thousand tasks, the size of a
//! request, and a sign-in.

use std::time::Instant;

use serde_json::json;

use super::door::ask;
use super::house::House;
use super::model::Model;
use super::postgres::Postgres;
use super::report::Report;
use super::settings::Settings;
use super::times::Times;

/// The password of the owner.
const PASSWORD: &str = "a password of this benchmark";
/// As level3 itself estimates what nobody counted; Qwen2.5 counts about 7 % more.
const TOKEN_BYTES: usize = 4;

pub fn measure(model: &Model, settings: &Settings, report: &mut Report) {
    let house = House::fresh(settings, model, "todos");
    let address = house.address();
    let unlimited = json!({"messages_per_day": null, "voice_minutes_per_month": null});
    assert_eq!(ask(address, "PUT /api/tiers/paid", Some(&unlimited)).0, 200, "the bench says more than a person in a day");
    let (_, made) = ask(address, "POST /api/conversations", Some(&json!({"profile": "lea"})));
    let lea = made["conversation"].as_i64().expect("a conversation");
    let mut client = house.client();
    let mut postgres = Postgres::open(&house.data, "level3");
    let mut tasks = 0;
    for count in [0, 20, 1000] {
        postgres.run(&format!(
            "INSERT INTO tasks (conversation_id, user_id, title, created_at, updated_at)
             SELECT {lea}, 1, 'task ' || n, now(), now() FROM generate_series({}, {count}) n",
            tasks + 1
        ));
        tasks = count;
        let size = || {
            let bytes = model.seen().request.len();
            format!("{bytes} bytes, {} tokens", bytes.div_ceil(TOKEN_BYTES))
        };
        // The first request of a new conversation.
        let (_, made) = ask(address, "POST /api/conversations", Some(&json!({"profile": "lea"})));
        client.turn(made["conversation"].as_i64().expect("a conversation"), "simple");
        report.row("todos", &[&format!("first request of Lea, {count} tasks"), &size()]);
        if count == 0 {
            continue;
        }
        let (mut turn, mut name) = (Times::default(), Times::default());
        for n in 0..settings.times(200) {
            let task = n % count + 1;
            turn.add(client.turn(lea, &format!("rename task {task}")).took());
            name.add(client.turn(lea, &format!("details task {task}")).between(0, 0));
        }
        report.row("todos", &[&format!("turn with one function, {count} tasks"), &turn.words()]);
        report.row("todos", &[&format!("name among {count} tasks, call frame to result frame"), &name.words()]);
    }
    // From here on nobody comes in without saying who they are.
    assert_eq!(ask(address, "PUT /api/me/password", Some(&json!({"password": PASSWORD}))).0, 200, "the first password");
    let mut signed_in = Times::default();
    for _ in 0..settings.times(50) {
        let began = Instant::now();
        assert_eq!(ask(address, "POST /sign-in", Some(&json!({"name": "owner", "password": PASSWORD}))).0, 200, "it is right");
        signed_in.add(began.elapsed());
    }
    report.row("todos", &["sign-in", &signed_in.words()]);
}
