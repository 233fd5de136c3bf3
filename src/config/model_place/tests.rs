//! Tests of `config::model_place`.

use super::*;

#[test]
fn a_place_of_a_model_is_right_or_named_by_its_field() {
    for (provider, base_url) in [
        (None, None),
        (Some("Groq"), None),
        (Some(" "), Some("")),
        (Some("custom"), Some("http://127.0.0.1:8080/v1/chat/completions")),
        (None, Some(" https://models.example/v1/ ")),
    ] {
        assert_eq!(model_place(provider, base_url), Ok(()), "{provider:?} {base_url:?}");
    }
    let told = model_place(Some("zzz"), None).unwrap_err();
    assert!(told.starts_with("`model.provider` is \"zzz\"; write one of anthropic, openai"), "{told}");
    for base_url in ["http://u:sekret@127.0.0.1:1/v1", "http://sekret@a", "u:sekret@a", "http://a?k=sekret", "ftp://sekret"] {
        let told = model_place(Some("custom"), Some(base_url)).unwrap_err();
        assert!(told.starts_with("`model.base_url` ") && told.contains("http://127.0.0.1:8080/v1"), "{told}");
        assert!(!told.contains("sekret"), "{told}");
    }
}
