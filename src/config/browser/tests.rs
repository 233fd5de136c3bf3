//! The forms of `LEVEL3_BROWSER`.

use super::*;

#[test]
fn a_browser_is_reached_on_this_machine_alone() {
    let read = |written: &str| written.parse::<BrowserAddress>();
    let (host, port) = ("127.0.0.1".to_owned(), 9222);
    assert_eq!(read("http://127.0.0.1:9222"), Ok(BrowserAddress::Port { host: host.clone(), port }));
    let path = "/devtools/browser/1".to_owned();
    assert_eq!(read("ws://127.0.0.1:9222/devtools/browser/1"), Ok(BrowserAddress::Socket { host, port, path }));
    assert_eq!(read("http://[::1]:9222"), Ok(BrowserAddress::Port { host: "::1".to_owned(), port }));
    assert_eq!(read("/home/ada/chrome"), Ok(BrowserAddress::Profile("/home/ada/chrome".into())));
    for foreign in ["http://10.0.0.7:9222", "ws://example.com:9222/", "http://[2001:db8::1]:9222", "http://localhost.example:1"] {
        assert!(read(foreign).unwrap_err().contains("has to be on this machine"), "{foreign}");
    }
    for wrong in ["http://127.0.0.1", "ftp://127.0.0.1:21/", "http://127.0.0.1:9222/json", "https://127.0.0.1:9222"] {
        assert!(read(wrong).unwrap_err().contains("expected http://127.0.0.1:9222"), "{wrong}");
    }
}
