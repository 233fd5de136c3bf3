//! Tests of `run`.

use super::*;

#[test]
fn an_outdated_client_names_the_library_that_is_built_in_and_the_version_that_it_claimed() {
    let pinned = format!("whatsapp-rust = {{ version = \"={LIBRARY}\"");
    assert!(include_str!("../../Cargo.toml").contains(&pinned), "Cargo.toml names another whatsapp-rust than {LIBRARY}");
    let end = End::Outdated { code: "405".into(), web: "2.3000.7".into() };
    let status = status(&end, None).unwrap();
    let reason = status.reason.unwrap();
    assert_eq!((status.state, status.code.as_deref()), (State::Outdated, Some("405")));
    assert!(reason.contains("WhatsApp Web 2.3000.7") && reason.contains(&format!("a whatsapp-rust after {LIBRARY}")), "{reason}");
}
