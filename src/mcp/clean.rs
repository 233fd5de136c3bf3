//! Cleans what strangers write: bounds it, and takes out characters that cannot be seen.
//! Instructions hidden in characters that a person does not see would be read by a model all the
//! same.

pub(super) use crate::domain::invisible;

/// The text without what cannot be seen, and with at most `most` characters.
pub(super) fn plain(text: &str, most: usize) -> String {
    let mut seen = text.trim().chars().filter(|c| !invisible(*c));
    let mut plain: String = seen.by_ref().take(most).collect();
    if seen.next().is_some() {
        plain.push('…');
    }
    plain
}

/// The text on one line.
pub(super) fn line(text: &str, most: usize) -> String {
    let words: Vec<_> = text.split_whitespace().collect();
    plain(&words.join(" "), most)
}

#[cfg(test)]
mod tests;
