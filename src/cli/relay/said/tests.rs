//! Tests of `cli::relay::said`.

use super::*;

#[test]
fn todos_come_from_lines_or_from_an_array() {
    let place = tempfile::tempdir().unwrap();
    let file = place.path().join("todos");
    fs::write(&file, "Ask for a time\n\n  Confirm it  \n").unwrap();
    assert_eq!(todos_of(&file).unwrap(), ["Ask for a time", "Confirm it"]);
    fs::write(&file, " [\"Ask\", \"Confirm\\nit\"]").unwrap();
    assert_eq!(todos_of(&file).unwrap(), ["Ask", "Confirm\nit"]);
    // As editors of Windows write them.
    fs::write(&file, "\u{feff}Ask for a time\r\nConfirm it\r\n").unwrap();
    assert_eq!(todos_of(&file).unwrap(), ["Ask for a time", "Confirm it"]);
    fs::write(&file, "\u{feff}[\"Ask\", \"Confirm it\"]").unwrap();
    assert_eq!(todos_of(&file).unwrap(), ["Ask", "Confirm it"]);
    fs::write(&file, "[1]").unwrap();
    let wrong = todos_of(&file).unwrap_err();
    assert!(wrong.to_string().starts_with("todos: ") && wrong.exit_code() == 2, "{wrong}");
    let missing = todos_of(&place.path().join("nothing")).unwrap_err();
    assert!(missing.to_string().contains("nothing") && missing.exit_code() == 1, "{missing}");
}
