//! Tests of `cli::relay::template`.

use super::*;

fn template(objective: &str, todos: &[&str]) -> InstanceTemplate {
    InstanceTemplate {
        objective: Some(objective.into()),
        todos: todos.iter().map(|todo| (*todo).to_owned()).collect(),
        ..InstanceTemplate::default()
    }
}

fn values(given: &[(&str, &str)]) -> Vec<(String, String)> {
    given.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

#[test]
fn names_are_filled_everywhere_and_a_value_is_not_read_again() {
    let made = template("Ask {{who}} for {{what}}", &["{{what}} is set", "{{ not a name }} {{"]);
    let filled = made.filled("t", &values(&[("who", "{{what}}"), ("what", "a time")])).unwrap();
    assert_eq!(filled, template("Ask {{what}} for a time", &["a time is set", "{{ not a name }} {{"]));
}

#[test]
fn a_name_without_value_and_a_value_without_name_are_told() {
    let missing = template("Ask {{who}}", &[]).filled("viewing", &[]).unwrap_err();
    assert_eq!(missing.to_string(), "var: the template viewing has {{who}}; give it, like --var who=Ana");
    let unknown = template("Ask {{who}}", &[]).filled("viewing", &values(&[("who", "Ana"), ("how", "x")])).unwrap_err();
    assert_eq!(unknown.to_string(), "var: the template viewing has no {{how}}; the nearest is who");
    assert_eq!((missing.exit_code(), unknown.exit_code()), (2, 2));
}

#[test]
fn what_is_said_stands_over_the_template() {
    let below = InstanceTemplate { heartbeat_seconds: Some(60), max_follow_ups: Some(1), ..template("below", &["a"]) };
    let said = InstanceTemplate { objective: Some("said".into()), max_follow_ups: Some(2), ..InstanceTemplate::default() };
    let both = said.over(below.clone());
    assert_eq!(both, InstanceTemplate { objective: Some("said".into()), max_follow_ups: Some(2), ..below });
}

#[test]
fn a_name_is_no_path() {
    for name in ["", "..", "a/b", "a.b", "-a", "ä", &"a".repeat(65)] {
        assert!(!is_name(name), "{name}");
    }
    assert!(is_name("viewing-2_a"));
}
