//! Which words of a person decide an approval, and when a text asks something of its own.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::Effect;

/// Words made for approvals; no question of a model is answered with them by chance.
const MADE: [&str; 2] = ["CONFIRMAR", "CONFIRM"];
/// What a person says to many a question.
const YES: [&str; 8] = ["yes", "sí", "si", "sim", "oui", "ja", "confirmo", "approve"];
/// A refusal does nothing, so that plain ones are enough.
const NO: [&str; 9] = ["CANCELAR", "CANCEL", "no", "cancelo", "deny", "não", "nao", "non", "nein"];

/// The words that decide one approval. A message decides where it is one of them and nothing else, in letters of any case.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Words {
    /// These allow it.
    pub approve: Vec<String>,
    /// These refuse it.
    pub deny: Vec<String>,
}

impl Default for Words {
    /// The words that are made for it and no others.
    fn default() -> Self {
        let owned = |words: &[&str]| words.iter().copied().map(str::to_owned).collect();
        Self { approve: owned(&MADE), deny: owned(&NO) }
    }
}

impl Words {
    /// The words for a proposal with these effects, where the text beside it `asks` something or not.
    pub fn about(effects: &BTreeSet<Effect>, asks: bool) -> Self {
        let mut words = Self::default();
        if !asks && !effects.is_empty() && effects.iter().all(|effect| plain(*effect)) {
            words.approve.extend(YES.iter().copied().map(str::to_owned));
        }
        words
    }

    /// Whether a message could decide any approval at all.
    pub fn may_decide(message: &str) -> bool {
        Self::about(&[Effect::Read].into(), false).decision(message).is_some()
    }

    /// What a message decides, where it does.
    pub fn decision(&self, message: &str) -> Option<bool> {
        let said = message.trim().trim_end_matches(['.', '!']).to_lowercase();
        let among = |words: &[String]| words.iter().any(|word| word.to_lowercase() == said);
        if among(&self.approve) {
            return Some(true);
        }
        among(&self.deny).then_some(false)
    }
}

/// Whether a plain yes is enough for this effect.
fn plain(effect: Effect) -> bool {
    match effect {
        Effect::Read | Effect::Write | Effect::Define | Effect::Install | Effect::Call | Effect::Restart | Effect::Confirm => {
            true
        }
        Effect::Delete | Effect::Opaque | Effect::Grant | Effect::External | Effect::Send => false,
    }
}

/// Whether a text holds a mark of a question, of any script.
pub fn asks(text: &str) -> bool {
    const MARKS: &str = "?\u{bf}\u{37e}\u{55e}\u{61f}\u{1367}\u{1945}\u{203d}\u{2047}\u{2048}\u{2049}\u{2753}\u{2754}\u{2cfa}\u{2cfb}\u{2e18}\
         \u{2e2e}\u{2e54}\u{a60f}\u{a6f7}\u{fe16}\u{fe56}\u{ff1f}\u{11143}\u{1e95f}";
    // In Greek the mark of a question is written, and normalised, as a semicolon.
    let greek = || text.chars().any(|c| matches!(c, '\u{370}'..='\u{3ff}' | '\u{1f00}'..='\u{1fff}'));
    text.contains(|c| MARKS.contains(c)) || (text.contains(';') && greek())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn about(effects: &[Effect], asks: bool) -> Words {
        Words::about(&effects.iter().copied().collect(), asks)
    }

    #[test]
    fn a_decision_is_one_word_and_nothing_else() {
        let words = about(&[Effect::Write], false);
        for yes in ["CONFIRMAR", " confirmar ", "Confirm", "Yes", "sí", "SI!", "ja."] {
            assert_eq!(words.decision(yes), Some(true), "{yes}");
        }
        for no in ["CANCELAR", "cancel", "no", "Nein.", "não"] {
            assert_eq!(words.decision(no), Some(false), "{no}");
        }
        for neither in ["", "yes please", "confirmar todo", "ok", "no, wait", "I say yes", "y\u{0435}s"] {
            assert_eq!(words.decision(neither), None, "{neither}");
        }
    }

    #[test]
    fn a_plain_yes_is_enough_only_for_less_and_never_beside_a_question() {
        for effect in Effect::ALL {
            let plain = !matches!(effect, Effect::Delete | Effect::Opaque | Effect::Grant | Effect::External | Effect::Send);
            assert_eq!(about(&[*effect], false).decision("yes"), plain.then_some(true), "{effect:?}");
            assert_eq!(about(&[*effect, Effect::Grant], false).decision("sí"), None, "{effect:?}");
            assert_eq!(about(&[*effect], true).decision("yes"), None, "{effect:?}");
            for asks in [false, true] {
                assert_eq!(about(&[*effect], asks).decision("confirmar"), Some(true), "{effect:?}");
                assert_eq!(about(&[*effect], asks).decision("no"), Some(false), "{effect:?}");
            }
        }
        assert_eq!(about(&[], false), Words::default(), "what names no effect is taken as the worst");
    }

    #[test]
    fn a_question_is_known_by_its_mark_in_any_script() {
        for question in [
            "Shall I?",
            "¿Sigo",
            "続けますか？",
            "هل أكمل؟",
            "Να συνεχίσω;",
            "Να συνεχίσω\u{37e}",
            "Շարունակե՞մ",
            "ልቀጥል፧",
            "Really⁉",
            "❓",
        ] {
            assert!(asks(question), "{question}");
        }
        for none in ["", "I install it now.", "a; b", "Γεια σου.", "let x = 1;"] {
            assert!(!asks(none), "{none}");
        }
    }
}
