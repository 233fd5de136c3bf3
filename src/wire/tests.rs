//! That frames are read as docs/protocol.md says.

use super::*;

#[test]
fn a_frame_is_an_object() {
    for other in [r#"["message","hi"]"#, r#""message""#, "7", "null", ""] {
        assert!(ClientFrame::read(other).unwrap_err().to_string().contains("no object"), "{other}");
    }
}

#[test]
fn a_frame_with_only_type_and_content_is_a_message() {
    let frame = ClientFrame::read(r#" {"type":"message","content":"hi"}"#).unwrap();
    assert_eq!(
        frame,
        ClientFrame::Message {
            content: "hi".into(),
            id: None,
            conversation: None,
            profile: None,
            steer: false,
            images: Vec::new(),
            call: None,
        }
    );
}
