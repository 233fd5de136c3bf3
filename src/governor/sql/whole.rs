//! The relations that statements drop or empty whole. Nothing sees their rows one by one, so that
//! they can only be counted before.

use sqlparser::ast::{CascadeOption, Ident, ObjectName, ObjectType, Statement};

use super::{depth, effects, parse, split};
use crate::domain::Effect;

/// The relations of schema `agent` that statements drop or empty whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WholeLoss {
    /// Their names, as the catalogue has them.
    pub names: Vec<String>,
    /// True if the statements take it well that they are missing.
    pub if_exists: bool,
    /// True if tables that refer to them are emptied with them.
    pub cascades: bool,
}

/// The relations that the statements of a text drop or empty whole. `None` if there are none, and
/// if the text deletes anything else: then their rows are not all that it loses.
pub fn whole_loss(text: &str) -> Option<WholeLoss> {
    depth::on_own_stack(|| loss_of(text))
}

fn loss_of(text: &str) -> Option<WholeLoss> {
    let mut loss = WholeLoss { names: Vec::new(), if_exists: true, cascades: false };
    for statement in split(text) {
        let statement = parse(statement).ok()?;
        if effects::of(&statement) != Ok(Effect::Delete) {
            continue;
        }
        let names: Vec<&ObjectName> = match &statement {
            Statement::Truncate(truncate) if truncate.table_names.iter().all(|table| !table.only) => {
                loss.if_exists = false;
                loss.cascades |= matches!(truncate.cascade, Some(CascadeOption::Cascade));
                truncate.table_names.iter().map(|table| &table.name).collect()
            }
            Statement::Drop { object_type, if_exists, names, .. } if is_relation(object_type) => {
                loss.if_exists &= if_exists;
                names.iter().collect()
            }
            _ => return None,
        };
        for name in names {
            loss.names.push(in_agent(name)?);
        }
    }
    (!loss.names.is_empty()).then_some(loss)
}

fn is_relation(kind: &ObjectType) -> bool {
    use ObjectType as T;
    matches!(kind, T::Table | T::View | T::MaterializedView | T::Index | T::Sequence)
}

/// The name of a relation in schema `agent`; `None` if it names another schema.
fn in_agent(name: &ObjectName) -> Option<String> {
    let parts: Vec<_> = name.0.iter().map(|part| part.as_ident().map(folded)).collect::<Option<_>>()?;
    match &parts[..] {
        [relation] => Some(relation.clone()),
        [schema, relation] if schema == "agent" => Some(relation.clone()),
        _ => None,
    }
}

/// The name as Postgres reads it.
fn folded(name: &Ident) -> String {
    if name.quote_style.is_some() { name.value.clone() } else { name.value.to_ascii_lowercase() }
}
