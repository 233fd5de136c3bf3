//! Tests of `address`.

use super::*;

#[test]
fn a_number_becomes_a_name_and_back() {
    let jid = jid("+491701234567").unwrap();
    assert_eq!(jid.to_string(), "491701234567@s.whatsapp.net");
    assert_eq!(number(&jid).as_deref(), Some("+491701234567"));
    assert_eq!(number(&"491701234567:3@s.whatsapp.net".parse().unwrap()).as_deref(), Some("+491701234567"));
}

#[test]
fn other_spellings_are_refused_with_a_right_one() {
    for wrong in ["491701234567", "+0049170123456", "+49 170 1234567", "+49", "+4917012345678901", "", "+49170x234567"] {
        assert!(jid(wrong).unwrap_err().contains("+491701234567"), "{wrong}");
    }
}

#[test]
fn hidden_names_and_groups_show_no_number() {
    for other in ["123456789012@lid", "120363000000000000@g.us", "status@broadcast"] {
        assert_eq!(number(&other.parse().unwrap()), None, "{other}");
    }
}
