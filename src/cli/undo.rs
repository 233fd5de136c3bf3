//! `level3 undo`: what calls deleted or overwrote, and putting it back.

use clap::Args;

use super::client::{Client, NOTHING};
use super::screen::time;
use super::{CliError, Screen};
use crate::wire::api::{KeptCall, KeptCalls, Undone};

/// Which call.
#[derive(Debug, Args)]
pub struct UndoCommand {
    /// The number of the call; without it, those that can be undone are listed
    call: Option<i64>,
}

pub(super) async fn run(ask: UndoCommand, client: &Client, screen: &mut Screen<'_>) -> Result<(), CliError> {
    let Some(call) = ask.call else { return list(client, screen).await };
    let undone: Undone = client.post(&["calls", &call.to_string(), "undo"], NOTHING).await?;
    if !screen.json(&undone)? {
        let rows = if undone.rows == 1 { "1 row".to_owned() } else { format!("{} rows", undone.rows) };
        screen.line(format!("Call {call} is undone: {rows} put back."))?;
    }
    Ok(())
}

async fn list(client: &Client, screen: &mut Screen<'_>) -> Result<(), CliError> {
    let answer: KeptCalls = client.get(&["kept"], &[]).await?;
    if !screen.json(&answer)? {
        let row = |kept: &KeptCall| {
            [kept.call.to_string(), time(kept.at), kept.tool.clone(), kept.rows.to_string(), kept.tables.join(", ")]
        };
        let rows: Vec<_> = answer.kept.iter().map(row).collect();
        screen.table(["CALL", "WHEN", "TOOL", "ROWS", "TABLES"], &rows, "Nothing that was deleted or overwritten is kept.")?;
    }
    Ok(())
}
