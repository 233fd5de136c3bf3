//! The powers as component text: the imports of an engine for each, and the text of its WIT
//! interface.
//!
//! To add a power: a variant of [`Power`], a file in `capabilities/wit`, a file and an arm of
//! `linker` in `host`, an entry here, and its face in `capabilities/engine` (shim.c, prelude.js).
//! The bits of the denied powers are in the order of [`Power::ALL`].

use crate::domain::{Grants, HttpGrant, Power, SqlAccess};

/// One WIT interface.
pub(super) struct Interface {
    pub(super) name: &'static str,
    /// A component with any of these powers imports it.
    pub(super) powers: &'static [Power],
    /// The types of its functions, as items of an instance type.
    pub(super) types: &'static str,
    pub(super) functions: &'static [Function],
}

/// One function of an interface.
pub(super) struct Function {
    pub(super) name: &'static str,
    /// Its type as a core function.
    pub(super) core: &'static str,
    /// Its type as a component function.
    pub(super) typed: &'static str,
    /// The number of its core parameters, if it passes more than numbers and so needs the engine's
    /// memory.
    pub(super) strings: Option<u32>,
}

impl Interface {
    /// The name of the import.
    pub(super) fn import(&self) -> String {
        format!("level3:capability/{}@0.1.0", self.name)
    }

    /// True if a component with these grants imports it.
    pub(super) fn is_for(&self, grants: &Grants) -> bool {
        self.powers.iter().any(|power| grants.has(*power))
    }
}

/// The powers whose operations take time.
const TAKE_TIME: &[Power] = &[Power::Http, Power::Sql, Power::Kv, Power::Tools];

/// True if a capability with these grants may wait on the outside.
pub(super) fn take_time(grants: &Grants) -> bool {
    TAKE_TIME.iter().any(|power| grants.has(*power))
}

/// Grants with something of every power.
pub(super) fn every() -> Grants {
    Grants {
        http: [HttpGrant::host("example.com")].into(),
        sql: Some(SqlAccess::Read),
        kv: true,
        secrets: [("ANY".to_owned(), ["example.com".to_owned()].into())].into(),
        tools: ["any".to_owned()].into(),
        ..Grants::harmless()
    }
}

/// The powers that were not granted, as the engine reads them: a bit for each power, the first of
/// [`Power::ALL`] lowest.
pub(super) fn denied(grants: &Grants) -> u16 {
    bits(Power::ALL.iter().map(|power| !grants.has(*power)))
}

/// So many powers have a bit in a component. One more needs another form of component.
const PLACES: usize = 16;
const _: () = assert!(Power::ALL.len() <= PLACES);

/// A bit for each place that is true, the first lowest.
fn bits(places: impl Iterator<Item = bool>) -> u16 {
    places.take(PLACES).enumerate().fold(0, |bits, (place, set)| bits | u16::from(set) << place)
}

const START: &[Function] = &[Function {
    name: "start",
    core: "(param i32 i32) (result i32)",
    typed: r#"(param "request" string) (result u32)"#,
    strings: Some(2),
}];

const fn started_by(name: &'static str, powers: &'static [Power]) -> Interface {
    Interface { name, powers, types: "", functions: START }
}

pub(super) const INTERFACES: &[Interface] = &[
    Interface {
        name: "log",
        powers: &[Power::Log],
        types: r#"(type $words (enum "debug" "info" "warn" "error")) (export "level" (type $level (eq $words)))"#,
        functions: &[Function {
            name: "log",
            core: "(param i32 i32 i32)",
            typed: r#"(param "level" $level) (param "message" string)"#,
            strings: Some(3),
        }],
    },
    Interface {
        name: "clock",
        powers: &[Power::Clock],
        types: "",
        functions: &[
            Function { name: "now", core: "(result i64)", typed: "(result u64)", strings: None },
            Function { name: "sleep", core: "(param i64)", typed: r#"(param "milliseconds" u64)"#, strings: None },
        ],
    },
    Interface {
        name: "random",
        powers: &[Power::Random],
        types: "",
        functions: &[Function { name: "random", core: "(result i64)", typed: "(result u64)", strings: None }],
    },
    started_by("http", &[Power::Http]),
    started_by("sql", &[Power::Sql]),
    started_by("kv", &[Power::Kv]),
    Interface {
        name: "secrets",
        powers: &[Power::Secrets],
        types: "",
        functions: &[Function {
            name: "reference",
            core: "(param i32 i32 i32)",
            typed: r#"(param "name" string) (result (result string (error string)))"#,
            strings: Some(3),
        }],
    },
    started_by("tools", &[Power::Tools]),
    Interface {
        name: "operations",
        powers: TAKE_TIME,
        types: r#"(type $fields (record (field "id" u32) (field "ok" bool) (field "value" string)))
            (export "completion" (type $completion (eq $fields)))"#,
        functions: &[Function {
            name: "wait",
            core: "(param i64 i32)",
            typed: r#"(param "milliseconds" u64) (result (option $completion))"#,
            strings: Some(2),
        }],
    },
];

#[cfg(test)]
mod tests;
