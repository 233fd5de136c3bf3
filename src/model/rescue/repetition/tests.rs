//! Tests of `model::rescue::repetition`.

use super::*;

fn grown(mut watch: Repetition, text: &str) -> Option<&str> {
    (1..=text.len()).filter(|end| text.is_char_boundary(*end)).find_map(|end| watch.look(&text[..end])).map(|kept| &text[..kept])
}

#[test]
fn what_goes_on_for_ever_is_cut_behind_its_first_time() {
    let text = format!("{{\"code\": \"x\", {}", "\"Yes\": {}, ".repeat(400));
    assert_eq!(grown(Repetition::in_arguments(), &text), Some("{\"code\": \"x\", \"Yes\": {}"));
    let text = format!("Well. {}", "no … ".repeat(2000));
    assert_eq!(grown(Repetition::in_text(), &text), Some("Well. no …"));
    let paragraph: String = (0..60).map(|word| format!("word{word} ")).collect();
    assert_eq!(grown(Repetition::in_text(), &paragraph.repeat(20)), Some(&*paragraph));
}

#[test]
fn long_texts_that_say_something_are_left_alone() {
    let rows: String = (0..1000).map(|row| format!("INSERT INTO t VALUES ({row}, 'the same words');\n")).collect();
    let ruler = format!("{}\n{}\n", "-".repeat(1500), rows);
    let zeros = format!("[{}1]", "0, ".repeat(600));
    for text in [&rows, &ruler, &zeros] {
        assert_eq!(grown(Repetition::in_arguments(), text), None);
        assert_eq!(grown(Repetition::in_text(), text), None);
    }
}

#[test]
fn a_text_that_goes_on_with_white_space_has_ended() {
    assert_eq!(blank_end(&format!("Done.{}", "\n".repeat(256))), Some(5));
    assert_eq!(blank_end(&format!("Done.{}", " \n".repeat(127))), None);
    assert_eq!(blank_end(&format!("fn a() {{{}}}", " ".repeat(500))), None);
}

#[test]
fn a_whole_text_at_once_is_looked_at_too() {
    assert_eq!(Repetition::in_arguments().look(&"ab".repeat(2000)), Some(2));
    assert_eq!(Repetition::in_arguments().look(&"ä".repeat(2000)), Some(2));
}
