//! Which task or subtask a person means. Names are compared in stages; the first with a hit counts.
//! Nothing is ever done to one of several, or to one whose name is merely near, and the same words
//! do not mean first one thing and then another.

use super::fold::{folded, plain_words, unspaced};
use super::title::turns;

/// The most candidates that a question names.
pub const MOST_CANDIDATES: usize = 5;
/// The fewest letters that stand for a word that begins with them, in scripts with spaces.
const FEWEST_LETTERS: usize = 3;
/// How near a word has to be, from 0 to 1, to be asked about.
const NEAR: f64 = 0.75;
/// The most letters of a name that an answer repeats.
const MOST_REPEATED: usize = 200;

/// The kind of thing that a name is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NamedKind {
    /// A task.
    Task,
    /// A subtask.
    Subtask,
}

impl NamedKind {
    fn word(self) -> &'static str {
        match self {
            Self::Task => "task",
            Self::Subtask => "subtask",
        }
    }

    /// The nouns by which people call it.
    fn nouns(self) -> &'static [&'static str] {
        match self {
            Self::Task => &["task", "todo", "to do"],
            Self::Subtask => &["subtask", "sub task", "step"],
        }
    }
}

/// A thing that may be meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Candidate<'a> {
    /// Its number: `#12`.
    pub number: i64,
    /// Its title.
    pub title: &'a str,
    /// The title of the task it belongs to, if it is a subtask and the person named none.
    pub of: Option<&'a str>,
    /// False if it is done already.
    pub open: bool,
}

/// The things that were named before.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SaidBefore<'a> {
    /// The number of the one that was spoken of last.
    pub last: Option<i64>,
    /// The words of the running turn, each with the number that they meant, the latest last.
    pub meant: Vec<(&'a [String], i64)>,
}

/// The result of looking for a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LookedUp<'a> {
    /// This one is meant.
    One(Candidate<'a>),
    /// Any of these could be: the first five, and how many there are.
    Several(Vec<Candidate<'a>>, usize),
    /// None has this name; these have names that are near.
    Nothing(Vec<Candidate<'a>>),
    /// It stands for the last one, and there is none, or it is gone.
    NoLastOne,
}

/// Looks for the thing that a name means among these, which stand in the order that a question
/// names them in.
pub fn look_up<'a>(name: &str, kind: NamedKind, among: &[Candidate<'a>], before: &SaidBefore<'_>) -> LookedUp<'a> {
    let with_number = |number: i64| among.iter().find(|candidate| candidate.number == number).copied();
    if let Some(number) = number_in(name) {
        return with_number(number).map_or(LookedUp::Nothing(Vec::new()), LookedUp::One);
    }
    if let Some((number, title)) = line_in(name)
        && let Some(one) = with_number(number).filter(|candidate| folded(candidate.title) == folded(title))
    {
        return LookedUp::One(one);
    }
    let words = folded(name);
    if words.is_empty() || stands_for_the_last(name, kind) {
        return before.last.and_then(with_number).filter(|_| !words.is_empty()).map_or(LookedUp::NoLastOne, LookedUp::One);
    }
    let titles: Vec<_> = among.iter().map(|candidate| (*candidate, folded(candidate.title))).collect();
    if let Some((_, number)) = before.meant.iter().rfind(|(meant, _)| *meant == words) {
        // It may be gone by now. Others that fit are near, and not meant.
        let others = || first(hits(&titles, true, |title| all_stand_in(&words, title)));
        return with_number(*number).map_or_else(|| LookedUp::Nothing(others()), LookedUp::One);
    }
    let mut fitting = fitting(&words, &titles);
    if fitting.is_empty() {
        fitting = without_noun(&words, kind).map(|words| self::fitting(words, &titles)).unwrap_or_default();
    }
    match fitting.len() {
        0 => {}
        1 => return LookedUp::One(fitting.remove(0)),
        many => return LookedUp::Several(first(fitting), many),
    }
    let open = titles.iter().filter(|(candidate, _)| candidate.open);
    let mut near: Vec<_> = open.filter_map(|(candidate, title)| Some((nearness(&words, title)?, *candidate))).collect();
    near.sort_by(|(one, _), (other, _)| other.total_cmp(one));
    LookedUp::Nothing(first(near.into_iter().map(|(_, candidate)| candidate).collect()))
}

/// A candidate with the words of its title.
type Titled<'a> = (Candidate<'a>, Vec<String>);

/// The candidates that the words may mean: an open one of this name, else an open one with a part
/// of it, else one that is done. If a part of an open one is the whole name of one that is done,
/// both may be meant.
fn fitting<'a>(words: &[String], titles: &[Titled<'a>]) -> Vec<Candidate<'a>> {
    let equal = |open: bool| hits(titles, open, |title| *title == *words);
    let in_part = |open: bool| hits(titles, open, |title| all_stand_in(words, title));
    let open = equal(true);
    if !open.is_empty() {
        return open;
    }
    let (mut open, done) = (in_part(true), equal(false));
    match (open.is_empty(), done.is_empty()) {
        (true, true) => in_part(false),
        (true, false) => done,
        (false, _) => {
            // The newest is enough to ask about.
            open.extend(done.first());
            open
        }
    }
}

/// The candidates, open or done, whose titles fit.
fn hits<'a>(titles: &[Titled<'a>], open: bool, fits: impl Fn(&[String]) -> bool) -> Vec<Candidate<'a>> {
    titles.iter().filter(|(candidate, title)| candidate.open == open && fits(title)).map(|(candidate, _)| *candidate).collect()
}

/// As many as a question names.
fn first(mut candidates: Vec<Candidate<'_>>) -> Vec<Candidate<'_>> {
    candidates.truncate(MOST_CANDIDATES);
    candidates
}

/// The words without the noun in front of them or behind them that says only what kind of thing is
/// meant: “the milk task”, “the milk one”.
fn without_noun(words: &[String], kind: NamedKind) -> Option<&[String]> {
    let is_noun = |word: &String| word == "one" || kind.nouns().contains(&word.as_str());
    let rest = match words {
        [rest @ .., last] if is_noun(last) => rest,
        [first, rest @ ..] if is_noun(first) => rest,
        _ => return None,
    };
    Some(rest).filter(|rest| !rest.is_empty())
}

/// The number in `#12`, `# 12` or `task #12`, and in nothing else.
fn number_in(name: &str) -> Option<i64> {
    let (before, number) = name.split_once('#')?;
    let before = plain_words(before);
    let says_no_more = before.iter().all(|word| ["the", "task", "subtask", "step", "number", "no"].contains(&word.as_str()));
    let number = number.trim().trim_end_matches(|c: char| !c.is_alphanumeric());
    let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    // One that is too large for a number is the number of nothing.
    (says_no_more && is_number).then(|| number.parse().unwrap_or(i64::MAX))
}

/// The number and the title in a line of the list that a model is shown: `#12 Buy milk | …`. Models
/// hand over the whole of it.
fn line_in(name: &str) -> Option<(i64, &str)> {
    let (number, title) = name.trim().strip_prefix('#')?.split_once(' ')?;
    Some((number.parse().ok()?, title.split(" | ").next()?))
}

/// True for “it”, “that task”, “the last one” and their kin.
fn stands_for_the_last(name: &str, kind: NamedKind) -> bool {
    const ALONE: [&str; 14] = [
        "it",
        "this",
        "that",
        "this one",
        "that one",
        "the one",
        "the last",
        "last one",
        "the last one",
        "the same",
        "same one",
        "the same one",
        "the latest one",
        "the previous one",
    ];
    const BEFORE_A_NOUN: [&str; 9] =
        ["the", "this", "that", "last", "the last", "same", "the same", "the current", "the previous"];
    let said = plain_words(name).join(" ");
    let before = |noun: &&str| said.strip_suffix(noun).and_then(|before| before.strip_suffix(' '));
    ALONE.contains(&said.as_str()) || kind.nouns().iter().filter_map(before).any(|before| BEFORE_A_NOUN.contains(&before))
}

/// True if each of the words stands in the title.
fn all_stand_in(words: &[String], title: &[String]) -> bool {
    words.iter().all(|word| stands_in(word, title))
}

/// True if the word is one of the title's, or begins one. Nobody sees the words of a script without
/// spaces: any part of it will do.
fn stands_in(word: &str, title: &[String]) -> bool {
    if word.starts_with(unspaced) {
        return title.iter().any(|of_title| of_title.contains(word));
    }
    let begins = word.chars().count() >= FEWEST_LETTERS;
    title.iter().any(|of_title| of_title == word || begins && of_title.starts_with(word))
}

/// How near the words are to a title's, on the average; `None` if one of them is near to none.
fn nearness(words: &[String], title: &[String]) -> Option<f64> {
    let (mut sum, mut many) = (0.0, 0.0);
    for word in words {
        // Words of so different lengths cannot be near, and comparing letters takes its time.
        let may_be_near = |of_title: &&String| {
            let (one, other) = (word.chars().count(), of_title.chars().count());
            one.min(other) * 4 >= one.max(other) * 3
        };
        let nearest = |of_title: &String| strsim::normalized_damerau_levenshtein(word, of_title);
        let best = || title.iter().filter(may_be_near).map(nearest).fold(0.0, f64::max);
        let best = if stands_in(word, title) { 1.0 } else { best() };
        if best < NEAR {
            return None;
        }
        sum += best;
        many += 1.0;
    }
    Some(sum / many)
}

impl LookedUp<'_> {
    /// True if something has this name.
    pub fn is_found(&self) -> bool {
        matches!(self, Self::One(_) | Self::Several(..))
    }

    /// The answer to a person whose name meant not exactly one thing; `None` if it did.
    pub fn question(&self, name: &str, kind: NamedKind) -> Option<String> {
        let shown = name.trim().chars().filter(|c| !turns(*c)).map(|c| if c.is_control() { ' ' } else { c });
        let name: String = shown.take(MOST_REPEATED).collect();
        match self {
            Self::One(_) => None,
            Self::Several(candidates, many) => {
                let listed = listed(candidates, ", ");
                let more = many.saturating_sub(candidates.len());
                let rest = if more > 0 { format!(" and {more} more") } else { String::new() };
                Some(format!("I found multiple items matching {name}, which one? {listed}{rest}"))
            }
            Self::Nothing(near) if near.is_empty() => Some(format!("I couldn't find a {} called {name}", kind.word())),
            Self::Nothing(near) => {
                Some(format!("I couldn't find a {} called {name}. Did you mean {}?", kind.word(), listed(near, " or ")))
            }
            Self::NoLastOne => Some(format!("Which {} do you mean?", kind.word())),
        }
    }
}

fn listed(candidates: &[Candidate<'_>], between: &str) -> String {
    let one = |Candidate { number, title, of, open }: &Candidate<'_>| match (of, open) {
        (Some(task), true) => format!("#{number} {title} (in {task})"),
        (Some(task), false) => format!("#{number} {title} (in {task}, completed)"),
        (None, true) => format!("#{number} {title}"),
        (None, false) => format!("#{number} {title} (completed)"),
    };
    candidates.iter().map(one).collect::<Vec<_>>().join(between)
}

#[cfg(test)]
mod tests;
