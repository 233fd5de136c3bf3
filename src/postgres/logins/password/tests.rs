//! Tests of `postgres::logins::password`.

use super::*;

#[test]
fn a_password_depends_on_the_administrators_and_on_the_role() {
    assert_eq!(password("secret", "level3_app"), password("secret", "level3_app"));
    assert_ne!(password("secret", "level3_app"), password("secret", "level3_agent_reader"));
    assert_ne!(password("secret", "level3_app"), password("Secret", "level3_app"));
}

#[test]
fn no_password_and_an_empty_one_are_the_same() {
    let options: PgConnectOptions = "postgres://a@localhost/b".parse().unwrap();
    assert_eq!(admin_password(&options.clone().password("")), None);
    assert_eq!(admin_password(&options.password("p@ss")), Some("p%40ss".into()));
}
