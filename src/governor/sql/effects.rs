//! The effect of each kind of statement, without the statements inside it.

use sqlparser::ast::{AlterTableOperation, AlterType, CommentObject, ObjectType, Statement, UtilityOption};

use crate::domain::Effect;

/// The effect of a statement.
///
/// # Errors
/// Why nobody can tell it, as a part of a sentence.
pub(super) fn of(statement: &Statement) -> Result<Effect, String> {
    match statement {
        Statement::Query(_) | Statement::ShowVariable { .. } => Ok(Effect::Read),
        // Only the run shows how many rows these lose.
        Statement::Insert(_) | Statement::Update(_) | Statement::Delete(_) | Statement::Merge(_) => Ok(Effect::Write),
        Statement::Truncate(_) => Ok(Effect::Delete),
        Statement::CreateTable(_)
        | Statement::CreateView(_)
        | Statement::CreateIndex(_)
        | Statement::CreateSequence { .. }
        | Statement::CreateType { .. }
        | Statement::CreateDomain(_)
        | Statement::CreateSchema { .. }
        | Statement::AlterView { .. }
        | Statement::AlterIndex { .. }
        | Statement::AlterType(AlterType { .. }) => Ok(Effect::Define),
        Statement::CreateFunction(_) => Err("from then on, other statements may call what it says".to_owned()),
        Statement::CreateTrigger(_) => Err("from then on, other statements do what the trigger's function says".to_owned()),
        Statement::Comment { object_type, .. } => match object_type {
            CommentObject::Database | CommentObject::Role | CommentObject::User | CommentObject::Extension => {
                Err(unknown(statement))
            }
            _ => Ok(Effect::Define),
        },
        Statement::AlterTable(alter) => {
            let effects = alter.operations.iter().map(altered).collect::<Option<Vec<_>>>().ok_or_else(|| unknown(statement))?;
            Ok(if effects.contains(&Effect::Delete) { Effect::Delete } else { Effect::Define })
        }
        Statement::Drop {
            object_type:
                ObjectType::Table
                | ObjectType::View
                | ObjectType::MaterializedView
                | ObjectType::Index
                | ObjectType::Schema
                | ObjectType::Sequence
                | ObjectType::Type
                | ObjectType::Collation,
            ..
        } => Ok(Effect::Delete),
        Statement::DropFunction(_) | Statement::DropDomain(_) | Statement::DropTrigger(_) => Ok(Effect::Delete),
        _ => Err(unknown(statement)),
    }
}

/// True for an EXPLAIN that runs nothing. An option called ANALYZE counts as running, whatever its
/// value.
pub(super) fn only_explained(statement: &Statement) -> bool {
    let Statement::Explain { analyze, options, .. } = statement else { return false };
    let analyzes = |option: &UtilityOption| option.name.value.eq_ignore_ascii_case("analyze");
    !analyze && !options.iter().flatten().any(analyzes)
}

fn unknown(statement: &Statement) -> String {
    let text = statement.to_string();
    let words: Vec<_> = text.split_whitespace().take(2).collect();
    format!("statements like `{} …` are not among those known to be harmless", words.join(" "))
}

/// The names in a statement that the way through it does not show.
pub(super) fn named(statement: &Statement) -> Vec<String> {
    match statement {
        Statement::Comment { object_name, .. } => vec![object_name.to_string()],
        Statement::CreateFunction(function) => vec![function.name.to_string()],
        Statement::CreateType { name, .. } | Statement::CreateSequence { name, .. } => vec![name.to_string()],
        Statement::CreateDomain(domain) => vec![domain.name.to_string()],
        Statement::CreateIndex(index) => index.name.iter().map(ToString::to_string).collect(),
        Statement::AlterType(alter) => vec![alter.name.to_string()],
        Statement::Drop { names, .. } => names.iter().map(ToString::to_string).collect(),
        Statement::DropFunction(drop) => drop.func_desc.iter().map(|function| function.name.to_string()).collect(),
        Statement::DropDomain(drop) => vec![drop.name.to_string()],
        _ => Vec::new(),
    }
}

/// The effect of one part of an ALTER TABLE; `None` if it is unknown.
fn altered(operation: &AlterTableOperation) -> Option<Effect> {
    use AlterTableOperation as Op;
    match operation {
        Op::DropColumn { .. } => Some(Effect::Delete),
        Op::AddConstraint { .. }
        | Op::AddColumn { .. }
        | Op::DropConstraint { .. }
        | Op::DropPrimaryKey { .. }
        | Op::DropForeignKey { .. }
        | Op::RenameColumn { .. }
        | Op::RenameTable { .. }
        | Op::RenameConstraint { .. }
        | Op::AlterColumn { .. }
        | Op::ValidateConstraint { .. } => Some(Effect::Define),
        _ => None,
    }
}
