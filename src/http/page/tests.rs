//! Tests of `http::page`.

use super::*;

#[test]
fn the_page_is_in_the_program() {
    let index = std::str::from_utf8(&PAGE.files["index.html"].data).unwrap();
    assert!(!index.contains(PLACEHOLDER));
    let named = index.split('"').filter_map(|part| part.strip_prefix(&*PAGE.folder));
    let named: Vec<_> = named.collect();
    assert!(named.len() >= 5 && named.iter().all(|name| PAGE.files.contains_key(*name)), "{named:?}");
}

#[test]
fn the_first_sheets_are_one_in_their_order() {
    let index = Embedded::get("index.html").unwrap().data;
    let (page, sheets) = with_one_sheet(std::str::from_utf8(&index).unwrap());
    assert_eq!(sheets, ["tokens.css", "shell/base.css", "ui/ui.css", "shell/shell.css"]);
    assert_eq!((page.matches("stylesheet").count(), page.matches("/s/-/first.css").count()), (1, 1));
    let whole: Vec<u8> = sheets.iter().flat_map(|name| PAGE.files[*name].data.to_vec()).collect();
    assert_eq!(PAGE.files[FIRST_SHEET].data, whole);
    // An address in a sheet is relative to where the sheet stands.
    for name in &sheets[1..] {
        assert!(!std::str::from_utf8(&PAGE.files[*name].data).unwrap().contains("url("), "{name}");
    }
}

#[test]
fn comments_that_begin_a_line_stay_at_home() {
    let source = "// One\n/** Two\n * three */ const a = 1;\n  /* four */\nconst b = \"// five\"; // six\n\n/*\n*/\nconst c = `/* seven */`;\n/*/ eight */";
    let carried = "\n\n const a = 1;\n\nconst b = \"// five\"; // six\n\n\n\nconst c = `/* seven */`;\n\n";
    assert_eq!(without_comments(source), carried);
}

#[test]
fn a_module_keeps_its_lines_and_what_others_wrote_is_carried_whole() {
    let (mut before, mut after) = (0, 0);
    for name in Embedded::iter() {
        let source = Embedded::get(&name).unwrap().data;
        let carried = &PAGE.files[&*name].data;
        if is_ours(&name) {
            let lines = |bytes: &[u8]| bytes.iter().filter(|byte| **byte == b'\n').count();
            assert_eq!(lines(carried), lines(&source), "{name}");
            (before, after) = (before + source.len(), after + carried.len());
        } else if !name.ends_with("index.html") {
            assert_eq!(carried, &*source, "{name}");
        }
    }
    assert!(after > 0 && after * 10 < before * 9, "{after} of {before} bytes");
}

#[tokio::test]
async fn a_path_that_leads_out_of_the_folder_finds_nothing() {
    let inside = |name: &str| format!("{}{name}", PAGE.folder);
    for path in
        ["/../Cargo.toml", "/nothing", "/tokens.css", "/s/0123456789abcdef/tokens.css", &inside("../Cargo.toml"), &inside("")]
    {
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
        let response = file(Method::GET, format!("{}shell/index.js", PAGE.folder).parse().unwrap(), headers).await;
        let coding = response.headers().get(header::CONTENT_ENCODING).map(|coding| coding.to_str().unwrap().to_owned());
        (coding, axum::body::to_bytes(response.into_body(), usize::MAX).await.unwrap())
    };
    let plain = get("br, gzip;q=0").await;
    assert_eq!(plain, (None, PAGE.files["shell/index.js"].data.clone()));
    let (coding, smaller) = get("deflate, gzip;q=0.5, br").await;
    assert_eq!(coding.as_deref(), Some("gzip"));
    assert!(smaller.len() * 2 < plain.1.len());
    let mut whole = Vec::new();
    std::io::Read::read_to_end(&mut flate2::read::GzDecoder::new(&smaller[..]), &mut whole).unwrap();
    assert_eq!(whole, plain.1);
}
