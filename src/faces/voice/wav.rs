//! Sound as WAV files carry it: recognised, mended, and made fit for a server that hears 16,000
//! samples a second.

/// The samples a second of what the page records, and of what servers hear.
pub(super) const RATE: u32 = 16_000;
const HEAD: usize = 44;

/// True for bytes that begin as a WAV file does.
pub(super) fn is_wav(bytes: &[u8]) -> bool {
    bytes.len() >= HEAD && bytes.starts_with(b"RIFF") && bytes.get(8..12) == Some(b"WAVE")
}

/// The chunks of a file: the name, where it begins, and where it ends. A server that streams cannot
/// know the length of its last chunk, and writes any number: the chunk ends with the file then.
fn chunks(bytes: &[u8]) -> Vec<([u8; 4], usize, usize)> {
    let mut found = Vec::new();
    let mut at = 12;
    while let Some(head) = bytes.get(at..at + 8) {
        let (name, size) = head.split_at(4);
        let size = usize::try_from(u32::from_le_bytes([size[0], size[1], size[2], size[3]])).unwrap_or(usize::MAX);
        let begin = at + 8;
        // Streams write no length, or the largest.
        let is_open = name == b"data" && size == 0;
        let end = if is_open { bytes.len() } else { begin.saturating_add(size).min(bytes.len()) };
        found.push(([name[0], name[1], name[2], name[3]], begin, end));
        at = end + (end - begin) % 2;
    }
    found
}

/// The file with the lengths that it really has.
pub(super) fn mended(mut bytes: Vec<u8>) -> Vec<u8> {
    let whole = length(bytes.len() - 8);
    bytes[4..8].copy_from_slice(&whole);
    for (name, begin, end) in chunks(&bytes) {
        if &name == b"data" {
            bytes[begin - 4..begin].copy_from_slice(&length(end - begin));
        }
    }
    bytes
}

fn length(bytes: usize) -> [u8; 4] {
    u32::try_from(bytes).unwrap_or(u32::MAX).to_le_bytes()
}

/// A file of one channel with these samples.
pub(super) fn file(samples: &[i16], rate: u32) -> Vec<u8> {
    let data = samples.len() * 2;
    let mut bytes = Vec::with_capacity(HEAD + data);
    bytes.extend(b"RIFF");
    bytes.extend(length(36 + data));
    bytes.extend(b"WAVEfmt ");
    bytes.extend(16_u32.to_le_bytes());
    // PCM, one channel.
    bytes.extend([1, 0, 1, 0]);
    bytes.extend(rate.to_le_bytes());
    bytes.extend((rate * 2).to_le_bytes());
    bytes.extend([2, 0, 16, 0]);
    bytes.extend(b"data");
    bytes.extend(length(data));
    bytes.extend(samples.iter().flat_map(|sample| sample.to_le_bytes()));
    bytes
}

/// The same sound with one channel and 16,000 samples a second; `None` if it is no plain 16-bit
/// file.
pub(super) fn for_ears(bytes: &[u8]) -> Option<Vec<u8>> {
    let chunks = chunks(bytes);
    let of = |wanted: &[u8; 4]| {
        let (_, begin, end) = chunks.iter().find(|(name, ..)| name == wanted)?;
        bytes.get(*begin..*end)
    };
    let format = of(b"fmt ")?;
    let number = |at: usize| Some(u16::from_le_bytes([*format.get(at)?, *format.get(at + 1)?]));
    let (channels, rate, bits) = (usize::from(number(2)?), u32::from(number(4)?) | u32::from(number(6)?) << 16, number(14)?);
    if bits != 16 || channels == 0 || rate == 0 {
        return None;
    }
    let sample = |bytes: &[u8]| i16::from_le_bytes([bytes[0], bytes[1]]);
    let first: Vec<i16> = of(b"data")?.chunks_exact(2 * channels).map(sample).collect();
    let count = first.len() as u64 * u64::from(RATE) / u64::from(rate);
    let nearest = |at: u64| first.get(usize::try_from(at * u64::from(rate) / u64::from(RATE)).ok()?).copied();
    let samples: Vec<i16> = (0..count).filter_map(nearest).collect();
    Some(file(&samples, RATE))
}

#[cfg(test)]
mod tests;
