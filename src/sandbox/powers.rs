//! The powers as component text: what an engine imports for each, and what its WIT interface looks like.
//!
//! To add a power: a variant of [`Power`], a file in `capabilities/wit`, an arm in `linker` of `host.rs`, an entry here, and its
//! face in `capabilities/engine` (shim.c, prelude.js). The order here is the order of the bits in shim.c.

use crate::domain::Power;

/// One power.
pub(super) struct Interface {
    pub(super) power: Power,
    /// The types its functions use, as items of an instance type.
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
    /// How many core parameters it has, when it passes strings and so needs the engine's memory.
    pub(super) strings: Option<u32>,
}

impl Interface {
    /// The name of the import.
    pub(super) fn import(&self) -> String {
        format!("level3:capability/{}@0.1.0", self.power)
    }
}

pub(super) const INTERFACES: &[Interface] = &[
    Interface {
        power: Power::Log,
        types: r#"(type $words (enum "debug" "info" "warn" "error")) (export "level" (type $level (eq $words)))"#,
        functions: &[Function {
            name: "log",
            core: "(param i32 i32 i32)",
            typed: r#"(param "level" $level) (param "message" string)"#,
            strings: Some(3),
        }],
    },
    Interface {
        power: Power::Clock,
        types: "",
        functions: &[
            Function { name: "now", core: "(result i64)", typed: "(result u64)", strings: None },
            Function { name: "sleep", core: "(param i64)", typed: r#"(param "milliseconds" u64)"#, strings: None },
        ],
    },
    Interface {
        power: Power::Random,
        types: "",
        functions: &[Function { name: "random", core: "(result i64)", typed: "(result u64)", strings: None }],
    },
];
