//! Bounds what the server sends to a client: each message as it passes, without holding any whole.
//!
//! The Postgres manual has the form of messages in "Message Formats": a letter, a length that counts itself, and the body.

use std::mem;

/// The longest message that passes. A row is one message, so no value of it is longer either.
pub(super) const MESSAGE: usize = 4 << 20;
/// The most that passes in answer to one statement, all messages together.
pub(super) const ANSWER: usize = 256 << 20;
/// The longest field of an error or a notice; the rest of it is left out.
const FIELD: usize = 8 << 10;
/// All fields of an error together.
const FIELDS: usize = 64 << 10;

/// Something that is not let through.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Refused {
    /// One row, or another single message, of this many bytes.
    Message(usize),
    /// More than [`ANSWER`] in all.
    Answer,
    /// It is no message.
    Broken,
}

/// Reads the server's messages piece by piece.
#[derive(Debug, Default)]
pub(super) struct Filter {
    state: State,
    /// The bytes that passed since the server last said that it waits for a statement.
    spent: usize,
}

#[derive(Debug)]
enum State {
    /// In the first five bytes of a message; these came already.
    Head(Vec<u8>),
    /// In a body that passes; so much of it is to come.
    Passing(usize),
    /// In an error or a notice that is shortened.
    Cutting(Cut),
}

impl Default for State {
    fn default() -> Self {
        Self::Head(Vec::with_capacity(HEAD))
    }
}

/// A letter and a length.
const HEAD: usize = 5;

impl Filter {
    /// Takes what the server sent, and puts what passes into `out`.
    ///
    /// # Errors
    /// The message that does not pass; what came before it is in `out`, and nothing after it may be
    /// taken.
    pub(super) fn take(&mut self, mut input: &[u8], out: &mut Vec<u8>) -> Result<(), Refused> {
        while !input.is_empty() {
            self.state = match mem::take(&mut self.state) {
                State::Head(mut head) => {
                    let piece = next(&mut input, HEAD - head.len());
                    head.extend_from_slice(piece);
                    if head.len() < HEAD { State::Head(head) } else { self.begin(&head, out)? }
                }
                State::Passing(left) => {
                    let piece = next(&mut input, left);
                    out.extend_from_slice(piece);
                    passing(left - piece.len())
                }
                State::Cutting(mut cut) => {
                    let piece = next(&mut input, cut.left);
                    cut.left -= piece.len();
                    piece.iter().for_each(|byte| cut.add(*byte));
                    if cut.left > 0 {
                        State::Cutting(cut)
                    } else {
                        cut.finish(out);
                        State::default()
                    }
                }
            };
        }
        Ok(())
    }

    fn begin(&mut self, head: &[u8], out: &mut Vec<u8>) -> Result<State, Refused> {
        let (kind, length) = (head[0], u32::from_be_bytes([head[1], head[2], head[3], head[4]]));
        let body = (length as usize).checked_sub(4).ok_or(Refused::Broken)?;
        if matches!(kind, b'E' | b'N') && body > FIELD {
            return Ok(State::Cutting(Cut { kind, left: body, fields: Vec::new(), at: At::Code }));
        }
        if body > MESSAGE {
            return Err(Refused::Message(body));
        }
        self.spent = if kind == b'Z' { 0 } else { self.spent + HEAD + body };
        if self.spent > ANSWER {
            return Err(Refused::Answer);
        }
        out.extend_from_slice(head);
        Ok(passing(body))
    }
}

fn passing(left: usize) -> State {
    if left == 0 { State::default() } else { State::Passing(left) }
}

/// As much of the input as is wanted.
fn next<'a>(input: &mut &'a [u8], wanted: usize) -> &'a [u8] {
    let (piece, rest) = input.split_at(wanted.min(input.len()));
    *input = rest;
    piece
}

/// An error or a notice on its way: fields, each a letter and a text that ends with zero, and a zero at the end.
#[derive(Debug)]
struct Cut {
    kind: u8,
    left: usize,
    fields: Vec<u8>,
    at: At,
}

#[derive(Debug)]
enum At {
    Code,
    /// In a field's text, which began here in `fields` and has so many bytes so far.
    Text(usize, usize),
    End,
}

impl Cut {
    fn add(&mut self, byte: u8) {
        match (&mut self.at, byte) {
            (At::Code, 0) => self.at = At::End,
            (At::Code, code) => {
                self.fields.push(code);
                self.at = At::Text(self.fields.len(), 0);
            }
            (At::Text(from, length), 0) => {
                let (from, length) = (*from, *length);
                self.close(from, length);
                self.at = At::Code;
            }
            (At::Text(from, length), byte) => {
                *length += 1;
                if self.fields.len() - *from < FIELD && self.fields.len() < FIELDS {
                    self.fields.push(byte);
                }
            }
            (At::End, _) => {}
        }
    }

    /// Ends a text: if some of it was left out, after its last whole character, and it says so.
    fn close(&mut self, from: usize, length: usize) {
        let kept = self.fields.len() - from;
        if kept < length {
            let whole = match std::str::from_utf8(&self.fields[from..]) {
                Ok(_) => kept,
                Err(error) if error.error_len().is_none() => error.valid_up_to(),
                // Another encoding, in which every byte may stand for itself.
                Err(_) => kept,
            };
            self.fields.truncate(from + whole);
            self.fields.extend_from_slice(format!("… (cut: it has {length} bytes)").as_bytes());
        }
        self.fields.push(0);
    }

    fn finish(mut self, out: &mut Vec<u8>) {
        if let At::Text(from, length) = self.at {
            self.close(from, length);
        }
        self.fields.push(0);
        message(self.kind, &self.fields, out);
    }
}

/// Writes a message.
fn message(kind: u8, body: &[u8], out: &mut Vec<u8>) {
    let length = u32::try_from(body.len() + 4).expect("messages of ours are short");
    out.push(kind);
    out.extend_from_slice(&length.to_be_bytes());
    out.extend_from_slice(body);
}

/// The error that a client gets in the place of what does not pass. `code` is a SQLSTATE.
pub(super) fn error(code: &str, told: &str, out: &mut Vec<u8>) {
    let mut fields = Vec::new();
    for (letter, text) in [(b'S', "ERROR"), (b'V', "ERROR"), (b'C', code), (b'M', told)] {
        fields.push(letter);
        fields.extend_from_slice(text.as_bytes());
        fields.push(0);
    }
    fields.push(0);
    message(b'E', &fields, out);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn one(kind: u8, body: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        message(kind, body, &mut out);
        out
    }

    fn through(input: &[u8], piece: usize) -> (Vec<u8>, Result<(), Refused>) {
        let (mut filter, mut out) = (Filter::default(), Vec::new());
        let taken = input.chunks(piece.max(1)).try_for_each(|piece| filter.take(piece, &mut out));
        (out, taken)
    }

    #[test]
    fn short_messages_pass_as_they_are() {
        let sent =
            [one(b'T', b"columns"), one(b'n', b""), one(b'D', &[7; 70_000]), one(b'E', b"Mno\0\0"), one(b'Z', b"I")].concat();
        for piece in [1, 3, 8192, sent.len()] {
            assert_eq!(through(&sent, piece), (sent.clone(), Ok(())));
        }
    }

    #[test]
    fn a_message_that_is_too_long_does_not_pass_and_what_came_before_it_does() {
        let before = one(b'D', b"row");
        let mut sent = before.clone();
        sent.extend_from_slice(&[b'D', 0x3F, 0xFF, 0xFF, 0xFF, 1, 2, 3]);
        assert_eq!(through(&sent, 4), (before, Err(Refused::Message(0x3FFF_FFFB))));
    }

    #[test]
    fn a_result_without_end_does_not_pass_and_the_next_statement_begins_anew() {
        let (row, ready) = (one(b'D', &vec![0; MESSAGE]), one(b'Z', b"I"));
        let fit = ANSWER / (MESSAGE + HEAD);
        let (mut filter, mut out) = (Filter::default(), Vec::new());
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
        assert_eq!(refused, Some(Refused::Answer));
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
}
