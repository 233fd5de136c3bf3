//! Requests as the guard sees them.

use super::*;
use crate::clock::SeededRandom;

fn guard(hosts: &[&str], token: Option<&str>) -> Access {
    let hosts: Vec<_> = hosts.iter().map(|host| host.parse().unwrap()).collect();
    let address = "127.0.0.1:8000".parse().unwrap();
    Access::new(address, &hosts, token, &[7; 32], Arc::new(SeededRandom::new(1)))
}

fn request(method: &str, target: &str, headers: &[(&str, &str)]) -> Parts {
    let mut request = axum::http::Request::builder().method(method).uri(target);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    request.body(()).unwrap().into_parts().0
}

fn status(guard: &Access, method: &str, target: &str, headers: &[(&str, &str)]) -> Option<u16> {
    guard.stranger(&request(method, target, headers)).map(|refused| refused.status.as_u16())
}

fn hosts(guard: &Access, host: &str) -> Option<u16> {
    status(guard, "GET", "/", &[("host", host)])
}

#[test]
fn only_hosts_we_go_by_come_in() {
    let guard = guard(&["box.lan"], None);
    for host in ["127.0.0.1:8000", "localhost:8000", "LOCALHOST:8000", "[::1]:8000", "box.lan", "box.lan:8000", "box.lan:9"] {
        assert_eq!(hosts(&guard, host), None, "{host}");
    }
    for host in ["evil.example", "127.0.0.1", "127.0.0.1:8001", "localhost.evil.example:8000", "", "box.lan:", "a@box.lan"] {
        assert_eq!(hosts(&guard, host), Some(421), "{host}");
    }
    assert_eq!(status(&guard, "GET", "/", &[]), Some(400));
}

#[test]
fn a_host_with_a_port_is_allowed_at_that_port() {
    let guard = guard(&["box.lan:8443", "proxy.lan:443", "[fe80::1]:9000"], None);
    for host in ["box.lan:8443", "BOX.lan:8443", "proxy.lan:443", "proxy.lan", "[FE80:0::1]:9000"] {
        assert_eq!(hosts(&guard, host), None, "{host}");
    }
    for host in ["box.lan", "box.lan:8000", "box.lan:443", "proxy.lan:8443", "[fe80::1]"] {
        assert_eq!(hosts(&guard, host), Some(421), "{host}");
    }
}

#[test]
fn other_pages_are_refused() {
    let guard = guard(&["box.lan"], None);
    let from = |host, origin| status(&guard, "GET", "/", &[("host", host), ("origin", origin)]);
    assert_eq!(from("localhost:8000", "http://localhost:8000"), None);
    for origin in ["http://evil.example", "null", "", "http://localhost:3000", "file://", "ws://localhost:8000"] {
        assert_eq!(from("localhost:8000", origin), Some(403), "{origin}");
    }
    // A name alone is ours at every port, and yet a page at another port of it is not ours.
    assert_eq!(from("box.lan:9443", "https://box.lan:9443"), None);
    assert_eq!(from("box.lan", "https://box.lan"), None);
    assert_eq!(from("localhost:8000", "https://box.lan"), None);
    assert_eq!(from("box.lan:9443", "http://box.lan:3000"), Some(403));
}

#[test]
fn a_header_twice_and_an_address_that_names_another_host_are_refused() {
    let guard = guard(&[], None);
    let own = ("host", "localhost:8000");
    for headers in [
        &[own, ("host", "evil.example")][..],
        &[("host", "evil.example"), own],
        &[own, own],
        &[own, ("origin", "http://localhost:8000"), ("origin", "http://evil.example")],
    ] {
        assert_eq!(status(&guard, "GET", "/", headers), Some(400), "{headers:?}");
    }
    for target in ["http://evil.example/", "http://localhost:8001/", "http://localhost@evil.example/", "http://127.0.0.1:8000/"] {
        assert_eq!(status(&guard, "GET", target, &[own]), Some(400), "{target}");
    }
    assert_eq!(status(&guard, "GET", "http://LOCALHOST:8000/api/usage", &[own]), None);
    assert_eq!(status(&guard, "CONNECT", "evil.example:443", &[own]), Some(400));
}

#[test]
fn an_address_is_text_without_control_characters() {
    let guard = guard(&[], None);
    let at = |target| status(&guard, "GET", target, &[("host", "localhost:8000")]);
    for target in ["/%00", "/api/capabilities/a%00b", "/api/capabilities/a?version=%00", "/%ff", "/%C3%28", "/a%0d%0ab", "/%7f"] {
        assert_eq!(at(target), Some(400), "{target}");
    }
    for target in ["/", "/%25%30%30", "/%C3%A9", "/100%", "/?a=%2500"] {
        assert_eq!(at(target), None, "{target}");
    }
}

#[test]
fn of_what_other_pages_ask_for_only_a_link_to_the_page_is_followed() {
    let guard = guard(&[], None);
    let ask = |target, site, more: &[(&str, &str)]| {
        status(&guard, "GET", target, &[&[("host", "localhost:8000"), ("sec-fetch-site", site)], more].concat())
    };
    let link = [("sec-fetch-mode", "navigate"), ("sec-fetch-dest", "document")];
    let frame = [("sec-fetch-mode", "navigate"), ("sec-fetch-dest", "iframe")];
    for site in ["cross-site", "same-site"] {
        assert_eq!(ask("/", site, &link), None);
        for (target, more) in [("/", &frame), ("/api/secrets", &link), ("/metrics", &link)] {
            assert_eq!(ask(target, site, more), Some(403), "{site} {target} {more:?}");
        }
        assert_eq!(ask("/", site, &[]), Some(403));
        assert_eq!(ask("/app.js", site, &[("sec-fetch-mode", "no-cors"), ("sec-fetch-dest", "script")]), Some(403));
    }
    for site in ["same-origin", "none"] {
        assert_eq!(ask("/api/secrets", site, &[]), None);
    }
    let post = [("host", "localhost:8000"), ("sec-fetch-site", "cross-site"), link[0], link[1]];
    assert_eq!(status(&guard, "POST", "/", &post), Some(403));
}

#[test]
fn behind_the_guard_the_address_has_no_token() {
    let left = |written: &str| without_token(&written.parse().unwrap()).map(|uri| uri.to_string());
    assert_eq!(left("/chat?token=s3cret"), Some("/chat".into()));
    assert_eq!(left("/api/approvals?state=pending&token=s3cret&x=1"), Some("/api/approvals?state=pending&x=1".into()));
    assert_eq!(left("http://localhost:8000/?token=a"), Some("http://localhost:8000/".into()));
}

#[test]
fn a_cookie_is_for_https_alone_where_the_browser_speaks_it() {
    let guard = guard(&[], Some("s3cret"));
    let cookie = |headers: &[(&str, &str)]| {
        let https = came_by_https(&request("GET", "/?token=s3cret", headers).headers);
        guard.tokens.as_ref().unwrap().cookie(https, chrono::DateTime::UNIX_EPOCH)
    };
    assert!(!cookie(&[]).contains("Secure") && !cookie(&[("x-forwarded-proto", "http")]).contains("Secure"));
    for header in [("x-forwarded-proto", "https"), ("forwarded", "for=1.2.3.4;proto=https"), ("x-forwarded-proto", "HTTPS, http")]
    {
        assert!(cookie(&[header]).ends_with("; Secure"), "{header:?}");
    }
}
