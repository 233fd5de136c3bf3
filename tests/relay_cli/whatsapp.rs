//! `relay init --channel whatsapp`: the program is found, built or named, and gets the person's
//! consent. Program and cargo are small scripts.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::answers::Answers;
use crate::bench::{Bench, STEADY, mode};

/// A WhatsApp program that keeps what it was called with, and records a consent as the real one
/// does.
const PROGRAM: &str = r#"#!/bin/sh
echo "$@" >> "$(dirname "$0")/calls"
if [ "$1" = consent ]; then echo '{}' > "$3/consent.json"; fi
"#;

fn script(path: &Path, body: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, body).unwrap();
    fs::set_permissions(path, PermissionsExt::from_mode(0o755)).unwrap();
}

/// A folder of Relay whose server says that WhatsApp is online.
fn bench() -> (Answers, Bench) {
    bench_that_says("online", Value::Null)
}

/// The same with another state. `relay` lies in a folder of the test's own, so that it finds
/// nothing of ours.
fn bench_that_says(state: &'static str, reason: Value) -> (Answers, Bench) {
    let used =
        json!({"minute": 0, "minute_limit": 20, "day": 0, "day_limit": 300, "first_contacts_day": 0, "first_contacts_limit": 10});
    let channel = json!({"name": "whatsapp", "state": state, "qr": null, "address": "+491711111111", "reason": reason, "until": null,
        "no_first_contacts": null, "used": used, "dropped": {}, "strangers": 0});
    let server = Answers::serve(move |_| (200, json!({"channels": [channel]})));
    let mut bench = Bench::with(STEADY);
    let relay = bench.place.path().join("clone/target/debug/relay");
    fs::create_dir_all(relay.parent().unwrap()).unwrap();
    let built = env!("CARGO_BIN_EXE_relay");
    fs::hard_link(built, &relay).or_else(|_| fs::copy(built, &relay).map(drop)).unwrap();
    bench.relay = Some(relay);
    bench.done(&["init", "--listen", &server.address]);
    (server, bench)
}

fn config(bench: &Bench) -> Value {
    serde_json::from_slice(&fs::read(bench.path("config.json")).unwrap()).unwrap()
}

fn beside(bench: &Bench) -> PathBuf {
    bench.place.path().join("clone/target/debug/level3-whatsapp")
}

#[test]
fn the_program_beside_relay_gets_the_consent_and_is_linked() {
    let (_server, bench) = bench();
    script(&beside(&bench), PROGRAM);
    let linked = bench.done(&["init", "--channel", "whatsapp", "--consent"]);
    assert!(linked.contains("WhatsApp is linked as +491711111111"), "{linked}");
    let folder = bench.path("data/channels/whatsapp");
    let calls = fs::read_to_string(beside(&bench).with_file_name("calls")).unwrap();
    assert_eq!(calls, format!("consent --folder {} --accept-risk\n", folder.display()));
    assert_eq!((folder.join("consent.json").is_file(), mode(&folder)), (true, 0o700));
    let whatsapp = config(&bench)["whatsapp"].clone();
    assert_eq!(whatsapp["program"], beside(&bench).canonicalize().unwrap().to_str().unwrap());
    assert!(whatsapp["consent_at"].is_string(), "{whatsapp}");
    // A second look at the link asks for nothing.
    bench.done(&["init", "--channel", "whatsapp"]);
    assert_eq!(fs::read_to_string(beside(&bench).with_file_name("calls")).unwrap(), calls);
    // A program that lost its record is asked for it again, and nobody agrees in a person's place.
    fs::remove_file(folder.join("consent.json")).unwrap();
    assert!(bench.refused(1, &["init", "--channel", "whatsapp"]).contains("--consent"));
    bench.done(&["stop"]);
}

#[test]
fn codes_that_ran_out_end_the_wait_for_a_phone() {
    for reason in ["unscanned", "unscanned: nobody scanned a code"] {
        let (_server, bench) = bench_that_says("logged_out", json!(reason));
        script(&beside(&bench), PROGRAM);
        let ended = bench.run(&["init", "--channel", "whatsapp", "--consent"]);
        assert!(ended.code == 1 && ended.err.contains("nobody scanned any of the codes"), "{ended:?}");
        assert!(ended.err.contains("relay stop, then relay init --channel whatsapp"), "{ended:?}");
        bench.done(&["stop"]);
    }
}

#[test]
fn a_program_that_does_not_take_the_consent_is_not_linked() {
    let (_server, bench) = bench();
    script(&beside(&bench), "#!/bin/sh\necho 'no such command' >&2\nexit 2\n");
    let refused = bench.refused(1, &["init", "--channel", "whatsapp", "--consent"]);
    assert!(refused.contains("does not take the consent: no such command"), "{refused}");
    assert_eq!(config(&bench)["whatsapp"]["consent_at"], Value::Null);
}

#[test]
fn the_program_is_built_where_the_sources_are_once_a_person_wants_it() {
    let (_server, mut bench) = bench();
    let package = bench.place.path().join("clone/channels/whatsapp");
    let none = bench.refused(1, &["init", "--channel", "whatsapp", "--consent"]);
    assert!(none.contains("no sources to build it from") && none.contains("--channel loopback"), "{none}");
    fs::create_dir_all(&package).unwrap();
    fs::write(package.join("Cargo.toml"), "").unwrap();
    // Without cargo.
    let tools = bench.place.path().join("tools");
    fs::create_dir_all(&tools).unwrap();
    for tool in ["sh", "mkdir", "cp", "dirname", "sleep", "cat", "env", "bash"] {
        std::os::unix::fs::symlink(which(tool), tools.join(tool)).unwrap();
    }
    bench.search = Some(tools.clone());
    let no_cargo = bench.refused(1, &["init", "--channel", "whatsapp", "--consent", "--build-whatsapp"]);
    assert!(no_cargo.contains("https://rustup.rs") && no_cargo.contains("--channel loopback"), "{no_cargo}");
    // With one; `$7` is the folder it builds in.
    script(&bench.place.path().join("ready"), PROGRAM);
    let ready = bench.place.path().join("ready");
    let cargo = format!(
        "#!/bin/sh\n[ \"$1\" = build ] || exit 0\necho \"$@\" >> '{}'\nmkdir -p \"$7/release\"\ncp '{}' \"$7/release/level3-whatsapp\"\n",
        tools.join("asked").display(),
        ready.display()
    );
    script(&tools.join("cargo"), &cargo);
    let asks = bench.refused(1, &["init", "--channel", "whatsapp", "--consent"]);
    assert!(asks.contains("12 minutes") && asks.contains("--build-whatsapp"), "{asks}");
    assert!(!tools.join("asked").exists());
    bench.done(&["init", "--channel", "whatsapp", "--consent", "--build-whatsapp"]);
    let asked = fs::read_to_string(tools.join("asked")).unwrap();
    let manifest = package.join("Cargo.toml");
    assert!(asked.starts_with(&format!("build --release --locked --manifest-path {}", manifest.display())), "{asked}");
    assert!(
        config(&bench)["whatsapp"]["program"].as_str().unwrap().ends_with("channels/whatsapp/target/release/level3-whatsapp")
    );
    // It is there now.
    bench.done(&["init", "--channel", "whatsapp", "--consent", "--build-whatsapp"]);
    assert_eq!(fs::read_to_string(tools.join("asked")).unwrap(), asked);
    bench.done(&["stop"]);
}

#[test]
fn a_pace_below_the_floor_needs_a_person_who_knows() {
    let bench = Bench::with(STEADY);
    let lax = bench.refused(2, &["init", "--pace", "channel_per_minute=60"]);
    assert!(lax.contains("`channel_per_minute` is 60, and 20 is what") && lax.contains("or add --i-know"), "{lax}");
    assert!(bench.refused(2, &["init", "--pace", "channel_per_minutes=6"]).contains("is no setting of the pace"));
    assert!(bench.refused(2, &["init", "--pace", "fast"]).contains("like contact_gap_seconds=5"));
    bench.done(&["init", "--pace", "channel_per_day=100", "--pace", "quiet_from=20:00"]);
    assert_eq!(config(&bench)["pace"], json!({"channel_per_day": 100, "quiet_from": "20:00"}));
    bench.done(&["init", "--pace", "channel_per_minute=60", "--i-know"]);
    let known = json!({"channel_per_day": 100, "quiet_from": "20:00", "channel_per_minute": 60, "i_know": true});
    assert_eq!(config(&bench)["pace"], known);
}

#[test]
fn a_pace_that_is_loosened_further_needs_the_word_again() {
    let bench = Bench::with(STEADY);
    bench.done(&["init", "--pace", "contact_gap_seconds=1", "--i-know"]);
    let agreed = json!({"contact_gap_seconds": 1, "i_know": true});
    let further = bench.refused(2, &["init", "--pace", "contact_per_10_minutes=100"]);
    assert!(further.contains("`contact_per_10_minutes` is 100") && further.contains("or add --i-know"), "{further}");
    assert!(bench.refused(2, &["init", "--pace", "contact_gap_seconds=0"]).contains("`contact_gap_seconds` is 0"));
    assert_eq!(config(&bench)["pace"], agreed);
    // It stays as agreed, and may be any that is usual.
    bench.done(&["init", "--listen", "127.0.0.1:2"]);
    bench.done(&["init", "--pace", "channel_per_day=100"]);
    bench.done(&["init", "--pace", "channel_per_day=300", "--pace", "contact_gap_seconds=1"]);
    assert_eq!(config(&bench)["pace"], json!({"contact_gap_seconds": 1, "channel_per_day": 300, "i_know": true}));
    bench.done(&["init", "--pace", "contact_gap_seconds=2"]);
    assert_eq!(config(&bench)["pace"], json!({"contact_gap_seconds": 2, "channel_per_day": 300}));
    bench.refused(2, &["init", "--pace", "contact_gap_seconds=1"]);
}

#[test]
fn a_lax_pace_that_was_written_by_hand_needs_the_word_and_takes_it() {
    let bench = Bench::with(STEADY);
    fs::write(bench.path("config.json"), r#"{"pace": {"channel_per_day": 900}}"#).unwrap();
    assert!(bench.refused(2, &["start"]).contains("say: relay init --i-know"));
    bench.refused(2, &["init"]);
    bench.done(&["init", "--i-know"]);
    assert_eq!(config(&bench)["pace"], json!({"channel_per_day": 900, "i_know": true}));
}

/// The place of a tool.
#[expect(clippy::disallowed_methods, reason = "a test finds tools by PATH")]
fn which(tool: &str) -> PathBuf {
    let path = std::env::var("PATH").unwrap();
    path.split(':').map(|folder| Path::new(folder).join(tool)).find(|found| found.is_file()).unwrap_or_else(|| panic!("{tool}"))
}
