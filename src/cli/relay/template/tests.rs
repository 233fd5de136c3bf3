//! Tests of `cli::relay::template`.

use super::*;

/// Nothing that a command line says itself.
fn nothing() -> InstanceTemplate {
    InstanceTemplate::default()
}

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
    let filled = made.filled("t", &values(&[("who", "{{what}}"), ("what", "a time")]), &nothing()).unwrap();
    assert_eq!(filled, template("Ask {{what}} for a time", &["a time is set", "{{ not a name }} {{"]));
}

#[test]
fn a_name_without_value_and_a_value_without_name_are_told() {
    let missing = template("Ask {{who}}", &[]).filled("viewing", &[], &nothing()).unwrap_err();
    assert_eq!(missing.to_string(), "var: the template viewing has {{who}}; give it, like --var who=Ana");
    let unknown = values(&[("who", "Ana"), ("how", "x")]);
    let unknown = template("Ask {{who}}", &[]).filled("viewing", &unknown, &nothing()).unwrap_err();
    assert_eq!(unknown.to_string(), "var: the template viewing has no {{how}}; the nearest is who");
    assert_eq!((missing.exit_code(), unknown.exit_code()), (2, 2));
    let twice = values(&[("who", "Ana"), ("who", "Eva")]);
    let twice = template("Ask {{who}}", &[]).filled("viewing", &twice, &nothing()).unwrap_err();
    assert_eq!((twice.exit_code(), twice.to_string().contains("who is given twice")), (2, true));
}

#[test]
fn a_name_is_needed_only_where_the_template_is_used_and_blanks_in_its_braces_do_no_harm() {
    let made = || template("Ask {{ who }}", &["Tell {{what}}"]);
    assert_eq!(made().names().into_iter().collect::<Vec<_>>(), ["what", "who"]);
    let own = template("Own {{words}}", &["own"]);
    let left = made().filled("t", &[], &own).unwrap();
    assert_eq!(own.clone().over(left), own, "words of the command line are not filled");
    let own = InstanceTemplate { objective: Some("own".into()), ..nothing() };
    let left = made().filled("t", &values(&[("what", "it"), ("who", "Ana")]), &own).unwrap();
    assert_eq!(own.over(left), template("own", &["Tell it"]));
    assert!(made().filled("t", &values(&[("who", "Ana")]), &nothing()).unwrap_err().to_string().contains("{{what}}"));
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
