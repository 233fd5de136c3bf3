//! What is known about functions a statement calls.

use std::collections::HashSet;
use std::sync::LazyLock;

use sqlparser::ast::{Ident, ObjectName, ObjectNamePart};

/// What calling a function does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Called {
    /// It looks.
    Harmless,
    /// It changes a sequence.
    Writes,
    /// Nobody here knows.
    Unknown,
}

static HARMLESS: LazyLock<HashSet<&str>> = LazyLock::new(|| {
    let topics = include_str!("functions.txt").lines().filter(|line| !line.starts_with('#'));
    topics.filter_map(|line| line.split_once(':')).flat_map(|(_, names)| names.split_whitespace()).collect()
});

/// What calling this function does.
pub(super) fn called(name: &ObjectName) -> Called {
    let name = match &name.0[..] {
        [ObjectNamePart::Identifier(name)] => folded(name),
        [ObjectNamePart::Identifier(schema), ObjectNamePart::Identifier(name)] if folded(schema) == "pg_catalog" => folded(name),
        _ => return Called::Unknown,
    };
    match name.as_str() {
        "nextval" | "setval" => Called::Writes,
        name if HARMLESS.contains(name) => Called::Harmless,
        _ => Called::Unknown,
    }
}

/// True when a function of this name, in whatever schema, could be taken for a known one.
pub(super) fn shadows(name: &ObjectName) -> bool {
    let Some(ObjectNamePart::Identifier(last)) = name.0.last() else { return true };
    called(&ObjectName(vec![ObjectNamePart::Identifier(last.clone())])) != Called::Unknown
}

/// A name as Postgres knows it: without quotes, capital letters (of ASCII only) are small ones.
fn folded(name: &Ident) -> String {
    if name.quote_style.is_some() { name.value.clone() } else { name.value.to_ascii_lowercase() }
}
