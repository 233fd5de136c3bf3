//! Tests of `model::tour::rows`.

use serde_json::json;

use super::*;

#[test]
fn one_value_is_a_sentence_and_none_is_one_too() {
    assert_eq!(as_markdown(&json!([{ "count": 3 }])).unwrap(), "The database answered: count is **3**.");
    assert_eq!(as_markdown(&json!([{ "a_b": null }])).unwrap(), "The database answered: a\\_b is **–**.");
    assert_eq!(as_markdown(&json!([])).unwrap(), "The database answered with no rows.");
}

#[test]
fn rows_are_a_table_with_numbers_at_the_right() {
    let rows = json!({ "cut": "Only the first 2", "rows": [{ "n": 1, "name": "a|b" }, { "n": null, "name": "c\nd *e*" }] });
    let table = "The database answered with 2 rows:\n\n| n | name |\n| ---: | --- |\n| 1 | a\\|b |\n| – | c d \\*e\\* |";
    assert_eq!(as_markdown(&rows).unwrap(), table);
    let one = as_markdown(&json!([{ "n": 1, "m": true }])).unwrap();
    assert!(one.starts_with("The database answered with one row:\n\n| m | n |"), "{one}");
}

#[test]
fn many_rows_and_long_values_are_cut_and_it_is_said() {
    let rows: Vec<_> = (0..30).map(|n| json!({ "n": n, "text": "x".repeat(200) })).collect();
    let said = as_markdown(&rows.into()).unwrap();
    assert!(said.starts_with("The database answered with 30 rows; these are the first 20:"), "{said}");
    assert_eq!(said.matches("x…").count(), 20, "{said}");
}

#[test]
fn a_result_without_rows_is_not_told_as_one_with_them() {
    for other in [json!({ "changed": 3 }), json!("CREATE TABLE"), json!([1, 2]), json!(null)] {
        assert_eq!(as_markdown(&other), None, "{other}");
    }
}
