//! Hides the values of secrets in text: every value, in every form a program commonly writes it in, becomes `[secret NAME]`.
//!
//! This is for accidents and for peers that echo what they were sent. A peer that wants to pass a secret on can always disguise it;
//! against that stand the hosts a secret is bound to.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{Arc, PoisonError, RwLock};

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};
use secrecy::{ExposeSecret, SecretString};
use serde_json::Value;

use super::forms;

/// Replaces the values of secrets in whatever leaves the process. Clones share the values.
#[derive(Clone, Default)]
pub struct Scrubber(Arc<RwLock<Option<Arc<KnownSecrets>>>>);

struct KnownSecrets {
    finder: AhoCorasick,
    /// The text that stands in for each pattern of `finder`.
    labels: Vec<Arc<str>>,
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

    /// Replaces the values known so far, for all clones at once. A value that is too short to be told from other text is left out.
    pub fn set(&self, secrets: &[(String, SecretString)]) {
        let mut patterns: BTreeMap<Vec<u8>, Arc<str>> = BTreeMap::new();
        for (name, value) in secrets {
            let label: Arc<str> = format!("[secret {name}]").into();
            for form in forms::of(value.expose_secret()) {
                patterns.entry(form).or_insert_with(|| Arc::clone(&label));
            }
        }
        let known = if patterns.is_empty() { None } else { KnownSecrets::new(patterns).map(Arc::new) };
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = known;
    }

    /// `text` without the values; borrowed when it holds none.
    pub fn clean<'a>(&self, text: &'a str) -> Cow<'a, str> {
        match self.clean_bytes(text.as_bytes()) {
            Cow::Borrowed(_) => Cow::Borrowed(text),
            // Patterns are whole UTF-8, so what is left is, too.
            Cow::Owned(clean) => Cow::Owned(String::from_utf8_lossy(&clean).into_owned()),
        }
    }

    /// `bytes` without the values; borrowed when they hold none.
    pub fn clean_bytes<'a>(&self, bytes: &'a [u8]) -> Cow<'a, [u8]> {
        let known = self.0.read().unwrap_or_else(PoisonError::into_inner).clone();
        match known {
            Some(known) => known.clean(bytes),
            None => Cow::Borrowed(bytes),
        }
    }

    /// Cleans every text in a value, and the names of fields. A number that shows a value becomes text.
    pub fn clean_json(&self, value: &mut Value) {
        if self.0.read().unwrap_or_else(PoisonError::into_inner).is_none() {
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
        // All overlapping matches are wanted: of two secrets that overlap in a text nothing may stay.
        let builder = &mut AhoCorasick::builder();
        // The kind that is chosen by itself for few patterns takes time by the square of a value's length to build if the value repeats itself.
        let builder = builder.match_kind(MatchKind::Standard).kind(Some(AhoCorasickKind::ContiguousNFA));
        Some(Self { finder: builder.build(patterns.keys()).ok()?, labels: patterns.into_values().collect() })
    }

    fn clean<'a>(&self, bytes: &'a [u8]) -> Cow<'a, [u8]> {
        let spans = self.spans(bytes);
        if spans.is_empty() {
            return Cow::Borrowed(bytes);
        }
        let mut clean = Vec::with_capacity(bytes.len());
        let mut done = 0;
        for (range, label) in spans {
            clean.extend_from_slice(&bytes[done..range.start]);
            clean.extend_from_slice(label.as_bytes());
            done = range.end;
        }
        clean.extend_from_slice(&bytes[done..]);
        Cow::Owned(clean)
    }

    /// The places to replace, in order and apart from each other. Matches that overlap are one; the
    /// longest gives its name.
    fn spans(&self, bytes: &[u8]) -> Vec<(Range<usize>, &str)> {
        let mut found: Vec<_> =
            self.finder.find_overlapping_iter(bytes).map(|found| (found.range(), found.pattern().as_usize())).collect();
        found.sort_by_key(|(range, _)| (range.start, std::cmp::Reverse(range.end)));
        let mut spans: Vec<(Range<usize>, usize, &str)> = Vec::new();
        for (range, pattern) in found {
            let label = &*self.labels[pattern];
            match spans.last_mut() {
                Some((whole, longest, name)) if range.start < whole.end => {
                    if range.len() > *longest {
                        (*longest, *name) = (range.len(), label);
                    }
                    whole.end = whole.end.max(range.end);
                }
                _ => spans.push((range.clone(), range.len(), label)),
            }
        }
        spans.into_iter().map(|(range, _, label)| (range, label)).collect()
    }
}

#[cfg(test)]
mod tests;
