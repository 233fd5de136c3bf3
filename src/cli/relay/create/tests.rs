//! Tests of `cli::relay::create`.

use super::*;

#[test]
fn a_variable_has_a_name_and_a_value() {
    assert_eq!(variable("who=Ana=Maria"), Ok(("who".into(), "Ana=Maria".into())));
    for text in ["who", "=Ana", "a b=c"] {
        assert!(variable(text).unwrap_err().contains("like name=Ana"), "{text}");
    }
}
