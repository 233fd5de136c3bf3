//! Relay: what its commands cost from a shell, how soon its server is ready, how many messages a
//! second go through, its memory.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use serde_json::json;

use super::door::{TOKEN, ask};
use super::house::House;
use super::model::Model;
use super::postgres::Postgres;
use super::report::Report;
use super::settings::Settings;
use super::times::Times;

/// No limit: the work is measured, not the pace that is kept on purpose.
const PACE: &str = r#"{"contact_gap_seconds": 0, "contact_per_10_minutes": 99999, "channel_per_minute": 99999, "channel_per_day": 99999,
    "first_contacts_per_day": 99999, "quiet_from": "08:00", "quiet_until": "08:00", "i_know": true}"#;
/// Instances that the commands make.
const INSTANCES: usize = 200;
const BUSY: &str = "SELECT (SELECT count(*) FROM turns WHERE ended_at IS NULL)
    + (SELECT count(*) FROM relay_messages WHERE state IN ('queued', 'sending') OR said_by = 'contact' AND turn_id IS NULL)";

pub fn measure(model: &Model, settings: &Settings, report: &mut Report) {
    let mut house = House::with(settings, model, "relay", &[("LEVEL3_RELAY_PACE", PACE)]);
    let cli = Cli::of(&house);
    let mut postgres = Postgres::open(&house.data, "level3");
    let (mut create, count) = (Times::default(), settings.times(INSTANCES));
    for number in 0..count {
        create.add(cli.run(&[
            "create",
            "--contact",
            &address(number),
            "--objective",
            "Arrange a viewing",
            "--todo",
            "Ask for a time",
        ]));
    }
    report.row("relay", &["`relay create`, the whole process", &create.words()]);
    idle(&mut postgres);
    report.row("relay", &[&format!("`relay list`, {INSTANCES} instances"), &list(&cli, settings).words()]);
    report.row("relay", &["messages a second over loopback, each answered", &throughput(&house, &mut postgres, settings)]);
    let mut start = Times::default();
    for _ in 0..settings.times(9) {
        start.add(house.restart());
    }
    report.row("relay", &[&format!("start to ready, {INSTANCES} open instances"), &start.words()]);
    settings.settle(5);
    report.row("relay", &[&format!("memory, idle, {INSTANCES} open instances"), &house.memory().to_string()]);
    let mut postgres = Postgres::open(&house.data, "level3");
    postgres.run(&format!(
        "WITH c AS (INSERT INTO conversations (user_id, profile, created_at)
             SELECT 1, 'contact', now() FROM generate_series({count} + 1, 1000) RETURNING conversation_id)
         INSERT INTO relay_instances (conversation_id, channel, contact, objective, heartbeat_seconds, max_follow_ups, state, created_at, updated_at)
         SELECT conversation_id, 'loopback', '+4915' || lpad(conversation_id::text, 9, '0'), 'Arrange a viewing', 86400, 5,
             'WAITING_FOR_REPLY', now(), now() FROM c"
    ));
    let cli = Cli::of(&house);
    let thousand = list(&cli, settings);
    report.row("relay", &["`relay list`, 1,000 instances", &format!("{} (goal 50 ms)", thousand.words())]);
}

fn address(number: usize) -> String {
    format!("+4917{number:08}")
}

fn list(cli: &Cli, settings: &Settings) -> Times {
    let mut times = Times::default();
    for _ in 0..settings.times(200) {
        times.add(cli.run(&["list"]));
    }
    times
}

/// Waits until no turn is open and the outbox is empty.
fn idle(postgres: &mut Postgres) {
    while postgres.number(BUSY, &[]) > 0 {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
}

/// Every contact writes at once; each message is a turn of the agent, an answer, and its way to the
/// phone.
fn throughput(house: &House, postgres: &mut Postgres, settings: &Settings) -> String {
    let (contacts, began) = (settings.times(INSTANCES), Instant::now());
    for number in 0..contacts {
        let said = json!({"address": address(number), "text": "Yes, Friday is fine"});
        assert_eq!(ask(house.address(), "POST /api/relay/loopback", Some(&said)).0, 200, "the server takes it");
    }
    idle(postgres);
    let seconds = began.elapsed().as_secs_f64();
    format!("{:.0} in and as many out: {contacts} answered in {seconds:.2} s", contacts as f64 / seconds)
}

/// The command `relay` beside the program, with a folder that names the house's server.
struct Cli {
    program: PathBuf,
    home: PathBuf,
}

impl Cli {
    fn of(house: &House) -> Self {
        let place = house.data.parent().unwrap_or(Path::new("."));
        let cli = Self { program: house.program().with_file_name("relay"), home: place.join("relay-agent") };
        let server = format!("http://{}", house.address());
        let mut init =
            cli.command(&["init", "--server", &server]).stdin(Stdio::piped()).spawn().expect("relay is built beside level3");
        init.stdin.take().expect("a pipe").write_all(format!("{TOKEN}\n").as_bytes()).expect("it reads");
        assert!(init.wait().expect("it ends").success(), "relay init");
        cli
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command.args(arguments).env_clear().env("RELAY_HOME", &self.home).stdin(Stdio::null()).stdout(Stdio::null());
        command
    }

    /// The time of the whole process.
    fn run(&self, arguments: &[&str]) -> std::time::Duration {
        let began = Instant::now();
        assert!(self.command(arguments).status().expect("relay runs").success(), "{arguments:?}");
        began.elapsed()
    }
}
