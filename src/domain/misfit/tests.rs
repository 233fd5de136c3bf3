//! Tests of `domain::misfit`.

use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::*;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "it is only read")]
struct Asked {
    name: String,
    many: Option<u32>,
    on: Option<bool>,
    all: Option<Vec<i64>>,
    inner: Option<Inner>,
    kind: Option<Kind>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Inner {}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Kind {
    One,
    Two,
}

fn said<T: DeserializeOwned>(text: &str) -> String {
    misfit(&serde_json::from_str::<T>(text).err().expect("it does not fit").to_string())
}

#[test]
fn serdes_words_become_words_for_people() {
    for (text, told) in [
        (r#"{"name": 5}"#, "expected a text, not 5"),
        (r#"{"name": "x", "many": -1}"#, "expected a whole number that is not below zero, not -1"),
        (r#"{"name": "x", "many": "6"}"#, "expected a whole number that is not below zero, not the text \"6\""),
        (r#"{"name": "x", "on": 1.5}"#, "expected true or false, not 1.5"),
        (r#"{"name": "x", "all": {}}"#, "expected a list, not an object"),
        (r#"{"name": "x", "inner": 1}"#, "expected an object, not 1"),
        (r#"{"name": "x", "inner": {"a": 1}}"#, "there is no field `a`, and none is expected"),
        (r#"{"name": "x", "kind": "three"}"#, "`three` is none of `one`, `two`"),
        (r#"{"nam": "x"}"#, "there is no field `nam`; the fields are `name`, `many`, `on`, `all`, `inner`, `kind`"),
        ("{}", "missing field `name`"),
    ] {
        assert_eq!(said::<Asked>(text), told, "{text}");
    }
}

#[test]
fn words_of_others_stay() {
    let told = "unknown variant `luck`, expected `one` or `two`; the kinds are one, two";
    assert_eq!(misfit(told), "`luck` is not known; the kinds are one, two");
    let told = "invalid type: string \"a; b at line 1 column x\", expected u32";
    assert_eq!(misfit(told), "expected a whole number that is not below zero, not the text \"a; b at line 1 column x\"");
    assert_eq!(misfit("percent_of_day is 100 at most"), "percent_of_day is 100 at most");
}
