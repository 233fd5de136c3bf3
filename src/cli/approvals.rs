//! `level3 approvals`: what waits for a person, and the decision.

use std::io;

use clap::Subcommand;

use super::client::Client;
use super::screen::time;
use super::{CliError, Screen};
use crate::domain::{ApprovalId, ApprovalState};
use crate::wire::api::{self, Approval, Approve, Deny};

/// The commands on approvals.
#[derive(Debug, Subcommand)]
pub enum ApprovalsCommand {
    /// List what waits for you
    List {
        /// Those that were decided, too
        #[arg(long)]
        all: bool,
    },
    /// Show everything about one: what would happen, why it is asked, the exact arguments, source
    /// and differences
    Show {
        /// Its number
        id: i64,
    },
    /// Allow it, once
    Approve {
        /// Its number
        id: i64,
        /// And ask no more about calls of this capability, as long as it gets no wider grants
        #[arg(long)]
        always: bool,
    },
    /// Refuse it
    Deny {
        /// Its number
        id: i64,
        /// Why, for the model
        #[arg(long, value_name = "TEXT")]
        reason: Option<String>,
    },
}

pub(super) async fn run(ask: ApprovalsCommand, client: &Client, screen: &mut Screen<'_>) -> Result<(), CliError> {
    match ask {
        ApprovalsCommand::List { all } => {
            let query = if all { Vec::new() } else { vec![("state", ApprovalState::Pending.to_string())] };
            let answer: api::Approvals = client.get(&["approvals"], &query).await?;
            if !screen.json(&answer)? {
                let row = |approval: &Approval| {
                    let what = approval.shown.what.first().unwrap_or(&approval.shown.tool).clone();
                    let [id, state] = [approval.id.to_string(), approval.state.to_string()];
                    [id, state, time(approval.expires_at), approval.shown.tool.clone(), what]
                };
                let rows: Vec<_> = answer.approvals.iter().map(row).collect();
                screen.table(["ID", "STATE", "EXPIRES", "TOOL", "WHAT"], &rows, "Nothing waits for you.")?;
            }
        }
        ApprovalsCommand::Show { id } => {
            let approval = show(client, ApprovalId(id)).await?;
            if !screen.json(&approval)? {
                print(&approval, screen)?;
            }
        }
        ApprovalsCommand::Approve { id, always } => {
            // A person who means more than once is not to believe that they said so.
            if always && !show(client, ApprovalId(id)).await?.shown.can_always {
                return Err(CliError::Usage(format!(
                    "approval {id} can be given once only, so nothing was decided: approve it without --always"
                )));
            }
            let approval: Approval = client.post(&["approvals", &id.to_string(), "approve"], Some(&Approve { always })).await?;
            decided(&approval, screen)?;
        }
        ApprovalsCommand::Deny { id, reason } => {
            let approval: Approval = client.post(&["approvals", &id.to_string(), "deny"], Some(&Deny { reason })).await?;
            decided(&approval, screen)?;
        }
    }
    Ok(())
}

/// Reads one approval.
pub(super) async fn show(client: &Client, id: ApprovalId) -> Result<Approval, CliError> {
    client.get(&["approvals", &id.to_string()], &[]).await
}

fn decided(approval: &Approval, screen: &mut Screen<'_>) -> io::Result<()> {
    if screen.json(approval)? {
        return Ok(());
    }
    let then = if approval.shown.aborts && approval.state == ApprovalState::Denied { "is aborted" } else { "goes on" };
    screen.line(format!("Approval {} is {}; turn {} {then}.", approval.id, approval.state, approval.turn))
}

/// Prints everything a person has to see before deciding, the same as the page shows.
pub(super) fn print(approval: &Approval, screen: &mut Screen<'_>) -> io::Result<()> {
    let shown = &approval.shown;
    screen.line(format!("Approval {}: {} ({})", approval.id, shown.tool, approval.state))?;
    screen.line(format!(
        "Asked {}, in conversation {}, turn {}.",
        time(approval.created_at),
        approval.conversation,
        approval.turn
    ))?;
    match approval.decided_at {
        None => screen.line(format!("Counts as refused after {}.", time(approval.expires_at)))?,
        Some(at) => {
            let channel = approval.channel.map(|channel| format!(" ({channel})")).unwrap_or_default();
            screen.line(format!("Decided {}{channel}.", time(at)))?;
        }
    }
    screen.part("Reason given", approval.reason.as_deref().unwrap_or_default())?;
    screen.part("What would happen", &shown.what.join("\n"))?;
    screen.part("Why it is asked", &shown.why)?;
    if let Some(capability) = &shown.capability {
        let grants = if capability.grants_in_words.is_empty() {
            "Nothing outside its sandbox.".to_owned()
        } else {
            capability.grants_in_words.join("\n")
        };
        screen.part("It may then", &grants)?;
        screen.part("Grants as written", &format!("{:#}", capability.grants))?;
        screen.part(&format!("Source ({})", capability.language), &capability.source)?;
        if let Some(replaces) = capability.replaces {
            let diff = capability.diff.as_deref().filter(|diff| !diff.is_empty()).unwrap_or("The source is the same.");
            screen.part(&format!("Difference to version {replaces}, which it replaces"), diff)?;
        }
        let differences: Vec<_> = capability.differences.iter().map(ToString::to_string).collect();
        screen.part("Recorded calls that it answers otherwise", &differences.join("\n"))?;
    }
    screen.part("Exact arguments", &format!("{:#}", shown.arguments))?;
    if approval.state == ApprovalState::Pending {
        let always = if shown.can_always { " [--always]" } else { "" };
        screen.line("")?;
        screen.line(format!(
            "level3 approvals approve {id}{always}, or: level3 approvals deny {id} --reason \"…\"",
            id = approval.id
        ))?;
    }
    Ok(())
}
