//! The effects of a statement, in sentences.

use std::fmt::Display;
use std::ops::ControlFlow;

use sqlparser::ast::{AlterTableOperation, Delete, FromTable, MergeAction, Statement, Update, Visit, Visitor};

use super::{Look, effects};

/// Bytes of a condition in a sentence; the whole statement stands beside the sentences anyway.
const SHOWN_BYTES: usize = 200;
/// No row of these is kept.
const LOST: &str = "It cannot be undone.";

/// At least one sentence for the statement, and one for each inside it that changes something.
pub(super) fn sentences(statement: &Statement) -> Vec<String> {
    struct Sentences(Vec<String>);
    impl Visitor for Sentences {
        type Break = ();
        fn pre_visit_statement(&mut self, statement: &Statement) -> ControlFlow<()> {
            self.0.extend(of(statement));
            // An explained statement does not run.
            if effects::only_explained(statement) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        }
    }
    let mut sentences = Sentences(Vec::new());
    let _ = statement.visit(&mut sentences);
    sentences.0
}

fn of(statement: &Statement) -> Vec<String> {
    let one = |sentence: String| vec![sentence];
    match statement {
        Statement::Query(_) => one(match &Look::at(statement).objects[..] {
            [] => "Computes something.".to_owned(),
            objects => format!("Reads {}.", list(objects)),
        }),
        Statement::ShowVariable { .. } => one("Shows a setting.".to_owned()),
        Statement::Explain { .. } if effects::only_explained(statement) => {
            one("Shows how a statement would be carried out.".to_owned())
        }
        Statement::Explain { .. } => one("Carries a statement out and shows how:".to_owned()),
        Statement::Insert(insert) => one(format!("Adds rows to `{}`.", insert.table)),
        Statement::Update(update) => one(updated(update)),
        Statement::Delete(delete) => one(deleted(delete)),
        Statement::Merge(merge) => {
            let deletes = merge.clauses.iter().any(|clause| matches!(clause.action, MergeAction::Delete { .. }));
            let verb = if deletes { "Adds, changes and deletes rows of" } else { "Adds and changes rows of" };
            one(format!("{verb} `{}`, following `{}`.", merge.table, merge.source))
        }
        Statement::Truncate(truncate) => {
            let tables: Vec<_> = truncate.table_names.iter().map(|table| table.name.to_string()).collect();
            let mut told = one(format!("Deletes all rows of {}.", list(&tables)));
            if truncate.cascade.is_some() {
                told.push("Rows of tables that refer to it may go with them.".to_owned());
            }
            told.push(LOST.to_owned());
            told
        }
        Statement::Drop { object_type, if_exists, names, cascade, .. } => {
            dropped(&object_type.to_string(), names, *if_exists, *cascade)
        }
        Statement::DropFunction(drop) => {
            let names: Vec<_> = drop.func_desc.iter().map(|function| &function.name).collect();
            dropped("FUNCTION", &names, drop.if_exists, false)
        }
        Statement::DropDomain(drop) => dropped("DOMAIN", &[&drop.name], drop.if_exists, false),
        Statement::DropTrigger(drop) => dropped("TRIGGER", &[&drop.trigger_name], drop.if_exists, false),
        Statement::AlterTable(alter) => altered(&alter.name, &alter.operations),
        Statement::CreateTable(table) => one(made("table", &table.name, table.or_replace)),
        Statement::CreateView(view) => one(made("view", &view.name, view.or_replace)),
        Statement::CreateFunction(function) => one(made("function", &function.name, function.or_replace)),
        Statement::CreateSequence { name, .. } => one(made("sequence", name, false)),
        Statement::CreateType { name, .. } => one(made("type", name, false)),
        Statement::CreateDomain(domain) => one(made("domain", &domain.name, false)),
        Statement::CreateTrigger(trigger) => one(made("trigger", &trigger.name, trigger.or_replace)),
        Statement::CreateIndex(index) => one(format!("Makes an index on `{}`.", index.table_name)),
        Statement::Comment { object_name, .. } => one(format!("Describes `{object_name}` in words.")),
        other => one(format!("Carries out: {}", cut(&other.to_string()))),
    }
}

fn updated(update: &Update) -> String {
    let columns: Vec<_> = update.assignments.iter().map(|assignment| assignment.target.to_string()).collect();
    let (columns, table) = (list(&columns), &update.table);
    match &update.selection {
        Some(condition) => format!("Changes {columns} in the rows of `{table}` where {}.", cut(&condition.to_string())),
        None => format!("Changes {columns} in every row of `{table}`."),
    }
}

/// If the run loses many rows, it says how many, and whether they are kept.
fn deleted(delete: &Delete) -> String {
    let (FromTable::WithFromKeyword(tables) | FromTable::WithoutKeyword(tables)) = &delete.from;
    let tables: Vec<_> = tables.iter().map(ToString::to_string).collect();
    match &delete.selection {
        Some(condition) => format!("Deletes the rows of {} where {}.", list(&tables), cut(&condition.to_string())),
        None => format!("Deletes all rows of {}.", list(&tables)),
    }
}

fn dropped<T: Display>(kind: &str, names: &[T], if_exists: bool, cascade: bool) -> Vec<String> {
    let kind = kind.to_ascii_lowercase();
    let rows = match kind.as_str() {
        "table" => " with all its rows",
        "schema" => " with everything in it",
        _ => "",
    };
    let there = if if_exists { ", if it is there" } else { "" };
    let mut told: Vec<_> = names.iter().map(|name| format!("Drops the {kind} `{name}`{rows}{there}.")).collect();
    if cascade {
        told.push("Everything that depends on it is dropped too.".to_owned());
    }
    if !rows.is_empty() {
        told.push(LOST.to_owned());
    }
    told
}

fn altered(table: &impl Display, operations: &[AlterTableOperation]) -> Vec<String> {
    let of = |operation: &AlterTableOperation| match operation {
        AlterTableOperation::DropColumn { column_names, .. } => {
            let columns: Vec<_> = column_names.iter().map(ToString::to_string).collect();
            format!("Drops {} of `{table}` with all values in it. {LOST}", list(&columns))
        }
        other => format!("Changes `{table}`: {}.", cut(&other.to_string())),
    };
    operations.iter().map(of).collect()
}

fn made(kind: &str, name: &impl Display, replaces: bool) -> String {
    let verb = if replaces { "Makes or replaces" } else { "Makes" };
    format!("{verb} the {kind} `{name}`.")
}

fn list(names: &[String]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

fn cut(text: &str) -> String {
    if text.len() <= SHOWN_BYTES { text.to_owned() } else { format!("{} …", &text[..text.floor_char_boundary(SHOWN_BYTES)]) }
}
