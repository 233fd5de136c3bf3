//! Tests of `cli::operator::whatsapp`.

use super::*;

const TEXT: &str = "2@abcdefghijklmnopqrstuvwxyz0123456789,ABCDEFGHIJKLMNOPQRSTUVWXYZ,abcdefghijklmnopqrstuvwxyz";

#[test]
fn a_wide_terminal_gets_the_code_and_a_narrow_one_the_pairing_code() {
    let wide = lines_of_qr(Some(TEXT), Some("ABCD-EFGH"), Terminal { columns: Some(80) });
    assert!(wide[0].starts_with("Scan this code") && wide.len() > 15, "{wide:?}");
    for columns in [Some(20), None] {
        let narrow = lines_of_qr(Some(TEXT), Some("ABCD-EFGH"), Terminal { columns });
        assert_eq!(narrow[1], "    ABCD-EFGH");
        let none = lines_of_qr(Some(TEXT), None, Terminal { columns });
        assert!(none[0].contains("config.json") && none[0].contains("columns wide"), "{none:?}");
    }
}
