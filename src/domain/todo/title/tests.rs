//! Tests of `domain::todo::title`.

use super::*;

#[test]
fn a_title_is_one_line_of_1_to_200_characters() {
    for (text, title) in [("Buy milk", "Buy milk"), ("  Buy milk \n", "Buy milk"), ("é", "é"), ("🌙", "🌙")] {
        assert_eq!(valid_title(text), Ok(title.to_owned()), "{text:?}");
    }
    assert_eq!(valid_title("Call \u{202e}evil\u{2066} \u{200f}x"), Ok("Call evil \u{200f}x".into()), "nothing is turned around");
    assert_eq!(valid_title(&"ü".repeat(200)).map(|title| title.len()), Ok(400), "characters count, not bytes");
    assert_eq!(valid_title(&"ü".repeat(201)), Err(TitleRefusal::TooLong(201)));
    for empty in ["", "  ", "\n\t", "\u{200b}", " \u{feff} ", "\u{202e}"] {
        assert_eq!(valid_title(empty), Err(TitleRefusal::Empty), "{empty:?}");
    }
    for lines in ["a\nb", "a\r\nb", "a\u{2028}b", "a\u{85}b", "a\0b", "a\tb"] {
        assert_eq!(valid_title(lines), Err(TitleRefusal::NotOneLine), "{lines:?}");
    }
}

#[test]
fn a_full_list_says_how_much_is_the_most() {
    assert_eq!([room_for_task(999), room_for_task(1_000)], [Ok(()), Err(TooMany::Tasks(1_000))]);
    assert_eq!([room_for_subtask(49), room_for_subtask(50)], [Ok(()), Err(TooMany::Subtasks)]);
    let full = "You have 1555 open tasks, and 1000 is the most. Complete or delete some first.";
    assert_eq!(TooMany::Tasks(1_555).to_string(), full);
    assert_eq!(TooMany::Subtasks.to_string(), "That task has 50 subtasks, and that is the most. Remove one first.");
}
