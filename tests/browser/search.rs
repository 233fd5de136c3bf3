//! Looks for a value, in every form it is commonly written in, in everything a server keeps and
//! says.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;

use aho_corasick::AhoCorasick;
use base64::Engine;
use base64::prelude::{BASE64_STANDARD_NO_PAD, BASE64_URL_SAFE_NO_PAD};
use sqlx::{AssertSqlSafe, ConnectOptions, PgConnection, query_as, query_scalar};

use crate::support::administrator;

/// The bytes that were found, each piece under the name of its place.
#[derive(Default)]
pub struct Seen {
    places: Vec<(String, Vec<u8>)>,
}

impl Seen {
    pub fn add(&mut self, place: impl Into<String>, bytes: impl Into<Vec<u8>>) {
        self.places.push((place.into(), bytes.into()));
    }

    /// Every column of every table and view of every database that somebody works in, and what the
    /// other connections were asked last.
    pub async fn add_databases(&mut self, data: &Path) {
        let mut first = administrator(data, "postgres").connect().await.unwrap();
        let databases = query_scalar("SELECT datname::text FROM pg_database WHERE datallowconn");
        let databases: Vec<String> = databases.fetch_all(&mut first).await.unwrap();
        for database in databases {
            let mut connection = administrator(data, &database).connect().await.unwrap();
            self.add_database(&database, &mut connection).await;
        }
        let asked: Vec<String> = query_scalar("SELECT query FROM pg_stat_activity").fetch_all(&mut first).await.unwrap();
        self.add("database: last statements", asked.join("\n"));
    }

    /// Every column of every table and view of one database, as text; bytes as they are, and as
    /// hex.
    pub async fn add_database(&mut self, database: &str, connection: &mut PgConnection) {
        let columns: Vec<(String, String, String, bool)> = query_as(
            "SELECT n.nspname::text, c.relname::text, a.attname::text, a.atttypid = 'bytea'::regtype
             FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid JOIN pg_namespace n ON n.oid = c.relnamespace
             WHERE c.relkind IN ('r', 'p', 'm', 'v', 'f') AND a.attnum > 0 AND NOT a.attisdropped
               AND n.nspname NOT IN ('pg_catalog', 'information_schema', 'pg_toast')",
        )
        .fetch_all(&mut *connection)
        .await
        .unwrap();
        for (schema, table, column, is_bytes) in columns {
            let place = format!("database {database}: {schema}.{table}.{column}");
            let of =
                |what: &str| AssertSqlSafe(format!(r#"SELECT {what} FROM "{schema}"."{table}" WHERE "{column}" IS NOT NULL"#));
            let texts: Vec<String> =
                query_scalar(of(&format!(r#""{column}"::text"#))).fetch_all(&mut *connection).await.expect(&place);
            self.add(&place, texts.join("\n"));
            if is_bytes {
                let raw: Vec<Vec<u8>> =
                    query_scalar(of(&format!(r#""{column}""#))).fetch_all(&mut *connection).await.expect(&place);
                self.add(&place, raw.join(&b'\n'));
            }
        }
    }

    /// Every file below a folder.
    pub fn add_files(&mut self, folder: &Path) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let entry = entry.unwrap();
            let kind = entry.file_type().unwrap();
            if kind.is_dir() {
                self.add_files(&entry.path());
            } else if kind.is_file() {
                self.add(format!("file {}", entry.path().display()), std::fs::read(entry.path()).unwrap());
            }
        }
    }

    /// The places, among those whose name begins so, that hold one of these, whatever the case of
    /// its letters.
    pub fn holding<'a>(&'a self, forms: &BTreeSet<String>, beginning: &str) -> Vec<&'a str> {
        let finder = AhoCorasick::builder().ascii_case_insensitive(true).build(forms).unwrap();
        let places = self.places.iter().filter(|(place, bytes)| place.starts_with(beginning) && finder.is_match(bytes));
        places.map(|(place, _)| place.as_str()).collect()
    }

    /// The beginning of what a place holds around one of these, for a message.
    pub fn around(&self, forms: &BTreeSet<String>) -> String {
        let finder = AhoCorasick::builder().ascii_case_insensitive(true).build(forms).unwrap();
        let mut told = String::new();
        for (place, bytes) in &self.places {
            for found in finder.find_iter(bytes).take(2) {
                let (from, to) = (found.start().saturating_sub(120), (found.end() + 60).min(bytes.len()));
                let _ = writeln!(told, "{place}: …{}…", String::from_utf8_lossy(&bytes[from..to]).escape_debug());
            }
        }
        told
    }
}

/// The forms of a value, and of each half of it, so that a value which is hidden only in part is
/// found as well. Letters of either case count as the same in the search.
pub fn forms(value: &str) -> BTreeSet<String> {
    let (first, second) = value.split_at(value.len() / 2);
    let mut forms = BTreeSet::new();
    for part in [value, first, second] {
        forms.insert(part.to_owned());
        forms.insert(hex::encode(part));
        let json = serde_json::to_string(part).unwrap();
        forms.insert(json[1..json.len() - 1].to_owned());
        forms.insert(part.bytes().map(|byte| format!("%{byte:02x}")).collect());
        forms.insert(url::form_urlencoded::byte_serialize(part.as_bytes()).collect());
        forms.extend(base64(part));
    }
    for before in ["", "Bearer ", "user:"] {
        for engine in [&BASE64_STANDARD_NO_PAD, &BASE64_URL_SAFE_NO_PAD] {
            forms.insert(engine.encode(format!("{before}{value}")));
        }
    }
    forms
}

/// The characters of base64 that this text decides alone, at each of the three places it can have
/// in a group.
fn base64(part: &str) -> Vec<String> {
    let mut pieces = Vec::new();
    for before in 0..3 {
        let padded = [vec![0; before], part.as_bytes().to_vec()].concat();
        let (from, to) = ((before * 8).div_ceil(6), padded.len() * 8 / 6);
        for engine in [&BASE64_STANDARD_NO_PAD, &BASE64_URL_SAFE_NO_PAD] {
            pieces.push(engine.encode(&padded)[from..to].to_owned());
        }
    }
    pieces
}
