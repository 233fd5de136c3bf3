//! Tests of `store::room`.

use super::*;

#[test]
fn a_device_is_full_when_the_server_has_used_three_quarters_of_what_it_keeps() {
    let folder = tempfile::tempdir().unwrap();
    let free = free(folder.path()).unwrap();
    let room = |reserve, folder: Option<&Path>| Room { quota: 1, reserve, folder: folder.map(Path::to_owned) };
    assert!(room(free / 2, Some(folder.path())).kept_for_the_server().is_none());
    // Others write to this device as well, so the test leaves room between the two amounts.
    let kept = room(free * 2, Some(folder.path()));
    assert!(kept.kept_for_the_server().unwrap().message.starts_with("no space left on the device"));
    assert_eq!(kept.full(), None);
    let full = room(free.saturating_mul(16), Some(folder.path())).full().unwrap();
    assert!(full.starts_with("no space left on the device") && full.contains(folder.path().to_str().unwrap()), "{full}");
    assert_eq!(room(u64::MAX, None).full(), None, "another machine's device is not ours to judge");
    assert_eq!(room(u64::MAX, Some(Path::new("/nowhere/at/all"))).full(), None);
}
