//! Images that come with messages, read from a frame: few, not too large, and what they are called.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};

use crate::domain::{Image, ImageType};
use crate::store::NewImage;
use crate::wire::{MAX_IMAGE_BYTES, MAX_IMAGES, SentImage};

/// The images of a frame, or why it is refused, in words for the person.
pub(super) fn read(sent: &[SentImage]) -> Result<Vec<NewImage>, String> {
    if sent.len() > MAX_IMAGES {
        return Err(format!("the message has {} images; {MAX_IMAGES} is the most", sent.len()));
    }
    (1..).zip(sent).map(|(number, image)| read_one(image).map_err(|why| format!("image {number} {why}"))).collect()
}

fn read_one(sent: &SentImage) -> Result<NewImage, String> {
    let kinds = || ImageType::ALL.iter().map(|kind| kind.as_str()).collect::<Vec<_>>().join(", ");
    let told: ImageType = sent.media_type.parse().map_err(|_| format!("is of a type that is not taken; send {}", kinds()))?;
    // Four characters for three bytes: what is longer need not be decoded to be refused.
    let too_large = || format!("has more than {} MB, which is the most", MAX_IMAGE_BYTES >> 20);
    if sent.data.len() / 4 * 3 > MAX_IMAGE_BYTES + 2 {
        return Err(too_large());
    }
    let bytes = STANDARD.decode(&sent.data).map_err(|error| format!("is not base64: {error}"))?;
    if bytes.len() > MAX_IMAGE_BYTES {
        return Err(too_large());
    }
    match ImageType::of(&bytes) {
        Some(kind) if kind == told => {}
        Some(kind) => return Err(format!("is {kind} and not {told}")),
        None => return Err(format!("is not {told}, whatever it is called; send {}", kinds())),
    }
    let image = Image { sha256: hex::encode(Sha256::digest(&bytes)), media_type: told, size: bytes.len() as u64 };
    Ok(NewImage { image, bytes })
}

#[cfg(test)]
mod tests {
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
}
