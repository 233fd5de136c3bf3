//! Notices an answer that goes on with the same few words for ever. Small models do, and would
//! until their limit of tokens, which takes minutes on this machine and costs money elsewhere.

/// How often the longest piece that is looked for comes. Whole paragraphs are repeated, too.
const TIMES: usize = 4;
/// How many bytes of a text are one piece over and over; tables and lists of zeros are shorter.
const IN_TEXT: usize = 4096;
/// The same for the arguments of a call.
const IN_ARGUMENTS: usize = 2048;
/// How much is to come before it is looked at again, in bytes.
const STRIDE: usize = 256;

/// How much white space a text can end in before nothing is expected to follow, in bytes.
const BLANK: usize = 256;

/// The end of the words in a text that goes on with nothing but white space.
pub(in crate::model) fn blank_end(text: &str) -> Option<usize> {
    let end = text.trim_end().len();
    (text.len() - end >= BLANK).then_some(end)
}

/// Watches one text that grows.
#[derive(Debug)]
pub(in crate::model) struct Repetition {
    span: usize,
    looked_at: usize,
}

impl Repetition {
    /// For the text of an answer.
    pub(in crate::model) fn in_text() -> Self {
        Self { span: IN_TEXT, looked_at: 0 }
    }

    /// For the arguments of a call.
    pub(in crate::model) fn in_arguments() -> Self {
        Self { span: IN_ARGUMENTS, looked_at: 0 }
    }

    /// Looks at the text as it is now. If it ends in nothing but one piece over and over: how much
    /// of it there is before, and with the piece once, in bytes.
    pub(in crate::model) fn look(&mut self, text: &str) -> Option<usize> {
        if text.len() < self.span || text.len() < self.looked_at + STRIDE {
            return None;
        }
        self.looked_at = text.len();
        let bytes = text.as_bytes();
        let tail = &bytes[bytes.len() - self.span..];
        let period = (1..=self.span / TIMES).find(|period| tail[*period..] == tail[..tail.len() - period])?;
        // The repetition may begin before the span, if the text grew by more than a stride at once.
        let repeats = (period..bytes.len()).rev().take_while(|at| bytes[*at] == bytes[at - period]).count();
        Some(text.floor_char_boundary(bytes.len() - repeats))
    }
}

#[cfg(test)]
mod tests;
