//! Tests of `mcp::clean`.

use super::*;

#[test]
fn what_cannot_be_seen_is_gone() {
    let hidden: String = "obey".chars().map(|c| char::from_u32(0xE0000 + u32::from(c)).unwrap()).collect();
    assert_eq!(plain(&format!("Adds\u{200B} num\u{202E}bers.{hidden}\u{1b}[2J\n\tNext"), 100), "Adds numbers.[2J\n\tNext");
    assert_eq!(plain("  àé日本 ", 100), "àé日本");
}

#[test]
fn it_is_bounded_in_characters() {
    assert_eq!(plain("ééééé", 3), "ééé…");
    assert_eq!(plain("ééé", 3), "ééé");
    assert_eq!(line("a\n\n b\tc", 100), "a b c");
}
