//! Tags of browsers, and the names that servers know.

use super::*;

#[test]
fn a_tag_of_any_country_is_named_by_its_language_and_one_that_servers_may_not_know_is_not() {
    for (tag, name) in [
        ("pt-BR", Some("pt")),
        ("PT_pt", Some("pt")),
        ("en", Some("en")),
        ("zh-Hant-TW", Some("zh")),
        ("nb-NO", Some("no")),
        ("fil", Some("tl")),
        ("tlh", None),
        ("e", None),
        ("", None),
        ("en pt", None),
    ] {
        assert_eq!(named(tag), name, "{tag}");
    }
    assert_eq!(KNOWN.split(' ').count(), 57, "no name is lost between the lines");
}
