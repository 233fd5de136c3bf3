//! The command line against a running server: what it prints, and how it ends.

use level3::domain::ApprovalState;
use serde_json::{Value, json};

use crate::api::two_versions;
use crate::support::api::{Ran, level3, level3_with, waiting_approval};
use crate::support::{ModelServer, TestApp, call, text};

fn done(ran: Ran) -> String {
    assert_eq!(ran.code, 0, "{ran:?}");
    ran.out
}

fn refused(ran: Ran) -> String {
    assert_eq!((ran.code, ran.out.as_str()), (1, ""), "{ran:?}");
    ran.err
}

#[tokio::test]
async fn an_approval_is_listed_shown_whole_and_approved() {
    let app = TestApp::start().await;
    app.rewrites("its question is written by hand");
    assert_eq!(done(level3(&app, &["approvals", "list"]).await), "Nothing waits for you.\n");
    let id = waiting_approval(&app).await.to_string();
    let list = done(level3(&app, &["approvals", "list"]).await);
    assert!(list.contains("pending") && list.contains("Install fetcher."), "{list}");
    let shown = done(level3(&app, &["approvals", "show", &id]).await);
    for part in [
        "Install fetcher.",
        "It asks for a power.",
        "Send requests to a.example.",
        "\"a.example\"",
        "fetch('https://a.example')",
        "Difference to version 1",
        "+new",
        "{\"is\":2,\"was\":1}",
        "\"name\": \"fetcher\"",
        "--always",
    ] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    assert!(!shown.contains('\u{1b}') && shown.contains("hidden"), "nothing acts on the terminal: {shown:?}");
    app.script([text("done")]);
    let said = done(level3(&app, &["approvals", "approve", &id]).await);
    assert!(said.contains(&format!("Approval {id} is approved")), "{said}");
    app.run_until_idle().await;
    let again = refused(level3(&app, &["approvals", "deny", &id, "--reason", "late"]).await);
    assert!(again.contains("a decision is taken once"), "{again}");
    let all: Value = serde_json::from_str(&done(level3(&app, &["--json", "approvals", "list", "--all"]).await)).unwrap();
    assert_eq!((&all["approvals"][0]["state"], &all["approvals"][0]["channel"]), (&json!("approved"), &json!("api")));
}

#[tokio::test]
async fn an_approval_is_denied_with_a_reason() {
    let app = TestApp::start().await;
    app.rewrites("its question is written by hand");
    let id = waiting_approval(&app).await;
    app.script([text("I see.")]);
    done(level3(&app, &["approvals", "deny", &id.to_string(), "--reason", "Not today."]).await);
    app.run_until_idle().await;
    let approval = app.store().owners().approval(id).await.unwrap().unwrap();
    assert_eq!((approval.state, approval.reason.as_deref()), (ApprovalState::Denied, Some("Not today.")));
}

#[tokio::test]
async fn the_value_of_a_secret_comes_from_standard_input_and_goes_nowhere_else() {
    let app = TestApp::start().await;
    let listen = app.address().to_string();
    let here = [("LEVEL3_LISTEN", listen.as_str())];
    let set = level3_with(&here, &["secret", "set", "API_KEY"], "canary-value-1\n").await;
    assert!(set.code == 0 && !set.out.contains("canary") && !set.err.contains("canary"), "{set:?}");
    let list = done(level3(&app, &["secret", "list"]).await);
    assert!(list.contains("API_KEY") && !list.contains("canary"), "{list}");
    let short = level3_with(&here, &["secret", "set", "API_KEY"], "short").await;
    assert!(refused(short).contains("has at least 8"));
    let misnamed = level3_with(&here, &["secret", "set", "api-key"], "long enough").await;
    assert!(refused(misnamed).contains("a capital letter"));
    assert_eq!(done(level3(&app, &["secret", "remove", "API_KEY"]).await), "Removed API_KEY.\n");
    assert!(refused(level3(&app, &["secret", "remove", "API_KEY"]).await).contains("there is no secret"));
    let argument = level3(&app, &["secret", "set", "API_KEY", "value"]).await;
    assert_eq!(argument.code, 2, "{argument:?}");
}

#[tokio::test]
async fn capabilities_are_looked_at_and_changed() {
    let app = two_versions().await;
    let list = done(level3(&app, &["capability", "list"]).await);
    assert!(list.contains("greet") && list.contains("2 of 2") && list.contains("installed"), "{list}");
    let shown = done(level3(&app, &["capability", "show", "greet", "--version", "1"]).await);
    assert!(shown.contains("version 1 (2 is live)") && shown.contains("Nothing outside its sandbox."), "{shown}");
    let source = done(level3(&app, &["capability", "source", "greet"]).await);
    assert_eq!(source, app.store().capability("greet").await.unwrap().unwrap().source);
    let diff = done(level3(&app, &["capability", "diff", "greet"]).await);
    assert!(diff.contains("+export default () => 'good day'"), "{diff}");
    let back = done(level3(&app, &["capability", "rollback", "greet"]).await);
    assert_eq!(back, "greet: version 1 is live, installed.\n");
    assert!(done(level3(&app, &["capability", "disable", "greet"]).await).contains("disabled"));
    assert!(done(level3(&app, &["capability", "enable", "greet"]).await).contains("installed"));
    for (arguments, said) in [
        (vec!["capability", "show", "nobody"], "there is no capability `nobody`"),
        (vec!["capability", "rollback", "greet", "--to", "9"], "no version 9"),
        (vec!["capability", "rollback", "greet"], "no version before 1"),
        (vec!["capability", "install", "nobody"], "no capability `nobody` comes with level3"),
    ] {
        let told = refused(level3(&app, &arguments).await);
        assert!(told.contains(said), "{told}");
    }
}

#[tokio::test]
async fn a_rollback_to_wider_grants_says_which_and_how_to_confirm() {
    let app = two_versions().await;
    app.rewrites("the grants of a version are changed by hand");
    let grants = json!({"log": {}, "clock": {}, "random": {}, "kv": {}});
    sqlx::query("UPDATE capability_versions SET grants = $1 WHERE version = 1")
        .bind(grants)
        .execute(&mut app.behind().await)
        .await
        .unwrap();
    let told = refused(level3(&app, &["capability", "rollback", "greet"]).await);
    assert!(told.contains("--confirm-grants") && told.contains("Keep values of its own between calls."), "{told}");
    done(level3(&app, &["capability", "rollback", "greet", "--confirm-grants"]).await);
}

#[tokio::test]
async fn a_capability_goes_out_as_a_folder_and_comes_in_again() {
    let app = two_versions().await;
    app.rewrites("the grants of a version are changed by hand");
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().join("greet");
    let folder = folder.to_str().unwrap();
    let written = done(level3(&app, &["capability", "export", "greet", "--out", folder]).await);
    assert!(written.contains("capability.json") && written.contains("source.js"), "{written}");
    assert!(refused(level3(&app, &["capability", "export", "greet", "--out", folder]).await).contains("capability.json"));
    let imported = done(level3(&app, &["capability", "import", folder]).await);
    assert_eq!(imported, "Installed greet, version 3.\n");
    std::fs::write(place.path().join("greet/source.js"), "export default () => 1\n\nlet a = ;").unwrap();
    let broken = refused(level3(&app, &["capability", "import", folder]).await);
    assert!(broken.contains("unexpected token") && broken.contains("The place in the source: line 3, column 9"), "{broken}");
    assert_eq!(done(level3(&app, &["capability", "test", "greet"]).await), "greet, version 3: it has no tests.\n");
    let described = place.path().join("greet/capability.json");
    let mut description: Value = serde_json::from_slice(&std::fs::read(&described).unwrap()).unwrap();
    description["tests"] = json!([{"params": {}, "expect": "good day"}]);
    std::fs::write(&described, description.to_string()).unwrap();
    std::fs::write(place.path().join("greet/source.js"), "export default () => 'good day'").unwrap();
    done(level3(&app, &["capability", "import", folder]).await);
    assert_eq!(done(level3(&app, &["capability", "test", "greet"]).await), "greet, version 4: 1 of its 1 tests hold.\n");
    let expects = "UPDATE capability_versions SET tests = '[{\"params\": {}, \"expect\": \"bye\"}]' WHERE version = 4";
    sqlx::query(expects).execute(&mut app.behind().await).await.unwrap();
    let failing = level3(&app, &["capability", "test", "greet"]).await;
    assert!(failing.code == 1 && failing.out.contains("good day") && failing.err.contains("1 of the tests"), "{failing:?}");
    let nowhere = level3(&app, &["capability", "import", "nowhere"]).await;
    assert!(nowhere.code == 2 && nowhere.err.contains("neither a folder"), "{nowhere:?}");
}

#[tokio::test]
async fn a_component_comes_in_as_a_wasm_file_and_goes_out_as_the_same() {
    let app = TestApp::start().await;
    let place = tempfile::tempdir().unwrap();
    let component = wat::parse_str(include_str!("../../capabilities/examples/echo/source.wat")).unwrap();
    let file = place.path().join("echo.wasm");
    std::fs::write(&file, &component).unwrap();
    let import = ["capability", "import", file.to_str().unwrap(), "--name", "echo", "--description", "Echoes.", "--grants", "{}"];
    let missing = level3(&app, &import).await;
    assert!(missing.code == 2 && missing.err.contains("--parameters"), "{missing:?}");
    let import = [&import[..], &["--parameters", r#"{"type": "object"}"#]].concat();
    assert_eq!(done(level3(&app, &import).await), "Installed echo, version 1.\n");
    app.script([call("echo", json!({"a": 1})), text("done")]);
    app.connect().await.ask("echo").await;
    assert_eq!(app.count(r#"SELECT count(*) FROM messages WHERE role = 'tool' AND content = '{"a":1}'"#).await, 1);
    let out = place.path().join("out");
    done(level3(&app, &["capability", "export", "echo", "--out", out.to_str().unwrap()]).await);
    assert_eq!(std::fs::read(out.join("source.wasm")).unwrap(), component);
}

#[tokio::test]
async fn an_import_that_asks_for_a_power_shows_what_it_waits_for() {
    let app = TestApp::start().await;
    app.leaves("nobody decides its question");
    let place = tempfile::tempdir().unwrap();
    let described = json!({"name": "counter", "description": "Counts.", "parameters": {"type": "object"}, "grants": {"kv": {}}});
    std::fs::write(place.path().join("capability.json"), described.to_string()).unwrap();
    std::fs::write(place.path().join("source.js"), "export default () => 1").unwrap();
    let waits = done(level3(&app, &["capability", "import", place.path().to_str().unwrap()]).await);
    assert!(waits.contains("waits for your decision") && waits.contains("Keep values of its own between calls."), "{waits}");
    assert!(waits.contains("level3 approvals approve"), "{waits}");
    let id = app.count("SELECT max(approval_id) FROM approvals").await.to_string();
    let always = level3(&app, &["approvals", "approve", &id, "--always"]).await;
    assert_eq!((always.code, always.err.contains("approve it without --always")), (2, true), "{always:?}");
    assert_eq!(app.count("SELECT count(*) FROM approvals WHERE state = 'pending'").await, 1, "nothing was decided");
}

#[tokio::test]
async fn an_import_behind_another_question_says_behind_which_and_goes_on_once_that_is_decided() {
    let app = TestApp::start().await;
    let written = json!({"name": "counter", "description": "Counts.", "code": "export default () => 1",
        "parameters_schema": {"type": "object"}, "grants": {"kv": {}}});
    app.script([call("write_capability", written), text("I see.")]);
    let mut client = app.connect().await;
    client.say("count for me").await;
    let asking = client.asked().await;
    let place = tempfile::tempdir().unwrap();
    let described = json!({"name": "one", "description": "One.", "parameters": {"type": "object"}, "grants": {}});
    std::fs::write(place.path().join("capability.json"), described.to_string()).unwrap();
    std::fs::write(place.path().join("source.js"), "export default () => 1").unwrap();
    let waits = done(level3(&app, &["capability", "import", place.path().to_str().unwrap()]).await);
    assert!(waits.contains("behind another question") && waits.contains("Keep values of its own between calls."), "{waits}");
    assert!(waits.contains(&format!("level3 approvals approve {}", asking["id"])), "{waits}");
    client.deny(&asking).await;
    app.run_until_idle().await;
    assert_eq!(app.count("SELECT count(*) FROM capabilities WHERE name = 'one' AND state = 'installed'").await, 1);
    assert_eq!(app.count("SELECT count(*) FROM turns").await, 2, "the order was queued once");
}

#[tokio::test]
async fn policy_usage_and_rates_are_set_and_printed() {
    let app = TestApp::start().await;
    assert!(done(level3(&app, &["policy", "show"]).await).contains("Profile builder: mode smart, governor off"));
    assert!(done(level3(&app, &["policy", "mode", "ask"]).await).contains("mode ask"));
    assert!(done(level3(&app, &["policy", "governor", "on"]).await).contains("mode ask, governor on"));
    assert!(done(level3(&app, &["policy", "rule", "restart", "never"]).await).contains("restart: never"));
    assert!(!done(level3(&app, &["policy", "rule", "restart", "none"]).await).contains("restart"));
    assert!(done(level3(&app, &["policy", "budget", "day", "steps", "50"]).await).contains("steps 50"));
    let fewer = done(level3(&app, &["policy", "budget", "tasks", "turns_per_hour", "5"]).await);
    assert!(fewer.contains("tasks: percent_of_day 50, turns_per_hour 5"), "{fewer}");
    let unlimited = done(level3(&app, &["policy", "budget", "turn", "wall_seconds", "none"]).await);
    assert!(!unlimited.contains("wall_seconds") && unlimited.contains("steps 50"), "{unlimited}");
    let other = done(level3(&app, &["policy", "show", "--profile", "mcp"]).await);
    assert!(other.contains("Profile mcp: mode smart, governor off"), "{other}");
    let nobody = level3(&app, &["policy", "show", "--profile", "nobody"]).await;
    assert!(
        nobody.code != 0
            && nobody
                .err
                .contains("there is no profile `nobody`; there are: builder, campaign, contact, law, lea, mcp, operator"),
        "{nobody:?}"
    );
    let wrong = level3(&app, &["policy", "mode", "wild"]).await;
    assert!(wrong.code == 2 && wrong.err.contains("auto, smart, ask, read_only"), "{wrong:?}");
    assert!(done(level3(&app, &["rates", "set", "maker/model", "2.50", "10"]).await).contains("$2.50"));
    assert!(done(level3(&app, &["rates", "list"]).await).contains("maker/model"));
    assert!(done(level3(&app, &["rates", "remove", "maker/model"]).await).contains("No rates are set"));
    assert!(refused(level3(&app, &["rates", "remove", "maker/model"]).await).contains("no rate is set for `maker/model`"));
    app.script([text("hi")]);
    app.connect().await.ask("hello").await;
    let usage = done(level3(&app, &["usage"]).await);
    assert!(usage.contains("today") && usage.contains("scripted") && usage.contains("unknown"), "{usage}");
    let usage: Value = serde_json::from_str(&done(level3(&app, &["usage", "--json"]).await)).unwrap();
    assert_eq!(usage["today"]["requests"], 1);
}

#[tokio::test]
async fn a_token_goes_to_no_program_that_merely_listens_at_the_address() {
    let foreign = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    foreign.set_nonblocking(true).unwrap();
    let address = foreign.local_addr().unwrap().to_string();
    let folder = tempfile::tempdir().unwrap();
    // A server ran here once.
    std::fs::write(folder.path().join("server.lock"), "").unwrap();
    let data = folder.path().to_str().unwrap();
    let settings = [("LEVEL3_LISTEN", &*address), ("LEVEL3_TOKEN", "s3cret"), ("LEVEL3_DATA_DIR", data)];
    let told = refused(level3_with(&settings, &["approvals", "list"], "").await);
    assert!(told.contains("no level3 runs on the data folder") && told.contains("--url"), "{told}");
    assert!(foreign.accept().is_err(), "the foreign program was asked");
    let app = TestApp::with(&[("LEVEL3_TOKEN", "s3cret")]).await;
    let address = app.address().to_string();
    let data = app.data().to_str().unwrap();
    let settings = [("LEVEL3_LISTEN", &*address), ("LEVEL3_TOKEN", "s3cret"), ("LEVEL3_DATA_DIR", data)];
    assert_eq!(done(level3_with(&settings, &["approvals", "list"], "").await), "Nothing waits for you.\n");
}

#[tokio::test]
async fn a_server_that_is_not_there_or_wants_a_token_is_said_so() {
    let nobody = level3_with(&[("LEVEL3_LISTEN", "127.0.0.1:1")], &["approvals", "list"], "").await;
    assert!(refused(nobody).contains("./run.sh"));
    let app = TestApp::with(&[("LEVEL3_TOKEN", "s3cret")]).await;
    assert!(refused(level3(&app, &["approvals", "list"]).await).contains("LEVEL3_TOKEN"));
    let url = format!("http://{}", app.address());
    let with = level3_with(&[("LEVEL3_TOKEN", "s3cret")], &["--url", &url, "approvals", "list"], "").await;
    assert_eq!(done(with), "Nothing waits for you.\n");
    let other = ModelServer::start(|_, _| json!({})).await;
    let other = level3_with(&[], &["--url", &format!("http://{}", other.address), "approvals", "list"], "").await;
    assert!(refused(other).contains("is no level3 of this version (404)"));
    let strange = level3_with(&[], &["--url", "ftp://127.0.0.1", "approvals", "list"], "").await;
    assert!(strange.code == 2 && strange.err.contains("no address of a server"), "{strange:?}");
}
