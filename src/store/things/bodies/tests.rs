//! Tests of `store::things::bodies`.

use super::*;
use crate::domain::{Grants, SourceLanguage};

fn whole(name: &str, bytes: usize) -> Arc<CapabilityVersion> {
    Arc::new(CapabilityVersion {
        name: name.to_owned(),
        version: 1,
        description: String::new(),
        language: SourceLanguage::JavaScript,
        source: "x".repeat(bytes),
        parameters: serde_json::json!({}),
        grants: Grants::none(),
        tests: Vec::new(),
        component: Vec::new(),
        sha256: String::new(),
        engine: String::new(),
    })
}

#[test]
fn what_was_not_used_for_the_longest_time_goes_first_and_bytes_are_bounded() {
    let (bodies, key) = (Bodies::default(), |name: &str| (name.to_owned(), 1, 7));
    for name in ["one", "two"] {
        bodies.put(key(name), &whole(name, MOST_BYTES / 3));
    }
    assert!(bodies.get(&key("one")).is_some());
    bodies.put(key("three"), &whole("three", MOST_BYTES / 2));
    assert!(bodies.get(&key("two")).is_none());
    assert!(bodies.get(&key("one")).is_some() && bodies.get(&key("three")).is_some());
    assert!(bodies.get(&("one".to_owned(), 1, 8)).is_none(), "a row that somebody changed is another");
    bodies.put(key("huge"), &whole("huge", MOST_BYTES + 1));
    assert_eq!(bodies.0.lock().unwrap().bytes, 0, "one that is too large for all is not kept");
}
