//! Requests of a page, as the browser tells of them.

use serde_json::json;

use super::*;

fn hosts() -> PageHosts {
    PageHosts::of(vec!["example.com".to_owned()])
}

fn refused(paused: &Value) -> Option<String> {
    match judge(paused, "MAIN", &hosts()) {
        FenceVerdict::Pass => None,
        FenceVerdict::Refuse(why) => Some(why),
    }
}

#[test]
fn documents_of_other_hosts_are_refused_for_the_page_and_not_for_its_frames() {
    let request = |frame: &str, url: &str| json!({"frameId": frame, "request": {"url": url}});
    assert_eq!(refused(&request("MAIN", "https://example.com/a")), None);
    for other in ["https://evil.test/", "file:///etc/passwd", "https://example.com.evil.test/", "no address"] {
        assert!(refused(&request("MAIN", other)).unwrap().contains("wanted to go to"), "{other}");
    }
    assert_eq!(refused(&request("INNER", "https://evil.test/")), None);
}

#[test]
fn responses_that_would_be_files_are_refused() {
    let response = |headers: Value| json!({"frameId": "MAIN", "request": {"url": "https://example.com/f"}, "responseStatusCode": 200, "responseHeaders": headers});
    let header = |name: &str, value: &str| json!([{"name": name, "value": value}]);
    for shown in ["text/html; charset=utf-8", "application/xhtml+xml", "image/svg+xml", "application/problem+json", "TEXT/PLAIN"]
    {
        assert_eq!(refused(&response(header("Content-Type", shown))), None, "{shown}");
    }
    assert_eq!(refused(&response(json!([]))), None);
    for file in ["application/octet-stream", "application/pdf", "application/zip"] {
        assert!(refused(&response(header("content-type", file))).unwrap().contains("wanted to download"), "{file}");
    }
    assert!(refused(&response(header("Content-Disposition", "Attachment; filename=a"))).is_some());
    let redirect = json!({"frameId": "MAIN", "request": {"url": "https://example.com/f"}, "responseStatusCode": 302, "responseHeaders": header("content-type", "application/pdf")});
    assert_eq!(refused(&redirect), None);
}
