//! Tests of `life`.

use super::*;

fn minutes(count: u32) -> Next {
    Next::Pause(MINUTE * count)
}

#[test]
fn a_locked_account_is_left_alone_for_5_15_and_60_minutes() {
    let mut row = Row::default();
    for wanted in [5, 15, 60, 60] {
        let (then, what) = next(row, false, &End::Locked);
        assert_eq!(what, minutes(wanted));
        row = then;
    }
    // An account that was online in between begins anew.
    assert_eq!(next(row, true, &End::Locked), (Row(1), minutes(5)));
}

#[test]
fn a_removed_device_shows_a_new_code_and_a_ban_is_waited_for() {
    assert_eq!(next(Row(2), true, &End::LoggedOut { code: "401".into() }), (Row(0), Next::Anew));
    let ban = End::Banned { expire: MINUTE * 30, reason: "too many".into() };
    assert_eq!(next(Row(0), false, &ban).1, Next::Pause(MINUTE * 30 + Duration::from_secs(10)));
    let two_days = End::Banned { expire: DAY * 2, reason: "too many".into() };
    assert_eq!(next(Row(0), false, &two_days).1, Next::Pause(DAY * 2 + Duration::from_secs(10)));
    let none = End::Banned { expire: Duration::ZERO, reason: "too many".into() };
    assert_eq!(next(Row(0), false, &none).1, Next::Pause(MINUTE * 5 + Duration::from_secs(10)));
    let ever = End::Banned { expire: Duration::MAX, reason: "for ever".into() };
    assert_eq!(next(Row(0), false, &ever).1, Next::Pause(DAY + Duration::from_secs(10)));
}

#[test]
fn only_a_person_helps_an_outdated_client_or_scans_a_code() {
    let outdated = End::Outdated { code: "405".into(), web: "2.3000.0".into() };
    assert_eq!(next(Row(0), false, &outdated).1, Next::Rest);
    assert_eq!(next(Row(0), false, &End::Unscanned).1, Next::Rest);
}

#[test]
fn level3_ends_the_program_or_the_session() {
    assert_eq!(next(Row(1), true, &End::Closed).1, Next::Leave);
    assert_eq!(next(Row(1), true, &End::Logout), (Row(0), Next::Forget));
}

#[test]
fn two_programs_with_one_session_do_not_chase_each_other() {
    assert_eq!(next(Row(0), true, &End::Replaced).1, minutes(5));
    assert_eq!(next(Row(1), false, &End::Failed { code: "418".into() }).1, minutes(15));
}
