//! `relay loopback`: speaks over the test channel as a contact would, and shows what its phones hold.

use clap::Subcommand;

use super::told::{OrderedWords, ToldArrival, ToldPhone};
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
        /// What they say
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
            let say = OrderedWords { address, text, id: None };
            let answer: ToldArrival = client.post(&["loopback"], &say).await?;
            if screen.json(&answer)? {
                return Ok(());
            }
            screen.line(match answer.instance {
                Some(id) => format!("Instance {id} has it."),
                None => format!("{} has no open instance: it was counted, and not kept.", say.address),
            })?;
        }
        LoopbackCommand::Show { address } => {
            let phone: ToldPhone = client.get(&["loopback"], &[("address", address.clone())]).await?;
            if screen.json(&phone)? {
                return Ok(());
            }
            if phone.messages.is_empty() {
                screen.line(format!("The phone {address} holds nothing."))?;
            }
            for message in &phone.messages {
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
