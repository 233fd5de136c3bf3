//! Scripts of campaigns: they have input, files and log, and nothing else; each ends in bounded
//! time.

use super::*;
use crate::domain::campaign::script::ScriptLanguage;
use crate::sandbox::{ScriptEnd, ScriptLimits, ScriptText};

async fn run(sandbox: &Sandbox, source: &str, input: Value, files: Value) -> ScriptEnd {
    let script = ScriptText { language: ScriptLanguage::JavaScript, source };
    sandbox.script_slot().await.run(&permit(), script, &input, &files).await
}

async fn fails(sandbox: &Sandbox, source: &str) -> String {
    run(sandbox, source, json!(null), json!({})).await.result.unwrap_err()
}

#[tokio::test]
async fn a_script_has_input_files_and_log() {
    let source = "let sum = 0;\nfor (const line of files.people.split('\\n').slice(1)) sum += Number(line.split(',')[input.column]);\nlog('rows', 2);\nreturn sum // the end";
    let end = run(sandbox(), source, json!({"column": 1}), json!({"people": "name,age\nAda,36\nBob,6"})).await;
    assert_eq!(end, ScriptEnd { result: Ok("42".into()), logs: vec!["rows 2".into()] });
    let end = run(sandbox(), "return { files: Object.keys(files), input }", json!([1]), json!({})).await;
    assert_eq!(end.result.as_deref(), Ok(r#"{"files":[],"input":[1]}"#));
    assert_eq!(run(sandbox(), "const input = await 3; return input", json!(1), json!({})).await.result.as_deref(), Ok("3"));
}

#[tokio::test]
async fn a_script_reaches_nothing_and_hears_so() {
    for (source, words) in [
        ("return await fetch('https://x.example/')", "it has no network"),
        ("return host.secret('KEY')", "a script reaches nothing"),
        ("return await host.sql('SELECT 1')", "a script reaches nothing"),
        ("return await host.kv.get('a')", "a script reaches nothing"),
        ("return await host.call('execute_sql', {})", "a script reaches nothing"),
        ("return process.env", "there are no files, no environment"),
        ("return require('fs').readFileSync('/etc/passwd')", "not CommonJS"),
        ("return new WebSocket('wss://x.example')", "This is not a browser"),
        ("files.people = 'x'", "TypeError"),
        ("\nthrow new Error('no rows')", "Error: no rows (line 2)"),
        ("return (", "a script is the body of a JavaScript function"),
        ("import fs from 'fs'", "a script is the body of a JavaScript function"),
    ] {
        let why = fails(sandbox(), source).await;
        assert!(why.contains(words), "{source}: {why}");
    }
}

#[tokio::test]
async fn a_script_hears_which_number_of_its_result_json_cannot_hold() {
    for (source, words) in [
        ("return { rows: 2, rate: 0 / 0 }", "result.rate is NaN, which JSON cannot hold: return null or a string"),
        ("JSON.stringify = () => '{}'; return [1, { 'per day': [1, -1 / 0] }]", "result[1][\"per day\"][1] is -Infinity, "),
        ("return 1 / 0", "result is Infinity, "),
        ("const rate = { of: NaN }; return { toJSON: () => ({ rate }) }", "result.rate.of is NaN, "),
    ] {
        let why = fails(sandbox(), source).await;
        assert!(why.starts_with("TypeError: ") && why.contains(words) && !why.contains("(line"), "{source}: {why}");
    }
    let kept = "const one = { n: null, at: new Date(0), f() {} }; return [one, 'NaN', one, undefined]";
    let end = run(sandbox(), kept, json!(null), json!({})).await;
    let one = r#"{"n":null,"at":"1970-01-01T00:00:00.000Z"}"#;
    assert_eq!(end.result, Ok(format!(r#"[{one},"NaN",{one},null]"#)));
    assert_eq!(run(sandbox(), "log('nothing')", json!(null), json!({})).await.result.as_deref(), Ok("null"));
}

#[tokio::test]
async fn a_script_that_catches_the_error_of_fetch_reads_where_hosts_are_asked_for() {
    let source = "return await fetch('https://x.example/').catch((error) => error.message)";
    let told = run(sandbox(), source, json!(null), json!({})).await.result.unwrap();
    assert!(told.contains("arguments.hosts of run_script") && !told.contains("write it again"), "{told}");
}

#[tokio::test]
async fn a_script_has_a_tmp_in_memory_of_16_mib_that_ends_with_it() {
    let source = "tmp.write('/tmp/a', 'é'); tmp.write('b', 'x'.repeat((16 << 20) - 2));\nlog(tmp.read('a'), tmp.list(), tmp.remove('b'), tmp.remove('b'));\n\
                  tmp.write('c', 'x'.repeat(16 << 20))";
    let end = run(sandbox(), source, json!(null), json!({})).await;
    assert_eq!(end.logs, ["é [\"a\",\"b\"] true false"]);
    let why = end.result.unwrap_err();
    assert!(why.contains("RangeError: c: tmp has room for 16 MiB"), "{why}");
    for (source, words) in [
        ("return tmp.read('a')", "there is no a in tmp"),
        ("tmp.write('a', { n: 1 })", "tmp keeps text"),
        ("tmp.write('', 'x')", "a file in tmp has a name"),
    ] {
        let why = fails(sandbox(), source).await;
        assert!(why.contains(words), "{source}: {why}");
    }
    let overwritten = "for (let n = 0; n < 5; n++) tmp.write('a', 'x'.repeat(15 << 20)); return tmp.read('a').length";
    assert_eq!(run(sandbox(), overwritten, json!(null), json!({})).await.result.as_deref(), Ok("15728640"));
}

#[tokio::test]
async fn a_script_ends_at_its_own_bounds_and_not_at_those_of_capabilities() {
    let script = ScriptLimits { deadline: Duration::from_millis(1_500), output_bytes: 1_000, ..ScriptLimits::default() };
    let sandbox = open(SandboxLimits { script, ..SandboxLimits::default() });
    for source in ["for (;;) {}", "for (;;) await null", "return new Promise(() => { for (;;) {} })"] {
        assert!(fails(&sandbox, source).await.contains("did not finish in time"), "{source}");
    }
    let sandbox =
        open(SandboxLimits { script: ScriptLimits { deadline: Duration::from_secs(120), ..script }, ..SandboxLimits::default() });
    let more = "const a = []; for (let n = 0; n < 400; n++) a.push(new Uint8Array(1 << 20)); return a.length";
    let why = fails(&sandbox, more).await;
    assert!(why.contains("more than 256 MiB of memory"), "{why}");
    let enough = run(&sandbox, &more.replace("400", "150"), json!(null), json!({})).await;
    assert_eq!(enough.result.as_deref(), Ok("150"), "a capability has 64 MiB, a script has more");
    assert!(fails(&sandbox, "log('x'.repeat(600)); return 'y'.repeat(600)").await.contains("may have 1000 together"));
    assert!(fails(&sandbox, "return 'y'.repeat(1001)").await.contains("may have 1000"));
    assert_eq!(run(&sandbox, "return 1", json!(null), json!({})).await.result.as_deref(), Ok("1"));
}

#[tokio::test]
async fn a_script_waits_for_room_while_capabilities_run_on() {
    let script = ScriptLimits { concurrent: 1, ..ScriptLimits::default() };
    let sandbox = open(SandboxLimits { script, ..SandboxLimits::default() });
    let held = sandbox.script_slot().await;
    assert!(futures::FutureExt::now_or_never(sandbox.script_slot()).is_none());
    assert!(call(&sandbox, "export default () => 1", json!({})).await.ok);
    drop(held);
    assert!(futures::FutureExt::now_or_never(sandbox.script_slot()).is_some());
}
