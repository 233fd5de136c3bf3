//! Tests of `tools::kernel::write_capability::words`.

use super::*;

#[test]
fn a_difference_names_what_is_old_and_what_is_new() {
    let told = diff("a\nb\nc\n", "a\nx\nc\n", "version 3");
    assert_eq!(told, "--- version 3\n+++ new\n@@ -1,3 +1,3 @@\n a\n-b\n+x\n c\n");
}
