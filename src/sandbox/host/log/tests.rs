//! Tests of `sandbox::host::log`.

use super::*;

#[test]
fn logs_are_cut_at_their_limit_with_a_note() {
    let mut logs = Logs::new(10);
    logs.add("", "1234");
    logs.add("", "héllo");
    logs.add("", "more");
    assert_eq!(logs.into_entries(), ["1234", "hél", "[log cut at 10 bytes: the last 2 entries are missing or incomplete]"]);
}

#[test]
fn logs_within_the_limit_are_whole() {
    let mut logs = Logs::new(10);
    logs.add("", "1234");
    logs.add("", "1234");
    assert_eq!(logs.into_entries(), ["1234", "1234"]);
}
