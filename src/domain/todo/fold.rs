//! Texts as they are compared: without case, accents, punctuation and articles.

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// English, and the other languages in which the house takes decisions.
const ARTICLES: [&str; 25] = [
    "the", "a", "an", "el", "la", "los", "las", "un", "una", "le", "les", "une", "der", "die", "das", "den", "dem", "ein",
    "eine", "einen", "o", "os", "as", "um", "uma",
];

/// The words of a text in small letters, without accents and punctuation.
pub(super) fn plain_words(text: &str) -> Vec<String> {
    let plain: String = text.nfkd().filter(|c| !is_combining_mark(*c) && !['\'', '’'].contains(c)).collect();
    // A capital may become a letter with a mark: “İ”.
    let plain: String = plain.to_lowercase().chars().filter(|c| !is_combining_mark(*c)).collect();
    plain.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

/// The words that are compared: without articles, of which the last word is none (“Plan A”). A text
/// without words, such as an emoji, is one word.
pub(super) fn folded(text: &str) -> Vec<String> {
    let mut words = plain_words(text);
    if words.is_empty() {
        return Some(text.trim().to_lowercase()).filter(|text| !text.is_empty()).into_iter().collect();
    }
    let last = words.pop();
    words.retain(|word| !ARTICLES.contains(&word.as_str()));
    words.extend(last);
    words
}

#[cfg(test)]
mod tests;
