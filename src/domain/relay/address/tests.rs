//! Tests of addresses.

use super::*;

#[test]
fn an_address_is_a_plus_and_eight_to_fifteen_digits() {
    for (written, read) in [
        ("+491701234567", "+491701234567"),
        (" +49 (170) 123-45.67 ", "+491701234567"),
        ("+12345678", "+12345678"),
        ("+123456789012345", "+123456789012345"),
    ] {
        assert_eq!(ContactAddress::read(written).unwrap().as_str(), read);
    }
    for wrong in
        ["", "+", "491701234567", "+1234567", "+1234567890123456", "+49170123456x", "+0491701234", "a@b.c", "+４９１７０１２３４"]
    {
        let refused = ContactAddress::read(wrong).unwrap_err();
        assert!(refused.contains("+491701234567") && refused.contains(wrong), "{refused}");
    }
}

#[test]
fn a_zero_that_is_dialled_only_at_home_is_refused() {
    for wrong in ["+49 (0)171 1111115", "+49(0) 171 1111115", "+49 ( 0 ) 171 1111115"] {
        let refused = ContactAddress::read(wrong).unwrap_err();
        assert!(refused.contains("leave the (0) out, like +491701234567"), "{refused}");
    }
    assert_eq!(ContactAddress::read("+39 06 1234567").unwrap().as_str(), "+39061234567", "Italian numbers keep their zero");
}

#[test]
fn a_refusal_does_not_repeat_what_is_long_or_hidden() {
    let refused = ContactAddress::read(&format!("\u{7}{}", "9".repeat(500))).unwrap_err();
    assert!(refused.len() < 200 && !refused.contains('\u{7}'), "{refused}");
}

#[test]
fn a_stranger_is_known_by_country_and_end() {
    assert_eq!(ContactAddress::read("+491701234567").unwrap().masked(), "+49••••••••67");
}
