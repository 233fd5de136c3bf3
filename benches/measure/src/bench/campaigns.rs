//! Campaigns: a cycle beside a simple turn and its commits, the size of a snapshot, scoring, one
//! that waits, scripts in both languages.

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::campaign_pages;
use super::door::ask;
use super::floors::Floors;
use super::house::House;
use super::model::Model;
use super::postgres::Postgres;
use super::report::{Report, ratio};
use super::script::PROPOSALS;
use super::settings::Settings;
use super::times::{Times, milliseconds};

/// Commits of a cycle: its request, its answer, the effect, its end, which takes the next one up.
const CYCLE_COMMITS: f64 = 4.0;
/// Cycles that are measured.
const CYCLES: usize = 200;
const LEADS: usize = 10_000;
/// The seconds between two signs that somebody is there.
const SIGN: Duration = Duration::from_secs(15);
const OPEN_TURNS: &str = "SELECT count(*) FROM turns WHERE ended_at IS NULL";

/// A campaign of a house, and those who work on it.
pub struct Outreach<'a> {
    pub house: &'a House,
    pub id: i64,
}

impl<'a> Outreach<'a> {
    /// Makes one with so many tasks that nothing finishes, and what a person keeps for it.
    pub fn make(house: &'a House, tasks: usize, kept: &[(&str, &str, &str)]) -> Self {
        let never = json!([{"kind": "artifact_exists", "type": "file", "key": "never"}]);
        let task = |n: usize| json!({"description": format!("Look for somebody who would like the flat, street {n}"), "requires": never});
        let tasks: Vec<_> = (1..=tasks).map(task).collect();
        let (status, made) = ask(house.address(), "POST /api/campaigns", Some(&json!({"name": "Outreach", "tasks": tasks})));
        assert_eq!(status, 200, "{made}");
        let campaign = Self { house, id: made["id"].as_i64().expect("a number") };
        for (kind, key, content) in kept {
            campaign.post("artifacts", &json!({"type": kind, "key": key, "content": content}));
        }
        campaign
    }

    /// One order of a person.
    pub fn post(&self, path: &str, body: &Value) -> Value {
        let (status, told) = ask(self.house.address(), &format!("POST /api/campaigns/{}/{path}", self.id), Some(body));
        assert_eq!(status, 200, "{path}: {told}");
        told
    }

    /// Lets so many of a kind be done without a question.
    pub fn allow(&self, kind: &str, count: usize) {
        let until = chrono::Utc::now() + chrono::TimeDelta::hours(20);
        for left in (0..count).step_by(50) {
            self.post("contexts", &json!({"kind": kind, "count": (count - left).min(50), "until": until.to_rfc3339()}));
        }
    }

    /// Plays these proposals, one a cycle, while somebody is there. Returns when the last has its
    /// end; the campaign is paused then, so that it takes none of another.
    pub fn play(&self, proposals: Vec<(&str, Value)>) {
        let proposals = proposals.into_iter().map(|(name, arguments)| (name.to_owned(), arguments));
        PROPOSALS.lock().expect("nobody panics with it").extend(proposals);
        let mut postgres = Postgres::open(&self.house.data, "level3");
        let mut signed: Option<Instant> = None;
        while !PROPOSALS.lock().expect("nobody panics with it").is_empty() || postgres.number(OPEN_TURNS, &[]) > 0 {
            if signed.is_none_or(|at| at.elapsed() > SIGN) {
                self.post("present", &json!({}));
                signed = Some(Instant::now());
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        self.post("pause", &json!({}));
        let of = |state: &str| {
            format!(
                "SELECT count(*) FROM tool_calls k JOIN turns t USING (turn_id) JOIN campaigns c USING (conversation_id)
                 WHERE c.id = {} AND k.state {state} 'done'",
                self.id
            )
        };
        let [done, failed] = ["=", "<>"].map(|state| postgres.numbers(&of(state))[0]);
        // Those that failed are not in the figures, and are told.
        let told = "SELECT coalesce(string_agg(payload #>> '{outcome,result}', '; '), '') FROM events
                    WHERE kind = 'tool_call_ended' AND payload #>> '{outcome,ok}' = 'false'";
        if failed > 0 {
            eprintln!("  {failed} of {} calls failed: {}", done + failed, postgres.text(told));
        }
        assert!(failed * 4 <= done, "most calls that are measured do their work");
    }
}

pub fn measure(model: &Model, floors: &mut Floors, settings: &Settings, report: &mut Report) {
    let house = House::fresh(settings, model, "campaigns");
    floors.connect(&house);
    cycles(&house, floors, settings, report);
    snapshots(&house, settings, report);
    waiting(&house, model, settings, report);
    scripts(&house, settings, report);
    drop(house);
    campaign_pages::measure(model, settings, report);
}

/// A cycle that keeps an artifact, beside simple turns and inserts of the same minutes.
fn cycles(house: &House, floors: &mut Floors, settings: &Settings, report: &mut Report) {
    let (mut client, conversation) = (house.client(), house.conversation());
    let (mut insert, mut simple) = (Times::default(), Times::default());
    let mut beside = |times: usize| {
        for _ in 0..times {
            insert.add(floors.insert());
            simple.add(client.turn(conversation, "simple").took());
        }
    };
    let count = settings.times(CYCLES);
    let campaign = Outreach::make(house, 3, &[]);
    campaign.allow("persist", count + 1);
    campaign.post("start", &json!({}));
    beside(count / 2 + 1);
    let keeps = |n: usize| ("persist_artifact", json!({"type": "heuristic", "key": "note", "content": format!("Be brief, {n}")}));
    campaign.play((0..=count).map(keeps).collect());
    beside(count / 2 + 1);
    let cycle = Times::of_micros(&periods(&mut Postgres::open(&house.data, "level3"), campaign.id));
    let floor = CYCLE_COMMITS * insert.p50();
    let share = format!(
        "{} of {}; {} its {CYCLE_COMMITS} commits as inserts (goal 3 ×)",
        cycle.words(),
        cycle.count(),
        ratio(cycle.p50() / floor)
    );
    report.row("campaigns", &["a cycle that keeps an artifact", &share]);
    report.row("campaigns", &["a simple turn, before and after them", &simple.words()]);
    report.row("campaigns", &["insert, committed, before and after them", &insert.words()]);
}

/// The snapshot of one with so many tasks and 10,000 leads, and their scoring.
fn snapshots(house: &House, settings: &Settings, report: &mut Report) {
    let leads = if settings.quick { 100 } else { LEADS };
    let rows: String =
        (0..leads).map(|n| format!("Person {n},https://x.example/{n},{}\n", if n % 3 == 0 { "CTO" } else { "Cook" })).collect();
    let csv = json!({"csv": format!("full_name,profile_url,title\n{rows}")});
    for tasks in [1, 50, 200] {
        let campaign = Outreach::make(house, tasks, &[]);
        let began = Instant::now();
        campaign.post("leads", &csv);
        let imported = began.elapsed();
        let (mut times, mut bytes) = (Times::default(), 0);
        for _ in 0..settings.times(20) {
            let began = Instant::now();
            let (_, state) = ask(house.address(), &format!("GET /api/campaigns/{}/state", campaign.id), None);
            times.add(began.elapsed());
            bytes = state["snapshot"].as_str().expect("a snapshot").len();
        }
        let figure = format!("{bytes} bytes; state and snapshot by the API {}", times.words());
        report.row("campaigns", &[&format!("snapshot, {tasks} tasks and {leads} leads"), &figure]);
        if tasks > 1 {
            continue;
        }
        report.row("campaigns", &[&format!("import of {leads} leads"), &milliseconds(imported.as_secs_f64() * 1e3)]);
        let mut scored = Times::default();
        for weight in 1..=settings.times(5) {
            let config = json!({"rules": [{"attribute": "title", "equals": "CTO", "weight": weight}]}).to_string();
            let began = Instant::now();
            campaign.post("artifacts", &json!({"type": "lead_scoring_config", "key": "scores", "content": config}));
            scored.add(began.elapsed());
        }
        report.row("campaigns", &[&format!("scoring of {leads} leads by a new config, with its events"), &scored.words()]);
    }
}

/// The processor's time and the model requests of a campaign for which nobody is there.
fn waiting(house: &House, model: &Model, settings: &Settings, report: &mut Report) {
    let campaign = Outreach::make(house, 3, &[]);
    campaign.post("start", &json!({}));
    // Signs of those that worked before are over by then.
    settings.settle(45);
    let (arrived, before, lasting) = (model.seen().arrived, house.processor(), settings.lasting(600));
    std::thread::sleep(lasting);
    let after = house.processor();
    let asked = if model.seen().arrived == arrived { "no model request" } else { "**model requests**" };
    let figure = format!("{asked}; level3 {:.0} ms, Postgres {:.0} ms", after.0 - before.0, after.1 - before.1);
    report.row(
        "campaigns",
        &[&format!("one that waits, in {} s: processor's time of the whole server", lasting.as_secs()), &figure],
    );
}

/// Runs of a script that does nothing, in both languages.
fn scripts(house: &House, settings: &Settings, report: &mut Report) {
    let count = settings.times(100);
    let mut languages = vec![("JavaScript", "js_script")];
    match std::env::var_os("BENCH_PYTHON").map(PathBuf::from) {
        Some(component) => {
            let mut install = Command::new(house.program());
            install.args(["python", "install", "--file"]).arg(component).env("LEVEL3_DATA_DIR", &house.data).stdin(Stdio::null());
            assert!(install.status().expect("the program runs").success(), "Python is installed");
            languages.push(("Python", "python_script"));
        }
        None => report
            .row("campaigns", &["a script in Python", "not measured: BENCH_PYTHON=FILE names its component, 1 of 2 languages"]),
    }
    for (language, kind) in languages {
        let campaign = Outreach::make(house, 1, &[(kind, "one", "return 1")]);
        campaign.allow("script", count + 1);
        campaign.post("start", &json!({}));
        let runs = |n: usize| {
            ("execute_tool", json!({"tool": "run_script", "arguments": {"script": format!("{kind}/one"), "input": n}}))
        };
        campaign.play((0..=count).map(runs).collect());
        let mut postgres = Postgres::open(&house.data, "level3");
        let took = calls(&mut postgres, campaign.id, "run_script");
        // The first compiles.
        let (first, rest) = took.split_first().expect("it ran");
        let figure = format!("{}; the first {}", Times::of_micros(rest).words(), milliseconds(*first as f64 / 1e3));
        report
            .row("campaigns", &[&format!("call of a script in {language} that returns 1: instance, run and judgement"), &figure]);
    }
}

/// From the end of the cycle before to the end of each that kept something, in microseconds.
fn periods(postgres: &mut Postgres, campaign: i64) -> Vec<i64> {
    postgres.numbers(&format!(
        "SELECT took FROM (SELECT sequence, (extract(epoch FROM e.created_at - lag(e.created_at) OVER (ORDER BY sequence)) * 1e6)::bigint AS took
             FROM events e JOIN campaigns c USING (conversation_id)
             WHERE c.id = {campaign} AND kind = 'cycle_ended' AND payload ->> 'proposal' <> 'no_op') ended
         WHERE took IS NOT NULL ORDER BY sequence"
    ))
}

/// The times of the calls of a tool, in microseconds, in their order.
pub fn calls(postgres: &mut Postgres, campaign: i64, tool: &str) -> Vec<i64> {
    postgres.numbers(&format!(
        "SELECT (extract(epoch FROM k.ended_at - k.created_at) * 1e6)::bigint FROM tool_calls k JOIN turns t USING (turn_id)
         JOIN campaigns c USING (conversation_id)
         WHERE c.id = {campaign} AND k.state = 'done' AND k.name = 'execute_tool' AND k.arguments::jsonb ->> 'tool' = '{tool}' ORDER BY tool_call_id"
    ))
}
