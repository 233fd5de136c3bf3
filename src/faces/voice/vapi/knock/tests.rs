//! Signatures of each digest, times and prefixes.

use super::*;

#[test]
fn signatures_of_all_three_digests_are_known_and_others_are_not() {
    // Computed with `openssl dgst -hmac`.
    let body = b"{\"message\":{}}";
    for (algorithm, right) in
        [(SignatureAlgorithm::Sha1, SHA1), (SignatureAlgorithm::Sha256, SHA256), (SignatureAlgorithm::Sha512, SHA512)]
    {
        let right = hex::decode(right).unwrap();
        assert!(signed(algorithm, b"key", "1700000000", body, &right), "{algorithm:?}");
        assert!(!signed(algorithm, b"kex", "1700000000", body, &right));
        assert!(!signed(algorithm, b"key", "1700000001", body, &right));
        assert!(!signed(algorithm, b"key", "1700000000", b"{\"message\":{ }}", &right));
        assert!(!signed(algorithm, b"key", "1700000000", body, &right[1..]));
        assert!(!signed(algorithm, b"key", "1700000000", body, &[]));
    }
}

#[test]
fn a_message_names_the_call_of_vapis_that_it_is_about() {
    assert!(names(br#"{"message": {"type": "hang", "call": {"id": "7420f27a"}}}"#, Some("7420f27a")));
    for other in
        ["", "[]", "{}", r#"{"message": {}}"#, r#"{"message": {"call": {"id": "8"}}}"#, r#"{"call": {"id": "7420f27a"}}"#]
    {
        assert!(!names(other.as_bytes(), Some("7420f27a")), "{other}");
    }
    assert!(!names(br#"{"message": {"call": {"id": null}}}"#, None), "Vapi has made no call yet");
}

#[test]
fn a_time_is_read_in_seconds_and_in_milliseconds() {
    let at = |written| moment(written).map(|at| at.timestamp());
    assert_eq!(
        (at("1700000000"), at("1700000000123"), at(" 1700000000 ")),
        (Some(1_700_000_000), Some(1_700_000_000), Some(1_700_000_000))
    );
    for odd in ["", "now", "1e9", "99999999999999999999", "2026-11-20T08:00:00Z"] {
        assert_eq!(at(odd), None, "{odd}");
    }
}

#[test]
fn a_prefix_has_to_be_there_and_secrets_are_compared_whole() {
    let plan = SignaturePlan { prefix: "sha256=".into(), ..SignaturePlan::default() };
    assert_eq!(bytes_of(&plan, "sha256=00ff"), Some(vec![0, 255]));
    assert_eq!((bytes_of(&plan, "00ff"), bytes_of(&plan, "sha256=xx")), (None, None));
    let base64 = SignaturePlan { encoding: SignatureEncoding::Base64, ..SignaturePlan::default() };
    assert_eq!(bytes_of(&base64, "AP8="), Some(vec![0, 255]));
    assert!(same(b"secret", b"secret") && !same(b"secre", b"secret") && !same(b"", b"secret"));
}
const SHA1: &str = "67f6df129746706518272dd8958e9f5b4d885c6b";
const SHA256: &str = "9858ca592284e04ed1dc2ef843198f1624b6ccf01a5250117d462d5938a949a8";
const SHA512: &str = "8ce2c699d17bcb29540b93a4d7b8aa9aa4775f8ae26eb484f684d91c4dfb96d53215085cc022ff13ec91c7e625ead3f7451899494e3f74401a96860cd0b1d0bc";
