//! Images that come with messages, in a frame or as a `data:` URL: how many, how large, and of
//! which types. The rules are the same at every door.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};

use crate::domain::{Image, ImageType};
use crate::store::NewImage;
use crate::wire::{MAX_IMAGE_BYTES, MAX_IMAGES, SentImage};

/// A type that is not registered, and that many clients send.
const JPG: &str = "image/jpg";

/// The images of a frame, or the reason against them, in words for the person.
pub(super) fn read(sent: &[SentImage]) -> Result<Vec<NewImage>, String> {
    few(sent.len())?;
    let read = |(number, image): (usize, &SentImage)| {
        read_one(&image.media_type, &image.data).map_err(|why| format!("image {number} {why}"))
    };
    (1..).zip(sent).map(read).collect()
}

/// Refuses more images than one message may bring, in words for the person.
pub(super) fn few(count: usize) -> Result<(), String> {
    if count > MAX_IMAGES { Err(format!("the message has {count} images; {MAX_IMAGES} is the most")) } else { Ok(()) }
}

/// The image in a `data:` URL, or the reason against it, in words that follow its name. Nothing is
/// fetched: a client must not make the server send requests for it.
pub(super) fn read_url(url: &str) -> Result<NewImage, String> {
    let told = "send the image itself, as a data: URL such as data:image/png;base64,…";
    let Some((media_type, data)) = parts_of(url) else {
        return Err(match url.split_once(':') {
            Some((scheme, _)) if scheme.eq_ignore_ascii_case("http") || scheme.eq_ignore_ascii_case("https") => {
                format!("is an address, and level3 fetches nothing for a client: {told}")
            }
            _ => format!("is no data: URL in base64: {told}"),
        });
    };
    read_one(&media_type.to_ascii_lowercase(), data)
}

/// Media type and base64 of a `data:` URL.
fn parts_of(url: &str) -> Option<(&str, &str)> {
    let (scheme, rest) = url.split_once(':')?;
    let (header, data) = rest.split_once(',')?;
    let mut parameters = header.split(';');
    let media_type = parameters.next()?;
    let base64 = parameters.next_back()?.eq_ignore_ascii_case("base64");
    (scheme.eq_ignore_ascii_case("data") && base64).then_some((media_type, data))
}

/// One image, or the reason against it, in words that follow its name.
fn read_one(media_type: &str, data: &str) -> Result<NewImage, String> {
    let kinds = || ImageType::ALL.iter().map(|kind| kind.as_str()).collect::<Vec<_>>().join(", ");
    let media_type = if media_type == JPG { ImageType::Jpeg.as_str() } else { media_type };
    let told: ImageType = media_type.parse().map_err(|_| format!("is of a type that is not taken; send {}", kinds()))?;
    // Four characters hold three bytes, so the length alone refuses an image that is too large.
    let too_large = || format!("has more than {} MB, which is the most", MAX_IMAGE_BYTES >> 20);
    if data.len() / 4 * 3 > MAX_IMAGE_BYTES + 2 {
        return Err(too_large());
    }
    let bytes = STANDARD.decode(data).map_err(|error| format!("is not base64: {error}"))?;
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
mod tests;
