//! Hosts and addresses.

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
