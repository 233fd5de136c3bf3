//! Words of a transcription, and the leave for one address.

use super::*;

#[test]
fn what_is_no_speech_is_no_word() {
    for (said, words) in [
        (" Add buy milk.\n", "Add buy milk."),
        ("[BLANK_AUDIO]", ""),
        ("(upbeat music)\n [door closes]", ""),
        ("Hello [noise] Law", "Hello Law"),
        ("I said (never mind", "I said (never mind"),
        (" \n", ""),
    ] {
        assert_eq!(heard(said), words, "{said:?}");
    }
}

#[test]
fn a_request_may_go_to_its_own_address_and_no_other() {
    let url = |written: &str| Url::parse(written).unwrap();
    let leave = grant(&url("http://127.0.0.1:8080/inference"));
    assert!(leave.allows("POST", &url("http://127.0.0.1:8080/inference")));
    for (method, other) in [
        ("GET", "http://127.0.0.1:8080/inference"),
        ("POST", "http://127.0.0.1:8081/inference"),
        ("POST", "http://127.0.0.1:8080/admin"),
        ("POST", "https://127.0.0.1:8080/inference"),
        ("POST", "http://localhost:8080/inference"),
    ] {
        assert!(!leave.allows(method, &url(other)), "{method} {other}");
    }
    assert_eq!(place(&url("https://api.openai.com/v1/audio/speech")), "api.openai.com");
    assert_eq!(place(&url("http://[::1]:9000/")), "[::1]:9000");
}
