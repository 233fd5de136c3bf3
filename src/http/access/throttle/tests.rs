//! Tests of `http::access::throttle`.

use super::*;

const NOW: DateTime<Utc> = DateTime::UNIX_EPOCH;

fn address(last: u8) -> IpAddr {
    IpAddr::from([10, 0, 0, last])
}

#[test]
fn five_failures_are_free_and_then_each_doubles_the_wait_to_a_quarter_of_an_hour() {
    let waits: Vec<_> = (0..12).map(|failures| wait_after(failures).num_seconds()).collect();
    assert_eq!(waits, [0, 0, 0, 0, 0, 60, 120, 240, 480, 900, 900, 900]);
    assert_eq!(wait_after(u32::MAX), LONGEST);
}

#[test]
fn a_name_waits_wherever_one_tries_and_an_address_whatever_name_it_tries() {
    let throttle = Throttle::default();
    for n in 0..5 {
        assert_eq!(throttle.wait("Ana", address(n), NOW), None);
        throttle.failed("Ana", address(n), NOW);
    }
    assert_eq!(throttle.wait("ANA", address(99), NOW), Some(60));
    assert_eq!(throttle.wait("Ben", address(1), NOW), None);
    for name in ["a", "b", "c", "d"] {
        throttle.failed(name, address(1), NOW);
    }
    assert_eq!(throttle.wait("Ben", address(1), NOW), Some(60));
    assert_eq!(throttle.wait("Ben", address(2), NOW), None);
    assert_eq!(throttle.wait("Ana", address(1), NOW + FIRST), None);
}

#[test]
fn coming_in_forgets_the_name_and_time_forgets_all() {
    let throttle = Throttle::default();
    (0..5).for_each(|_| throttle.failed("Ana", address(1), NOW));
    throttle.passed("ana");
    assert_eq!((throttle.wait("Ana", address(2), NOW), throttle.wait("Ana", address(1), NOW)), (None, Some(60)));
    // A failure long after the last one is a first one.
    let later = NOW + FIRST + LONGEST;
    throttle.failed("Ben", address(1), later);
    assert_eq!(throttle.wait("Ben", address(1), later), None);
}

#[test]
fn more_than_are_remembered_are_counted_together() {
    let throttle = Throttle::default();
    for n in 0..u32::try_from(COUNTED).unwrap() {
        throttle.failed(&format!("name {n}"), IpAddr::V4(n.into()), NOW);
    }
    for _ in 0..5 {
        throttle.failed("late", IpAddr::V4(u32::MAX.into()), NOW);
    }
    assert!(throttle.wait("later still", address(1), NOW).is_some());
    assert!(throttle.lock().len() <= COUNTED + 1);
}
