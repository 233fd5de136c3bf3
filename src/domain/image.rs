//! Images that come with messages: the facts about them. Their bytes are kept elsewhere, under
//! their sha256.

use serde::{Deserialize, Serialize};

use super::turn::text_enum;

text_enum! {
    /// The types of images that are taken.
    ImageType {
        /// PNG.
        Png = "image/png",
        /// JPEG.
        Jpeg = "image/jpeg",
        /// WebP.
        Webp = "image/webp",
        /// GIF.
        Gif = "image/gif",
    }
}

impl ImageType {
    /// The type whose files begin like these bytes; `None` for everything else.
    pub fn of(bytes: &[u8]) -> Option<Self> {
        match bytes {
            [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1A, b'\n', ..] => Some(Self::Png),
            [0xFF, 0xD8, 0xFF, ..] => Some(Self::Jpeg),
            [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Some(Self::Webp),
            [b'G', b'I', b'F', b'8', b'7' | b'9', b'a', ..] => Some(Self::Gif),
            _ => None,
        }
    }
}

/// An image of a message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Image {
    /// The sha256 of its bytes, in hexadecimal; its name.
    pub sha256: String,
    /// The type of its bytes.
    pub media_type: ImageType,
    /// The number of its bytes.
    pub size: u64,
}

impl Image {
    /// The image in a few words, such as `image/png, 34 KB`.
    pub fn words(&self) -> String {
        format!("{}, {} KB", self.media_type, self.size.div_ceil(1024))
    }
}

#[cfg(test)]
mod tests;
