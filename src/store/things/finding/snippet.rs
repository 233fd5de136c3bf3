//! The place in a message that a search shows. It is made here and not by Postgres, whose
//! `ts_headline` takes minutes for a message that says one word ten thousand times.

use std::collections::VecDeque;

use crate::wire::api::Piece;

/// The words of a snippet at most.
const WORDS: usize = 24;
/// The words before the first hit.
const BEFORE: usize = 6;
/// The most bytes of a snippet, if its words are long.
const BYTES: usize = 400;
/// The most words of a search that are looked for here.
const ASKED: usize = 32;

/// A word of a text: from, to, and the places of the asked words that it begins with.
#[derive(Clone, Copy)]
struct Word {
    from: usize,
    to: usize,
    asked: u32,
}

/// The part of a text with the most of the asked words near each other, in pieces; “…” stands for
/// what is left out at an end. The text is read once.
pub(super) fn snippet(text: &str, asked: &str) -> Vec<Piece> {
    let lower = asked.to_lowercase();
    let asked: Vec<_> = runs(&lower).map(|(from, to)| &lower[from..to]).take(ASKED).collect();
    let words: Vec<_> = runs(text).map(|(from, to)| Word { from, to, asked: begins_with(&text[from..to], &asked) }).collect();
    let first = best(&words).saturating_sub(BEFORE);
    let from = words.get(first).map_or(0, |word| if first == 0 { 0 } else { word.from });
    let shown: Vec<_> = words.iter().skip(first).take(WORDS).take_while(|word| word.to <= from + BYTES).collect();
    let mut pieces = Vec::new();
    let mut plain = String::from(if from > 0 { "…" } else { "" });
    let mut at = from;
    for word in shown.iter().filter(|word| word.asked != 0) {
        plain.push_str(&text[at..word.from]);
        if !plain.is_empty() {
            pieces.push(Piece { text: std::mem::take(&mut plain), hit: false });
        }
        pieces.push(Piece { text: text[word.from..word.to].to_owned(), hit: true });
        at = word.to;
    }
    let whole = text.trim_end().len();
    let end = match shown.last() {
        Some(last) if first + shown.len() < words.len() => last.to,
        // Nothing but signs follows, or a word that is longer than a snippet.
        _ => text.floor_char_boundary(from + BYTES).min(whole),
    };
    plain.push_str(&text[at..end]);
    if end < whole {
        plain.push('…');
    }
    if !plain.is_empty() {
        pieces.push(Piece { text: plain, hit: false });
    }
    pieces
}

/// The runs of letters and digits in a text, as places.
fn runs(text: &str) -> impl Iterator<Item = (usize, usize)> {
    let mut letters = text.char_indices().peekable();
    std::iter::from_fn(move || {
        let (from, _) = letters.find(|(_, letter)| letter.is_alphanumeric())?;
        let mut to = text.len();
        while let Some((place, letter)) = letters.peek() {
            if !letter.is_alphanumeric() {
                to = *place;
                break;
            }
            letters.next();
        }
        Some((from, to))
    })
}

fn begins_with(word: &str, asked: &[&str]) -> u32 {
    let lower = word.to_lowercase();
    (0..).zip(asked).filter(|(_, asked)| lower.starts_with(**asked)).map(|(place, _)| 1 << place).sum()
}

/// The place of the first hit of the earliest part that has the most of the asked words.
fn best(words: &[Word]) -> usize {
    let mut near: VecDeque<(usize, u32)> = VecDeque::new();
    let (mut most, mut at) = (0, 0);
    for (place, word) in words.iter().enumerate().filter(|(_, word)| word.asked != 0) {
        near.push_back((place, word.asked));
        while near.front().is_some_and(|(first, _)| place - first >= WORDS - BEFORE) {
            near.pop_front();
        }
        let all = near.iter().fold(0, |all, (_, asked)| all | asked).count_ones();
        if all > most {
            (most, at) = (all, near.front().map_or(place, |(first, _)| *first));
        }
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A snippet with its hits in brackets.
    fn marked(text: &str, asked: &str) -> String {
        let mark = |piece: &Piece| if piece.hit { format!("[{}]", piece.text) } else { piece.text.clone() };
        snippet(text, asked).iter().map(mark).collect()
    }

    #[test]
    fn hits_are_told_from_the_rest_whatever_is_between_them() {
        assert_eq!(marked("Buy tea for Ada.", "tea ada"), "Buy [tea] for [Ada].");
        assert_eq!(marked("tea", "tea"), "[tea]");
        assert_eq!(marked("Gardening", "gard"), "[Gardening]", "the beginning of a word is enough");
        assert_eq!(marked("at ada@example.com.", "ada@example.com"), "at [ada]@[example].[com].");
        assert_eq!(marked("Größe und GRÖSSE", "größe"), "[Größe] und GRÖSSE");
        assert_eq!(marked("\u{2}tea\u{3} party", "tea"), "\u{2}[tea]\u{3} party");
        for (text, asked) in [("", "tea"), ("...", "tea"), ("no hit", "tea"), ("x", "")] {
            assert!(!snippet(text, asked).iter().any(|piece| piece.hit), "{text}");
        }
    }

    #[test]
    fn a_message_is_shown_to_its_end_or_says_that_it_goes_on() {
        assert_eq!(marked("a needle in “quotes” <b>\n", "needle"), "a [needle] in “quotes” <b>");
        assert_eq!(
            marked(&format!("tea {}!", "x ".repeat(WORDS)), "tea"),
            format!("[tea] {}…", "x ".repeat(WORDS - 1).trim_end())
        );
        for (signs, shown) in
            [(BYTES - 3, format!("[tea]{}", ".".repeat(BYTES - 3))), (BYTES, format!("[tea]{}…", ".".repeat(BYTES - 3)))]
        {
            assert_eq!(marked(&format!("tea{}", ".".repeat(signs)), "tea"), shown);
        }
    }

    #[test]
    fn of_a_long_text_the_part_with_the_most_of_the_words_is_shown() {
        let text = format!("tea alone. {}Here Ada has tea at last. {}", "filler ".repeat(200), "filler ".repeat(200));
        let shown = marked(&text, "tea ada");
        assert!(
            shown.starts_with("…filler filler") && shown.ends_with(" filler…") && shown.contains("Here [Ada] has [tea] at last"),
            "{shown}"
        );
        assert!(shown.split_whitespace().count() <= WORDS, "{shown}");
    }

    #[test]
    fn no_snippet_is_long_and_none_takes_long() {
        let asked = (0..2000).map(|n| format!("x{n} x ")).collect::<String>();
        for text in ["x ".repeat(50_000), "xé".repeat(50_000), "x-x/x@x.".repeat(20_000), "é".repeat(100_000)] {
            let bytes: usize = snippet(&text, &asked).iter().map(|piece| piece.text.len()).sum();
            assert!(bytes <= BYTES + 2 * "…".len(), "{bytes}");
        }
    }
}
