//! Rows of any statement as JSON, from Postgres' own text form: exact for every type, without
//! knowledge of any binary layout.

use serde_json::Value;
use serde_json::value::RawValue;
use sqlx::postgres::{PgColumn, PgRow, PgTypeInfo, PgTypeKind};
use sqlx::{Column, Row, TypeInfo, ValueRef};

use crate::domain::{Refusal, RefusalCode, ShownColumn};

/// How much of a result is shown.
#[derive(Clone, Copy, Debug)]
pub struct RowLimits {
    /// Rows.
    pub rows: usize,
    /// Bytes of JSON, all rows together.
    pub bytes: usize,
    /// Bytes of one value's text.
    pub value_bytes: usize,
}

impl Default for RowLimits {
    fn default() -> Self {
        Self { rows: 200, bytes: 48 * 1024, value_bytes: 8 * 1024 }
    }
}

/// Collects rows until a limit is reached, and counts the rest.
pub(super) struct Collector {
    limits: RowLimits,
    /// The reader needs all of it, and gets an error if it does not fit.
    whole: bool,
    json: String,
    shown: usize,
    total: usize,
}

impl Collector {
    pub(super) fn new(limits: RowLimits, whole: bool) -> Self {
        Self { limits, whole, json: String::new(), shown: 0, total: 0 }
    }

    /// Adds a row, or only counts it if there is no room.
    pub(super) fn add(&mut self, row: &PgRow) -> Result<(), sqlx::Error> {
        self.total += 1;
        if self.shown + 1 < self.total || self.shown == self.limits.rows {
            return Ok(());
        }
        let mut json = row_json(row, self.limits.value_bytes)?;
        if !self.whole && self.shown == 0 && json.len() > self.limits.bytes {
            // The first row is always shown: of a wide one, as much of each value as there is room
            // for.
            let fair = self.limits.bytes / row.len().max(1);
            json = row_json(row, fair.clamp(16, self.limits.value_bytes))?;
        }
        if self.shown > 0 && self.json.len() + json.len() > self.limits.bytes {
            return Ok(());
        }
        if self.shown > 0 {
            self.json.push(',');
        }
        self.json.push_str(&json);
        self.shown += 1;
        Ok(())
    }

    /// The refusal for a reader who needs all of it, if there is more than the limits allow.
    pub(super) fn too_much(&self) -> Option<Refusal> {
        let RowLimits { rows, bytes, .. } = self.limits;
        (self.shown < self.total || self.json.len() > bytes).then(|| {
            let message = format!(
                "the result has {} rows and does not fit into {rows} rows and {bytes} bytes; nothing of the statement was kept; ask for it \
                 in pages with LIMIT and OFFSET, or name fewer columns",
                self.total
            );
            Refusal::new(RefusalCode::TooMuch, message)
        })
    }

    /// How many rows there are, those that are left out among them.
    pub(super) fn total(&self) -> usize {
        self.total
    }

    /// The rows as a JSON array; if some were left out, an object that says so beside them.
    pub(super) fn finish(self) -> String {
        let Self { json, shown, total, .. } = self;
        if shown == total {
            return format!("[{json}]");
        }
        let cut =
            format!("Only the first {shown} of {total} rows are shown. Use LIMIT and OFFSET, name fewer columns, or aggregate.");
        format!("{{\"rows\":[{json}],\"cut\":{}}}", Value::from(cut))
    }
}

/// The columns of a statement's rows, for a person; `row_json` names them the same way.
pub(super) fn shown_columns(columns: &[PgColumn]) -> Vec<ShownColumn> {
    let mut names: Vec<String> = Vec::with_capacity(columns.len());
    for column in columns {
        names.push(distinct(column.name(), &names));
    }
    let kinds = columns.iter().map(|column| column.type_info().name().to_lowercase());
    names.into_iter().zip(kinds).map(|(name, kind)| ShownColumn { name, kind }).collect()
}

/// A column's name, with a number if it is taken: `SELECT 1, 2` gives two columns of one name, and
/// the reader must see both.
fn distinct(column: &str, taken: &[String]) -> String {
    let mut name = column.to_owned();
    let mut copy = 2;
    while taken.contains(&name) {
        name = format!("{column}_{copy}");
        copy += 1;
    }
    name
}

fn row_json(row: &PgRow, value_bytes: usize) -> Result<String, sqlx::Error> {
    let mut json = String::from("{");
    let mut names: Vec<String> = Vec::with_capacity(row.len());
    for column in row.columns() {
        let name = distinct(column.name(), &names);
        let raw = row.try_get_raw(column.ordinal())?;
        let value = if raw.is_null() {
            "null".to_owned()
        } else {
            text_json(raw.as_str().map_err(sqlx::Error::Decode)?, column.type_info(), value_bytes)
        };
        if !names.is_empty() {
            json.push(',');
        }
        json.push_str(&format!("{}:{value}", Value::from(name.as_str())));
        names.push(name);
    }
    json.push('}');
    Ok(json)
}

/// The JSON of a value's text form, by its type.
fn text_json(text: &str, of: &PgTypeInfo, value_bytes: usize) -> String {
    match of.kind() {
        PgTypeKind::Array(element) => {
            if text.len() > value_bytes {
                return cut(text, value_bytes);
            }
            array_json(text, element, value_bytes).unwrap_or_else(|| string(text))
        }
        PgTypeKind::Domain(base) => text_json(text, base, value_bytes),
        _ => match of.name() {
            "BOOL" => if text == "t" { "true" } else { "false" }.to_owned(),
            // The digits are copied: no numeric loses its scale. NaN and Infinity are no JSON and
            // become strings below.
            "INT2" | "INT4" | "INT8" | "OID" | "FLOAT4" | "FLOAT8" | "NUMERIC" if is_json(text) => text.to_owned(),
            "JSON" | "JSONB" if text.len() <= value_bytes && is_json(text) => text.to_owned(),
            "TIMESTAMP" | "TIMESTAMPTZ" => string(&iso_8601(text)),
            _ if text.len() > value_bytes => cut(text, value_bytes),
            _ => string(text),
        },
    }
}

fn is_json(text: &str) -> bool {
    serde_json::from_str::<&RawValue>(text).is_ok()
}

fn string(text: &str) -> String {
    Value::from(text).to_string()
}

fn cut(text: &str, value_bytes: usize) -> String {
    let end = text.floor_char_boundary(value_bytes);
    let (shown, next) = (&text[..end], text[..end].chars().count() + 1);
    // `substr` counts characters. So many fit into a value's bytes, unless they are rare ones.
    let piece = value_bytes / 4 * 3;
    string(&format!("{shown}… (cut: the value has {} bytes; substr(VALUE::text, {next}, {piece}) goes on from here)", text.len()))
}

/// Postgres writes `2026-11-20 06:30:00.5+00`; ISO 8601 wants a `T` and minutes in the offset.
fn iso_8601(text: &str) -> String {
    let Some((date, time)) = text.split_once(' ').filter(|(date, _)| date.starts_with(|c: char| c.is_ascii_digit())) else {
        return text.to_owned(); // infinity
    };
    if time.ends_with("BC") {
        return text.to_owned();
    }
    let offset = time.rfind(['+', '-']).map_or("", |at| &time[at..]);
    let minutes = if offset.len() == 3 { ":00" } else { "" };
    format!("{date}T{time}{minutes}")
}

/// Reads the text form of an array, `{1,NULL,"a \"b\""}`, nested ones too; `None` if it is none.
/// The Postgres manual describes the form in "Array Input and Output Syntax" of its chapter
/// "Arrays".
fn array_json(text: &str, element: &PgTypeInfo, value_bytes: usize) -> Option<String> {
    // Arrays that do not begin at 1 carry their bounds in front: `[0:1]={1,2}`.
    let text = if text.starts_with('[') { text.split_once('=')?.1 } else { text };
    let mut rest = text.strip_prefix('{')?;
    let mut items = Vec::new();
    if rest == "}" {
        return Some("[]".to_owned());
    }
    loop {
        let (item, after) = if rest.starts_with('{') {
            let end = closing_brace(rest)?;
            (array_json(&rest[..=end], element, value_bytes)?, &rest[end + 1..])
        } else if let Some(quoted) = rest.strip_prefix('"') {
            let (value, after) = unquote(quoted)?;
            (text_json(&value, element, value_bytes), after)
        } else {
            let end = rest.find([',', '}'])?;
            let word = &rest[..end];
            (if word == "NULL" { "null".to_owned() } else { text_json(word, element, value_bytes) }, &rest[end..])
        };
        items.push(item);
        match after.strip_prefix(',') {
            Some(next) => rest = next,
            None => return (after == "}").then(|| format!("[{}]", items.join(","))),
        }
    }
}

/// Reads up to the closing quote; returns the value and the text behind the quote.
fn unquote(text: &str) -> Option<(String, &str)> {
    let mut value = String::new();
    let mut chars = text.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return Some((value, &text[at + 1..])),
            '\\' => value.push(chars.next()?.1),
            c => value.push(c),
        }
    }
    None
}

/// The place of the brace that closes the one `text` begins with.
fn closing_brace(text: &str) -> Option<usize> {
    let (mut depth, mut quoted, mut escaped) = (0, false, false);
    for (at, c) in text.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => quoted = !quoted,
            '{' if !quoted => depth += 1,
            '}' if !quoted => {
                depth -= 1;
                if depth == 0 {
                    return Some(at);
                }
            }
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests;
