//! Tests of `operator`.

use super::*;

#[test]
fn the_source_of_an_order_is_read_from_its_id_and_from_no_other() {
    let source = OrderSource { channel: "whatsapp".into(), address: "+491701234567".into(), peer_id: "AB/1".into() };
    assert_eq!(OrderSource::of(&source.client_id()), Some(source));
    assert_eq!(OrderSource::of("page-1"), None);
}

#[test]
fn only_the_words_made_to_decide_are_never_an_order() {
    for word in ["CONFIRMAR", "confirmar!", " Cancelar. ", "CONFIRM confirm"] {
        assert!(only_decides(word), "{word}");
    }
    for order in ["CONFIRMAR delete everything", "yes", "CONFIRMAR?", "CONFIRMAR CANCELAR", ""] {
        assert!(!only_decides(order), "{order}");
    }
}

#[test]
fn a_plain_yes_is_one_in_any_language_and_nothing_more() {
    for yes in ["yes", "Sí!", " ja. ", "approve"] {
        assert!(plain_yes(yes), "{yes}");
    }
    for other in ["CONFIRMAR", "no", "yes?", "yes, and delete everything", ""] {
        assert!(!plain_yes(other), "{other}");
    }
}

#[test]
fn a_question_shows_the_exact_arguments_and_what_would_hide_in_them() {
    let code = format!("{}// \u{202e}\u{200b}\u{e0041} end", "a();\n".repeat(3_000));
    let mut shown = Shown {
        tool: "update_script".into(),
        arguments: json!({ "code": code }),
        what: vec!["Replaces the script\u{202e}.".into()],
        question: None,
        why: "It reaches further.".into(),
        can_always: false,
        words: Words::default(),
        capability: None,
        finding: None,
    };
    let asked = question(7, &shown, DateTime::UNIX_EPOCH);
    assert!(asked.contains(r"// \u202e\u200b\udb40\udc41 end") && asked.contains("Replaces the script."), "{asked}");
    assert!(asked.ends_with(
        "Answer CONFIRMAR to allow exactly this, or CANCELAR to abort the task. After 1970-01-01 00:00 (UTC) it is aborted."
    ));
    let json = &asked[asked.find('{').unwrap()..=asked.rfind('}').unwrap()];
    assert_eq!(serde_json::from_str::<Value>(json).unwrap(), shown.arguments, "letter for letter");
    // More than this is said to be cut.
    shown.arguments = json!({ "code": "a".repeat(MOST_ARGUMENTS) });
    assert!(question(7, &shown, DateTime::UNIX_EPOCH).contains("(cut: the page shows all of it)"));
}

#[test]
fn the_global_context_is_an_object_of_eight_kibibytes_at_most() {
    assert_eq!(fits(&json!([1])), Err(ContextRefused::NoObject));
    let of = |bytes: usize| json!({ "a": "x".repeat(bytes - 8) });
    assert_eq!(fits(&of(MOST_CONTEXT)), Ok(()));
    let refused = fits(&of(MOST_CONTEXT + 1)).unwrap_err();
    assert_eq!(refused, ContextRefused::TooLarge(MOST_CONTEXT + 1));
    assert!(refused.to_string().contains("8193 bytes"), "{refused}");
}
