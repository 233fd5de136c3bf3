//! Tests of `http::images`.

use super::*;

const PNG: &[u8] = b"\x89PNG\r\n\x1a\nrest";

fn sent(media_type: &str, bytes: &[u8]) -> SentImage {
    SentImage { media_type: media_type.into(), data: STANDARD.encode(bytes) }
}

fn refusal(images: &[SentImage]) -> String {
    read(images).unwrap_err()
}

#[test]
fn an_image_is_taken_with_its_fingerprint() {
    let read = read(&[sent("image/png", PNG)]).unwrap();
    assert_eq!((read[0].image.size, &read[0].bytes[..]), (PNG.len() as u64, PNG));
    assert_eq!(read[0].image.sha256, hex::encode(Sha256::digest(PNG)));
}

#[test]
fn what_is_not_taken_is_refused_with_the_reason() {
    assert!(refusal(&vec![sent("image/png", PNG); 5]).contains("4 is the most"));
    let second = refusal(&[sent("image/png", PNG), sent("image/svg+xml", b"<svg/>")]);
    assert!(second.starts_with("image 2 ") && second.contains("image/webp"), "{second}");
    assert!(refusal(&[sent("image/jpeg", PNG)]).contains("is image/png and not image/jpeg"));
    assert!(refusal(&[sent("image/png", b"<html>")]).contains("is not image/png"));
    assert!(refusal(&[SentImage { media_type: "image/png".into(), data: "***".into() }]).contains("base64"));
    let mut large = PNG.to_vec();
    large.resize(MAX_IMAGE_BYTES + 1, 0);
    assert!(refusal(&[sent("image/png", &large)]).contains("5 MB"));
    large.resize(MAX_IMAGE_BYTES, 0);
    assert!(read(&[sent("image/png", &large)]).is_ok());
}

#[test]
fn a_data_url_is_an_image_of_the_same_rules_and_an_address_is_none() {
    let data = STANDARD.encode(PNG);
    let plain = read_url(&format!("data:image/png;base64,{data}")).unwrap();
    assert_eq!(plain, read(&[sent("image/png", PNG)]).unwrap()[0]);
    assert_eq!(read_url(&format!("DATA:Image/PNG;name=a.png;Base64,{data}")), Ok(plain));
    let jpeg = STANDARD.encode(b"\xFF\xD8\xFF\xE0");
    assert_eq!(read_url(&format!("data:image/jpg;base64,{jpeg}")).unwrap().image.media_type, ImageType::Jpeg);
    for (url, reason) in [
        ("https://example.com/a.png".to_owned(), "fetches nothing for a client: send the image itself"),
        ("HTTP://10.0.0.1/".to_owned(), "fetches nothing"),
        ("file:///etc/passwd".to_owned(), "no data: URL"),
        ("data:image/png,%89PNG".to_owned(), "no data: URL in base64"),
        (String::new(), "no data: URL"),
        (format!("data:;base64,{data}"), "image/webp"),
        (format!("data:image/svg+xml;base64,{data}"), "image/webp"),
        (format!("data:image/gif;base64,{data}"), "is image/png and not image/gif"),
        ("data:image/png;base64,%89".to_owned(), "is not base64"),
    ] {
        let refused = read_url(&url).unwrap_err();
        assert!(refused.contains(reason), "{url}: {refused}");
    }
}
