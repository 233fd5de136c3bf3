//! The conformance suite of the Model Context Protocol, by the people who write the protocol,
//! against `/mcp`. It comes from a package registry. If it cannot be had, this says NOT RUN, and
//! fails nothing.

use std::io::Write;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use tokio::process::Command;

use crate::support::TestApp;

/// The exit code of the script if there is nothing to run.
const NOT_RUN: i32 = 77;

/// Writes past the test harness, which would hide the output of a test that passes.
fn not_run(why: &str) {
    let _ = writeln!(std::io::stderr(), "\n!!! NOT RUN: the MCP conformance suite. {why}\n");
}

#[tokio::test]
async fn the_protocols_own_suite_finds_nothing_that_the_baseline_does_not_name() {
    let app = TestApp::start().await;
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/peers/mcp_conformance.mjs");
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("mcp-conformance");
    let mut command = Command::new("node");
    command.arg(script).arg(format!("http://{}/mcp", app.address())).arg(folder);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
    let child = match command.spawn() {
        Ok(child) => child,
        Err(error) => return not_run(&format!("There is no node here: {error}")),
    };
    let Ok(output) = tokio::time::timeout(Duration::from_secs(540), child.wait_with_output()).await else {
        return not_run("It did not come to an end.");
    };
    let output = output.unwrap();
    let told = format!("{}\n{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    match output.status.code() {
        Some(0) => {}
        Some(NOT_RUN) => not_run(&told),
        code => panic!("the suite ended with {code:?}:\n{told}"),
    }
}
