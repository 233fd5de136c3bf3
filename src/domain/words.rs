//! The words of a person that decide an approval, and texts that ask something of their own.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::Effect;

/// The words by which a profile's person decides about approvals in the conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DecidingWords {
    /// They allow everything. They are made for it: nobody answers a model's question with them by
    /// chance.
    pub made: &'static [&'static str],
    /// They allow a call of little effect. A person says them to many a question.
    pub yes: &'static [&'static str],
    /// They refuse. A refusal has no effect, so plain words are enough.
    pub no: &'static [&'static str],
    /// They may stand beside the others and say nothing by themselves.
    pub fillers: &'static [&'static str],
}

impl DecidingWords {
    /// The words of the house.
    pub const HOUSE: Self = Self {
        made: &["CONFIRMAR", "CONFIRM"],
        yes: &["yes", "sí", "si", "sim", "oui", "ja", "confirmo", "approve"],
        no: &["CANCELAR", "CANCEL", "no", "cancelo", "deny", "não", "nao", "non", "nein"],
        fillers: &[],
    };
    /// The words of people who talk with Lea or Law. A plain yes allows everything there: the house
    /// asks one question, and the text of the model beside it is none.
    pub const TALK: Self = Self {
        made: &["yes", "do it", "confirm", "go ahead", "confirmar", "sí", "si", "sim", "oui", "ja", "confirmo", "approve"],
        yes: &[],
        no: &[
            "no",
            "cancel",
            "never mind",
            "nevermind",
            "don't",
            "do not",
            "don't do it",
            "do not do it",
            "cancelar",
            "cancelo",
            "deny",
            "não",
            "nao",
            "non",
            "nein",
        ],
        fillers: &[
            "please",
            "thanks",
            "thank you",
            "ok",
            "okay",
            "lea",
            "law",
            "por favor",
            "gracias",
            "obrigado",
            "obrigada",
            "s'il te plaît",
            "merci",
            "bitte",
            "danke",
        ],
    };
    /// No word decides.
    pub const NONE: Self = Self { made: &[], yes: &[], no: &[], fillers: &[] };

    /// The words for a proposal with these effects; `asks`: the text beside the call asks
    /// something.
    pub fn about(self, effects: &BTreeSet<Effect>, asks: bool) -> Words {
        let owned = |words: &[&str]| words.iter().copied().map(str::to_owned).collect();
        let (approve, deny, fillers) = (owned(self.made), owned(self.no), owned(self.fillers));
        let mut words = Words { approve, deny, fillers, others_decline: false };
        if !asks && !effects.is_empty() && effects.iter().all(|effect| plain(*effect)) {
            words.approve.extend(self.yes.iter().copied().map(str::to_owned));
        }
        words
    }
}

/// The words that decide one approval, as its person sees them. A message decides if it consists of
/// words of one kind and fillers, in letters of any case, and of nothing else.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Words {
    /// These allow it.
    pub approve: Vec<String>,
    /// These refuse it.
    pub deny: Vec<String>,
    /// These may stand beside them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fillers: Vec<String>,
    /// True if any other message refuses it and is said into the turn that waits.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub others_decline: bool,
}

/// A message's answer to the question that waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Heard {
    /// Yes.
    Yes,
    /// No.
    No,
    /// Something else, which is a no as well.
    SomethingElse,
}

impl Default for Words {
    /// The made words of the house: for approvals from before words were kept with them.
    fn default() -> Self {
        DecidingWords::HOUSE.about(&BTreeSet::new(), true)
    }
}

impl Words {
    /// No word decides, and any message is a message like any other.
    pub fn none() -> Self {
        DecidingWords::NONE.about(&BTreeSet::new(), true)
    }

    /// The message's answer to the question; `None` if it is a message like any other.
    pub fn heard(&self, message: &str) -> Option<Heard> {
        self.decided(message).or(self.others_decline.then_some(Heard::SomethingElse))
    }

    /// The decision of a message that holds nothing but words of one kind and fillers.
    fn decided(&self, message: &str) -> Option<Heard> {
        let said = single_words(message)?;
        let kinds = [(&self.approve, Some(Heard::Yes)), (&self.deny, Some(Heard::No)), (&self.fillers, None)];
        let phrases: Vec<_> = kinds
            .into_iter()
            .flat_map(|(phrases, kind)| phrases.iter().filter_map(move |phrase| Some((single_words(phrase)?, kind))))
            .collect();
        let (mut rest, mut decided) = (said.as_slice(), None);
        while !rest.is_empty() {
            // The longest phrase counts, so that “don't do it” is one word of refusal.
            let begins = phrases.iter().filter(|(phrase, _)| !phrase.is_empty() && rest.starts_with(phrase));
            let (phrase, kind) = begins.max_by_key(|(phrase, _)| phrase.len())?;
            if kind.is_some() && decided.is_some() && *kind != decided {
                return None;
            }
            decided = decided.or(*kind);
            rest = &rest[phrase.len()..];
        }
        decided
    }
}

/// The words of a text in small letters, without the marks that stand between them. `None` if it
/// holds anything else, such as a question mark: then it says more than its words.
fn single_words(text: &str) -> Option<Vec<String>> {
    let text = text.to_lowercase().replace('\u{2019}', "'");
    let is_mark = |c: char| c.is_whitespace() || [',', '.', '!', ';', ':', '…', '\u{a1}'].contains(&c);
    let words: Vec<_> = text.split(is_mark).filter(|word| !word.is_empty()).map(str::to_owned).collect();
    words.iter().all(|word| word.chars().all(|c| c.is_alphabetic() || c == '\'')).then_some(words)
}

/// True if a plain yes is enough for this effect.
fn plain(effect: Effect) -> bool {
    match effect {
        Effect::Read | Effect::Write | Effect::Define | Effect::Install | Effect::Call | Effect::Restart | Effect::Confirm => {
            true
        }
        Effect::Delete
        | Effect::Opaque
        | Effect::Grant
        | Effect::External
        | Effect::Send
        | Effect::Persist
        | Effect::Interact
        | Effect::Script => false,
    }
}

/// True if a text holds a question mark, of any script.
pub fn asks(text: &str) -> bool {
    const MARKS: &str = "?\u{bf}\u{37e}\u{55e}\u{61f}\u{1367}\u{1945}\u{203d}\u{2047}\u{2048}\u{2049}\u{2753}\u{2754}\u{2cfa}\u{2cfb}\u{2e18}\
         \u{2e2e}\u{2e54}\u{a60f}\u{a6f7}\u{fe16}\u{fe56}\u{ff1f}\u{11143}\u{1e95f}";
    // Greek writes its question mark as a semicolon, and so does normalised text.
    let greek = || text.chars().any(|c| matches!(c, '\u{370}'..='\u{3ff}' | '\u{1f00}'..='\u{1fff}'));
    text.contains(|c| MARKS.contains(c)) || (text.contains(';') && greek())
}

#[cfg(test)]
mod tests;
