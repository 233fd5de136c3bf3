//! Hides the values of secrets in text: every value, in every form a program commonly writes it in,
//! becomes `[secret NAME]`. A text is searched as it is and as it reads without its escapes, so an
//! encoder need not be known: its family is enough.
//!
//! This is for accidents and for peers that echo what they were sent. A peer that wants to pass a
//! secret on can always disguise it; against that stand the hosts a secret is bound to.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{Arc, PoisonError, RwLock};

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};
use secrecy::{ExposeSecret, SecretString};
use serde::de::IgnoredAny;
use serde_json::Value;

use super::{forms, read_back};
use crate::domain::numbers;

/// How many encodings on top of each other are read back, as of a text in JSON that stands in JSON.
/// Each more is four more readings.
const LAYERS: u32 = 2;
/// The most bytes that an encoding commonly makes of one.
const WIDEST: usize = 8;

/// Replaces the values of secrets in whatever leaves the process. Clones share the values.
#[derive(Clone, Default)]
pub struct Scrubber(Arc<RwLock<Values>>);

/// The values that are hidden.
#[derive(Default)]
struct Values {
    known: Option<Arc<KnownSecrets>>,
    /// How often they were set.
    edition: u64,
}

struct KnownSecrets {
    finder: AhoCorasick,
    /// The text that stands in for each pattern of `finder`.
    labels: Vec<Arc<str>>,
}

/// A place to replace.
struct Span<'a> {
    range: Range<usize>,
    /// The longest form that was found in it, which gives its label.
    longest: usize,
    label: &'a str,
}

impl std::fmt::Debug for Scrubber {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Scrubber")
    }
}

impl Scrubber {
    /// A scrubber that knows these values, each with its name.
    pub fn new(secrets: &[(String, SecretString)]) -> Self {
        let scrubber = Self::default();
        scrubber.set(secrets);
        scrubber
    }

    /// Replaces the values known so far, for all clones at once. A value that is too short to be
    /// told from other text is left out.
    pub fn set(&self, secrets: &[(String, SecretString)]) {
        let mut patterns: BTreeMap<Vec<u8>, Arc<str>> = BTreeMap::new();
        for (name, value) in secrets {
            let label: Arc<str> = format!("[secret {name}]").into();
            for form in forms::of(value.expose_secret()) {
                patterns.entry(form).or_insert_with(|| Arc::clone(&label));
            }
        }
        let known = if patterns.is_empty() { None } else { KnownSecrets::new(patterns).map(Arc::new) };
        let mut values = self.0.write().unwrap_or_else(PoisonError::into_inner);
        *values = Values { known, edition: values.edition + 1 };
    }

    /// The number of the values that are known: another one after each change of them. Asked before
    /// a text is cleaned, it says that the text need not be cleaned again while it stays the same.
    pub fn edition(&self) -> u64 {
        self.0.read().unwrap_or_else(PoisonError::into_inner).edition
    }

    /// `text` without the values; borrowed when it holds none. A JSON object or list stays one: a
    /// number that shows a value becomes text.
    pub fn clean<'a>(&self, text: &'a str) -> Cow<'a, str> {
        match self.clean_bytes(text.as_bytes()) {
            Cow::Borrowed(_) => Cow::Borrowed(text),
            // Patterns are whole UTF-8, so what is left is, too.
            Cow::Owned(clean) => Cow::Owned(String::from_utf8_lossy(&clean).into_owned()),
        }
    }

    /// `bytes` without the values; borrowed when they hold none.
    pub fn clean_bytes<'a>(&self, bytes: &'a [u8]) -> Cow<'a, [u8]> {
        let known = self.0.read().unwrap_or_else(PoisonError::into_inner).known.clone();
        match known {
            Some(known) => known.clean(bytes),
            None => Cow::Borrowed(bytes),
        }
    }

    /// Cleans every text in a value, and the names of fields. A number that shows a value becomes
    /// text.
    pub fn clean_json(&self, value: &mut Value) {
        if self.0.read().unwrap_or_else(PoisonError::into_inner).known.is_none() {
            return;
        }
        match value {
            Value::Null | Value::Bool(_) => {}
            Value::Number(number) => {
                let text = number.to_string();
                if let Cow::Owned(clean) = self.clean(&text) {
                    *value = Value::String(clean);
                }
            }
            Value::String(text) => {
                if let Cow::Owned(clean) = self.clean(text) {
                    *text = clean;
                }
            }
            Value::Array(items) => items.iter_mut().for_each(|item| self.clean_json(item)),
            Value::Object(fields) => {
                for (name, mut field) in std::mem::take(fields) {
                    self.clean_json(&mut field);
                    fields.insert(self.clean(&name).into_owned(), field);
                }
            }
        }
    }
}

impl KnownSecrets {
    /// `None` only when the patterns are too many for the automaton, some billions of bytes.
    fn new(patterns: BTreeMap<Vec<u8>, Arc<str>>) -> Option<Self> {
        // All overlapping matches are wanted: of two secrets that overlap in a text nothing may
        // stay.
        let builder = &mut AhoCorasick::builder();
        // The kind that is chosen by itself for few patterns takes time by the square of a value's
        // length to build if the value repeats itself.
        let builder = builder.match_kind(MatchKind::Standard).kind(Some(AhoCorasickKind::ContiguousNFA));
        Some(Self { finder: builder.build(patterns.keys()).ok()?, labels: patterns.into_values().collect() })
    }

    fn clean<'a>(&self, bytes: &'a [u8]) -> Cow<'a, [u8]> {
        let spans = self.spans(bytes, LAYERS);
        if spans.is_empty() {
            return Cow::Borrowed(bytes);
        }
        let mut marks = quotation_marks(bytes, &spans).into_iter().peekable();
        let (mut clean, mut done) = (Vec::with_capacity(bytes.len()), 0);
        for Span { range, label, .. } in spans {
            while let Some(mark) = marks.next_if(|mark| *mark <= range.start) {
                clean.extend_from_slice(&bytes[done..mark]);
                clean.push(b'"');
                done = mark;
            }
            clean.extend_from_slice(&bytes[done..range.start]);
            clean.extend_from_slice(label.as_bytes());
            done = range.end;
        }
        for mark in marks {
            clean.extend_from_slice(&bytes[done..mark]);
            clean.push(b'"');
            done = mark;
        }
        clean.extend_from_slice(&bytes[done..]);
        Cow::Owned(clean)
    }

    /// The places to replace, in order and apart from each other, under so many layers of
    /// encodings. Matches that overlap are one; the longest gives its name.
    fn spans(&self, text: &[u8], layers: u32) -> Vec<Span<'_>> {
        let matches = self.finder.find_overlapping_iter(text);
        let of_text = matches.map(|found| Span {
            range: found.range(),
            longest: found.range().len(),
            label: &self.labels[found.pattern().as_usize()],
        });
        let mut found: Vec<Span<'_>> = of_text.collect();
        if let Some(layers) = layers.checked_sub(1) {
            // A match that holds no escape is found in `text` itself.
            let near = self.finder.max_pattern_len().saturating_mul(WIDEST.pow(layers));
            for back in read_back::all(text, near) {
                let spans = self.spans(&back.text, layers).into_iter();
                found.extend(spans.map(|span| Span { range: back.source_of(&span.range), ..span }));
            }
        }
        found.sort_by_key(|span| (span.range.start, Reverse(span.range.end)));
        let mut spans: Vec<Span<'_>> = Vec::new();
        for span in found {
            match spans.last_mut() {
                Some(whole) if span.range.start < whole.range.end => {
                    if span.longest > whole.longest {
                        (whole.longest, whole.label) = (span.longest, span.label);
                    }
                    whole.range.end = whole.range.end.max(span.range.end);
                }
                _ => spans.push(span),
            }
        }
        spans
    }
}

/// The places of the quotation marks that keep JSON whole: around each of its numbers that holds a
/// span. Text that is neither an object nor a list has none.
fn quotation_marks(bytes: &[u8], spans: &[Span<'_>]) -> Vec<usize> {
    let mut text = std::str::from_utf8(bytes).ok().filter(|text| text.trim_start().starts_with(['{', '[']));
    text = text.filter(|text| serde_json::from_str::<IgnoredAny>(text).is_ok());
    let mut spans = spans.iter().map(|span| &span.range).peekable();
    let mut holds_one = |number: &Range<usize>| {
        while spans.next_if(|span| span.start < number.start).is_some() {}
        let mut held = false;
        while spans.next_if(|span| span.end <= number.end).is_some() {
            held = true;
        }
        held
    };
    let held = text.into_iter().flat_map(numbers).filter(|number| holds_one(number));
    held.flat_map(|number| [number.start, number.end]).collect()
}

#[cfg(test)]
mod tests;
