//! Tests of `protocol`.

use super::*;

fn written(report: &Report) -> String {
    serde_json::to_string(report).unwrap()
}

#[test]
fn every_order_of_version_1_is_read() {
    let start = r#"{"kind":"start","version":1,"folder":"/d","media":"/d/media","name":"level3","new":1}"#;
    assert!(matches!(read(start), Ok(Order::Start(Start { version: 1, pair: None, .. }))));
    let send = r#"{"kind":"send","id":"00000000000000000000000000000007","to":"+491701234567","text":"Hello"}"#;
    assert!(matches!(read(send), Ok(Order::Send(Outgoing { media: None, .. }))));
    let file = r#"{"kind":"send","id":"1","to":"+49170","media":{"path":"media/a.png","type":"image/png"}}"#;
    assert!(matches!(read(file), Ok(Order::Send(Outgoing { media: Some(OutgoingFile { name: None, .. }), .. }))));
    assert!(matches!(read(r#"{"kind":"typing","to":"+49","on":true}"#), Ok(Order::Typing { on: true, .. })));
    assert!(matches!(read(r#"{"kind":"accepted","from":"+49","id":"A"}"#), Ok(Order::Accepted { .. })));
    assert!(matches!(read(r#"{"kind":"logout"}"#), Ok(Order::Logout)));
}

#[test]
fn a_kind_that_nobody_knows_is_refused() {
    for line in [r#"{"kind":"dance"}"#, "[]", "", "hello", r#"{"version":1}"#] {
        assert!(read(line).unwrap_err().contains("version 1"), "{line}");
    }
}

#[test]
fn reports_are_written_as_the_document_has_them() {
    let online = Status { address: Some("+491711111111".into()), ..Status::plain(State::Online) };
    assert_eq!(written(&Report::Status(online)), r#"{"kind":"status","state":"online","address":"+491711111111"}"#);
    let refused = Report::Refused { id: "a".into(), code: "463".into(), reason: "no".into(), left: Some(true) };
    assert_eq!(written(&refused), r#"{"kind":"refused","id":"a","code":"463","reason":"no","left":true}"#);
    let message = Incoming {
        id: "ABCD1234".into(),
        from: "+491701234567".into(),
        at: "2026-11-23T08:00:00Z".into(),
        chat: "direct",
        text: Some("Hi".into()),
        media: Some(IncomingFile::Kept { path: "media/0a.bin".into(), bytes: 3, media_type: "image/png".into() }),
        ..Incoming::default()
    };
    let line =
        r#"{"kind":"message","id":"ABCD1234","from":"+491701234567","at":"2026-11-23T08:00:00Z","chat":"direct","own":false,"#
            .to_owned()
            + r#""text":"Hi","media":{"path":"media/0a.bin","bytes":3,"type":"image/png"}}"#;
    assert_eq!(written(&Report::Message(message)), line);
}
