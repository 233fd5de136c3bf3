//! The examples in `capabilities/examples` pass their own tests, when they are checked and when they are run again.

use std::path::Path;

use serde::Deserialize;

use super::*;

#[derive(Deserialize)]
struct Example {
    name: String,
    description: String,
    language: Language,
    parameters: Value,
    grants: Grants,
    tests: Vec<TestCase>,
}

fn examples() -> Vec<Draft> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("capabilities/examples");
    let read = |folder: &Path| {
        let text = std::fs::read_to_string(folder.join("capability.json")).unwrap();
        let example: Example = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
        let extension = match example.language {
            Language::JavaScript => "js",
            Language::Wat => "wat",
            Language::Wasm => "wasm.base64",
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

#[tokio::test]
async fn every_example_passes_its_tests() {
    let examples = examples();
    assert_eq!(examples.len(), 3);
    for draft in examples {
        assert!(!draft.tests.is_empty(), "{}", draft.name);
        let capability = built(sandbox(), &draft).await;
        let results = sandbox().run_tests(&capability).await.unwrap();
        assert!(results.len() == draft.tests.len() && results.iter().all(|test| test.ok), "{}: {results:?}", draft.name);
    }
}
