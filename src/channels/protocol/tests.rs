//! The lines as the document has them.

use serde_json::{Value, json};

use super::*;

fn read(line: Value) -> Result<FromProgram, serde_json::Error> {
    FromProgram::read(line.to_string().as_bytes())
}

#[test]
fn the_lines_to_a_program_are_those_of_the_document() {
    let written = |line: ToProgram<'_>| serde_json::from_str::<Value>(&line.line()).unwrap();
    let start =
        ToProgram::Start { version: VERSION, folder: Path::new("/d"), media: Path::new("/d/media"), name: "level3", pair: None };
    assert_eq!(written(start), json!({"kind": "start", "version": 1, "folder": "/d", "media": "/d/media", "name": "level3"}));
    let send = ToProgram::Send { id: "7", to: "+491701234567", text: "a\nb", media: None };
    assert_eq!(written(send), json!({"kind": "send", "id": "7", "to": "+491701234567", "text": "a\nb"}));
    assert_eq!(written(ToProgram::Logout), json!({"kind": "logout"}));
    assert_eq!(ToProgram::Typing { to: "+1", on: true }.line().matches('\n').count(), 1);
}

#[test]
fn unknown_fields_are_passed_over_and_unknown_kinds_refused() {
    let status = read(json!({"kind": "status", "state": "online", "address": "+491", "later": [1]})).unwrap();
    assert!(matches!(status, FromProgram::Status { state: ChannelState::Online, .. }));
    for wrong in [json!({"kind": "dance"}), json!({"state": "online"}), json!({"kind": "status", "state": "fine"}), json!([])] {
        assert!(read(wrong.clone()).is_err(), "{wrong}");
    }
}

#[test]
fn what_a_program_leaves_out_has_a_meaning() {
    let Ok(FromProgram::Message { chat, own, media, text, .. }) = read(json!({"kind": "message", "id": "a", "from": "+491"}))
    else {
        panic!("a message");
    };
    assert_eq!((chat.as_str(), own, media.is_none(), text.as_str()), ("direct", false, true, ""));
    assert!(matches!(read(json!({"kind": "refused", "id": "a"})), Ok(FromProgram::Refused { left: true, .. })));
}

#[test]
fn no_string_of_a_line_holds_a_zero_character() {
    for line in [
        json!({"kind": "status", "state": "locked", "address": "+49\0", "reason": "\0", "code": "4\0", "pairing_code": "A\0"}),
        json!({"kind": "qr", "text": "2@\0"}),
        json!({"kind": "message", "id": "P\0", "from": "+49\0", "text": "a\0", "chat": "d\0", "to": "\0", "note": "\0", "quoted": "\0",
            "media": {"path": "media/\0", "type": "\0"}}),
        json!({"kind": "refused", "id": "\0", "code": "\0", "reason": "\0"}),
        json!({"kind": "receipt", "id": "\0", "state": "read"}),
    ] {
        let said = format!("{:?}", read(line).unwrap());
        assert!(!said.contains("\\0"), "{said}");
    }
    let sent = read(json!({"kind": "sent", "id": "P\0", "peer_id": "P\0X"})).unwrap();
    let FromProgram::Sent { id, peer_id } = sent else { panic!("it is sent") };
    assert_eq!((id.as_str(), peer_id.as_deref()), ("P\u{FFFD}", Some("P\u{FFFD}X")));
}
