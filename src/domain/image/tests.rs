//! Tests of `domain::image`.

use super::*;

#[test]
fn a_kind_is_known_by_its_first_bytes_and_nothing_else_is_one() {
    assert_eq!(ImageType::of(b"\x89PNG\r\n\x1a\n...."), Some(ImageType::Png));
    assert_eq!(ImageType::of(b"\xFF\xD8\xFF\xE0"), Some(ImageType::Jpeg));
    assert_eq!(ImageType::of(b"RIFF\x10\0\0\0WEBPVP8 "), Some(ImageType::Webp));
    assert_eq!(ImageType::of(b"GIF89a"), Some(ImageType::Gif));
    for other in [&b""[..], b"<svg xmlns=", b"RIFF\x10\0\0\0WAVE", b"%PDF-1.7", b"\x89PNG", b"<html>"] {
        assert_eq!(ImageType::of(other), None, "{other:?}");
    }
}
