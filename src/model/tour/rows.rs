//! Says the rows of a query to a person.

use std::fmt::Write;

use serde_json::{Map, Value};

/// How many rows and how much of each value are said; the page has all of them beside the call.
const MOST_ROWS: usize = 20;
const MOST_CHARS: usize = 80;

/// The rows of a result as a sentence or a small table in Markdown; `None` if it has none to say.
pub(super) fn as_markdown(result: &Value) -> Option<String> {
    let rows = result.as_array().or(result["rows"].as_array())?;
    let rows: Vec<&Map<String, Value>> = rows.iter().map(Value::as_object).collect::<Option<_>>()?;
    let Some(first) = rows.first() else { return Some("The database answered with no rows.".into()) };
    match (rows.len(), first.iter().next()) {
        (1, Some((name, value))) if first.len() == 1 => {
            Some(format!("The database answered: {} is **{}**.", escaped(name), shown(value)))
        }
        (1, _) => Some(format!("The database answered with one row:\n\n{}", table(&rows))),
        (count, _) if count <= MOST_ROWS => Some(format!("The database answered with {count} rows:\n\n{}", table(&rows))),
        (count, _) => Some(format!(
            "The database answered with {count} rows; these are the first {MOST_ROWS}:\n\n{}",
            table(&rows[..MOST_ROWS])
        )),
    }
}

fn table(rows: &[&Map<String, Value>]) -> String {
    let columns: Vec<&String> = rows.iter().flat_map(|row| row.keys()).fold(Vec::new(), |mut columns, name| {
        if !columns.contains(&name) {
            columns.push(name);
        }
        columns
    });
    let mut text = String::new();
    let mut line = |cells: Vec<String>| _ = writeln!(text, "| {} |", cells.join(" | "));
    line(columns.iter().map(|name| escaped(name)).collect());
    let is_number = |name: &String| rows.iter().all(|row| row.get(name).is_none_or(|value| value.is_number() || value.is_null()));
    line(columns.iter().map(|&name| if is_number(name) { "---:" } else { "---" }.to_owned()).collect());
    for row in rows {
        line(columns.iter().map(|&name| row.get(name).map_or_else(String::new, shown)).collect());
    }
    text.truncate(text.trim_end().len());
    text
}

/// A value as a reader expects it.
fn shown(value: &Value) -> String {
    match value {
        Value::Null => "–".into(),
        Value::String(text) => escaped(text),
        other => escaped(&other.to_string()),
    }
}

/// Text on one line that Markdown shows as it is.
fn escaped(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut shown = String::with_capacity(line.len());
    for c in line.chars().take(MOST_CHARS) {
        if c.is_ascii_punctuation() && !matches!(c, ',' | '.' | ':' | ';' | '-' | '/' | '\'' | '"' | '(' | ')') {
            shown.push('\\');
        }
        shown.push(c);
    }
    if line.chars().nth(MOST_CHARS).is_some() {
        shown.push('…');
    }
    shown
}

#[cfg(test)]
mod tests;
