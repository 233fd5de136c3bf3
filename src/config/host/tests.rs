//! Tests of `config::host`.

use super::*;

#[test]
fn a_name_is_read_with_its_port_or_without() {
    for (written, name, port) in [
        ("Box.lan", "box.lan", None),
        ("box.lan:8443", "box.lan", Some(8443)),
        ("[0:0::1]", "[::1]", None),
        ("[::1]:80", "[::1]", Some(80)),
        ("10.0.0.1:65535", "10.0.0.1", Some(65535)),
    ] {
        assert_eq!(written.parse(), Ok(HostName { name: name.into(), port }), "{written}");
    }
}

#[test]
fn what_is_no_name_is_refused() {
    for written in
        ["", ":80", "box:", "box:+80", "box:65536", "http://box", "box/", "a@b", "::1", "[::1", "[box]", "a b", "*.lan"]
    {
        assert!(written.parse::<HostName>().is_err(), "{written}");
    }
}
