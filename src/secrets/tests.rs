//! Tests of `secrets`.

use super::*;

#[test]
fn a_value_is_kept_without_the_newline_of_its_file() {
    let kept = |value: &str| trimmed(SecretString::from(value)).map(|value| value.expose_secret().to_owned());
    assert_eq!(kept("long enough\r\n").unwrap(), "long enough");
    assert_eq!(kept("-----BEGIN\nKEY-----\n").unwrap(), "-----BEGIN\nKEY-----");
    assert_eq!(kept(&"x".repeat(MAX_VALUE_BYTES)).unwrap().len(), MAX_VALUE_BYTES);
}

#[test]
fn a_value_that_is_none_is_refused_with_what_is_wrong_and_never_repeated() {
    let refused = |value: &str| trimmed(SecretString::from(value)).unwrap_err().to_string();
    assert!(refused("short\n").contains("5 characters; a secret has at least 8"));
    assert!(refused("a").contains("has 1 character; a secret"));
    assert!(refused("üüüüüüü").contains("7 characters"));
    assert!(refused(&" ".repeat(20)).contains("0 characters; a secret has at least 8, blanks around it not counted"));
    assert!(refused("  seven 7 \t ").contains("7 characters"));
    assert!(refused(&"x".repeat(MAX_VALUE_BYTES + 1)).contains("8193 bytes"));
    let zero = refused("with a \0 inside");
    assert!(zero.contains("zero character") && !zero.contains("inside"), "{zero}");
}
