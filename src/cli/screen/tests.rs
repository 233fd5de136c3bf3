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
fn the_colours_of_a_code_are_the_screens_own_and_only_on_a_terminal() {
    let lines = ["█▀\u{1b}[2K".to_owned()];
    assert_eq!(printed(|s| s.code(&lines)), "\u{1b}[97;40m█▀\\u{1b}[2K\u{1b}[0m\n");
    let mut out = Vec::new();
    Screen { out: &mut out, json: false, terminal: false }.code(&lines).unwrap();
    assert_eq!(String::from_utf8(out).unwrap(), "█▀\\u{1b}[2K\n");
}

#[test]
fn json_stays_json_although_its_texts_act_on_a_terminal() {
    let value = serde_json::json!({"name\u{202e}": "\u{200c}می\u{200d}\u{e0041}\u{7f}\u{9b}\n\t\\ end", "list": [1, null]});
    for json in [false, true] {
        let mut out = Vec::new();
        let mut screen = Screen { out: &mut out, json, terminal: true };
        screen.value(&value).unwrap();
        let text = String::from_utf8(out).unwrap();
        assert!(!text.chars().any(|c| acts(c) && c != '\n'), "{text:?}");
        assert!(text.contains("\\u202e") && text.contains("\\udb40\\udc41"), "{text}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&text).unwrap(), value);
    }
}

#[test]
fn a_table_is_aligned_and_says_when_there_is_nothing() {
    let rows = [["a".to_owned(), "first".to_owned()], ["longer".to_owned(), String::new()]];
    assert_eq!(printed(|s| s.table(["NAME", "WHAT"], &rows, "")), "NAME    WHAT\na       first\nlonger\n");
    assert_eq!(printed(|s| s.table(["NAME"], &[], "None.")), "None.\n");
}
