//! Tests of `domain::http`.

use serde_json::Value;

use super::*;

#[test]
fn a_body_that_is_not_text_travels_in_base64() {
    let answer = |body: &[u8]| -> Value {
        let answer = HttpResponse { status: 200, body: body.to_vec(), ..HttpResponse::default() };
        serde_json::from_str(&answer.to_json()).unwrap()
    };
    assert_eq!(answer("grün".as_bytes())["body"], "grün");
    assert_eq!(answer(&[0xff, 0])["body_base64"], "/wA=");
    assert!(answer(&[0xff]).get("body").is_none());
}
