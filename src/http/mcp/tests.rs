//! Tests of `http::mcp`.

use rmcp::model::ErrorCode;

use super::*;

#[test]
fn an_error_of_level3_is_none_that_a_transport_makes() {
    let told = broken(&StoreError::LostLease);
    assert_ne!(told.code, ErrorCode::INTERNAL_ERROR);
    assert_eq!(told.message, "the database does not answer; try again");
}
