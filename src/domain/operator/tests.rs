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
        aborts: true,
        words: Words::default(),
        channel_words: None,
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
    assert!(fits_messages(&shown));
    // More than this is said to be cut, and no word allows what its sender was not shown.
    shown.arguments = json!({ "code": "a".repeat(MOST_SENT) });
    let asked = question(7, &shown, DateTime::UNIX_EPOCH);
    assert!(asked.contains("(cut: the page shows all of it)") && asked.contains("decide in the page"), "{asked}");
    assert!(!fits_messages(&shown) && !asked.contains("CONFIRMAR") && asked.contains("Answer CANCELAR to abort"), "{asked}");
}

#[test]
fn a_text_that_is_too_long_ends_with_a_word_and_says_that_there_is_more() {
    assert_eq!(beginning(&"é".repeat(MOST_SENT)), None);
    let words = "word ".repeat(MOST_SENT);
    let begun = beginning(&words).unwrap();
    assert!(begun.ends_with(" word\n… (cut: the page shows all of it)"), "{}", &begun[begun.len() - 60..]);
    assert_eq!(beginning(&"é".repeat(MOST_SENT + 1)).unwrap().matches('é').count(), MOST_SENT);
}

#[test]
fn the_note_is_one_sentence_about_as_much_as_there_is() {
    let note = |offers: &[&str]| no_action(&offers.iter().copied().map(str::to_owned).collect::<Vec<_>>());
    assert_eq!(note(&[]), "No action was taken for this order.");
    assert_eq!(note(&["jump"]), "No action was taken for this order; I can jump.");
    assert_eq!(note(&["run", "jump", "sing"]), "No action was taken for this order; I can run, jump or sing.");
    assert_eq!((&*with_note("Hello.", None), &*with_note("Hello.", Some("Bye."))), ("Hello.", "Hello.\n\nBye."));
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

#[test]
fn a_message_that_did_not_arrive_is_told_in_one_line_with_the_way_on() {
    let of = |key: &str, state, reason: &str| {
        Undelivered::of(Subject::of(key), Some(state), Some(reason.to_owned())).unwrap().to_string()
    };
    assert_eq!(
        of(&Subject::Question.key(4), DeliveryState::Unknown, "it\nended"),
        "the question may not have arrived (it ended); decide in the page's place Operator, or with level3 approvals"
    );
    assert_eq!(of(&Subject::Picture.key(4), DeliveryState::Failed, "no"), "the picture did not arrive (no)");
    assert_eq!(
        of(&Subject::Answer.key(4), DeliveryState::Unknown, "no"),
        "the answer may not have arrived (no); the page's place Relay sends it again"
    );
    assert_eq!(Undelivered::of(Subject::Answer, Some(DeliveryState::Sent), None), None);
}

#[test]
fn a_version_that_was_never_there_was_not_changed_meanwhile() {
    let told = |given| {
        let now = GlobalContext { version: 2, document: json!({ "a": 1 }), updated_at: None };
        ContextRefused::Overtaken { given, now: Box::new(now) }.to_string()
    };
    assert_eq!(told(1), r#"it was changed meanwhile: it has version 2, not 1. It is now {"a":1}"#);
    for never in [3, -1] {
        assert_eq!(told(never), format!(r#"version {never} was never there; it has version 2. It is now {{"a":1}}"#));
    }
}
