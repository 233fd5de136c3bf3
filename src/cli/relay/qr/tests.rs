//! Tests of `cli::relay::qr`.

use super::*;

#[test]
fn a_code_has_its_border_and_its_corners() {
    let lines = lines("2@abc").unwrap();
    // 21 modules and a border of 2 on each side.
    assert!(lines.len() == 13 && lines.iter().all(|line| line.chars().count() == 25), "{lines:#?}");
    assert_eq!(lines[0], "█".repeat(25));
    // The finder pattern: seven dark modules, and within them a ring of light ones.
    assert!(lines[1].starts_with("██ ▄▄▄▄▄ █"), "{}", lines[1]);
    assert!(lines[1].ends_with("█ ▄▄▄▄▄ ██"), "{}", lines[1]);
}

#[test]
fn a_text_that_no_code_holds_has_none() {
    assert!(lines(&"x".repeat(3000)).is_none());
}
