//! Cleans what strangers write: bounds it, and takes out characters that cannot be seen.
//! Instructions hidden in characters that a person does not see would be read by a model all the
//! same.

/// True for characters that a reader does not see, or that turn the direction of what they read.
pub(super) fn invisible(c: char) -> bool {
    matches!(c,
        '\u{AD}' | '\u{34F}' | '\u{61C}' | '\u{115F}' | '\u{1160}' | '\u{17B4}' | '\u{17B5}' | '\u{180B}'..='\u{180F}'
        | '\u{200B}'..='\u{200F}' | '\u{2028}'..='\u{202E}' | '\u{2060}'..='\u{206F}' | '\u{3164}' | '\u{FE00}'..='\u{FE0F}'
        | '\u{FEFF}' | '\u{FFA0}' | '\u{FFF0}'..='\u{FFFB}' | '\u{1BCA0}'..='\u{1BCA3}' | '\u{1D173}'..='\u{1D17A}'
        | '\u{E0000}'..='\u{E0FFF}')
        || (c.is_control() && c != '\n' && c != '\t')
}

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
