//! Tests of `domain::refusal`.

use super::*;

#[test]
fn a_refusal_is_told_as_json_or_as_its_sentence() {
    let fault = Refusal::new(RefusalCode::CapabilityFault, "m").at(Some(SourcePlace { line: 2, offset: 3 })).with("hint", "h");
    assert_eq!(fault.for_model(), r#"{"error":"capability_failed","hint":"h","line":2,"message":"m","offset":3}"#);
    let grant = Refusal::new(RefusalCode::MissingGrant, "m").asking_for(json!({"kv": {}}));
    assert_eq!(grant.for_model(), r#"{"error":"missing_grant","grants":{"kv":{}},"message":"m"}"#);
    assert_eq!(Refusal::new(RefusalCode::Denied, "The user refused this.").for_model(), "The user refused this.");
}

#[test]
fn mistakes_are_told_from_what_is_forbidden_and_from_what_the_world_did() {
    let right = RefusalCode::ALL.iter().filter(|code| code.can_be_put_right());
    assert_eq!(right.count(), 12);
    for code in [RefusalCode::SqlForbidden, RefusalCode::CapabilityFailed, RefusalCode::Denied, RefusalCode::Disabled] {
        assert!(!code.can_be_put_right(), "{code}");
    }
}

#[test]
fn a_lesson_follows_the_reason_of_a_denial_unless_the_model_is_not_helped() {
    for (denial, code, lesson) in [
        (
            Denial::SwitchedOff,
            RefusalCode::Forbidden,
            "Do without it, or tell the user that they can change the rule in the settings.",
        ),
        (
            Denial::OnlyReads,
            RefusalCode::Forbidden,
            "Say what you would do, and let the user do it or change the mode in the settings.",
        ),
        (Denial::PlainNo, RefusalCode::Denied, "Do not try it again in another way; ask what they want instead."),
        (Denial::TooLate, RefusalCode::Expired, "Do not ask again by yourself; tell the user."),
    ] {
        let refusal = Refusal::denied(denial, "It is so.");
        assert_eq!((refusal.code, refusal.for_model()), (code, format!("It is so. {lesson}")));
        assert_eq!(refusal.without_lesson().for_model(), "It is so.");
    }
}

#[test]
fn advice_that_names_a_tool_is_for_a_model_that_has_it() {
    let refusal = Refusal::new(RefusalCode::CapabilityFault, "m").with("hint", "correct it with write_capability");
    let refusal = refusal.with("what_now", "look again").with("detail", "write_capability");
    assert_eq!(refusal.clone().among(Toolset::Builder), refusal);
    assert_eq!(refusal.clone().among(Toolset::Only(&[WRITE_CAPABILITY])), refusal);
    let told = refusal.among(Toolset::Only(&[EXECUTE_SQL])).for_model();
    assert_eq!(told, r#"{"detail":"write_capability","error":"capability_failed","message":"m","what_now":"look again"}"#);
}
