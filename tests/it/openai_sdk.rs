//! OpenAI's official Python client against the real program. `scripts/peers` installs it. Without
//! it the story is skipped, loudly.

use std::io::Write;
use std::path::Path;

use serde_json::{Value, json};

use crate::support::{ModelServer, Server, asks_for, in_time};

/// A model that does as the stories of `tests/peers/openai_sdk.py` ask.
fn says(body: &Value) -> Value {
    let messages = body["messages"].as_array().unwrap();
    let newest = messages.last().unwrap();
    if let Some(parts) = newest["content"].as_array() {
        let image = parts.iter().find_map(|part| part["image_url"]["url"].as_str());
        return json!({"role": "assistant", "content": image.unwrap_or("no image")});
    }
    let text = newest["content"].as_str().unwrap_or_default();
    if newest["role"] == "tool" {
        return json!({"role": "assistant", "content": text});
    }
    match text.rsplit_once("] ").map_or(text, |(_, said)| said).lines().last().unwrap_or_default() {
        "multiply" => asks_for("execute_sql", &json!({"query": "SELECT 6 * 7 AS product"})),
        "fail" => json!({"error": {"message": "not today"}}),
        // This model counts a word as a token.
        "count" => {
            let most = usize::try_from(body["max_tokens"].as_u64().unwrap()).unwrap();
            let words: Vec<_> = "one two three four".split(' ').take(most).collect();
            let finish_reason = if words.len() < 4 { "length" } else { "stop" };
            json!({"role": "assistant", "content": words.join(" "), "finish_reason": finish_reason})
        }
        "How many tasks are open?" => json!({"role": "assistant", "content": "There are 3 open tasks."}),
        said => json!({"role": "assistant", "content": said.strip_prefix("echo: ").unwrap_or("what?")}),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_official_python_client_talks_to_the_agent() {
    // `scripts/peers` puts it beside what cargo builds.
    let python = Path::new(env!("CARGO_TARGET_TMPDIR")).with_file_name("peers").join("openai/bin/python");
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let wanted = std::fs::read(root.join("tests/peers/openai_requirements.txt")).unwrap();
    let has = std::fs::read(python.with_file_name("../requirements.txt")).unwrap_or_default();
    if has != wanted {
        // Past the test harness, which would hide the output of a test that passes.
        let _ = writeln!(
            std::io::stderr(),
            "\n!!! NOT RUN: the story of OpenAI's Python client, because it is not installed. `scripts/peers` installs it.\n"
        );
        return;
    }
    let model = ModelServer::start(|_, body| says(body)).await;
    let folder = tempfile::tempdir().unwrap();
    let base_url = model.base_url();
    let settings = [("LLM_BASE_URL", base_url.as_str()), ("LLM_MODEL", "llava-scripted"), ("LEVEL3_TOKEN", "s3cret")];
    let server = Server::start(&folder.path().join("data"), &settings).await;
    let mut command = tokio::process::Command::new(python);
    command.arg(root.join("tests/peers/openai_sdk.py")).env_clear().env("PYTHONDONTWRITEBYTECODE", "1").kill_on_drop(true);
    command.env("BASE_URL", format!("http://{}/v1", server.address)).env("API_KEY", "s3cret");
    command.env("DOCUMENT", include_str!("../../docs/openai.md"));
    let ran = in_time("the end of the client", command.output()).await.unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let log = server.log.lock().unwrap().clone();
    assert!(ran.status.success(), "{}{}\nThe server's log:\n{log}", text(&ran.stdout), text(&ran.stderr));
    assert!(text(&ran.stdout).starts_with("all well with openai "));
    assert_eq!(server.terminate().await, Some(0));
}
