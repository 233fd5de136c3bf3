//! The rules of the migrations: forward only, each says why, and none fails on rows that are there
//! or changes their meaning.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use level3::clock::SystemRandom;
use level3::domain::{Mode, Rule};
use level3::postgres::Database;
use level3::postgres::logins::{drop_database, prepare};
use level3::store::Store;
use serde_json::{Map, Value};
use sqlx::{AssertSqlSafe, ConnectOptions, Connection, PgConnection};

use crate::support::cluster;

/// Columns that a migration changes on purpose: its time, the table, the column as it was called.
const CHANGED: [(i64, &str, &str); 4] = [
    // Events are told what their rows still know.
    (20261120120000, "events", "payload"),
    // A power has become the kind of an operation.
    (20261122100100, "operations", "power"),
    // The profile of contacts gets its policy.
    (20261124000000, "catalogue", "version"),
    // So does the operator.
    (20261125000000, "catalogue", "version"),
];

fn migrations() -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("migrations");
    let mut files: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    assert!(!files.is_empty(), "the rules were applied to nothing");
    files
        .into_iter()
        .map(|file| (file.file_name().unwrap().to_string_lossy().into_owned(), fs::read_to_string(file).unwrap()))
        .collect()
}

#[test]
fn names_are_a_time_and_what_is_done() {
    for (name, _) in migrations() {
        let (time, rest) = name.split_once('_').expect("an underscore after the time");
        assert!(time.len() == 14 && time.bytes().all(|b| b.is_ascii_digit()), "{name}: begins with YYYYMMDDHHMMSS");
        let words = rest.strip_suffix(".sql").expect("ends with .sql");
        assert!(
            words.split('_').count() >= 2 && words.bytes().all(|b| b.is_ascii_lowercase() || b == b'_'),
            "{name}: verb_object"
        );
    }
}

#[test]
fn the_first_line_says_why() {
    for (name, text) in migrations() {
        assert!(text.lines().next().is_some_and(|line| line.starts_with("-- ") && line.len() > 30), "{name}");
    }
}

#[test]
fn nothing_is_taken_away_and_no_column_is_added_that_old_rows_cannot_have() {
    for (name, text) in migrations() {
        // A trigger on it is no truncation.
        let text = text.to_ascii_uppercase().replace("AFTER TRUNCATE ON", "").replace("BEFORE TRUNCATE ON", "");
        for gone in ["DROP TABLE", "DROP COLUMN", "TRUNCATE"] {
            assert!(!text.contains(gone), "{name}: forward only, and data stays: {gone}");
        }
        for line in text.lines().filter(|line| line.contains("ADD COLUMN") && line.contains("NOT NULL")) {
            assert!(line.contains("DEFAULT"), "{name}: rows that are there already have no value for `{}`", line.trim());
        }
    }
}

/// The rows of every table of the program, each as JSON.
type Tables = BTreeMap<String, Vec<Map<String, Value>>>;

async fn tables(connection: &mut PgConnection) -> Tables {
    let names = "SELECT tablename::text FROM pg_tables WHERE schemaname = 'level3' AND tablename <> '_sqlx_migrations'";
    let names: Vec<String> = sqlx::query_scalar(names).fetch_all(&mut *connection).await.unwrap();
    let mut tables = Tables::new();
    for name in names {
        let rows = sqlx::query_scalar::<_, Value>(AssertSqlSafe(format!("SELECT to_jsonb(t) FROM level3.{name} t")));
        let rows = rows.fetch_all(&mut *connection).await.unwrap();
        let row = |row| match row {
            Value::Object(row) => row,
            other => panic!("{name}: {other}"),
        };
        tables.insert(name.clone(), rows.into_iter().map(row).collect());
    }
    tables
}

/// The first row of a table that is not there any more as it was; `except` names columns that may
/// have changed.
fn lost<'a>(before: &'a [Map<String, Value>], after: &[Map<String, Value>], except: &[&str]) -> Option<&'a Map<String, Value>> {
    let says = |row: &Map<String, Value>, column: &String, value: &Value| {
        except.contains(&column.as_str()) || row.get(column) == Some(value)
    };
    let is_there = |was: &&Map<String, Value>| after.iter().any(|row| was.iter().all(|(column, value)| says(row, column, value)));
    before.iter().find(|was| !is_there(was))
}

/// The sample rows that a migration's tables get, if there are any.
fn samples(version: i64) -> Option<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/migrations/rows");
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut of_it = files.filter(|file| file.file_name().unwrap().to_string_lossy().starts_with(&format!("{version}_")));
    of_it.next().map(|file| fs::read_to_string(file).unwrap())
}

#[test]
fn every_file_of_rows_is_of_a_migration() {
    let names: Vec<_> = migrations().into_iter().map(|(name, _)| name).collect();
    for entry in fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/migrations/rows")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        assert!(names.contains(&name), "rows/{name}: there is no migration of this name");
    }
}

#[tokio::test]
async fn each_migration_meets_rows_in_every_table_and_they_mean_the_same_afterwards() {
    const DATABASE: &str = "migrated";
    let logins = prepare(&cluster(), DATABASE, true).await.unwrap();
    let mut app = logins.app.connect().await.unwrap();
    let (all, names) = (level3::postgres::migrations(), migrations());
    let mut before = Tables::new();
    for (migration, (name, _)) in all.iter().zip(&names) {
        all.run_to(migration.version, &mut app)
            .await
            .unwrap_or_else(|error| panic!("{name} fails on the rows of before: {error}"));
        let after = tables(&mut app).await;
        for (table, was) in &before {
            let of_it =
                CHANGED.iter().filter(|(version, changed, _)| (*version, *changed) == (migration.version, table.as_str()));
            let except: Vec<_> = of_it.map(|(.., column)| *column).collect();
            let is = after.get(table).map_or(&[] as &[_], Vec::as_slice);
            let told = "a migration keeps what rows say; if it is to change a column, name that in CHANGED";
            assert_eq!(lost(was, is, &except), None, "{name}, table {table}: {told}");
            assert!(is.len() >= was.len() && (except.is_empty() || lost(was, is, &[]).is_some()), "{name}, table {table}");
        }
        if let Some(rows) = samples(migration.version) {
            let inserted = sqlx::raw_sql(AssertSqlSafe(rows)).execute(&mut app).await;
            inserted.unwrap_or_else(|error| panic!("tests/it/migrations/rows/{name}: {error}"));
        }
        before = tables(&mut app).await;
        let empty: Vec<_> = before.iter().filter(|(_, rows)| rows.is_empty()).map(|(table, _)| table).collect();
        let told = "the next migration has to meet rows there: INSERT some in tests/it/migrations/rows/";
        assert!(empty.is_empty(), "{empty:?} is empty after {name}; {told}{name}");
    }
    app.close().await.unwrap();
    assert_eq!(all.iter().count(), names.len());

    // The program of today reads what the first one wrote.
    let store = Store::open(&Database::inside(cluster(), DATABASE), &SystemRandom).await.unwrap();
    let policy = store.policy("builder").await.unwrap();
    assert_eq!((policy.mode, policy.budgets.day.steps, policy.rules.get("restart")), (Mode::Ask, Some(100), Some(&Rule::Never)));
    let now = "2026-11-22T08:00:00Z".parse().unwrap();
    assert_eq!(store.owners().main_conversation(now).await.unwrap().0, 1);
    assert_eq!(store.capability("adder").await.unwrap().unwrap().source, "export default () => 1");
    store.close().await;
    drop_database(&cluster(), DATABASE).await.unwrap();
}

#[test]
fn a_row_that_is_gone_or_says_something_else_is_found() {
    let row = |text: &str| serde_json::from_str::<Map<String, Value>>(text).unwrap();
    let was = [row(r#"{"id": 1, "says": "a"}"#), row(r#"{"id": 2, "says": "b"}"#)];
    let with_more =
        [row(r#"{"id": 2, "says": "b", "more": null}"#), row(r#"{"id": 1, "says": "a", "more": 1}"#), row(r#"{"id": 3}"#)];
    assert_eq!(lost(&was, &with_more, &[]), None);
    assert_eq!(lost(&was, &with_more[1..], &[]), Some(&was[1]));
    let otherwise = [was[0].clone(), row(r#"{"id": 2, "said": "b"}"#)];
    assert_eq!((lost(&was, &otherwise, &[]), lost(&was, &otherwise, &["says"])), (Some(&was[1]), None));
}
