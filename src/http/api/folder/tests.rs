//! Tests of `http::api::folder`.

use super::*;

fn folder(change: impl FnOnce(&mut Value)) -> CapabilityFolder {
    let mut folder = json!({
        "capability.json": {"name": "add", "description": "Adds.", "language": "javascript", "parameters": {"type": "object"},
            "grants": {"kv": {}}, "tests": [{"params": {}, "expect": 1}]},
        "source.js": "export default () => 1",
    });
    change(&mut folder);
    serde_json::from_value(folder).unwrap()
}

#[test]
fn a_folder_becomes_the_arguments_of_write_capability() {
    let read = read(&folder(|_| {})).unwrap();
    let arguments = read.arguments();
    assert_eq!(arguments["code"], "export default () => 1");
    assert_eq!((&arguments["language"], &arguments["grants"]), (&json!("javascript"), &json!({"kv": {}})));
    assert_eq!(arguments["tests"], json!([{"params": {}, "expect": 1}]));
    assert_eq!(read.grants().unwrap().in_words(), ["Keep values of its own between calls."]);
}

#[test]
fn what_is_left_out_is_left_to_the_defaults() {
    let short = folder(|f| f["capability.json"] = json!({"name": "add", "description": "Adds.", "parameters": {}}));
    let read = read(&short).unwrap();
    assert!(read.arguments().get("grants").is_none() && !read.grants().unwrap().need_approval());
    assert_eq!(read.arguments()["language"], "javascript");
}

#[test]
fn a_written_folder_reads_back_as_the_same() {
    let version = CapabilityVersion {
        name: "add".into(),
        version: 3,
        description: "Adds.".into(),
        language: SourceLanguage::Wasm,
        source: "AGFzbQ==".into(),
        parameters: json!({"type": "object"}),
        grants: serde_json::from_value(json!({"http": {"hosts": ["a.example"]}})).unwrap(),
        tests: vec![serde_json::from_value(json!({"params": {}, "expect": 1})).unwrap()],
        component: Vec::new(),
        sha256: String::new(),
        engine: String::new(),
    };
    let grants = version.grants.clone();
    let written = serde_json::to_string(&write(version)).unwrap();
    assert_eq!(
        written,
        r#"{"capability.json":{"description":"Adds.","grants":{"http":{"hosts":["a.example"]}},"language":"wasm","name":"add","parameters":{"type":"object"},"tests":[{"expect":1,"params":{}}]},"source.wasm.base64":"AGFzbQ=="}"#
    );
    let read = read(&serde_json::from_str(&written).unwrap()).unwrap();
    assert_eq!((read.language, read.source.as_str()), (SourceLanguage::Wasm, "AGFzbQ=="));
    assert_eq!(read.grants().unwrap(), grants);
}

#[test]
fn what_is_no_capability_is_refused_with_the_way_to_write_it() {
    type Change = fn(&mut Value);
    let cases: [(Change, &str); 8] = [
        (|f| *f = json!({}), "there is no `capability.json`"),
        (|f| f["capability.json"] = json!("{"), "`capability.json` cannot be read"),
        (|f| f["capability.json"]["nmae"] = json!(1), "nmae"),
        (|f| f["capability.json"]["name"] = json!("Not A Name"), "snake_case"),
        (|f| f["capability.json"]["language"] = json!("wat"), "says the language is wat"),
        (|f| f["source.wat"] = json!(""), "exactly one file"),
        (|f| f["source.js"] = json!(1), "`source.js` must be text"),
        (|f| *f = json!({"capability.json": f["capability.json"], "source.py": ""}), "`source.py` is no source"),
    ];
    for (change, said) in cases {
        let error = read(&folder(change)).unwrap_err();
        assert!(error.contains(said), "{said}: {error}");
    }
}
