//! Tests of `postgres::dump`.

use super::*;

#[test]
fn what_could_not_be_restored_is_named_once() {
    let said = "pg_restore: while PROCESSING TOC:
pg_restore: from TOC entry 4290; 0 16930 TABLE DATA a b owner
pg_restore: error: COPY failed for table \"a b\": ERROR:  new row violates check constraint
CONTEXT:  COPY a b, line 1: \"1; 2\"
pg_restore: from TOC entry 4290; 0 16930 TABLE DATA a b owner
pg_restore: from TOC entry 4291; 0 16940 MATERIALIZED VIEW DATA counted owner
pg_restore: warning: errors ignored on restore: 2";
    assert_eq!(named_in(said), ["TABLE DATA a b", "MATERIALIZED VIEW DATA counted"]);
    assert!(named_in("pg_restore: error: connection to server failed").is_empty());
}
