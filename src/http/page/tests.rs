//! Tests of `http::page`.

use super::*;

#[test]
fn the_page_is_in_the_program() {
    let index = std::str::from_utf8(&PAGE.files["index.html"].data).unwrap();
    assert!(!index.contains(PLACEHOLDER));
    let named = index.split('"').filter_map(|part| part.strip_prefix(&*PAGE.folder));
    let named: Vec<_> = named.collect();
    assert!(named.len() > 5 && named.iter().all(|name| PAGE.files.contains_key(*name)), "{named:?}");
}

#[tokio::test]
async fn a_path_that_leads_out_of_the_folder_finds_nothing() {
    let inside = |name: &str| format!("{}{name}", PAGE.folder);
    for path in ["/../Cargo.toml", "/nothing", "/main.js", "/s/0123456789abcdef/main.js", &inside("../Cargo.toml"), &inside("")] {
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

#[tokio::test]
async fn who_reads_gzip_gets_the_same_file_smaller() {
    let get = async |encoding: &'static str| {
        let headers = [(header::ACCEPT_ENCODING, encoding.parse().unwrap())].into_iter().collect();
        let response = file(Method::GET, format!("{}main.js", PAGE.folder).parse().unwrap(), headers).await;
        let coding = response.headers().get(header::CONTENT_ENCODING).map(|coding| coding.to_str().unwrap().to_owned());
        (coding, axum::body::to_bytes(response.into_body(), usize::MAX).await.unwrap())
    };
    let plain = get("br, gzip;q=0").await;
    assert_eq!(plain, (None, PAGE.files["main.js"].data.clone()));
    let (coding, smaller) = get("deflate, gzip;q=0.5, br").await;
    assert_eq!(coding.as_deref(), Some("gzip"));
    assert!(smaller.len() * 2 < plain.1.len());
    let mut whole = Vec::new();
    std::io::Read::read_to_end(&mut flate2::read::GzDecoder::new(&smaller[..]), &mut whole).unwrap();
    assert_eq!(whole, plain.1);
}
