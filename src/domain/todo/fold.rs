//! Texts as they are compared: without case, accents, punctuation and articles.

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// English, and the other languages in which the house takes decisions.
const ARTICLES: [&str; 25] = [
    "the", "a", "an", "el", "la", "los", "las", "un", "una", "le", "les", "une", "der", "die", "das", "den", "dem", "ein",
    "eine", "einen", "o", "os", "as", "um", "uma",
];

/// The words of a text in small letters, without accents and punctuation. A word is of one way to
/// write: if some of its letters are [`unspaced`] and others are not, it is several.
pub(super) fn plain_words(text: &str) -> Vec<String> {
    let plain = text.nfkd().filter(|c| !is_accent(*c) && !['\'', '’'].contains(c)).flat_map(small);
    // A capital may become a letter with a mark: “İ”.
    let plain: String = plain.filter(|c| !is_accent(*c)).collect();
    let words = plain.split(|c: char| !c.is_alphanumeric() && !is_combining_mark(c)).filter(|word| !word.is_empty());
    let parts = |word: &str| word.chars().collect::<Vec<_>>().chunk_by(by_one_way).map(String::from_iter).collect::<Vec<_>>();
    words.flat_map(parts).collect()
}

/// True for a mark that a word may go without. In Thai and Japanese marks are part of the letter.
fn is_accent(c: char) -> bool {
    is_combining_mark(c) && !unspaced(c)
}

/// A letter as it is compared. Its capital shows that “ß” is “ss” and that “ς” is “σ”.
fn small(letter: char) -> impl Iterator<Item = char> {
    letter.to_lowercase().flat_map(char::to_uppercase).flat_map(char::to_lowercase)
}

/// True for letters of scripts that put no space between words: Thai, Lao, Burmese, Khmer, and
/// those of Chinese and Japanese.
pub(super) fn unspaced(letter: char) -> bool {
    matches!(letter,
        '\u{E00}'..='\u{EFF}' | '\u{1000}'..='\u{109F}' | '\u{1780}'..='\u{17FF}' | '\u{3005}'..='\u{3007}'
        | '\u{3040}'..='\u{30FF}' | '\u{31F0}'..='\u{31FF}' | '\u{3400}'..='\u{4DBF}' | '\u{4E00}'..='\u{9FFF}'
        | '\u{20000}'..='\u{3FFFF}')
}

fn by_one_way(one: &char, next: &char) -> bool {
    unspaced(*one) == unspaced(*next)
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
