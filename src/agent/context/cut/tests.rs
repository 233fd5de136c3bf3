//! Tests of `agent::context::cut`.

use super::*;

#[test]
fn a_long_result_is_cut_in_the_middle_at_characters() {
    let long = "é".repeat(RESULT_BYTES);
    let cut = result(&long, RESULT_BYTES, ToolCallId(7));
    assert!(cut.len() <= RESULT_BYTES + NOTE_BYTES && cut.contains("left out here"), "{}", cut.len());
    assert_eq!(result(&cut, RESULT_BYTES, ToolCallId(7)), cut);
    assert_eq!(result("short", RESULT_BYTES, ToolCallId(7)), "short");
    assert_eq!(text(&text(&long, 500), 500), text(&long, 500));
}

#[test]
fn the_note_names_exactly_what_is_missing_in_characters() {
    let long: String = ('a'..='z').cycle().take(3000).chain("é".chars().cycle().take(9000)).collect();
    let cut = result(&long, 6000, ToolCallId(7));
    let missing = |cut: &str| -> (usize, usize) {
        let (_, rest) = cut.split_once("characters ").unwrap();
        let mut numbers = rest.split(|c: char| !c.is_ascii_digit()).filter(|word| !word.is_empty());
        (numbers.next().unwrap().parse().unwrap(), numbers.next().unwrap().parse().unwrap())
    };
    let (from, to) = missing(&cut);
    let (head, rest) = cut.split_once("\n[… ").unwrap();
    let gap: String = long.chars().skip(from - 1).take(to + 1 - from).collect();
    assert_eq!(format!("{head}{gap}{}", rest.split_once(" …]\n").unwrap().1), long);
    assert!(
        rest.contains(&format!(
            "1500 at a time: SELECT substr(content, {from}, 1500) FROM shared.messages WHERE tool_call_id = 7"
        )),
        "{rest}"
    );
}
