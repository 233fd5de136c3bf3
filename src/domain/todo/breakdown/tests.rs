//! Tests of `domain::todo::breakdown`.

use super::*;

#[test]
fn three_to_seven_titles_are_a_breakdown_and_nothing_else() {
    let steps = |many: usize| {
        format!("{{\"subtasks\": [{}]}}", (0..many).map(|nth| format!("\"Step {nth}\"")).collect::<Vec<_>>().join(", "))
    };
    for many in 3..=7 {
        assert_eq!(Breakdown::read(&steps(many)).map(|read| read.subtasks.len()), Ok(many));
        assert!(Breakdown::read(&format!("```json\n{}\n```", steps(many))).is_ok());
    }
    let read = Breakdown::read(" {\"subtasks\": [\" Choose recipes \", \"Buy food\", \"Cook\"]} ").unwrap();
    assert_eq!(read.subtasks, ["Choose recipes", "Buy food", "Cook"]);
    let long = format!("{{\"subtasks\": [\"a\", \"b\", \"{}\"]}}", "c".repeat(201));
    for (answer, reason) in [
        (steps(2), "there are 2 subtasks; give 3 to 7"),
        (steps(8), "there are 8 subtasks; give 3 to 7"),
        (steps(0), "there are 0 subtasks"),
        (long, "That title has 201 characters"),
        (r#"{"subtasks": ["a", "", "c"]}"#.into(), "A title needs at least one character."),
        (r#"{"subtasks": ["a", "b\nc", "d"]}"#.into(), "A title stands on one line."),
        (r#"{"subtasks": ["Buy food", "Cook", "buy the food!"]}"#.into(), "`buy the food!` stands there twice"),
        (r#"{"subtasks": ["a", "b", 3]}"#.into(), "this is not the JSON object"),
        (r#"{"subtasks": ["a", "b", "c"], "confirmed": true}"#.into(), "unknown field `confirmed`"),
        (r#"["a", "b", "c"]"#.into(), "this is not the JSON object"),
        ("Sure! Here are the steps: 1. Cook".into(), "this is not the JSON object"),
        (String::new(), "this is not the JSON object"),
    ] {
        let refused = Breakdown::read(&answer).unwrap_err();
        assert!(refused.contains(reason), "{answer}: {refused}");
    }
}
