//! Finds the claim in a text: that something was done, or looked at, or is about to be. These are
//! patterns, not understanding: a claim in other words is missed, and a sentence that only sounds
//! like one costs one more step. `tests.rs` has the table of both; docs/evals.md says how often.

#[cfg(test)]
mod held_out;
mod kept;
mod languages;
#[cfg(test)]
mod tests;

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

pub(super) use kept::claims_to_remember;
use languages::{LANGUAGES, Language};

/// The claim that an answer makes, the weakest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Claim {
    /// The result of a call. It has no weight if nothing was called: a model may work out “the
    /// result is 4” in its head.
    Gave,
    /// That it is about to do something or to look at something. After its last answer a turn does
    /// no more.
    Announced,
    /// That something was looked at (checked, queried, tested …).
    Worked,
    /// No more than that it is done.
    Finished,
    /// That something was changed: made, saved, deleted …
    Changed,
    /// That something was sent to somebody else than the reader.
    Sent,
}

/// The part of an answer that is looked at, in bytes: a model tells early what it did, or not at
/// all.
const MOST_BYTES: usize = 16 << 10;

/// The strongest claim in a text.
pub(super) fn claim(text: &str) -> Option<Claim> {
    let ticked = ends_with_tick(text).then_some(Claim::Finished);
    let text = plain(&text[..text.floor_char_boundary(MOST_BYTES)]);
    let of_all = |sentence: Sentence<'_>| PATTERNS.iter().filter_map(|patterns| patterns.claim(&sentence)).max();
    let announced = announces(&text).then_some(Claim::Announced);
    sentences(&text).filter_map(of_all).max().max(ticked).max(announced)
}

/// True if a text comes to its end with an announcement: in one of its last two sentences, without
/// a condition, and without a question to the reader, who is to answer first.
fn announces(text: &str) -> bool {
    let sentences: Vec<_> = sentences(text).collect();
    let last = &sentences[sentences.len().saturating_sub(2)..];
    !text.contains('?') && last.iter().any(|sentence| PATTERNS.iter().any(|patterns| patterns.announces(sentence)))
}

/// True if a text of one line ends with a tick (“Got it. ✓”), which says in every language that it
/// is done. In a longer text a tick may stand behind a thing that is listed.
fn ends_with_tick(text: &str) -> bool {
    let text = text.trim();
    !text.contains('\n') && text.trim_end_matches('\u{fe0f}').ends_with(['✓', '✔', '✅', '☑'])
}

/// True if a message asks about earlier deeds, so that the answer is about earlier turns.
pub(super) fn asks_about_the_past(message: &str) -> bool {
    let message = plain(message);
    message.contains('?') && PATTERNS.iter().any(|patterns| patterns.past.is_match(&message))
}

struct Sentence<'a> {
    text: &'a str,
    /// The character that it ends with.
    end: char,
}

/// A text in small letters, with one kind of apostrophe and single spaces, and without quotations,
/// code and marks of emphasis. Lines stay lines.
fn plain(text: &str) -> String {
    static QUOTED: LazyLock<Regex> = LazyLock::new(|| {
        pattern(r#"(?s)```.*?(?:```|\z)|~~~.*?(?:~~~|\z)|`[^`\n]*`|"[^"\n]*"|“[^”\n]*”|„[^“”\n]*[“”]|«[^»\n]*»|(?m)^[ \t]*>.*$"#)
    });
    // A quotation leaves a word behind, so that the words around it do not grow together.
    let text = QUOTED.replace_all(text, " x ");
    let text = text.replace('’', "'").replace(['*', '_', '#', '✅', '✔', '☑', '\u{fe0f}', '🎉'], "").to_lowercase();
    static SPACES: LazyLock<Regex> = LazyLock::new(|| pattern(r"[ \t\u{a0}]+"));
    SPACES.replace_all(&text, " ").into_owned()
}

fn sentences(text: &str) -> impl Iterator<Item = Sentence<'_>> {
    static SENTENCE: LazyLock<Regex> = LazyLock::new(|| pattern(r"([^.!?:;…\n]+(?:\.\w[^.!?:;…\n]*)*)([.!?:;…\n]|$)"));
    SENTENCE.captures_iter(text).filter_map(|found| {
        let (text, end) = (found.get(1)?.as_str().trim(), found.get(2)?.as_str().chars().next());
        let text = text.trim_start_matches(|c: char| !c.is_alphanumeric());
        (!text.is_empty()).then_some(Sentence { text, end: end.unwrap_or('\n') })
    })
}

/// The patterns of one language, made once.
struct Patterns {
    sent: Regex,
    reader: Regex,
    strong: Regex,
    weak: Regex,
    passive: Regex,
    alone: Regex,
    finished: Regex,
    looked: Regex,
    gave: Regex,
    announced: Regex,
    announced_thing: Regex,
    condition: Regex,
    thing: Regex,
    hedge: Regex,
    not: Regex,
    elsewhen: Regex,
    past: Regex,
}

/// Words of trouble in the result that an answer tells. Beginnings of words of all the languages.
static FAILED: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"\b(?:err|fehl|fail|fall|échec|refus|reject|denied|deni|abgelehnt|missing|unknown|invalid)"));

static PATTERNS: LazyLock<Vec<Patterns>> = LazyLock::new(|| LANGUAGES.iter().map(Patterns::of).collect());

/// A pattern of this module; the table of tests uses every one.
fn pattern(text: &str) -> Regex {
    Regex::new(text).expect("the patterns are constants, and each is tried by a test")
}

impl Patterns {
    fn of(words: &Language) -> Self {
        let word = |text: &str| pattern(&format!(r"\b(?:{text})\b"));
        let with = |around: &str, verbs: &str| pattern(&format!(r"\b(?:{})\b", around.replace("VERB", &format!("(?:{verbs})"))));
        let done = |text: &str| text.replace("VERB", &format!("(?:{}|{})", words.strong, words.weak));
        let act = |verbs: &str| with(words.active, verbs);
        Self {
            sent: word(words.sent),
            reader: pattern(&format!(r"\b(?:{})(?:\b|$)", words.reader)),
            strong: act(words.strong),
            weak: act(words.weak),
            passive: pattern(&format!(r"\b(?:{})\b(?P<by> (?:{})\b)?", done(words.passive), words.by)),
            alone: pattern(&format!("^(?:{})$", done(words.alone).replace("THING", &format!("(?:{})", words.thing)))),
            finished: pattern(&format!("^(?:{})$", words.finished)),
            looked: act(words.looked),
            gave: pattern(&format!(r"^(?:{})\b", words.gave)),
            announced: with(words.will, words.announced),
            announced_thing: with(words.will, words.announced_thing),
            condition: word(words.condition),
            thing: word(words.thing),
            hedge: word(words.hedge),
            not: word(words.not),
            elsewhen: word(words.elsewhen),
            past: word(words.past),
        }
    }

    fn claim(&self, sentence: &Sentence<'_>) -> Option<Claim> {
        let Sentence { text, end } = *sentence;
        if end == '?' || self.elsewhen.is_match(text) {
            return None;
        }
        if self.alone.is_match(text) && !self.not.is_match(text) {
            return Some(self.changed_or_sent(text, 0..text.len()));
        }
        let thing = self.thing.is_match(text);
        // A thing announced with a colon stands below, unless it is one that only a tool can make.
        let strong = self.says(&self.strong, text).filter(|_| thing || end != ':');
        let weak = [&self.weak, &self.passive].into_iter().flat_map(|what| self.says(what, text)).filter(|_| thing);
        let claims = strong.chain(weak).map(|place| self.changed_or_sent(text, place));
        if let Some(claim) = claims.max() {
            return Some(claim);
        }
        if self.finished.is_match(text) {
            return Some(Claim::Finished);
        }
        if self.says(&self.looked, text).next().is_some() {
            return Some(Claim::Worked);
        }
        (self.gave.is_match(text) && !self.not.is_match(text) && !FAILED.is_match(text)).then_some(Claim::Gave)
    }

    /// True if a sentence says that its speaker is about to do something. With a colon, the answer
    /// itself may stand below, unless it is about a thing that only a tool can make.
    fn announces(&self, Sentence { text, end }: &Sentence<'_>) -> bool {
        let thing = self.thing.is_match(text);
        let announced =
            (self.announced.is_match(text) && (thing || *end != ':')) || (thing && self.announced_thing.is_match(text));
        announced && !self.condition.is_match(text) && !self.not.is_match(text)
    }

    /// The claim at a place of a text. A thing sent to the reader is the answer, or something in
    /// it.
    fn changed_or_sent(&self, text: &str, place: Range<usize>) -> Claim {
        let word_before = text[..place.start].trim_end().rfind(' ').map_or(0, |space| space + 1);
        let rest = &text[place.end..];
        let around = &text[word_before..place.end + rest.find([',', '–', '—', '(']).unwrap_or(rest.len())];
        match self.sent.is_match(&text[place]) && !self.reader.is_match(around) {
            true => Claim::Sent,
            false => Claim::Changed,
        }
    }

    /// The places at which a text says this of itself: not as something denied, wished, planned or
    /// supposed, and not of somebody else.
    fn says<'a>(&'a self, what: &'a Regex, text: &'a str) -> impl Iterator<Item = Range<usize>> + 'a {
        what.captures_iter(text).filter_map(|found| {
            let whole = found.get(0)?;
            let before = &text[..whole.start()];
            let clause = before.rfind([',', '–', '—', '(']).map_or(before, |comma| &before[comma..]);
            let between = found.name("mid").map_or("", |mid| mid.as_str());
            let claimed = found.name("by").is_none()
                && !self.hedge.is_match(clause)
                && !self.not.is_match(clause)
                && !self.not.is_match(between);
            claimed.then(|| whole.range())
        })
    }
}
