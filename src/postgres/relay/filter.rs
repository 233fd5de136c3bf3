//! Bounds what the server sends to a client: each message as it passes, without holding any whole.
//!
//! The Postgres manual has the form of messages in "Message Formats": a letter, a length that
//! counts itself, and the body.

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
pub(super) enum FilterError {
    /// One row, or another single message, of this many bytes.
    Message(usize),
    /// More than [`ANSWER`] in all.
    Answer,
    /// It is no message.
    Broken,
}

/// Reads the server's messages piece by piece.
#[derive(Debug, Default)]
pub(super) struct MessageFilter {
    state: FilterState,
    /// The bytes that passed since the server last said that it waits for a statement.
    spent: usize,
}

#[derive(Debug)]
enum FilterState {
    /// In the first five bytes of a message; these came already.
    Head(Vec<u8>),
    /// In a body that passes; so much of it is to come.
    Passing(usize),
    /// In an error or a notice that is shortened.
    Cutting(Cut),
}

impl Default for FilterState {
    fn default() -> Self {
        Self::Head(Vec::with_capacity(HEAD))
    }
}

/// A letter and a length.
const HEAD: usize = 5;

impl MessageFilter {
    /// Takes what the server sent, and puts what passes into `out`.
    ///
    /// # Errors
    /// The message that does not pass; what came before it is in `out`, and nothing after it may be
    /// taken.
    pub(super) fn take(&mut self, mut input: &[u8], out: &mut Vec<u8>) -> Result<(), FilterError> {
        while !input.is_empty() {
            self.state = match mem::take(&mut self.state) {
                FilterState::Head(mut head) => {
                    let piece = next(&mut input, HEAD - head.len());
                    head.extend_from_slice(piece);
                    if head.len() < HEAD { FilterState::Head(head) } else { self.begin(&head, out)? }
                }
                FilterState::Passing(left) => {
                    let piece = next(&mut input, left);
                    out.extend_from_slice(piece);
                    passing(left - piece.len())
                }
                FilterState::Cutting(mut cut) => {
                    let piece = next(&mut input, cut.left);
                    cut.left -= piece.len();
                    piece.iter().for_each(|byte| cut.add(*byte));
                    if cut.left > 0 {
                        FilterState::Cutting(cut)
                    } else {
                        cut.finish(out);
                        FilterState::default()
                    }
                }
            };
        }
        Ok(())
    }

    fn begin(&mut self, head: &[u8], out: &mut Vec<u8>) -> Result<FilterState, FilterError> {
        let (kind, length) = (head[0], u32::from_be_bytes([head[1], head[2], head[3], head[4]]));
        let body = (length as usize).checked_sub(4).ok_or(FilterError::Broken)?;
        if matches!(kind, b'E' | b'N') && body > FIELD {
            return Ok(FilterState::Cutting(Cut { kind, left: body, fields: Vec::new(), at: At::Code }));
        }
        if body > MESSAGE {
            return Err(FilterError::Message(body));
        }
        self.spent = if kind == b'Z' { 0 } else { self.spent + HEAD + body };
        if self.spent > ANSWER {
            return Err(FilterError::Answer);
        }
        out.extend_from_slice(head);
        Ok(passing(body))
    }
}

fn passing(left: usize) -> FilterState {
    if left == 0 { FilterState::default() } else { FilterState::Passing(left) }
}

/// As much of the input as is wanted.
fn next<'a>(input: &mut &'a [u8], wanted: usize) -> &'a [u8] {
    let (piece, rest) = input.split_at(wanted.min(input.len()));
    *input = rest;
    piece
}

/// An error or a notice on its way: fields, each a letter and a text that ends with zero, and a
/// zero at the end.
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
mod tests;
