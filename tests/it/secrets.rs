//! Secrets: set, used up to the vault's door, and visible nowhere.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use level3::clock::SeededRandom;
use level3::secrets::{SecretError, Vault};
use level3::telemetry::Scrubber;
use reqwest::Method;
use secrecy::{ExposeSecret, SecretString};
use serde_json::json;

use crate::support::api::{ask, ask_at, client, level3_with};
use crate::support::{Server, TestApp};

const CANARY: &str = "canary-5up3r-s3cret-7Q";

async fn vault(app: &TestApp, folder: &Path, scrubber: &Scrubber) -> Result<Vault, SecretError> {
    Vault::open(folder, app.store().clone(), Arc::new(SeededRandom::new(3)), scrubber.clone()).await
}

async fn value(vault: &Vault, name: &str) -> Option<String> {
    vault.get(name).await.unwrap().map(|value| value.expose_secret().to_owned())
}

#[tokio::test]
async fn a_value_comes_back_for_who_has_the_key_and_is_hidden_everywhere_else() {
    let app = TestApp::start().await;
    let (folder, scrubber) = (tempfile::tempdir().unwrap(), Scrubber::default());
    let first = vault(&app, folder.path(), &scrubber).await.unwrap();
    first.set("API_KEY", SecretString::from(format!("{CANARY}\n")), app.now()).await.unwrap();
    assert_eq!(value(&first, "API_KEY").await.as_deref(), Some(CANARY));
    assert_eq!(value(&first, "OTHER").await, None);
    assert_eq!(scrubber.clean(&format!("it is {CANARY}!")), "it is [secret API_KEY]!");
    // After a restart the scrubber knows it before anything else happens.
    let fresh = Scrubber::default();
    let second = vault(&app, folder.path(), &fresh).await.unwrap();
    assert_eq!(value(&second, "API_KEY").await.as_deref(), Some(CANARY));
    assert_eq!(fresh.clean(CANARY), "[secret API_KEY]");
    // A request under way may still return a value that was replaced or removed.
    second.set("API_KEY", SecretString::from("another value"), app.now()).await.unwrap();
    assert_eq!(fresh.clean(&format!("{CANARY} another value")), "[secret API_KEY] [secret API_KEY]");
    assert!(second.remove("API_KEY").await.unwrap() && !second.remove("API_KEY").await.unwrap());
    assert_eq!(fresh.clean("another value"), "[secret API_KEY]");
    assert!(second.list().await.unwrap().is_empty() && second.all().await.unwrap().is_empty());
}

#[tokio::test]
async fn without_its_key_a_secret_stays_closed_and_says_what_to_do() {
    let app = TestApp::start().await;
    let (folder, scrubber) = (tempfile::tempdir().unwrap(), Scrubber::default());
    let first = vault(&app, folder.path(), &scrubber).await.unwrap();
    first.set("API_KEY", SecretString::from(CANARY), app.now()).await.unwrap();
    let key = folder.path().join("secret-key");
    let kept = std::fs::read(&key).unwrap();
    std::fs::remove_file(&key).unwrap();
    let closed = vault(&app, folder.path(), &scrubber).await.unwrap();
    let other = |bytes: &[u8]| {
        std::fs::write(&key, bytes).unwrap();
        std::fs::set_permissions(&key, PermissionsExt::from_mode(0o600)).unwrap();
    };
    for wrong in [None, Some([7; 32])] {
        wrong.iter().for_each(|bytes| other(bytes));
        let error = closed.get("API_KEY").await.unwrap_err().to_string();
        assert!(error.contains("restore that file") && error.contains("level3 secret set API_KEY"), "{error}");
        assert!(!closed.list().await.unwrap()[0].readable);
    }
    // The key is back, without a restart.
    other(&kept);
    assert_eq!(value(&closed, "API_KEY").await.as_deref(), Some(CANARY));
    // The key is lost for good: no second key comes beside the first.
    std::fs::remove_file(&key).unwrap();
    let anew = vault(&app, folder.path(), &scrubber).await.unwrap();
    let refused = anew.set("API_KEY", SecretString::from("set anew, later"), app.now()).await.unwrap_err().to_string();
    assert!(refused.contains("remove every secret first") && !key.exists(), "{refused}");
    assert!(anew.remove("API_KEY").await.unwrap());
    anew.set("API_KEY", SecretString::from("set anew, later"), app.now()).await.unwrap();
    assert_eq!(value(&anew, "API_KEY").await.as_deref(), Some("set anew, later"));
}

#[tokio::test]
async fn two_servers_with_different_keys_cannot_each_keep_a_part_of_the_secrets() {
    let app = TestApp::start().await;
    let [one, two] = [0; 2].map(|_| tempfile::tempdir().unwrap());
    let scrubber = Scrubber::default();
    let (first, second) = (vault(&app, one.path(), &scrubber).await.unwrap(), vault(&app, two.path(), &scrubber).await.unwrap());
    std::fs::write(two.path().join("secret-key"), [7; 32]).unwrap();
    std::fs::set_permissions(two.path().join("secret-key"), PermissionsExt::from_mode(0o600)).unwrap();
    first.set("API_KEY", SecretString::from(CANARY), app.now()).await.unwrap();
    // The second server started before there was a secret, so it is refused only now.
    for name in ["API_KEY", "OTHER"] {
        let refused = second.set(name, SecretString::from("another value"), app.now()).await.unwrap_err();
        assert!(matches!(refused, SecretError::OtherKey(_)), "{refused}");
    }
    assert!(matches!(vault(&app, two.path(), &scrubber).await.err(), Some(SecretError::OtherKey(_))));
    assert_eq!(value(&first, "API_KEY").await.as_deref(), Some(CANARY));
    // If a server kept no fingerprint, a key that opens its secrets claims them, and no other key
    // does.
    sqlx::query("DELETE FROM server_keys WHERE name = 'secrets'").execute(&mut app.behind().await).await.unwrap();
    assert!(matches!(vault(&app, two.path(), &scrubber).await.err(), Some(SecretError::OtherKey(_))));
    vault(&app, one.path(), &scrubber).await.unwrap();
    assert_eq!(app.count("SELECT count(*) FROM server_keys WHERE name = 'secrets'").await, 1);
    // Two servers with the same key share their secrets. After the last secret another key may
    // come.
    std::fs::copy(one.path().join("secret-key"), two.path().join("secret-key")).unwrap();
    let other_random = Arc::new(SeededRandom::new(4));
    let second = Vault::open(two.path(), app.store().clone(), other_random, scrubber.clone()).await.unwrap();
    assert_eq!(value(&second, "API_KEY").await.as_deref(), Some(CANARY));
    second.remove("API_KEY").await.unwrap();
    std::fs::remove_file(two.path().join("secret-key")).unwrap();
    second.set("API_KEY", SecretString::from("sealed anew"), app.now()).await.unwrap();
    assert!(matches!(vault(&app, one.path(), &scrubber).await.err(), Some(SecretError::OtherKey(_))));
}

#[tokio::test]
async fn a_key_that_others_may_read_stops_the_vault() {
    let app = TestApp::start().await;
    let folder = tempfile::tempdir().unwrap();
    let key = folder.path().join("secret-key");
    std::fs::write(&key, [1; 32]).unwrap();
    std::fs::set_permissions(&key, PermissionsExt::from_mode(0o644)).unwrap();
    let error = vault(&app, folder.path(), &Scrubber::default()).await.err().expect("refused").to_string();
    assert!(error.contains("chmod 600"), "{error}");
}

#[tokio::test]
async fn a_key_that_others_may_read_is_told_to_who_asks_and_stops_a_start_for_good() {
    let app = TestApp::start().await;
    ask(&app, Method::PUT, "/api/secrets/API_KEY", Some(json!({"value": CANARY}))).await;
    let key = app.data().join("secret-key");
    std::fs::set_permissions(&key, PermissionsExt::from_mode(0o604)).unwrap();
    for (method, path, body) in [
        (Method::GET, "/api/secrets", None),
        (Method::PUT, "/api/secrets/API_KEY", Some(json!({"value": "another value"}))),
        (Method::DELETE, "/api/secrets/API_KEY", None),
    ] {
        let (status, refused) = ask(&app, method, path, body).await;
        assert!(status == 500 && refused["error"].as_str().unwrap().contains("chmod 600"), "{path}: {status} {refused}");
    }
    let place = tempfile::tempdir().unwrap();
    let data = place.path().join("data");
    std::fs::create_dir(&data).unwrap();
    std::fs::copy(&key, data.join("secret-key")).unwrap();
    let path = std::env::var("PATH").unwrap_or_default();
    let settings = [("LEVEL3_DATA_DIR", data.to_str().unwrap()), ("LEVEL3_LISTEN", "127.0.0.1:0"), ("PATH", &path)];
    let ended = level3_with(&settings, &["serve"], "").await;
    assert!(ended.code == 78 && ended.err.contains("chmod 600"), "{ended:?}");
}

#[tokio::test]
async fn secrets_are_set_listed_and_removed_and_never_shown() {
    let app = TestApp::start().await;
    app.rewrites("a capability is written by hand");
    let (status, set) = ask(&app, Method::PUT, "/api/secrets/API_KEY", Some(json!({"value": CANARY}))).await;
    assert_eq!((status, &set["name"], &set["used_by"], &set["readable"]), (200, &json!("API_KEY"), &json!([]), &json!(true)));
    sqlx::query(
        "WITH version AS (
             INSERT INTO capability_versions (name, version, description, language, source, parameters, grants, tests, component, sha256, engine, created_at)
             VALUES ('poster', 1, '', 'javascript', '', '{}', '{\"secrets\": {\"API_KEY\": [\"a.example\"]}}', '[]', '', '', '', now()))
         INSERT INTO capabilities (name, version, created_at, updated_at) VALUES ('poster', 1, now(), now())",
    )
    .execute(&mut app.behind().await)
    .await
    .unwrap();
    let (_, listed) = ask(&app, Method::GET, "/api/secrets", None).await;
    assert_eq!(listed["secrets"][0]["used_by"], json!(["poster"]));
    let (status, removed) = ask(&app, Method::DELETE, "/api/secrets/API_KEY", None).await;
    assert_eq!((status, removed), (200, json!({"removed": "API_KEY"})));
    assert_eq!(ask(&app, Method::DELETE, "/api/secrets/API_KEY", None).await.0, 404);
    assert_eq!(ask(&app, Method::GET, "/api/secrets/API_KEY", None).await.0, 405);
}

#[tokio::test]
async fn a_secret_that_is_none_is_refused_with_the_rule_and_without_its_value() {
    let app = TestApp::start().await;
    for (name, body, said) in [
        ("api-key", json!({"value": CANARY}), "a capital letter"),
        ("API_KEY", json!({"value": "short"}), "5 characters; a secret has at least 8"),
        ("API_KEY", json!({"value": "x".repeat(9000)}), "9000 bytes"),
        ("API_KEY", json!({"value": format!("{CANARY}\0")}), "zero character"),
        ("API_KEY", json!({"value": "execute_sql\n"}), "the name of a tool"),
        ("API_KEY", json!({"value": 1234567890123_i64}), "cannot be read"),
        ("API_KEY", json!({"valeu": CANARY}), "cannot be read"),
        ("API_KEY", json!({"value": CANARY, "more": CANARY}), "cannot be read"),
        ("API_KEY", json!([CANARY]), "cannot be read"),
    ] {
        let (status, refused) = ask(&app, Method::PUT, &format!("/api/secrets/{name}"), Some(body)).await;
        let told = refused["error"].as_str().unwrap();
        assert!(status == 400 && told.contains(said), "{status} {told}");
        assert!(!told.contains(CANARY) && !told.contains("1234567890"), "{told}");
    }
    assert_eq!(app.count("SELECT count(*) FROM secrets").await, 0);
}

#[tokio::test]
async fn the_value_is_nowhere_in_the_data_folder_the_log_or_an_answer() {
    let place = tempfile::tempdir().unwrap();
    let data = place.path().join("data");
    let server = Server::start(&data, &[("RUST_LOG", "debug")]).await;
    let at = |path: &str| format!("http://{}/api/secrets{path}", server.address);
    let mut answers = String::new();
    for (path, body) in [
        ("/CANARY_NAME", json!({"value": CANARY})),
        ("/CANARY_NAME", json!({"value": [CANARY]})),
        ("/bad-name", json!({"value": CANARY})),
    ] {
        answers += &ask_at(&at(path), Method::PUT, Some(body)).await.1.to_string();
    }
    answers += &ask_at(&at(""), Method::GET, None).await.1.to_string();
    let form = client().put(at("/CANARY_NAME")).body(CANARY).send().await.unwrap();
    assert_eq!(form.status(), 415);
    answers += &form.text().await.unwrap();
    let log = Arc::clone(&server.log);
    assert_eq!(server.terminate().await, Some(0));
    let seen = Search::in_folder(&data);
    assert!(seen.bytes > 1_000_000 && seen.finds(b"CANARY_NAME"), "the search sees what is kept");
    let forms = [CANARY.to_owned(), BASE64.encode(CANARY), hex::encode(CANARY)];
    for form in forms {
        assert!(!seen.finds(form.as_bytes()), "{form} is in the data folder");
        assert!(!answers.contains(&form), "{form}: {answers}");
        let log = log.lock().unwrap();
        assert!(log.contains("ready") && !log.contains(&form), "{form} is in the log");
    }
}

/// Every file below a folder.
struct Search {
    files: Vec<Vec<u8>>,
    bytes: usize,
}

impl Search {
    fn in_folder(folder: &Path) -> Self {
        let mut search = Self { files: Vec::new(), bytes: 0 };
        search.read(folder);
        search
    }

    fn read(&mut self, folder: &Path) {
        for entry in std::fs::read_dir(folder).unwrap().flatten() {
            let kind = entry.file_type().unwrap();
            if kind.is_dir() {
                self.read(&entry.path());
            } else if kind.is_file() {
                let bytes = std::fs::read(entry.path()).unwrap();
                self.bytes += bytes.len();
                self.files.push(bytes);
            }
        }
    }

    fn finds(&self, wanted: &[u8]) -> bool {
        let finder = aho_corasick::AhoCorasick::new([wanted]).unwrap();
        self.files.iter().any(|file| finder.is_match(file))
    }
}
