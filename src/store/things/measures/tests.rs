//! Tests of `store::things::measures`.

use super::*;

#[test]
fn only_what_has_a_limit_can_be_used_up() {
    let used = Spent { input_tokens: 50, tool_calls: 3, ..Spent::default() };
    let limits = Budget { input_tokens: Some(200), money_micros: Some(0), ..Budget::default() };
    assert_eq!(used_up(&used, &limits), [("input_tokens", 0.25), ("money", 1.0)]);
}
