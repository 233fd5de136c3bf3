//! Thoughts that a model writes into its text. Servers that read them apart send them in a field of
//! their own, and they are no part of an answer; neither are these.

const OPEN: &str = "<think>";
const CLOSE: &str = "</think>";

/// Takes the thoughts with which a text begins out of its pieces.
#[derive(Debug, Default)]
pub(super) struct Aside {
    place: Place,
    /// The last bytes that came, as long as they may be a part of a tag.
    held: String,
}

/// How far the text is.
#[derive(Debug, Default)]
enum Place {
    /// Nothing but blanks has come.
    #[default]
    Before,
    /// The model thinks.
    Inside,
    /// It has thought, and has said nothing yet.
    Behind,
    /// All that comes is text.
    Over,
}

impl Aside {
    /// The text in a piece.
    pub(super) fn take(&mut self, piece: &str) -> String {
        self.held.push_str(piece);
        loop {
            match self.place {
                Place::Before => {
                    let begun = self.held.trim_start();
                    if let Some(rest) = begun.strip_prefix(OPEN) {
                        (self.held, self.place) = (rest.to_owned(), Place::Inside);
                    } else if !begun.is_empty() && OPEN.starts_with(begun) {
                        return String::new();
                    } else {
                        if !begun.is_empty() {
                            self.place = Place::Over;
                        }
                        return std::mem::take(&mut self.held);
                    }
                }
                Place::Inside => {
                    let Some((_, rest)) = self.held.split_once(CLOSE) else {
                        let from = self.held.floor_char_boundary(self.held.len().saturating_sub(CLOSE.len() - 1));
                        self.held.drain(..from);
                        return String::new();
                    };
                    (self.held, self.place) = (rest.to_owned(), Place::Behind);
                }
                Place::Behind => {
                    let text = std::mem::take(&mut self.held).trim_start().to_owned();
                    if !text.is_empty() {
                        self.place = Place::Over;
                    }
                    return text;
                }
                Place::Over => return std::mem::take(&mut self.held),
            }
        }
    }

    /// The text that was held back although the answer ends with it.
    pub(super) fn rest(self) -> String {
        if matches!(self.place, Place::Before) { self.held } else { String::new() }
    }
}

/// The words of a whole text behind its thoughts. Some servers write the first tag into the
/// request, so it may be missing. A tag in code is an example.
pub(super) fn behind_thoughts(text: &str) -> &str {
    let Some((thoughts, said)) = text.split_once(CLOSE) else { return text };
    let (said, opened) = (said.trim_start(), thoughts.trim_start().starts_with(OPEN));
    match thoughts.contains(OPEN) || thoughts.matches('`').count() % 2 == 1 {
        true if !opened => text,
        false if said.is_empty() => thoughts.trim_end(),
        _ => said,
    }
}

#[cfg(test)]
mod tests;
