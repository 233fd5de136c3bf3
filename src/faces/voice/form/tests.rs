//! A form as a server reads it.

use super::*;

#[test]
fn a_form_has_its_fields_and_its_file_between_boundaries() {
    let (kind, body) = Form::new("b0".into()).wav("file", b"RIFF\r\n--x").field("model", "whisper-1").done();
    assert_eq!(kind, "multipart/form-data; boundary=b0");
    let wanted = "--b0\r\nContent-Disposition: form-data; name=\"file\"; filename=\"speech.wav\"\r\nContent-Type: audio/wav\r\n\r\n\
        RIFF\r\n--x\r\n--b0\r\nContent-Disposition: form-data; name=\"model\"\r\n\r\nwhisper-1\r\n--b0--\r\n";
    assert_eq!(String::from_utf8(body).unwrap(), wanted);
}
