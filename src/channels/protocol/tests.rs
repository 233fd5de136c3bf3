//! The lines as the document has them.

use serde_json::{Value, json};

use super::*;

fn read(line: Value) -> Result<FromProgram, serde_json::Error> {
    serde_json::from_value(line)
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
