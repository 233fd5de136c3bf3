//! Tests of `http::page`.

use super::*;

#[test]
fn the_page_is_in_the_program() {
    assert!(Files::get("index.html").is_some());
}

#[tokio::test]
async fn a_path_that_leads_out_of_the_folder_finds_nothing() {
    for path in ["/../Cargo.toml", "/%2e%2e/Cargo.toml", "/nothing"] {
        let found = file(Method::GET, path.parse().unwrap(), HeaderMap::new()).await;
        assert_eq!(found.status(), StatusCode::NOT_FOUND, "{path}");
    }
}

#[test]
fn a_tag_is_found_among_others_and_one_that_only_looks_like_it_is_not() {
    let has = |tags: &[&str]| {
        let header = |tags: &&str| (header::IF_NONE_MATCH, tags.parse().unwrap());
        has(&tags.iter().map(header).collect(), "\"ab\"")
    };
    for tags in [&["\"ab\""][..], &["W/\"ab\""], &["\"x\", \"ab\""], &["*"], &["\"x\"", "\"ab\""]] {
        assert!(has(tags), "{tags:?}");
    }
    for tags in [&[][..], &["ab"], &["\"a\""], &["\"abc\""], &["w/\"ab\""]] {
        assert!(!has(tags), "{tags:?}");
    }
}
