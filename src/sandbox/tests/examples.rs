//! The capabilities in `capabilities/examples` and `capabilities/shipped` pass their own tests, at
//! their check and at a later run.

use std::path::Path;

use serde::Deserialize;

use super::*;

#[derive(Deserialize)]
struct Example {
    name: String,
    description: String,
    language: SourceLanguage,
    parameters: Value,
    grants: Grants,
    tests: Vec<TestCase>,
}

fn drafts(within: &str) -> Vec<Draft> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../capabilities").join(within);
    let read = |folder: &Path| {
        let text = std::fs::read_to_string(folder.join("capability.json")).unwrap();
        let example: Example = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
        let extension = match example.language {
            SourceLanguage::JavaScript => "js",
            SourceLanguage::Wat => "wat",
            SourceLanguage::Wasm => "wasm.base64",
        };
        Draft {
            name: example.name,
            description: example.description,
            language: example.language,
            source: std::fs::read_to_string(folder.join("source").with_extension(extension)).unwrap(),
            parameters: example.parameters,
            grants: example.grants,
            tests: example.tests,
        }
    };
    std::fs::read_dir(folder).unwrap().map(|entry| read(&entry.unwrap().path())).collect()
}

async fn all_pass(drafts: &[Draft]) {
    for draft in drafts {
        assert!(!draft.tests.is_empty(), "{}", draft.name);
        let capability = built(sandbox(), draft).await;
        let results = sandbox().run_tests(&capability).await.unwrap();
        assert!(results.len() == draft.tests.len() && results.iter().all(|test| test.ok), "{}: {results:?}", draft.name);
    }
}

#[tokio::test]
async fn every_example_passes_its_tests() {
    let examples = drafts("examples");
    assert_eq!(examples.len(), 3);
    all_pass(&examples).await;
}

#[tokio::test]
async fn every_shipped_capability_passes_its_tests_and_says_what_it_needs() {
    let mut shipped = drafts("shipped");
    shipped.sort_by(|one, other| one.name.cmp(&other.name));
    let names: Vec<_> = shipped.iter().map(|draft| &*draft.name).collect();
    assert_eq!(names, ["http_get", "notify_ntfy", "notify_telegram", "recall", "remember", "send_email"]);
    all_pass(&shipped).await;
    for draft in shipped {
        // Each reaches something, so a person approves it; and its secrets go only where its
        // requests go.
        assert!(draft.grants.need_approval(), "{}", draft.name);
        let bound = draft.grants.secrets.values().flatten();
        assert!(bound.clone().all(|host| draft.grants.http.iter().any(|grant| grant.host == *host)), "{}", draft.name);
        for secret in draft.grants.secrets.keys() {
            assert!(draft.description.contains(secret), "the model must know what {} needs", draft.name);
        }
        assert!(draft.source.len() < 5 * 1024, "{} is an example, and is read as one", draft.name);
    }
}
