//! Shows for each rule what it finds and what it lets pass.

use super::*;

type Rule = fn(&Source) -> Vec<Finding>;

fn finds(rule: Rule, path: &str, samples: &[&str]) {
    for text in samples {
        assert!(!rule(&Source::sample(path, text)).is_empty(), "nothing found in {path}:\n{text}");
    }
}

fn passes(rule: Rule, path: &str, samples: &[&str]) {
    for text in samples {
        assert_eq!(rule(&Source::sample(path, text)), [], "in {path}:\n{text}");
    }
}

#[test]
fn a_file_of_500_lines_passes_and_one_more_does_not() {
    passes(length, "src/a.rs", &["x\n".repeat(500).as_str()]);
    finds(length, "src/a.rs", &["x\n".repeat(501).as_str()]);
}

#[test]
fn a_file_of_the_page_with_250_lines_passes_and_one_more_does_not() {
    passes(page_length, "static/a/b.js", &["x\n".repeat(250).as_str()]);
    finds(page_length, "static/a/b.js", &["x\n".repeat(251).as_str()]);
}

#[test]
fn a_file_without_its_purpose_is_found() {
    passes(opening, "src/a.rs", &["//! What it is for.\nuse x;"]);
    finds(opening, "src/a.rs", &["", "use x;", "//!\n", "// A comment.", "\n//! Too late."]);
}

#[test]
fn a_root_with_more_than_modules_is_found() {
    passes(
        only_modules,
        "src/lib.rs",
        &["//! The library.\n/// Time.\npub mod clock;\nmod inner;", "pub use level3_ground::{clock};\nmod inner;"],
    );
    finds(only_modules, "src/lib.rs", &["pub use clock::Clock;", "mod a { }", "fn a() {}"]);
}

#[test]
fn a_module_in_the_crate_of_other_floors_is_found() {
    let floor = |module: &str| (module == "clock").then_some(1);
    let found = |text: &str| other_floors(&Source::sample("src/ground.rs", text), floor, 0..=1).len();
    assert_eq!(found("pub mod clock;\npub use level3_hands::store;"), 0);
    assert_eq!(found("pub mod clock;\npub mod unknown;"), 1);
    assert_eq!(other_floors(&Source::sample("src/hands.rs", "pub mod clock;"), floor, 2..=3).len(), 1);
}

/// The rule with some names.
fn tool_names(file: &Source) -> Vec<Finding> {
    let names = ["execute_sql", "write_capability", "manage_tasks", "send_message", "listTasks", "no_op", "relay", "restart"];
    super::tool_names(file, &names.map(str::to_owned))
}

#[test]
fn a_tool_known_by_its_name_is_found() {
    let samples = [
        "fn a() { is(\"execute_sql\") }",
        "const A: &str = \"manage_tasks\";",
        "fn a() { format!(\"call `write_capability` for {b}\") }",
        "const A: &str = r#\"{\"names\": [\"manage_tasks\"]}\"#;",
        "const A: &str = \"restart\";",
        "const A: &str = \"relay\";",
        "fn a() { say(\"call `send_message` first\") }",
        "fn a() { format!(\"{some} of {all}; listTasks lists all\") }",
        "#[error(\"propose no_op\")] struct A;",
    ];
    for path in ["src/http/mod.rs", "src/tools/kernel/execute_sql.rs", "src/agent/mod.rs", "src/domain/campaign/judge.rs"] {
        finds(tool_names, path, &samples);
    }
    passes(tool_names, "src/coach/idle.rs", &samples);
    passes(
        tool_names,
        "src/http/mod.rs",
        &[
            "fn a() { say(\"the restart was begun\"); say(\"manage_tasks_2\"); say(\"start it: relay start\") }",
            "/// Calls execute_sql.\n#[cfg(test)] mod tests { const A: &str = \"execute_sql\"; }",
        ],
    );
    passes(tool_names, "src/domain/policy.rs", &["text_enum! { Effect { Restart = \"restart\" } }"]);
    passes(tool_names, "src/cli/relay/mod.rs", &["const COMMAND: &str = \"relay\";"]);
    passes(tool_names, "src/domain/names.rs", &["pub const A: &str = \"execute_sql\";"]);
    finds(tool_names, "src/domain/names.rs", &["fn a() { say(\"execute_sql\") }"]);
}

#[test]
fn the_names_of_tools_are_read_where_they_are_given() {
    let named = |path: &str, text: &str| tools_named(&Source::sample(path, text));
    assert_eq!(named("src/domain/names.rs", "/// Looks.\npub const LOOK: &str = \"look\";"), ["look"]);
    let functions = "text_enum! { /** The functions. */ F { /// One.\n A = \"addOne\", B = \"take_one\" } }";
    assert_eq!(named("src/domain/todo/function.rs", functions), ["addOne", "take_one"]);
    let others = "#[serde(rename = \"type\")] struct A; const B: &str = \"two words\"; fn a() { b(\"c\") }";
    assert!(named("src/domain/names.rs", others).is_empty());
    assert!(named("src/http/mod.rs", "pub const LOOK: &str = \"look\";").is_empty(), "it is no file of names");
}

#[test]
fn sqlx_outside_store_is_found() {
    passes(sqlx, "src/store/mod.rs", &["use sqlx::PgPool;"]);
    passes(sqlx, "src/agent/mod.rs", &["// sqlx\nfn a() { log(\"sqlx\") }"]);
    finds(sqlx, "src/agent/mod.rs", &["use sqlx::PgPool;", "fn a() { x!(sqlx::query(y)) }", "use {sqlx as db};"]);
}

#[test]
fn a_statement_outside_store_is_found() {
    let samples = [
        "const A: &str = \"SELECT 1\";",
        "fn a() { q!(r#\"\n   UPDATE\n turns SET state = $1\"#) }",
        "fn a() { run(\"COMMIT;\") }",
        "fn a() { format!(\"INSERT INTO {t} VALUES (1)\") }",
    ];
    finds(sql_text, "src/agent/mod.rs", &samples);
    passes(sql_text, "src/store/queue/turns.rs", &samples);
    passes(sql_text, "src/tools/execute_sql.rs", &samples);
    let harmless = [
        "fn a() { say(\"Select one\"); say(\"UPDATED\") }",
        "/// SELECT 1\nfn a() {} // UPDATE turns",
        "#[cfg(test)] mod tests { const A: &str = \"SELECT 1\"; }",
    ];
    passes(sql_text, "src/agent/mod.rs", &harmless);
}

#[test]
fn a_permit_made_elsewhere_is_found() {
    let made = "fn a() { Permit { call } }";
    finds(permit, "src/tools/mod.rs", &[made, "fn a() { governor::Permit { call } }", "struct Permit { call: u8 }"]);
    passes(permit, "src/governor/mod.rs", &[made, "#[derive(Debug)] pub struct Permit { call: u8 }"]);
    passes(permit, "src/tools/mod.rs", &["fn a(permit: &Permit) { }", "fn a(b: Verdict) { if let Permit { .. } = b {} }"]);
}

#[test]
fn a_permit_that_others_could_make_is_found_in_governor_too() {
    finds(
        permit,
        "src/governor/mod.rs",
        &[
            "pub struct Permit { pub call: u8 }",
            "pub struct Permit { pub(crate) call: u8 }",
            "#[derive(Debug, Clone)] pub struct Permit { call: u8 }",
            "#[derive(serde::Deserialize)] pub struct Permit { call: u8 }",
            "impl Default for Permit { }",
            "impl From<u8> for Permit { }",
        ],
    );
}

#[test]
fn an_exit_outside_main_is_found() {
    let samples = [
        "fn a() { std::process::exit(42) }",
        "use std::process::exit;",
        "use std::process::{self, exit};",
        "fn a() { x!(process::abort()) }",
        "fn a() { unsafe { libc::exit(1) } }",
        "use std::process::{Command, ExitCode};",
        "fn a() -> std::process::ExitCode { b() }",
    ];
    finds(exit, "src/app/mod.rs", &samples);
    passes(exit, "src/main.rs", &samples);
    passes(exit, "src/program/serve.rs", &samples);
    passes(exit, "src/app/mod.rs", &["use std::process::{Command, ExitStatus};", "// process::exit", "fn a() { exit(1) }"]);
}

#[test]
fn a_wait_with_a_limit_of_its_own_is_found() {
    let samples = [
        "async fn a() { tokio::time::timeout(Duration::from_secs(30), b()).await }",
        "fn a() { assert!(x!(lines.recv_timeout(SOON))) }",
    ];
    finds(impatience, "tests/it/a.rs", &samples);
    passes(impatience, "tests/chaos/a.rs", &samples);
    let patient =
        ["async fn a() { tokio::time::timeout(PATIENCE, b()).await }", "fn a() { in_time(\"b\", b()) }", "// timeout(1)"];
    passes(impatience, "tests/it/a.rs", &patient);
}

#[test]
fn work_put_off_is_found() {
    finds(put_off, "src/a.rs", &[concat!("// TO", "DO: later"), concat!("fn a() {} // FIX", "ME")]);
    passes(put_off, "src/a.rs", &["// a to-do list", "// todo", concat!("const TO", "DOS: u8 = 1;")]);
}
