//! Tests of `store::agent_sql::written`.

use super::*;

#[test]
fn nothing_of_a_value_can_end_it() {
    assert_eq!(text("é'); --\\"), "pg_catalog.convert_from(pg_catalog.decode('c3a927293b202d2d5c', 'hex'), 'UTF8')");
}

#[test]
fn a_time_is_cut_as_the_column_cuts_it() {
    let at = DateTime::from_timestamp(0, 123_456_789).unwrap();
    assert_eq!(time(at), "'1970-01-01T00:00:00.123456Z'::pg_catalog.timestamptz");
}
