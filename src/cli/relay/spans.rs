//! Spans of time as people write and read them: `90s`, `30m`, `1h30m`, `2d`.

/// The shortest and the longest interval of follow-ups, in seconds.
const INTERVAL: std::ops::RangeInclusive<i64> = 60..=2_592_000;

/// Seconds of a span, such as `30m`.
fn seconds(text: &str) -> Option<i64> {
    let (mut total, mut number) = (0_i64, String::new());
    for letter in text.trim().chars() {
        if letter.is_ascii_digit() {
            number.push(letter);
            continue;
        }
        let unit = match letter {
            's' => 1,
            'm' => 60,
            'h' => 3600,
            'd' => 86_400,
            _ => return None,
        };
        total = total.checked_add(number.parse::<i64>().ok()?.checked_mul(unit)?)?;
        number.clear();
    }
    (number.is_empty() && !text.trim().is_empty()).then_some(total)
}

/// The interval of follow-ups, as `--heartbeat` takes it.
pub(super) fn interval(text: &str) -> Result<i64, String> {
    let expected = || "expected a time from 1m to 30d, like 30m, 2h or 1d".to_owned();
    seconds(text).filter(|seconds| INTERVAL.contains(seconds)).ok_or_else(expected)
}

/// A span as people read it, in its two largest units.
pub(super) fn span(seconds: u64) -> String {
    let units = [(seconds / 86_400, "d"), (seconds / 3600 % 24, "h"), (seconds / 60 % 60, "min"), (seconds % 60, "s")];
    let said: Vec<_> = units.iter().skip_while(|(count, _)| *count == 0).take(2).filter(|(count, _)| *count > 0).collect();
    if said.is_empty() {
        return "0 s".to_owned();
    }
    said.iter().map(|(count, unit)| format!("{count} {unit}")).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests;
