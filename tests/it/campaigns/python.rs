//! Python scripts of campaigns. `scripts/python-component` builds the component; without it these
//! stories are skipped, loudly, and never under `CI=true`.

use std::collections::BTreeSet;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use level3::clock::SeededRandom;
use level3::domain::ToolCallId;
use level3::domain::campaign::script::ScriptLanguage;
use level3::sandbox::{InstalledPython, PythonError, Sandbox, SandboxLimits, ScriptEnd, ScriptLimits, ScriptText};
use reqwest::Method;
use serde_json::{Value, json};
use tokio::sync::OnceCell;

use super::Desk;
use super::scripts::wants;
use crate::support::{TestApp, call, permit, share_engine, text};

const PYTHON: &str = "import csv\nrows = list(csv.DictReader(open('people')))\nlog('summed', len(rows))\nreturn sum(int(row['age']) for row in rows)";
const JAVASCRIPT: &str = "const rows = files.people.trim().split('\\n').slice(1);\nlog('summed', rows.length);\nreturn rows.reduce((sum, row) => sum + Number(row.split(',')[1]), 0)";

/// A folder with the component, compiled once for all tests. `None`: it is not built.
pub(super) async fn python() -> Option<&'static Path> {
    static INSTALLED: OnceCell<Option<PathBuf>> = OnceCell::const_new();
    INSTALLED.get_or_init(install).await.as_deref()
}

async fn install() -> Option<PathBuf> {
    let made = Path::new(env!("CARGO_TARGET_TMPDIR")).with_file_name("python");
    let recipe = Path::new(env!("CARGO_MANIFEST_DIR")).join("capabilities/python");
    let wanted = ["build.sh", "requirements.txt", "python.wit", "app.py"].map(|name| std::fs::read(recipe.join(name)).unwrap());
    if std::fs::read(made.join("recipe")).unwrap_or_default() != wanted.concat() {
        assert!(std::env::var_os("CI").is_none(), "the Python component is not built; `scripts/python-component` builds it");
        // Past the test harness, which would hide the output of a test that passes.
        let _ = writeln!(
            std::io::stderr(),
            "\n!!! NOT RUN: the stories of campaigns' Python scripts, because the component is not built. `scripts/python-component` builds it.\n"
        );
        return None;
    }
    let component = std::fs::read(made.join("python.wasm")).unwrap();
    let installed = made.join("installed");
    let sum = hex::encode(<sha2::Sha256 as sha2::Digest>::digest(&component));
    if InstalledPython::in_folder(&installed).is_ok_and(|there| there.sha256 == sum) {
        return Some(installed);
    }
    assert_eq!(InstalledPython::put(&installed, component).await.unwrap().sha256, sum);
    Some(installed)
}

/// Puts what is installed into a data folder, without compiling it again.
pub(super) fn bring(installed: &Path, data: &Path) {
    let folder = data.join("python");
    std::fs::create_dir(&folder).unwrap();
    for file in std::fs::read_dir(installed).unwrap().flatten() {
        std::fs::copy(file.path(), folder.join(file.file_name())).unwrap();
    }
}

fn runs(script: &str, files: &[&str]) -> crate::support::Reply {
    call("execute_tool", json!({"task": 1, "tool": "run_script", "arguments": {"script": script, "files": files}}))
}

/// A sandbox with Python and these bounds.
fn sandbox(installed: &Path, script: ScriptLimits) -> (Sandbox, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    share_engine(folder.path());
    let clock = level3::clock::ManualClock::at("2026-11-20T08:00:00Z".parse().unwrap());
    let limits = SandboxLimits { script, ..SandboxLimits::default() };
    let sandbox = Sandbox::open(&folder.path().join("cache"), Arc::new(clock), Arc::new(SeededRandom::new(1)), limits).unwrap();
    (sandbox.with_python(installed.to_owned()), folder)
}

async fn run(sandbox: &Sandbox, source: &str, files: Value) -> ScriptEnd {
    let script = ScriptText { language: ScriptLanguage::Python, source };
    sandbox.script_slot().await.run(&permit(ToolCallId(1)), script, &json!({"n": 1}), &files).await
}

#[tokio::test]
async fn campaign_scripts_in_python_and_javascript_do_the_same_sum_with_one_approval_each() {
    let Some(installed) = python().await else { return };
    let app = TestApp::start().await;
    bring(installed, app.data());
    let desk = Desk::start_on(app, wants("python_script/sum")).await;
    for (kind, source) in [("python_script", "return 0"), ("python_script", PYTHON), ("js_script", JAVASCRIPT)] {
        desk.keep(kind, "sum", source).await;
    }
    desk.keep("file", "people", "name,age\nAda,36\nBob,6\n").await;
    for (name, says) in
        [("js_script/sum", "Runs the script sum version 1"), ("python_script/sum", "Runs the Python script sum version 2")]
    {
        desk.app.script([runs(name, &["people"])]);
        desk.app.clock.advance(chrono::TimeDelta::seconds(2));
        desk.present().await;
        let approval = desk.asked().await;
        let shown = approval["shown"]["what"].to_string();
        assert!(shown.contains(says) && shown.contains("30 s, 256 MiB") && shown.contains("file people version 1"), "{shown}");
        assert_eq!(shown.contains("-return 0"), name.starts_with("python"), "the difference: {shown}");
        desk.decide(&approval, "approve").await;
        desk.app.run_until_idle().await;
    }
    let audit = desk.get("/1/log?log=audit&kind=script").await;
    for line in [&audit[0]["payload"], &audit[1]["payload"]] {
        assert_eq!((&line["output"], &line["logs"], &line["ok"]), (&json!("42"), &json!(["summed 2"]), &json!(true)), "{audit}");
    }
    assert_eq!(desk.app.count("SELECT count(*) FROM approvals WHERE used_at IS NOT NULL").await, 2);
    assert_eq!(desk.get("/1").await["campaign"]["status"], "completed", "the Python one is what the task wants");
    desk.check().await;
}

#[tokio::test]
async fn campaign_scripts_in_python_that_were_changed_after_the_approval_are_not_run() {
    let Some(installed) = python().await else { return };
    let desk = Desk::start(wants("sum")).await;
    bring(installed, desk.app.data());
    desk.keep("python_script", "sum", "return 1").await;
    desk.app.script([runs("sum", &[])]);
    desk.present().await;
    let approval = desk.asked().await;
    desk.keep("python_script", "sum", "return 2").await;
    desk.decide(&approval, "approve").await;
    desk.app.run_until_idle().await;
    assert!(desk.came().await.contains("was changed after the approval"), "{}", desk.came().await);
    assert_eq!(desk.app.count("SELECT count(*) FROM events WHERE kind = 'script_ran'").await, 0);
    desk.check().await;
}

#[tokio::test]
async fn campaign_scripts_in_python_are_refused_before_anybody_is_asked_if_it_is_not_installed() {
    let desk = Desk::start(wants("sum")).await;
    desk.keep("python_script", "sum", "return 1").await;
    desk.app.script([runs("sum", &[])]);
    desk.present().await;
    desk.app.run_until_idle().await;
    assert_eq!(desk.app.count("SELECT count(*) FROM approvals").await, 0);
    let came = desk.came().await;
    assert!(came.contains("Python is not installed; install it with `level3 python install`"), "{came}");
    desk.check().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn campaign_scripts_in_python_without_end_hold_up_no_other_campaign() {
    let Some(installed) = python().await else { return };
    let desk = Desk::start(wants("sum")).await;
    bring(installed, desk.app.data());
    desk.keep("python_script", "sum", "while True: pass").await;
    desk.app.script([runs("sum", &[])]);
    desk.present().await;
    let approval = desk.asked().await;
    desk.decide(&approval, "approve").await;
    let tasks =
        json!([{"description": "Keep a note", "requires": [{"kind": "artifact_exists", "type": "heuristic", "key": "note"}]}]);
    assert_eq!(desk.ask(Method::POST, "", Some(json!({"name": "Other", "tasks": tasks}))).await.0, 200);
    desk.app.script([text("ready")]);
    assert_eq!(desk.ask(Method::POST, "/2/start", None).await.0, 200);
    let until = (desk.app.now() + chrono::TimeDelta::hours(1)).to_rfc3339();
    assert_eq!(desk.ask(Method::POST, "/2/contexts", Some(json!({"kind": "persist", "count": 1, "until": until}))).await.0, 200);
    desk.app.script([call("persist_artifact", json!({"task": 2, "type": "heuristic", "key": "note", "content": "Be brief"}))]);
    assert_eq!(desk.ask(Method::POST, "/2/present", None).await.0, 200);
    desk.app.until("SELECT count(*) FROM campaigns WHERE status = 'completed'", 1).await;
    assert_eq!(desk.app.count("SELECT count(*) FROM tool_calls WHERE ended_at IS NULL").await, 1, "the script still runs");
    assert_eq!(desk.ask(Method::POST, "/1/pause", None).await.0, 200);
    desk.app.run_until_idle().await;
    let ran = desk.audit("script").await;
    assert_eq!((ran.len(), &ran[0]["ok"]), (1, &json!(false)), "it was cut: {ran:?}");
    desk.check().await;
}

#[tokio::test]
async fn a_python_script_has_input_files_log_and_tmp_and_hears_what_it_has_not() {
    let Some(installed) = python().await else { return };
    let (sandbox, _folder) = sandbox(installed, ScriptLimits::default());
    let source = "log('a', 2)\nprint('b')\nopen('/tmp/x', 'w').write('ü')\nreturn [input, dict(files), open('/tmp/x').read()]";
    let end = run(&sandbox, source, json!({"people": "Ada"})).await;
    let result = serde_json::from_str::<Value>(&end.result.unwrap()).unwrap();
    assert_eq!((result, end.logs), (json!([{"n": 1}, {"people": "Ada"}, "ü"]), vec!["a 2".to_owned(), "b".to_owned()]));
    for (source, words) in [
        ("import socket\nsocket.create_connection(('127.0.0.1', 80))", "that its approval grants (line 2"),
        ("import urllib.request\nurllib.request.urlopen('http://x.example')", "a script has no network but fetch(url)"),
        ("fetch('http://x.example')", "OSError: a script reaches nothing: it has no network"),
        ("fetch('http://x.example')", "the hosts that its approval grants (arguments.hosts of run_script) (line 1"),
        ("fetch('http://x.example', body='x')", "TypeError: a request with GET has no body; give a method, like POST"),
        ("fetch('http://x.example', 'POST', body={})", "give an object as json.dumps(object)"),
        ("open('/etc/passwd')", "there is no file '/etc/passwd'"),
        ("import io\nreturn io.open('/proc/self/environ').read()", "there is no file '/proc/self/environ'"),
        ("import posix\nposix.open('/etc/passwd', 0)", "a script has no open"),
        ("import os\nos.listdir('/')", "a script lists /tmp only"),
        ("open('people', 'w')", "'people' can only be read"),
        ("files['people'] = 'x'", "TypeError"),
        ("import os\nreturn os.environ['PATH']", "KeyError: 'PATH'"),
        ("import subprocess\nsubprocess.run(['ls'])", "a script has no other programs"),
        ("import threading\nthreading.Thread(target=print).start()", "a script has no threads"),
        ("import time\nreturn time.time()", "a script has no clock"),
        ("import datetime\nreturn str(datetime.datetime.now())", "a script has no clock"),
        ("import os\nreturn os.urandom(4).hex()", "a script has no randomness of the machine"),
        ("import random\nreturn random.Random().random()", "the script was ended: it reached for"),
        ("import os\nos._exit(0)", "the script was ended: it reached for"),
        ("import numpy", "No module named 'numpy'"),
        ("open('/tmp/x', 'wb').write(bytes(17 << 20))", "/tmp has room for 16 MiB"),
        ("def f(): f()\nf()", "RecursionError"),
        ("\nreturn 1 / 0", "ZeroDivisionError: division by zero (line 2"),
        ("return (", "SyntaxError: '(' was never closed (line 1); a script is the body of a Python function"),
        ("return {1}", "TypeError: Object of type set is not JSON serializable"),
    ] {
        let why = run(&sandbox, source, json!({"people": "Ada"})).await.result.unwrap_err();
        assert!(why.contains(words), "{source}: {why}");
    }
    let same = [
        run(&sandbox, "import random\nreturn random.random()", json!({})).await,
        run(&sandbox, "import random\nreturn random.random()", json!({})).await,
    ];
    assert_eq!(same[0], same[1], "each run begins with the same seed");
}

#[tokio::test]
async fn a_python_script_ends_at_its_bounds() {
    let Some(installed) = python().await else { return };
    let short = ScriptLimits { deadline: Duration::from_millis(500), ..ScriptLimits::default() };
    let (timed, _folder) = sandbox(installed, short);
    timed.ready_for(ScriptLanguage::Python, &BTreeSet::new()).await.unwrap();
    for source in
        ["while True: pass", "while True:\n  try:\n    while True: pass\n  except BaseException: pass", "return 9 ** 9 ** 9"]
    {
        let begun = Instant::now();
        let why = run(&timed, source, json!({})).await.result.unwrap_err();
        assert!(why.contains("did not finish in time"), "{source}: {why}");
        assert!(begun.elapsed() < Duration::from_secs(10), "{source}: {:?}", begun.elapsed());
    }
    let (roomy, _folder) = sandbox(installed, ScriptLimits { deadline: Duration::from_secs(120), output_bytes: 1_000, ..short });
    for source in ["x = bytearray(400 << 20)", "a = []\nfor n in range(400): a.append(bytearray(1 << 20))"] {
        let why = run(&roomy, source, json!({})).await.result.unwrap_err();
        assert!(why.contains("more than 256 MiB of memory"), "{source}: {why}");
    }
    for (source, words) in
        [("log('x' * 600)\nreturn 'y' * 600", "may have 1000 together"), ("return 'y' * 1001", "may have 1000")]
    {
        let why = run(&roomy, source, json!({})).await.result.unwrap_err();
        assert!(why.contains(words), "{source}: {why}");
    }
    assert_eq!(run(&roomy, "return 'well'", json!({})).await.result.as_deref(), Ok("well"));
}

#[tokio::test]
async fn a_python_component_that_imports_more_than_log_and_http_is_refused_and_what_was_there_stays() {
    let folder = tempfile::tempdir().unwrap();
    let refused = async |bytes: Vec<u8>| InstalledPython::put(folder.path(), bytes).await.unwrap_err().to_string();
    let component = |text: &str| wat::parse_str(text).unwrap();
    let foreign = refused(component(
        r#"(component (import "log" (func (param "line" string))) (import "wasi:cli/environment@0.2.0" (instance)))"#,
    ));
    let foreign = foreign.await;
    assert!(foreign.contains("imports wasi:cli/environment@0.2.0, and may import log and http alone"), "{foreign}");
    let other = refused(component("(component)")).await;
    assert!(other.contains("it does not run a script"), "{other}");
    let none = refused(b"no component".to_vec()).await;
    assert!(none.contains("this is not a Python component of level3"), "{none}");
    assert!(matches!(InstalledPython::in_folder(folder.path()), Err(PythonError::NotInstalled)));
    // One that got there by another way is looked at when it is loaded.
    let foreign = component(r#"(component (import "read-file" (func (param "name" string))))"#);
    let sum = hex::encode(<sha2::Sha256 as sha2::Digest>::digest(&foreign));
    std::fs::write(folder.path().join("python.wasm"), &foreign).unwrap();
    std::fs::write(folder.path().join("python.wasm.sha256"), sum).unwrap();
    let (sandbox, _folder) = sandbox(folder.path(), ScriptLimits::default());
    let told = sandbox.ready_for(ScriptLanguage::Python, &BTreeSet::new()).await.unwrap_err().to_string();
    assert!(told.contains("imports read-file, and may import log and http alone"), "{told}");
    std::fs::write(folder.path().join("python.wasm.sha256"), "0".repeat(64)).unwrap();
    let told = sandbox.ready_for(ScriptLanguage::Python, &BTreeSet::new()).await.unwrap_err().to_string();
    assert!(told.contains("its sha256 is not the recorded one"), "{told}");
}
