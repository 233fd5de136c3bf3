//! The effect of each kind of statement, without what stands inside it.

use std::ops::ControlFlow;

use sqlparser::ast::{
    AlterTableOperation, AlterType, ArrayElemTypeDef, BinaryOperator, CommentObject, CreateFunction, DataType, Delete, Expr,
    MergeAction, ObjectType, Query, Statement, TableObject, UnaryOperator, UtilityOption, Visit, Visitor,
};

use super::functions;
use crate::domain::Effect;

/// The effect of a statement.
///
/// # Errors
/// Why it cannot be told, as a part of a sentence.
pub(super) fn of(statement: &Statement) -> Result<Effect, String> {
    match statement {
        Statement::Query(_) | Statement::ShowVariable { .. } => Ok(Effect::Read),
        Statement::Insert(insert) => match insert.table {
            TableObject::TableName(_) => Ok(Effect::Write),
            _ => Err("it writes into something that is not a table".to_owned()),
        },
        Statement::Update(_) => Ok(Effect::Write),
        Statement::Delete(delete) if narrowed(delete) => Ok(Effect::Write),
        Statement::Delete(_) | Statement::Truncate(_) => Ok(Effect::Delete),
        Statement::Merge(merge) => {
            let deletes = merge.clauses.iter().any(|clause| matches!(clause.action, MergeAction::Delete { .. }));
            Ok(if deletes { Effect::Delete } else { Effect::Write })
        }
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
        Statement::CreateFunction(function) => function_made(function),
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

/// True for an EXPLAIN that carries nothing out. An option called ANALYZE counts as one that does, whatever its value.
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

/// What a statement names that the way through it does not show.
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

/// A function is a definition, unless it could later be called by a statement that does not seem to: under the name of a known function, or
/// as if it were a column (`n.name` calls `name(n)` where `n` is a row).
fn function_made(function: &CreateFunction) -> Result<Effect, String> {
    if functions::shadows(&function.name) {
        return Err(format!("the function `{}` could be taken for the known one of this name", function.name));
    }
    if function.args.iter().flatten().any(|argument| !built_in(&argument.data_type)) {
        return Err("a function over rows or own types can be called without being seen in a statement".to_owned());
    }
    Ok(Effect::Define)
}

fn built_in(of: &DataType) -> bool {
    match of {
        DataType::Custom(..) | DataType::Table(_) | DataType::Unspecified => false,
        DataType::Array(element) => match element {
            ArrayElemTypeDef::None | ArrayElemTypeDef::Qualified(..) => false,
            ArrayElemTypeDef::AngleBracket(of) | ArrayElemTypeDef::SquareBracket(of, _) | ArrayElemTypeDef::Parenthesis(of) => {
                built_in(of)
            }
        },
        _ => true,
    }
}

/// The effect of one part of an ALTER TABLE; `None` where it is not known.
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

/// True when a DELETE has a condition that leaves some rows out, as far as that can be seen.
fn narrowed(delete: &Delete) -> bool {
    delete.selection.as_ref().is_some_and(narrows)
}

fn narrows(condition: &Expr) -> bool {
    match condition {
        Expr::Nested(inner) => narrows(inner),
        Expr::UnaryOp { op: UnaryOperator::Not, expr } => narrows(expr),
        Expr::BinaryOp { left, op: BinaryOperator::Or, right } => narrows(left) && narrows(right),
        Expr::BinaryOp { left, op: BinaryOperator::And, right } => narrows(left) || narrows(right),
        Expr::BinaryOp { left, right, .. } if left == right => false,
        other => mentions_a_column(other),
    }
}

/// Columns inside a subquery may be those of another table, and do not count.
fn mentions_a_column(expr: &Expr) -> bool {
    #[derive(Default)]
    struct Columns {
        depth: usize,
        found: bool,
    }
    impl Visitor for Columns {
        type Break = ();
        fn pre_visit_query(&mut self, _: &Query) -> ControlFlow<()> {
            self.depth += 1;
            ControlFlow::Continue(())
        }
        fn post_visit_query(&mut self, _: &Query) -> ControlFlow<()> {
            self.depth -= 1;
            ControlFlow::Continue(())
        }
        fn pre_visit_expr(&mut self, expr: &Expr) -> ControlFlow<()> {
            self.found |= self.depth == 0 && matches!(expr, Expr::Identifier(_) | Expr::CompoundIdentifier(_));
            ControlFlow::Continue(())
        }
    }
    let mut columns = Columns::default();
    let _ = expr.visit(&mut columns);
    columns.found
}
