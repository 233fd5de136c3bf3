//! Tests of `postgres::relay::filter`.

use proptest::prelude::*;

use super::*;

fn one(kind: u8, body: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    message(kind, body, &mut out);
    out
}

fn through(input: &[u8], piece: usize) -> (Vec<u8>, Result<(), FilterError>) {
    let (mut filter, mut out) = (MessageFilter::default(), Vec::new());
    let taken = input.chunks(piece.max(1)).try_for_each(|piece| filter.take(piece, &mut out));
    (out, taken)
}

#[test]
fn short_messages_pass_as_they_are() {
    let sent = [one(b'T', b"columns"), one(b'n', b""), one(b'D', &[7; 70_000]), one(b'E', b"Mno\0\0"), one(b'Z', b"I")].concat();
    for piece in [1, 3, 8192, sent.len()] {
        assert_eq!(through(&sent, piece), (sent.clone(), Ok(())));
    }
}

#[test]
fn a_message_that_is_too_long_does_not_pass_and_what_came_before_it_does() {
    let before = one(b'D', b"row");
    let mut sent = before.clone();
    sent.extend_from_slice(&[b'D', 0x3F, 0xFF, 0xFF, 0xFF, 1, 2, 3]);
    assert_eq!(through(&sent, 4), (before, Err(FilterError::Message(0x3FFF_FFFB))));
}

#[test]
fn a_result_without_end_does_not_pass_and_the_next_statement_begins_anew() {
    let (row, ready) = (one(b'D', &vec![0; MESSAGE]), one(b'Z', b"I"));
    let fit = ANSWER / (MESSAGE + HEAD);
    let (mut filter, mut out) = (MessageFilter::default(), Vec::new());
    for _ in 0..3 {
        for _ in 0..fit {
            filter.take(&row, &mut out).unwrap();
            out.clear();
        }
        filter.take(&ready, &mut out).unwrap();
    }
    let refused = (0..=fit).find_map(|_| {
        out.clear();
        filter.take(&row, &mut out).err()
    });
    assert_eq!(refused, Some(FilterError::Answer));
}

#[test]
fn a_long_error_keeps_its_code_and_the_beginning_of_each_text() {
    let long = "é".repeat(FIELD);
    let body = [b"SERROR\0C22P02\0M".as_slice(), b"x", long.as_bytes(), b"\0Dshort\0H", long.as_bytes(), b"\0\0"].concat();
    for piece in [1, 4096, body.len() + HEAD] {
        let (out, taken) = through(&[one(b'E', &body), one(b'Z', b"E")].concat(), piece);
        assert_eq!(taken, Ok(()));
        assert!(out.len() < 3 * FIELD, "{}", out.len());
        assert_eq!(u32::from_be_bytes(out[1..5].try_into().unwrap()) as usize + 1, out.len() - one(b'Z', b"E").len());
        let text = std::str::from_utf8(&out[HEAD..out.len() - 6]).expect("no character is cut in its middle");
        let fields: Vec<&str> = text.split('\0').collect();
        assert_eq!((fields[0], fields[1], fields[3]), ("SERROR", "C22P02", "Dshort"));
        assert!(fields[2].starts_with("Mxé") && fields[2].ends_with("é… (cut: it has 16385 bytes)"));
        assert_eq!(fields.len(), 7, "each field ends, and the message does");
    }
}

proptest! {
    #[test]
    fn whatever_a_server_sends_nothing_grows_and_the_pieces_do_not_matter(
        messages in proptest::collection::vec((any::<u8>(), proptest::collection::vec(any::<u8>(), 0..20_000)), 0..5),
        rest in proptest::collection::vec(any::<u8>(), 0..30),
        piece in 1..30_000usize,
    ) {
        let mut sent: Vec<u8> = messages.iter().flat_map(|(kind, body)| one(*kind, body)).collect();
        sent.extend_from_slice(&rest);
        let (whole, taken) = through(&sent, sent.len());
        prop_assert!(whole.len() <= sent.len() + 64 * messages.len());
        prop_assert_eq!((whole, taken), through(&sent, piece));
    }
}
