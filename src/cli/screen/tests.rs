//! Tests of `cli::screen`.

use super::*;

fn printed(print: impl FnOnce(&mut Screen<'_>) -> io::Result<()>) -> String {
    let mut out = Vec::new();
    print(&mut Screen { out: &mut out, json: false, terminal: true }).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn nothing_that_acts_on_a_terminal_is_printed() {
    let hostile = "ok\u{1b}[2K\rsafe \u{202e}evil\u{7}\u{9b}31m";
    for text in [printed(|s| s.line(hostile)), printed(|s| s.part("Source", hostile)), printed(|s| s.raw(hostile))] {
        assert!(!text.contains(['\u{1b}', '\r', '\u{202e}', '\u{7}', '\u{9b}']), "{text:?}");
        assert!(text.contains("\\u{1b}[2K"), "{text:?}");
    }
}

#[test]
fn a_table_is_aligned_and_says_when_there_is_nothing() {
    let rows = [["a".to_owned(), "first".to_owned()], ["longer".to_owned(), String::new()]];
    assert_eq!(printed(|s| s.table(["NAME", "WHAT"], &rows, "")), "NAME    WHAT\na       first\nlonger\n");
    assert_eq!(printed(|s| s.table(["NAME"], &[], "None.")), "None.\n");
}
