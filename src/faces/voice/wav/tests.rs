//! WAV files, whole and broken.

use super::*;

#[test]
fn a_wav_is_known_by_its_beginning() {
    assert!(is_wav(&file(&[], RATE)));
    for other in [&b""[..], b"RIFF", b"<!doctype html><title>RIFF....WAVE</title> and so on and so on", &[0; 60]] {
        assert!(!is_wav(other), "{other:?}");
    }
}

#[test]
fn a_stream_gets_the_lengths_that_it_has() {
    let whole = file(&[1, 2, 3], 24_000);
    for unknown in [0_u32, u32::MAX, 7_000_000] {
        let mut streamed = whole.clone();
        streamed[4..8].copy_from_slice(&unknown.to_le_bytes());
        streamed[40..44].copy_from_slice(&unknown.to_le_bytes());
        assert_eq!(mended(streamed), whole, "{unknown}");
    }
    assert_eq!(mended(whole.clone()), whole);
}

#[test]
fn sound_of_any_rate_becomes_sound_for_ears() {
    let samples: Vec<i16> = (0..2400).collect();
    let heard = for_ears(&file(&samples, 24_000)).unwrap();
    assert_eq!((heard.len(), &heard[24..28]), (44 + 3200, &16_000_u32.to_le_bytes()[..]));
    // Every third sample of the first is passed over.
    assert_eq!(heard[44..52], [0, 0, 1, 0, 3, 0, 4, 0]);
    let slow = for_ears(&file(&[5, 6], 8_000)).unwrap();
    assert_eq!(slow[44..], [5, 0, 5, 0, 6, 0, 6, 0]);
    // Two channels: the first is heard.
    let mut two = file(&[1, 9, 2, 9], RATE);
    two[22] = 2;
    assert_eq!(for_ears(&two).unwrap()[44..], [1, 0, 2, 0]);
    let mut eight = file(&[1, 2], RATE);
    eight[34] = 8;
    assert_eq!(for_ears(&eight), None);
    assert_eq!(for_ears(b"RIFF"), None);
}

#[test]
fn whatever_bytes_come_nothing_breaks() {
    let whole = file(&[1, 2, 3, 4], RATE);
    for end in HEAD..whole.len() {
        let cut = whole[..end].to_vec();
        assert_eq!(mended(cut).len(), end);
    }
    for at in 12..whole.len() {
        for byte in [0, 1, 127, 255] {
            let mut odd = whole.clone();
            odd[at] = byte;
            for_ears(&odd);
            assert_eq!(mended(odd).len(), whole.len());
        }
    }
}
