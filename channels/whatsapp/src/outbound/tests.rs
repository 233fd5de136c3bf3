//! Tests of `outbound`.

use super::*;

const ID: &str = "00000000000000000000000000000abc";

#[test]
fn the_last_part_has_the_orders_own_id_and_the_others_follow_from_it() {
    let three = ids(ID, 3);
    assert_eq!(three[2], "00000000000000000000000000000ABC");
    assert_eq!(three, ids(ID, 3));
    assert!(
        three.iter().all(|id| id.len() == 32 && id.bytes().all(|byte| byte.is_ascii_hexdigit() && !byte.is_ascii_lowercase()))
    );
    assert!(three[0] != three[1] && three[1] != three[2]);
    assert_eq!(ids(ID, 1), [wire(ID)]);
}

#[test]
fn behind_a_part_that_left_nobody_says_that_nothing_did() {
    let offline = || Refusal::for_now("offline", "no connection");
    assert_eq!(offline().behind(false).unwrap_err().left, Some(false), "the first part");
    assert_eq!(offline().behind(true).ok(), Some(false), "there is no answer");
    assert_eq!(Refusal::for_good("invalid", "never").behind(true).unwrap_err().left, None);
    assert_eq!(Refusal::by_server("463".into()).behind(true).unwrap_err().left, Some(true));
}

#[test]
fn a_refusal_by_the_server_may_have_left_and_says_why() {
    let refusal = Refusal::by_server("463".into());
    assert_eq!((refusal.code.as_str(), refusal.left), ("463", Some(true)));
    assert!(refusal.reason.contains("only to people who wrote to it"));
    assert!(Refusal::by_server("999".into()).reason.contains("999"));
}
