//! `level3 python install --file`: a component that was built elsewhere is taken, looked at, and
//! used at once by the server of the same data folder.

use std::path::Path;

use serde_json::json;

use super::Desk;
use super::python_reach::OLDER;
use super::script_bounds::stays_open;
use crate::support::api::{Ran, level3_with};
use crate::support::{Reply, call};

/// Runs `level3 python` on a data folder.
async fn python(data: &Path, arguments: &[&str]) -> Ran {
    level3_with(&[("LEVEL3_DATA_DIR", data.to_str().unwrap())], &[&["python"][..], arguments].concat(), "").await
}

/// It is refused with these words.
async fn refused(data: &Path, arguments: &[&str], said: &str) {
    let ran = python(data, arguments).await;
    assert_eq!((ran.code, ran.out.as_str()), (1, ""), "{arguments:?}: {ran:?}");
    assert!(ran.err.contains(said), "{said}: {ran:?}");
}

fn runs() -> Reply {
    call("execute_tool", json!({"task": 1, "tool": "run_script", "arguments": {"script": "sum"}}))
}

#[tokio::test(flavor = "multi_thread")]
async fn campaign_python_that_is_installed_from_a_file_is_used_at_once_and_each_run_is_asked_about() {
    let desk = Desk::start(stays_open()).await;
    let (data, place) = (desk.app.data(), tempfile::tempdir().unwrap());
    let file = |name: &str, bytes: &[u8]| {
        let path = place.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        path.to_str().unwrap().to_owned()
    };
    refused(data, &["status"], "Python is not installed; install it with `level3 python install`").await;
    let component = wat::parse_str(OLDER).unwrap();
    let sum = hex::encode(<sha2::Sha256 as sha2::Digest>::digest(&component));
    let installed = python(data, &["install", "--file", &file("python.wasm", &component)]).await;
    let words = format!("{} bytes, sha256 {sum}", component.len());
    let told = installed.out.starts_with("Python is installed in ") && installed.out.contains(&words);
    assert!(installed.code == 0 && told, "{words}: {installed:?}");

    // The server was started before. The component answers each script with 42.
    desk.keep("python_script", "sum", "return 6 * 7").await;
    desk.is_asked_about_each_run(runs, "Runs the Python script sum version 1, sha256 ").await;
    let ran = desk.audit("script").await;
    assert!(ran.iter().all(|run| run["output"] == "42" && run["ok"] == true), "{ran:?}");

    // One that may not be run leaves it as it is.
    let wrong = wat::parse_str(OLDER.replace("\"42\"", "\"41\"")).unwrap();
    let none = "this is not a Python component of level3";
    for (bytes, said) in [(&wrong[..], "it does not run a script: 41"), (&b"none"[..], none)] {
        refused(data, &["install", "--file", &file("wrong.wasm", bytes)], said).await;
    }
    let nowhere = place.path().join("nowhere.wasm");
    refused(data, &["install", "--file", nowhere.to_str().unwrap()], "nowhere.wasm cannot be used; name a file").await;
    assert_eq!(std::fs::read(data.join("python/python.wasm")).unwrap(), component, "what was installed is whole");
    let status = python(data, &["status"]).await;
    assert!(status.code == 0 && status.out.contains(&words), "{status:?}");
    desk.check().await;
}
