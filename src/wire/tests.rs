//! That frames are read as docs/protocol.md says.

use super::*;

#[test]
fn a_frame_with_only_type_and_content_is_a_message() {
    let frame: ClientFrame = serde_json::from_str(r#"{"type":"message","content":"hi"}"#).unwrap();
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
