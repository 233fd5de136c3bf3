//! Hosts and addresses, and what is left of a touch that was cut.

use url::Url;

use super::*;

fn url(address: &str) -> Url {
    Url::parse(address).unwrap()
}

#[test]
fn hosts_are_those_that_a_person_wrote_and_no_others() {
    let hosts =
        PageHosts::of(vec!["Example.com".to_owned(), "*.shop.test".to_owned(), "127.0.0.1:8080".to_owned(), "[::1]".to_owned()]);
    for there in
        ["https://example.com/a", "http://example.com:81/", "https://a.shop.test/", "http://127.0.0.1:8080/", "http://[::1]:9/"]
    {
        assert!(hosts.allow(&url(there)), "{there}");
    }
    for other in [
        "https://www.example.com/",
        "https://example.com.evil.test/",
        "https://shop.test/",
        "https://eshop.test/",
        "http://127.0.0.1:8081/",
    ] {
        assert!(hosts.read(other).unwrap_err().contains("is no host of this campaign"), "{other}");
    }
    assert!(hosts.names("example.com") && hosts.names("127.0.0.1") && !hosts.names("evil.test"));
    assert!(PageHosts::default().read("https://example.com/").unwrap_err().contains("(its hosts: none)"));
}

#[test]
fn a_host_is_a_host_or_is_refused() {
    for (written, read) in [
        (" Example.COM ", "example.com"),
        ("*.Shop.test:443", "*.shop.test:443"),
        ("127.0.0.1:21402", "127.0.0.1:21402"),
        ("[::1]:8080", "[::1]:8080"),
        ("bücher.example", "xn--bcher-kva.example"),
    ] {
        assert_eq!(written.parse::<PageHost>().map(|host| host.to_string()), Ok(read.to_owned()), "{written}");
    }
    let stars = ["", "*", "*.", "a.*.test", "*.127.0.0.1"];
    let others = ["user@x", "x:0", "x:", "x:+1", "127.0.0.1:99999", "a b", "http://x/", "https://x", "x/"];
    for written in stars.into_iter().chain(others) {
        assert!(written.parse::<PageHost>().is_err_and(|why| why.contains("is no host; write example.com")), "{written}");
        assert!(PageHosts::of(vec![written.to_owned()]).is_empty(), "{written}");
    }
    assert_eq!(PageHost::alone("Example.com"), Ok("example.com".to_owned()));
    for written in ["*.example.com", "example.com:80"] {
        assert!(PageHost::alone(written).is_err_and(|why| why.ends_with("write it like example.com")), "{written}");
    }
}

#[test]
fn addresses_of_other_kinds_are_refused_by_their_sentence() {
    let hosts = PageHosts::of(vec!["example.com".to_owned(), "version".to_owned()]);
    for (address, words) in [
        ("data:text/html,hi", "`data:` addresses are not opened"),
        ("chrome://version", "`chrome:` addresses are not opened"),
        ("file:///etc/passwd", "`file:` addresses are not opened"),
        ("javascript:alert(1)", "`javascript:` addresses are not opened"),
        ("https://ada:secret@example.com/", "with a name or a password in it"),
        ("example.com", "is no address"),
    ] {
        let why = hosts.read(address).unwrap_err();
        assert!(why.contains(words), "{address}: {why}");
    }
}

#[test]
fn a_touch_that_was_cut_is_known_by_its_request_and_leaves_the_page_uncertain() {
    let node = PageNode { number: 2, role: "button".to_owned(), name: "Send".to_owned() };
    let begun = PageTouch {
        tool: CLICK.to_owned(),
        address: "https://example.com/ada".to_owned(),
        node: Some(node.clone()),
        text: None,
        state: OperationState::Unknown,
        told: String::new(),
        now_at: None,
        left: true,
        tab: None,
    };
    let cut = PageTouch::lost(&begun.request(), "Nobody knows.");
    assert_eq!(cut, PageTouch { told: "Nobody knows.".to_owned(), ..begun.clone() });
    let typed = PageTouch { tool: TYPE.to_owned(), text: Some("Good day".to_owned()), node: None, ..begun };
    assert_eq!(PageTouch::lost(&typed.request(), ""), typed);
    let reading = PageReading {
        reading: "a.1".to_owned(),
        tab: "t".to_owned(),
        address: "https://example.com/ada".to_owned(),
        host: "example.com".to_owned(),
        title: "Ada".to_owned(),
        text: "[2] button “Send”".to_owned(),
        nodes: vec![node],
    };
    let mut pages = Pages { reading: Some((3, reading)), ..Pages::default() };
    assert!(pages.current().is_some() && !pages.uncertain());
    pages.touch = Some((5, cut));
    assert!(pages.current().is_none() && pages.uncertain());
}
