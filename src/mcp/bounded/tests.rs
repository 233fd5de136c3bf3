//! Tests of `mcp::bounded`.

use tokio::io::AsyncReadExt;

use super::*;

#[tokio::test]
async fn a_line_beyond_the_limit_ends_the_stream() {
    let mut text = String::new();
    Bounded::new(&b"abc\nabcd\n"[..], 4).read_to_string(&mut text).await.unwrap();
    assert_eq!(text, "abc\nabcd\n");
    let error = Bounded::new(&b"abc\nabcde"[..], 4).read_to_string(&mut String::new()).await.unwrap_err();
    assert_eq!(error.to_string(), "a line is too long");
}
