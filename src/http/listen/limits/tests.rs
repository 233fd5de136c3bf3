//! Tests of `http::listen::limits`.

use super::*;

#[test]
fn connections_leave_files_for_the_rest() {
    for files in [64, 256, 1024, 65_536, u64::MAX] {
        let ConnectionLimits { connections, reserve, .. } = ConnectionLimits::within(files);
        assert!(connections + reserve <= usize::try_from(files / 2).unwrap() && reserve > 0, "{files}");
    }
    assert_eq!(ConnectionLimits::within(1 << 20).connections, 7168);
}
