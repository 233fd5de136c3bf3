//! Tests of `domain::users`.

use super::*;

#[test]
fn a_name_is_one_to_forty_characters_that_an_address_takes() {
    for name in ["a", "Ana", "Ana María", "日本", &"x".repeat(40)] {
        assert_eq!(valid_user_name(name), Ok(()), "{name}");
    }
    for name in
        ["", "\u{200b}", " a", "a ", "a/b", "a\nb", "a\0", "\u{202e}ána", "a\u{200b}b", "a\u{2066}b\u{2069}", &"x".repeat(41)]
    {
        assert!(valid_user_name(name).is_err(), "{name:?}");
    }
    assert_eq!(user_key("ANA María"), user_key("ana marÍa"));
}

#[test]
fn everybody_is_called_by_at_most_a_hundred_characters_that_can_be_seen() {
    for (name, taken) in [("ü".repeat(100), true), (format!(" {} ", "x".repeat(100)), true), ("x".repeat(101), false)] {
        assert_eq!(valid_display_name(&name).is_ok(), taken, "{name}");
    }
    for unseen in ["", "  ", " \u{202e} ", "\u{200b}"] {
        assert!(valid_display_name(unseen).is_err(), "{unseen:?}");
    }
}

#[test]
fn a_password_has_twelve_to_128_characters_whatever_they_are() {
    for (length, taken) in [(0, false), (11, false), (12, true), (128, true), (129, false)] {
        assert_eq!(valid_password(&"ß".repeat(length)).is_ok(), taken, "{length}");
    }
    let told = valid_password("secret").unwrap_err();
    assert!(!told.contains("secret"), "{told}");
}

#[test]
fn the_number_says_who_the_owner_is() {
    assert_eq!(UserRole::of(UserId::OWNER), UserRole::Owner);
    assert_eq!(UserRole::of(UserId(2)), UserRole::Member);
    let reaches: Vec<_> = UserRole::ALL.iter().flat_map(|one| UserRole::ALL.iter().map(|least| one.reaches(*least))).collect();
    assert_eq!(reaches, [true, true, false, true]);
}
