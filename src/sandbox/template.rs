//! From source to component: fixed bytes around one data segment. The fixed bytes depend on the
//! grants: a component imports exactly those, and the engine's other imports are bound to functions
//! that trap.

use std::collections::HashMap;
use std::fmt::Write;
use std::sync::{Arc, Mutex, PoisonError};

use crate::domain::Grants;

use super::ENGINE_NAME;
use super::powers::{self, Function, INTERFACES, Interface};

/// The work of the engine when the host calls `run`; shim.c has the same numbers.
#[derive(Clone, Copy, Debug)]
pub(super) enum Kind {
    /// Calls the capability with the parameters.
    Run = 1,
    /// Loads the source that comes as parameter and says what it exports.
    Inspect = 2,
}

/// Templates made so far, one for each set of grants.
#[derive(Default)]
pub(super) struct Templates(Mutex<HashMap<Grants, Arc<Template>>>);

impl Templates {
    pub(super) fn get(&self, grants: &Grants) -> Result<Arc<Template>, String> {
        let mut templates = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(template) = templates.get(grants) {
            return Ok(Arc::clone(template));
        }
        let template = Arc::new(Template::new(grants)?);
        templates.insert(grants.clone(), Arc::clone(&template));
        Ok(template)
    }
}

/// A component without its source.
pub(super) struct Template {
    before: Vec<u8>,
    after: Vec<u8>,
    denied: u16,
}

const MARKER: &str = "@@SOURCE@@";

impl Template {
    fn new(grants: &Grants) -> Result<Self, String> {
        let bytes = wat::parse_str(text(grants)).map_err(|error| error.to_string())?;
        let section = section_with(&bytes, MARKER.as_bytes()).ok_or("the template has no place for the source")?;
        Ok(Self { before: bytes[..section.start].to_vec(), after: bytes[section.end..].to_vec(), denied: powers::denied(grants) })
    }

    /// The component of this source.
    pub(super) fn component(&self, kind: Kind, source: &str) -> Vec<u8> {
        let module = source_module(kind, self.denied, source);
        let mut bytes = Vec::with_capacity(self.before.len() + module.len() + self.after.len() + 6);
        bytes.extend_from_slice(&self.before);
        push_section(&mut bytes, 1, &module);
        bytes.extend_from_slice(&self.after);
        bytes
    }
}

/// The core module that only writes the engine's `source_slot` (see shim.c): no code, one active
/// data segment.
fn source_module(kind: Kind, denied: u16, source: &str) -> Vec<u8> {
    let mut imports = vec![2];
    for (name, description) in [("memory", &[0x02, 0x00, 0x01][..]), ("source_slot", &[0x03, 0x7f, 0x00])] {
        imports.extend_from_slice(&[1, b'e', u8::try_from(name.len()).unwrap_or_default()]);
        imports.extend_from_slice(name.as_bytes());
        imports.extend_from_slice(description);
    }
    let mut data = vec![1, 0x00, 0x23, 0, 0x0b]; // one active segment at the value of global 0
    push_leb(&mut data, source.len() + 8);
    let [first, second] = denied.to_le_bytes();
    data.extend_from_slice(&[kind as u8, first, second, 0]);
    data.extend_from_slice(&segment(source));
    let mut module = b"\0asm\x01\0\0\0".to_vec();
    push_section(&mut module, 2, &imports);
    push_section(&mut module, 11, &data);
    module
}

/// The source after its length, as it stands somewhere in every engine's component.
pub(super) fn segment(source: &str) -> Vec<u8> {
    let length = u32::try_from(source.len()).unwrap_or(u32::MAX).to_le_bytes();
    [&length[..], source.as_bytes()].concat()
}

fn push_section(bytes: &mut Vec<u8>, id: u8, content: &[u8]) {
    bytes.push(id);
    push_leb(bytes, content.len());
    bytes.extend_from_slice(content);
}

fn push_leb(bytes: &mut Vec<u8>, mut value: usize) {
    while value >= 0x80 {
        bytes.push((value & 0x7f) as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
}

/// The section of a component that contains `needle`.
fn section_with(bytes: &[u8], needle: &[u8]) -> Option<std::ops::Range<usize>> {
    let found = bytes.windows(needle.len()).position(|window| window == needle)?;
    let mut start = 8;
    while start < bytes.len() {
        let (mut at, mut size, mut shift) = (start + 1, 0_usize, 0);
        loop {
            let byte = *bytes.get(at)?;
            size |= usize::from(byte & 0x7f) << shift;
            (at, shift) = (at + 1, shift + 7);
            if byte & 0x80 == 0 {
                break;
            }
        }
        let end = at + size;
        if (start..end).contains(&found) {
            return Some(start..end);
        }
        start = end;
    }
    None
}

/// The component as text. Functions that pass strings need the engine's memory, and the engine
/// needs its imports first: such functions go through a table that is filled once the engine is
/// there.
fn text(grants: &Grants) -> String {
    let granted = |interface: &&Interface| interface.is_for(grants);
    let mut wat = format!("(component\n(import \"{ENGINE_NAME}\" (core module $engine {ENGINE_EXPORTS}");
    for (interface, function) in functions(INTERFACES.iter()) {
        let _ = writeln!(wat, "(import \"{}\" \"{}\" (func {}))", interface.import(), function.name, function.core);
    }
    wat.push_str("))\n");
    for interface in INTERFACES.iter().filter(granted) {
        let _ = write!(wat, "(import \"{}\" (instance ${} {}", interface.import(), interface.name, interface.types);
        for function in interface.functions {
            let _ = write!(wat, " (export \"{}\" (func {}))", function.name, function.typed);
        }
        wat.push_str("))\n");
    }
    let late: Vec<_> = functions(INTERFACES.iter().filter(granted)).filter(|(_, function)| function.strings.is_some()).collect();
    push_substitutes(&mut wat, grants, &late);
    push_engine(&mut wat, grants);
    push_late(&mut wat, &late);
    wat.push_str(SOURCE_AND_RUN);
    wat
}

const ENGINE_EXPORTS: &str = r#"
(export "memory" (memory 1)) (export "source_slot" (global i32))
(export "cabi_realloc" (func (param i32 i32 i32 i32) (result i32))) (export "run" (func (param i32 i32) (result i32)))
"#;

const SOURCE_AND_RUN: &str = r#"
(core module $source (import "e" "memory" (memory 1)) (import "e" "source_slot" (global i32)) (data (global.get 0) "@@SOURCE@@"))
(core instance (instantiate $source (with "e" (instance $e))))
(func (export "run") (param "params-json" string) (result (result string (error string)))
  (canon lift (core func $e "run") (memory (core memory $e "memory")) (realloc (core func $e "cabi_realloc")))))
"#;

fn functions<'a>(interfaces: impl Iterator<Item = &'a Interface>) -> impl Iterator<Item = (&'a Interface, &'a Function)> {
    interfaces.flat_map(|interface| interface.functions.iter().map(move |function| (interface, function)))
}

/// Functions that stand in: a trap for each one that was not granted, a jump through the table for
/// each one that needs the memory.
fn push_substitutes(wat: &mut String, grants: &Grants, late: &[(&Interface, &Function)]) {
    let _ = writeln!(wat, "(core module $substitutes (table (export \"table\") {0} {0} funcref)", late.len());
    for (interface, function) in functions(INTERFACES.iter().filter(|interface| !interface.is_for(grants))) {
        let _ = writeln!(wat, "(func (export \"{}.{}\") {} unreachable)", interface.name, function.name, function.core);
    }
    for (place, (interface, function)) in late.iter().enumerate() {
        let _ = write!(wat, "(func (export \"{}.{}\") {}", interface.name, function.name, function.core);
        for parameter in 0..function.strings.unwrap_or_default() {
            let _ = write!(wat, " local.get {parameter}");
        }
        let _ = writeln!(wat, " i32.const {place} call_indirect {})", function.core);
    }
    wat.push_str(")\n(core instance $s (instantiate $substitutes))\n");
}

fn push_engine(wat: &mut String, grants: &Grants) {
    let mut with = String::new();
    for interface in INTERFACES {
        let _ = write!(with, "(with \"{}\" (instance", interface.import());
        for function in interface.functions {
            let name = format!("{}.{}", interface.name, function.name);
            if interface.is_for(grants) && function.strings.is_none() {
                let lower = format!("(core func ${name} (canon lower (func ${} \"{}\")))", interface.name, function.name);
                let _ = writeln!(wat, "{lower}");
                let _ = write!(with, " (export \"{}\" (func ${name}))", function.name);
            } else {
                let _ = write!(with, " (export \"{}\" (func $s \"{name}\"))", function.name);
            }
        }
        with.push_str("))\n");
    }
    let _ = writeln!(wat, "(core instance $e (instantiate $engine {with}))");
}

/// Fills the table.
fn push_late(wat: &mut String, late: &[(&Interface, &Function)]) {
    if late.is_empty() {
        return;
    }
    let (mut imports, mut elements, mut with) = (String::new(), String::new(), String::new());
    for (interface, function) in late {
        let name = format!("{}.{}", interface.name, function.name);
        let memory = "(memory (core memory $e \"memory\")) (realloc (core func $e \"cabi_realloc\"))";
        let _ = writeln!(wat, "(core func ${name} (canon lower (func ${} \"{}\") {memory}))", interface.name, function.name);
        let _ = write!(imports, "(import \"\" \"{name}\" (func ${name} {}))", function.core);
        let _ = write!(elements, " ${name}");
        let _ = write!(with, "(export \"{name}\" (func ${name}))");
    }
    let count = late.len();
    let _ = writeln!(
        wat,
        "(core module $fill (import \"\" \"table\" (table {count} {count} funcref)) {imports} (elem (i32.const 0) func{elements}))
(core instance (instantiate $fill (with \"\" (instance (export \"table\" (table $s \"table\")) {with}))))"
    );
}

#[cfg(test)]
mod tests;
