//! Tests of `cli::operator::whatsapp`.

use super::*;

const TEXT: &str = "2@abcdefghijklmnopqrstuvwxyz0123456789,ABCDEFGHIJKLMNOPQRSTUVWXYZ,abcdefghijklmnopqrstuvwxyz";

#[test]
fn the_build_goes_where_the_program_is_looked_for_whatever_cargo_was_told() {
    let command = building(Path::new("cargo"), Path::new("/sources/channels/whatsapp"));
    let arguments: Vec<_> = command.get_args().map(|argument| argument.to_str().unwrap()).collect();
    assert_eq!(arguments, ["build", "--release", "--locked", "--target-dir", "target"]);
    assert_eq!(command.get_current_dir(), Some(Path::new("/sources/channels/whatsapp")));
}

#[test]
fn a_wide_terminal_gets_the_code_and_a_narrow_one_the_pairing_code() {
    let wide = code_to_scan(Some(TEXT), Some("ABCD-EFGH"), Terminal { columns: Some(80) });
    assert!(wide.words[0].starts_with("Scan this code") && wide.code.len() > 14, "{wide:?}");
    for columns in [Some(20), None] {
        let narrow = code_to_scan(Some(TEXT), Some("ABCD-EFGH"), Terminal { columns });
        assert_eq!((narrow.words[1].as_str(), narrow.code.len()), ("    ABCD-EFGH", 0));
        let none = code_to_scan(Some(TEXT), None, Terminal { columns }).words;
        assert!(none[0].contains("columns wide"), "{none:?}");
        assert_eq!(none[0].contains("without a terminal"), columns.is_none());
        assert!(none[1].contains(r#"config.json, like "account": "+491711111111", and start again"#), "{none:?}");
    }
}

#[test]
fn only_a_terminal_in_which_a_code_may_have_no_room_is_narrow() {
    let is_narrow = |columns| Terminal { columns }.is_narrow();
    assert_eq!([Some(52), Some(53), Some(u16::MAX), None].map(is_narrow), [true, false, false, false]);
}
