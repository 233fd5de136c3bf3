//! Tests of `domain::grants::http`.

use super::*;

fn allows(grant: &HttpGrant, method: &str, url: &str) -> bool {
    grant.allows(method, &Url::parse(url).unwrap())
}

#[test]
fn a_host_is_that_host_and_no_other() {
    let grant = HttpGrant::host("api.example.com");
    for good in ["https://api.example.com", "https://API.example.com:443/x?y#z", "https://user@api.example.com/"] {
        assert!(allows(&grant, "GET", good), "{good}");
    }
    for bad in [
        "http://api.example.com/",
        "https://api.example.com:8443/",
        "https://example.com/",
        "https://x.api.example.com/",
        "https://api.example.com.evil.example/",
        "https://api.example.com@evil.example/",
        "https://evil.example/api.example.com",
        "https://api.example.com./",
    ] {
        assert!(!allows(&grant, "GET", bad), "{bad}");
    }
}

#[test]
fn a_star_stands_for_names_below() {
    let grant = HttpGrant::host("*.example.com");
    assert!(allows(&grant, "GET", "https://a.example.com/") && allows(&grant, "GET", "https://a.b.example.com/"));
    for bad in ["https://example.com/", "https://aexample.com/", "https://.example.com/", "https://127.0.0.1/"] {
        assert!(!Url::parse(bad).is_ok_and(|url| grant.allows("GET", &url)), "{bad}");
    }
    assert!(allows(&HttpGrant::host("*"), "GET", "https://anything.example/"));
}

#[test]
fn paths_end_at_segments_and_cannot_be_disguised() {
    let grant = HttpGrant { path: Some("/v1/".into()), ..HttpGrant::host("a.example") };
    assert!(allows(&grant, "GET", "https://a.example/v1/x") && allows(&grant, "GET", "https://a.example/v1"));
    for bad in ["/", "/v10/x", "/v1/../v2", "/v1/%2e%2e/v2", "/v1/..%2fv2", "/v1/..%5Cv2", "/v1/\\..\\..\\v2", "/v1/%00"] {
        assert!(!allows(&grant, "GET", &format!("https://a.example{bad}")), "{bad}");
    }
    // As some servers read it: parameters behind a `;`, decoded twice, long forms of ASCII, blanks.
    for odd in [
        "..;/v2",
        "..;x=1/v2",
        "..%3Bx/v2",
        "x/..;/..;/v2",
        "%252e%252e%252fv2",
        "..%252fv2",
        "%c0%ae%c0%ae/v2",
        "..%c0%afv2",
        "%u002e%u002e/v2",
        "..%20/v2",
        "...;/v2",
        "%E9",
        "a%0d%0ab",
    ] {
        assert!(!allows(&grant, "GET", &format!("https://a.example/v1/{odd}")), "{odd}");
        assert!(allows(&HttpGrant::host("a.example"), "GET", &format!("https://a.example/v1/{odd}")), "{odd}");
    }
    for honest in
        ["a...b", "a.b/.well-known;v=1", "a;b=../c", "gr%C3%BCn%20x", "a%3Fb%23c", "x;y", ";v=1", "100?q=%252e%2e/..%2f"]
    {
        assert!(allows(&grant, "GET", &format!("https://a.example/v1/{honest}")), "{honest}");
    }
}

#[test]
fn a_port_in_a_binding_is_compared_and_without_one_every_port_will_do() {
    let matches = |binding: &str, url: &str| binding_matches(binding, &Url::parse(url).unwrap());
    for (binding, url, expected) in [
        ("a.example:8443", "https://a.example:8443/x", true),
        ("a.example:8443", "https://a.example/", false),
        ("a.example:443", "https://a.example/", true),
        ("a.example:443", "https://a.example:8443/", false),
        ("a.example", "https://a.example:8443/", true),
        ("*.example:8443", "https://a.example:8443/", true),
        ("*.example:8443", "https://a.example/", false),
        ("*:8443", "https://a.example/", false),
        ("[::1]:9000", "http://[::1]:9000/", true),
        ("[::1]:9000", "http://[::1]:9001/", false),
        ("[::1]", "http://[::1]:9001/", true),
    ] {
        assert_eq!(matches(binding, url), expected, "{binding} {url}");
    }
    for (given, asked, expected) in [
        ("a.example", "a.example:8443", true),
        ("*:8443", "a.example:8443", true),
        ("a.example:8443", "a.example", false),
        ("a.example:8443", "a.example:8444", false),
        ("a.example:8443", "b.example:8443", false),
    ] {
        assert_eq!(binding_covers(given, asked), expected, "{given} {asked}");
    }
}

#[test]
fn methods_are_limited_when_they_are_named() {
    let grant = HttpGrant { methods: ["GET".to_owned()].into(), ..HttpGrant::host("a.example") };
    assert!(allows(&grant, "GET", "https://a.example/") && !allows(&grant, "POST", "https://a.example/"));
    assert!(HttpGrant::host("a.example").covers(&grant) && !grant.covers(&HttpGrant::host("a.example")));
}
