//! Orders to remember, and answers that say it is remembered. In answer to such an order that is a
//! claim: a model keeps nothing by itself.

use std::sync::LazyLock;

use regex::Regex;

use super::{MOST_BYTES, pattern, plain, sentences};

/// How an order to remember begins, in the six languages, in small letters.
const ORDERS: &str = r"remember|memori[sz]e|(?:keep|bear) .{0,20}in mind|(?:make|take) (?:a )?note|note (?:down )?that|(?:don't|do not|never) forget|save .{1,80} context|merke? (?:dir|euch)|denk daran|notiere?|vergiss nicht|recuerda|anota|apunta|toma nota|no (?:te )?olvides|souviens-toi|souvenez-vous|rappelle-toi|retiens|note(?:z)? que|n'oubliez? pas|ricorda(?:ti)?|annota|prendi nota|non dimenticare|lembr[ae](?:-te|-se)?|anot[ae]|não (?:te |se )?esque(?:ças|ça)";

/// How a sentence begins that says it.
const KEPT: &str = r"(?:i|we)(?:'ll| will|'ve| have)?(?: now| also)? (?:remember(?:ed)?|memori[sz]ed?|noted?|made a note|taken note|(?:keep|kept) .{1,60}in mind)|(?:i won't|i will not|i'll never) forget|(?:(?:it|that|this)(?:'s| is| has been) )?(?:now )?noted|ich (?:merke|notiere) mir|ich werde .{0,20}(?:merken|notieren|daran denken|nicht vergessen)|ich habe .{0,20}(?:gemerkt|notiert)|(?:ist )?notiert|(?:lo |la )?(?:recuerdo|recordaré|anoto|anotaré|he anotado)|no (?:lo |la )?olvidaré|anotado|je (?:me |m'en )(?:souviens|souviendrai)|je (?:le |la )?(?:retiens|note|noterai)|je n'oublierai pas|(?:j'ai|c'est) (?:bien )?noté|(?:lo |la )?(?:ricordo|ricorderò|annoto)|non (?:lo |la )?dimenticherò|(?:ho )?annotato|(?:me )?lembr(?:o|arei)|vou (?:me )?lembrar|anot(?:o|ei)|não (?:me )?esquecerei";

/// At the beginning of a sentence, behind words with a comma or of politeness.
fn begins(words: &str) -> Regex {
    pattern(&format!(r"^(?:[^,]{{1,20}}, )?(?:please |bitte |por favor |per favore )?(?:{words})\b"))
}

/// True if an answer says that it remembers, in answer to an order to remember.
pub(in crate::coach) fn claims_to_remember(answer: &str, asked: &str) -> bool {
    static PATTERNS: LazyLock<[Regex; 2]> = LazyLock::new(|| [ORDERS, KEPT].map(begins));
    let short = |text: &str| plain(&text[..text.floor_char_boundary(MOST_BYTES)]);
    let says = |text: &str, how: &Regex| sentences(&short(text)).any(|one| one.end != '?' && how.is_match(one.text));
    says(asked, &PATTERNS[0]) && says(answer, &PATTERNS[1])
}

#[cfg(test)]
mod tests;
