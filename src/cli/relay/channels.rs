//! `relay loopback`: speaks over the test channel as a contact would, and shows what its phones
//! hold.

use clap::Subcommand;
use serde_json::json;

use super::told::{Told, ToldArrival, ToldPhone};
use super::{RelayCliError, RelayClient};
use crate::cli::Screen;
use crate::cli::screen::time;

/// The commands on the test channel.
#[derive(Debug, Subcommand)]
pub(super) enum LoopbackCommand {
    /// Say something as a contact
    Say {
        /// The contact's address, like +491701234567
        #[arg(allow_hyphen_values = true)]
        address: String,
        /// The words that they say
        #[arg(allow_hyphen_values = true)]
        text: String,
    },
    /// Show what a contact's phone holds
    Show {
        /// The contact's address, like +491701234567
        address: String,
    },
}

pub(super) async fn loopback(ask: LoopbackCommand, client: &RelayClient, screen: &mut Screen<'_>) -> Result<(), RelayCliError> {
    match ask {
        LoopbackCommand::Say { address, text } => {
            let body = json!({ "address": address, "text": text });
            let answer: Told<ToldArrival> = client.post(&["loopback"], &body).await?;
            if screen.json(&answer.whole)? {
                return Ok(());
            }
            screen.line(match answer.said.instance {
                Some(id) => format!("Instance {id} has it."),
                None => format!("{address} has no open instance: it was counted, and not kept."),
            })?;
        }
        LoopbackCommand::Show { address } => {
            let phone: Told<ToldPhone> = client.get(&["loopback"], &[("address", address.clone())]).await?;
            if screen.json(&phone.whole)? {
                return Ok(());
            }
            if phone.said.messages.is_empty() {
                screen.line(format!("The phone {address} holds nothing."))?;
            }
            if let Some(waits) = &phone.said.waits {
                screen.line(format!("A message to it waits: {}", waits.words()))?;
            }
            for message in &phone.said.messages {
                let who = if message.mine { "them" } else { "agent" };
                screen.line(format!("{}  {who}", time(message.at)))?;
                for line in message.text.lines() {
                    screen.line(format!("    {line}"))?;
                }
            }
        }
    }
    Ok(())
}
