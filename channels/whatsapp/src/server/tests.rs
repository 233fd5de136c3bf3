//! Tests of `server`.

/// A build without the feature is no build that the tests run, so the sources are read.
#[test]
fn another_server_and_unchecked_certificates_are_in_a_build_for_the_tests_and_in_no_other() {
    let (always, for_tests) =
        include_str!("../server.rs").split_once("#[cfg(feature = \"test-server\")]\nmod test_server {").unwrap();
    assert!(!always.contains("std::env") && for_tests.contains("std::env"));
    let manifest = include_str!("../../Cargo.toml");
    let (before, after) = manifest.split_once("\ntest-server = [").unwrap();
    let (feature, after) = after.split_once(']').unwrap();
    assert_eq!(feature.matches("/danger-skip-cert-chain-verify").count(), 2);
    assert!(!before.contains("danger") && !after.contains("danger") && !manifest.contains("\ndefault ="));
}

#[test]
fn the_library_is_pinned_and_comes_without_its_defaults() {
    let pinned = "whatsapp-rust = { version = \"=0.7.0\", default-features = false, features = [\"tokio-runtime\", \
                  \"tokio-transport\", \"ureq-client\", \"sqlite-storage\"] }\n";
    assert!(include_str!("../../Cargo.toml").contains(pinned));
}
