//! Stories of the commands that the server carries out.

use std::fs;

use serde_json::{Value, json};

use crate::answers::{Answers, instance, message};
use crate::bench::{Bench, STEADY, mode};

#[test]
fn create_prints_the_id_and_nothing_else() {
    let server = Answers::serve(|_| (200, instance(7, "CREATED")));
    let bench = Bench::asking(&server.address);
    let todos = bench.path("todos.txt");
    fs::write(&todos, "Confirm it\n").unwrap();
    let todos = todos.to_str().unwrap();
    let create = ["create", "--contact", "+491701234567", "--objective", "Arrange a viewing", "--todo", "Ask", "--todos", todos];
    let more = ["--heartbeat", "30m", "--max-follow-ups", "3", "--time-zone", "Europe/Berlin", "--key", "viewing-1"];
    assert_eq!(bench.done(&[&create[..], &more].concat()), "7\n");
    let asked = server.asked();
    let (what, body) = asked[0].split_once(" {").unwrap();
    assert_eq!(what, "POST /api/relay/instances");
    let body: Value = serde_json::from_str(&format!("{{{body}")).unwrap();
    let expected = json!({"objective": "Arrange a viewing", "contact": "+491701234567", "todos": ["Ask", "Confirm it"], "channel": "loopback",
        "heartbeat_seconds": 1800, "max_follow_ups": 3, "time_zone": "Europe/Berlin", "key": "viewing-1"});
    assert_eq!(body, expected);
    bench.done(&["templates", "add", "viewing", "--objective", "Ask {{who}}", "--todo", "Greet {{who}}", "--heartbeat", "1h"]);
    assert_eq!(bench.done(&["create", "--contact", "+491701234567", "--template", "viewing", "--var", "who=Ana"]), "7\n");
    let from_template = &server.asked()[0];
    assert!(
        from_template.contains("\"Ask Ana\"") && from_template.contains("\"Greet Ana\"") && from_template.contains("3600"),
        "{from_template}"
    );
    assert!(bench.refused(2, &["create", "--contact", "+491701234567"]).contains("objective is missing"));
    let nobody = bench.refused(1, &["create", "--contact", "+491701234567", "--template", "viewin"]);
    assert!(nobody.contains("there is no template viewin; the nearest is viewing"), "{nobody}");
    assert!(bench.done(&["templates", "list"]).contains("who"));
    assert_eq!(bench.done(&["templates", "remove", "viewing"]), "Removed the template viewing.\n");
    assert_eq!(server.asked(), Vec::<String>::new(), "what is wrong is not asked, and templates need no server");
}

#[test]
fn every_command_asks_what_the_document_says() {
    let server = Answers::serve(|what| {
        let path = what.split(' ').nth(1).unwrap();
        (
            200,
            match path.trim_start_matches("/api/relay") {
                path if path.starts_with("/instances?") => json!({"instances": [instance(7, "PAUSED")], "more": false}),
                "/instances/7/send" => {
                    json!({"message": message(31, "operator", "hello", Some("queued")), "instance": instance(7, "ACTIVE")})
                }
                path if path.starts_with("/messages/") => message(31, "agent", "hello", Some("sent")),
                "/loopback" => json!({"came": "kept", "instance": 7}),
                "/webhooks/1/test" => json!({"ok": false, "status": 500, "error": "it is broken"}),
                path if path.starts_with("/instances/7/transcript") => json!({"instance": 7, "state": "COMPLETED", "messages": [
                message(31, "agent", "Hello", Some("delivered")), message(32, "contact", "\u{1b}[2JIgnore that", None)], "more": false}),
                _ => instance(7, "FAILED"),
            },
        )
    });
    let bench = Bench::asking(&server.address);
    for (arguments, asked, said) in [
        (
            &["list", "--state", "active,paused", "--contact", "+491701234567"][..],
            "GET /api/relay/instances?limit=1000&state=ACTIVE%2CPAUSED&contact=%2B491701234567",
            "PAUSED",
        ),
        (&["get", "7"], "GET /api/relay/instances/7", "[done] Ask for a time"),
        (&["pause", "7"], "POST /api/relay/instances/7/pause {}", "Instance 7 is FAILED."),
        (&["resume", "7"], "POST /api/relay/instances/7/resume {}", "Instance 7 is"),
        (&["cancel", "7"], "POST /api/relay/instances/7/cancel {}", "Instance 7 is"),
        (
            &["send", "7", "hello"],
            "POST /api/relay/instances/7/send {\"text\":\"hello\"}",
            "Message 31 is queued; instance 7 is ACTIVE.",
        ),
        (&["resend", "31"], "POST /api/relay/messages/31/resend {}", "Message 31 is sent."),
        (&["settle", "31", "sent"], "POST /api/relay/messages/31/settle {\"as\":\"sent\"}", "Message 31 is sent."),
        (
            &["loopback", "say", "+491701234567", "hi"],
            "POST /api/relay/loopback {\"address\":\"+491701234567\",\"text\":\"hi\"}",
            "Instance 7 has it.",
        ),
        (&["transcript", "7"], "GET /api/relay/instances/7/transcript?after=0&limit=500", "delivered  [message 31]"),
        (
            &["transcript", "7", "--follow"],
            "GET /api/relay/instances/7/transcript?after=0&limit=500",
            "-- instance 7 is COMPLETED",
        ),
    ] {
        let printed = bench.done(arguments);
        assert!(printed.contains(said) && !printed.contains('\u{1b}'), "{arguments:?}: {printed}");
        assert_eq!(server.asked(), [asked], "{arguments:?}");
    }
    assert!(bench.refused(1, &["webhooks", "test", "1"]).contains("webhook 1 did not take it (500): it is broken"));
}

#[test]
fn a_refusal_of_the_server_decides_the_exit_code() {
    let server = Answers::serve(|what| match what {
        what if what.contains("/instances/9") => (404, json!({"error": "there is no instance 9; the nearest is 7"})),
        what if what.contains("/instances/8") => (401, json!({"error": "no token"})),
        what if what.contains("/pause") => (409, json!({"error": "instance 7 is COMPLETED; only open ones can be paused"})),
        _ => (400, json!({"error": "contact is `49`: expected an address like +491701234567"})),
    });
    let bench = Bench::asking(&server.address);
    assert_eq!(bench.refused(1, &["get", "9"]), "relay: there is no instance 9; the nearest is 7\n");
    assert_eq!(bench.refused(1, &["pause", "7"]), "relay: instance 7 is COMPLETED; only open ones can be paused\n");
    assert!(bench.refused(2, &["create", "--contact", "49", "--objective", "x"]).contains("like +491701234567"));
    assert!(bench.refused(1, &["get", "8"]).contains("does not take the token"));
}

#[test]
fn a_template_that_is_broken_hides_no_other_and_can_be_removed() {
    let bench = Bench::with(STEADY);
    bench.done(&["templates", "add", "viewing", "--objective", "Ask {{ who }}"]);
    for broken in ["{", "[]"] {
        fs::write(bench.path("templates/broken.json"), broken).unwrap();
        let listed = bench.done(&["templates", "list"]);
        assert!(listed.contains("Ask {{ who }}") && listed.contains("cannot be read: "), "{listed}");
        let listed: Value = serde_json::from_str(&bench.done(&["--json", "templates", "list"])).unwrap();
        assert!(listed["templates"][0]["error"].is_string() && listed["templates"][1]["template"].is_object(), "{listed}");
        assert_eq!(bench.done(&["templates", "remove", "broken"]), "Removed the template broken.\n");
    }
    assert!(bench.refused(1, &["templates", "remove", "broken"]).contains("the nearest is viewing"));
}

#[test]
fn help_says_what_a_webhook_with_text_is_told() {
    let help = Bench::with(STEADY).done(&["webhooks", "add", "--help"]);
    assert!(help.contains("reason of each change") && !help.contains("contact's text"), "{help}");
}

#[test]
fn an_export_is_written_once_and_for_nobody_else() {
    let server = Answers::serve(|_| {
        let transcripts = json!({"7": [message(31, "agent", "Hello", Some("sent"))]});
        (200, json!({"instances": [instance(7, "COMPLETED")], "transcripts": transcripts, "settings": {"pace": {}}}))
    });
    let bench = Bench::asking(&server.address);
    let out = bench.path("export");
    let name = out.to_str().unwrap();
    assert_eq!(bench.done(&["export", "7", "--out", name]), format!("Wrote 1 instance into {name}.\n"));
    assert_eq!(server.asked(), ["GET /api/relay/export?instance=7"]);
    let read = |file: &str| serde_json::from_slice::<Value>(&fs::read(out.join(file)).unwrap()).unwrap();
    assert_eq!((&read("instances.json")[0]["id"], &read("transcripts/7.json")[0]["text"]), (&json!(7), &json!("Hello")));
    let config = fs::read_to_string(out.join("config.json")).unwrap();
    assert!(!config.contains(fs::read_to_string(bench.path("token")).unwrap().trim()), "{config}");
    assert_eq!((mode(&out), mode(&out.join("config.json"))), (0o700, 0o600));
    assert!(bench.refused(2, &["export", "--out", name]).contains("is there already"));
}
