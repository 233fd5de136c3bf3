//! How sockets and connections end. The bytes are written by hand, since no client errs in these
//! ways.

use std::time::Duration;

use level3::http::ConnectionLimits;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::support::raw::{begin, closed, frame, rest, say, socket};
use crate::support::{TestApp, in_time, patient, text};

const NEVER: Duration = Duration::from_secs(600);

#[tokio::test]
async fn a_close_of_the_client_is_answered_with_its_own_code() {
    let app = TestApp::start().await;
    for code in [1000_u16, 1001, 3000, 4999] {
        let mut stream = socket(app.address()).await;
        stream.write_all(&frame(0x88, &[&code.to_be_bytes()[..], b"bye"].concat())).await.unwrap();
        assert_eq!(closed(&mut stream).await, Some(code));
        assert_eq!(rest(&mut stream).await, "", "and then the end");
    }
    let mut stream = socket(app.address()).await;
    stream.write_all(&frame(0x88, b"")).await.unwrap();
    assert_eq!(closed(&mut stream).await, Some(1005));
}

#[tokio::test]
async fn who_breaks_the_protocol_of_sockets_is_told_how() {
    let app = TestApp::start().await;
    let huge = [&[0x81, 0xff][..], &(1_u64 << 40).to_be_bytes(), &[0; 4], &vec![b'x'; 4 << 20]].concat();
    let cases = [
        ("an opcode that is none", frame(0x83, b"x"), 1002),
        ("a reserved bit", frame(0xc1, b"x"), 1002),
        ("no mask", vec![0x81, 1, b'x'], 1002),
        ("a control frame in pieces", frame(0x09, b""), 1002),
        ("the end of what never began", frame(0x80, b"x"), 1002),
        ("a close of one byte", frame(0x88, b"x"), 1002),
        ("a code that nobody may send", frame(0x88, &1006_u16.to_be_bytes()), 1002),
        ("text that is not UTF-8", frame(0x81, b"\xff\xfe"), 1007),
        ("the same in pieces", [frame(0x01, b"\xc3"), frame(0x80, b"\x28")].concat(), 1007),
        ("binary", frame(0x82, b"{}"), 1003),
        ("more than a message may have, all of it on its way", huge, 1009),
    ];
    for (what, bytes, code) in cases {
        let mut stream = socket(app.address()).await;
        stream.write_all(&bytes).await.unwrap();
        assert_eq!(closed(&mut stream).await, Some(code), "{what}");
    }
    // A text that is no frame of ours gets an error, and the socket goes on.
    let mut client = app.connect().await;
    client.send(serde_json::json!({"type": "nonsense"})).await;
    assert_eq!(client.frame().await["type"], "error");
    app.script([text("still here")]);
    client.ask("hello").await;
}

#[tokio::test]
async fn a_socket_lives_longer_than_an_idle_connection_and_ends_when_its_client_is_not_there() {
    let limits = ConnectionLimits { head: Duration::from_secs(2), ping: Duration::from_secs(1), ..patient() };
    let app = TestApp::with_limits(limits).await;
    let mut client = app.connect().await;
    // A client that says nothing, and answers no ping.
    let mut dead = socket(app.address()).await;
    let mut idle = begin(app.address(), "GET / HTTP/1.1\r\nHost").await;
    let ended = async {
        assert_eq!(rest(&mut idle).await, "");
        let mut all = Vec::new();
        in_time("the end of the dead one", dead.read_to_end(&mut all)).await.unwrap();
    };
    tokio::select! {
        () = ended => {}
        frame = client.frame() => panic!("nothing was said: {frame}"),
    }
    app.script([text("still here")]);
    client.ask("hello").await;
}

#[tokio::test]
async fn at_the_most_connections_the_health_is_told_and_nothing_else() {
    let limits = ConnectionLimits { connections: 2, reserve: 2, head: NEVER, reserve_head: Duration::from_secs(2), ..patient() };
    let app = TestApp::with_limits(limits).await;
    let host = format!("Host: {}", app.address());
    // A socket counts like any other connection.
    let mut client = app.connect().await;
    let _half = begin(app.address(), "GET / HTTP/1.1\r\n").await;
    let _more = [begin(app.address(), "GET").await, begin(app.address(), "").await, begin(app.address(), "").await];
    for path in ["/readyz", "/healthz"] {
        assert_eq!(say(app.address(), &format!("GET {path}"), &[&host]).await.0, 200, "{path}");
    }
    let (status, told) = say(app.address(), "GET /", &[&host]).await;
    assert!(status == 503 && told.contains("retry-after: 1"), "{told}");
    app.script([text("served")]);
    client.ask("hello").await;
}
