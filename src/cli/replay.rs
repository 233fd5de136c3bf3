//! `level3 replay`: whether everything is what was recorded, and what was recorded of a turn.

use std::io;

use clap::Args;

use super::client::Client;
use super::{CliError, Screen};
use crate::facts::Event;
use crate::wire::api::{ReplayCheck, ReplayedEvent, ReplayedTurn};

/// The ways to replay.
#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
pub struct ReplayCommand {
    /// Rebuild every table that follows from events, and compare; check that no event was changed
    /// or taken out
    #[arg(long)]
    check: bool,
    /// Show a turn as it was recorded: answers, calls, verdicts, operations, outcomes
    #[arg(long, value_name = "N")]
    turn: Option<i64>,
}

pub(super) async fn run(ask: ReplayCommand, client: &Client, screen: &mut Screen<'_>) -> Result<(), CliError> {
    match ask.turn {
        Some(turn) => {
            let replayed: ReplayedTurn<Event> = client.get(&["replay", "turns", &turn.to_string()], &[]).await?;
            if !screen.json(&replayed)? {
                print_turn(&replayed, screen)?;
            }
            Ok(())
        }
        None => check(client, screen).await,
    }
}

async fn check(client: &Client, screen: &mut Screen<'_>) -> Result<(), CliError> {
    let found: ReplayCheck = client.get(&["replay", "check"], &[]).await?;
    if !screen.json(&found)? {
        print_check(&found, screen)?;
    }
    if found.clean {
        return Ok(());
    }
    Err(CliError::Failed("what the server works with is not what was recorded".to_owned()))
}

fn print_check(found: &ReplayCheck, screen: &mut Screen<'_>) -> io::Result<()> {
    if found.clean {
        return screen.line(format!("{} events replayed: none was changed, and every table is what they say.", found.events));
    }
    screen.line(format!("{} events replayed.", found.events))?;
    let line = |link: &crate::wire::api::BrokenLink| {
        format!("conversation {}, event {} {}", link.conversation, link.sequence, link.what)
    };
    screen.part("Events", &found.broken.iter().map(line).collect::<Vec<_>>().join("\n"))?;
    let line = |row: &crate::wire::api::RowDifference| {
        let place = match &row.column {
            Some(column) => format!("{} {}, {column}", row.table, row.row),
            None => format!("{} {}", row.table, row.row),
        };
        let said = |value: &Option<String>| value.as_deref().map_or("nothing".to_owned(), |text| text.replace('\n', "\\n"));
        format!("{place}: is {}; events say {}", said(&row.live), said(&row.events))
    };
    screen.part("Tables", &found.differences.iter().map(line).collect::<Vec<_>>().join("\n"))?;
    if found.more { screen.line("There are more differences than these.") } else { Ok(()) }
}

fn print_turn(turn: &ReplayedTurn<Event>, screen: &mut Screen<'_>) -> io::Result<()> {
    screen.line(format!("Turn {}", turn.turn))?;
    for ReplayedEvent { sequence, at, event, .. } in &turn.events {
        let (what, text) = event.headline();
        screen.part(&format!("{sequence}  {}  {what}", at.format("%Y-%m-%d %H:%M:%S%.3f UTC")), &text)?;
        if text.trim().is_empty() {
            screen.line("")?;
            screen.line(format!("{sequence}  {}  {what}", at.format("%Y-%m-%d %H:%M:%S%.3f UTC")))?;
        }
    }
    Ok(())
}
