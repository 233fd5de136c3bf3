//! Reads what a person wants to be reminded of, and when: "remind me to stretch in two hours",
//! "tomorrow at 9". Times of day are UTC, the only zone that the tour is told.

use chrono::{DateTime, Days, NaiveTime, TimeDelta, Utc};

/// How long until a task without a time falls due.
const SOON: TimeDelta = TimeDelta::seconds(20);
const SOON_SAID: &str = "in 20 seconds";
const SOMETHING: &str = "Say hello from the heartbeat";
const LONGEST_TITLE: usize = 100;
const NUMBERS: [&str; 12] = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"];

/// A task that a person wishes for.
#[derive(Debug, PartialEq)]
pub(super) struct Wish {
    pub(super) title: String,
    /// `None` if the tour does not know what time it is.
    pub(super) due: Option<DateTime<Utc>>,
    /// The words for it, such as "in two hours".
    pub(super) said: String,
}

impl Wish {
    /// The wish in `input`, said at `now`.
    pub(super) fn of(input: &str, now: Option<DateTime<Utc>>) -> Self {
        let words: Vec<&str> = input.split_whitespace().collect();
        let Some((start, count, due)) = now.and_then(|now| named(&words, now)) else {
            let due = now.and_then(|now| now.checked_add_signed(SOON));
            return Self { title: title(&words), due, said: SOON_SAID.into() };
        };
        let (before, from) = words.split_at(start);
        let (said, after) = from.split_at(count);
        let said = said.join(" ").to_lowercase();
        Self { title: title(&[before, after].concat()), due: Some(due), said: said.trim_end_matches(is_end).into() }
    }
}

/// The first time that is named: where its words begin, how many there are, and the time.
fn named(words: &[&str], now: DateTime<Utc>) -> Option<(usize, usize, DateTime<Utc>)> {
    let plain = |word: &&str| word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
    let plain: Vec<String> = words.iter().map(plain).collect();
    let plain: Vec<&str> = plain.iter().map(String::as_str).collect();
    // "Today at 5" is not five o'clock tomorrow when it is later.
    let mut starts = (0..plain.len()).filter(|start| start.checked_sub(1).is_none_or(|before| plain[before] != "today"));
    starts.find_map(|start| moment(&plain[start..], now).map(|(at, count)| (start, count, at)))
}

/// The time that `words` begin with, and how many of them say it.
fn moment(words: &[&str], now: DateTime<Utc>) -> Option<(DateTime<Utc>, usize)> {
    let on = |days: u64, time: NaiveTime| Some(now.date_naive().checked_add_days(Days::new(days))?.and_time(time).and_utc());
    match words {
        ["in", rest @ ..] => {
            let (span, count) = spans(rest)?;
            Some((now.checked_add_signed(span)?, 1 + count))
        }
        ["tomorrow", rest @ ..] => {
            let time = if let ["at", rest @ ..] = rest { clock(rest) } else { None };
            match time {
                Some((time, count, _)) => Some((on(1, time)?, 2 + count)),
                None => Some((now.checked_add_days(Days::new(1))?, 1)),
            }
        }
        ["today", "at", rest @ ..] => {
            let (time, count, _) = clock(rest)?;
            Some((on(0, time).filter(|at| *at > now)?, 2 + count))
        }
        ["at", rest @ ..] => {
            let (time, count, is_exact) = clock(rest)?;
            match rest.get(count) {
                Some(&"tomorrow") => Some((on(1, time)?, 2 + count)),
                Some(&"today") => Some((on(0, time).filter(|at| *at > now)?, 2 + count)),
                // "Look at 9 pictures" names no time.
                Some(next) if !is_exact && *next != "to" => None,
                _ => Some((on(0, time).filter(|at| *at > now).or_else(|| on(1, time))?, 1 + count)),
            }
        }
        _ => None,
    }
}

/// "two hours", "1 hour and 30 minutes": how long, and in how many words.
fn spans(words: &[&str]) -> Option<(TimeDelta, usize)> {
    let (first, count) = span(words)?;
    let (joint, rest) = match &words[count..] {
        ["and", rest @ ..] => (1, rest),
        rest => (0, rest),
    };
    match span(rest) {
        Some((second, more)) => Some((first.checked_add(&second)?, count + joint + more)),
        None => Some((first, count)),
    }
}

fn span(words: &[&str]) -> Option<(TimeDelta, usize)> {
    if let ["half", "an", "hour", ..] = words {
        return Some((TimeDelta::minutes(30), 3));
    }
    let [amount, unit, ..] = words else { return None };
    let seconds = match unit.trim_end_matches('s') {
        "second" | "sec" => 1,
        "minute" | "min" => 60,
        "hour" => 3600,
        "day" => 24 * 3600,
        "week" => 7 * 24 * 3600,
        _ => return None,
    };
    let amount = if matches!(*amount, "a" | "an") { 1 } else { i64::from(number(amount)?) };
    Some((TimeDelta::try_seconds(amount * seconds)?, 2))
}

/// "9", "9:30", "5pm", "5 pm", "noon": the time of day, in how many words, and whether it can be
/// nothing else.
fn clock(words: &[&str]) -> Option<(NaiveTime, usize, bool)> {
    let [first, rest @ ..] = words else { return None };
    if *first == "noon" {
        return Some((NaiveTime::from_hms_opt(12, 0, 0)?, 1, true));
    }
    let (digits, half, count) = match (first.strip_suffix("am"), first.strip_suffix("pm"), rest.first()) {
        (Some(digits), ..) => (digits, Some(0), 1),
        (_, Some(digits), _) => (digits, Some(12), 1),
        (.., Some(&"am")) => (*first, Some(0), 2),
        (.., Some(&"pm")) => (*first, Some(12), 2),
        _ => (*first, None, 1),
    };
    let (hour, minute) = digits.split_once(':').unwrap_or((digits, "0"));
    let hour = match (number(hour)?, half) {
        (hour, None) => hour,
        (hour @ 1..=12, Some(half)) => hour % 12 + half,
        _ => return None,
    };
    let time = NaiveTime::from_hms_opt(hour, minute.parse().ok()?, 0)?;
    Some((time, count, half.is_some() || digits.contains(':')))
}

/// A number in digits, or in words up to twelve.
fn number(word: &str) -> Option<u32> {
    (1..).zip(NUMBERS).find(|(_, name)| *name == word).map(|(number, _)| number).or_else(|| word.parse().ok())
}

/// The thing a person wants to be reminded of, or something friendly.
fn title(words: &[&str]) -> String {
    let said = words.join(" ");
    let lower = said.to_ascii_lowercase();
    let starts = ["remind me to ", "remind me of ", "remind me about "];
    let from = starts.into_iter().find_map(|start| Some(lower.find(start)? + start.len()));
    let wish = from.map(|from| said[from..].trim_end_matches(is_end)).filter(|wish| !wish.is_empty());
    wish.map_or_else(|| SOMETHING.into(), |wish| wish.chars().take(LONGEST_TITLE).collect())
}

fn is_end(c: char) -> bool {
    c.is_whitespace() || ['.', '!', '?', ',', ';', ':'].contains(&c)
}

#[cfg(test)]
mod tests;
