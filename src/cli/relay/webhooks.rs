//! `relay webhooks`: addresses of other programs that hear of each change of state.

use clap::Subcommand;
use serde_json::json;

use super::told::{Told, ToldTrial, ToldWebhook, ToldWebhooks};
use super::{RelayCliError, RelayClient};
use crate::cli::Screen;
use crate::cli::screen::time;

/// The commands on webhooks.
#[derive(Debug, Subcommand)]
pub(super) enum WebhooksCommand {
    /// List them
    List,
    /// Add one; prints the key of its signatures, once
    Add {
        /// Its address, like https://example.org/relay
        url: String,
        /// Send the reason of each change along, too; it may be in words of the agent
        #[arg(long)]
        with_text: bool,
    },
    /// Remove one
    Remove {
        /// Its id
        #[arg(value_parser = id)]
        id: i64,
    },
    /// Send one something to see whether it takes it
    Test {
        /// Its id
        #[arg(value_parser = id)]
        id: i64,
    },
}

fn id(text: &str) -> Result<i64, String> {
    let expected = || "expected the id of a webhook, a number like 1; relay webhooks list shows them".to_owned();
    text.parse().ok().filter(|id| *id > 0).ok_or_else(expected)
}

pub(super) async fn run(ask: WebhooksCommand, client: &RelayClient, screen: &mut Screen<'_>) -> Result<(), RelayCliError> {
    match ask {
        WebhooksCommand::List => list(client, screen).await?,
        WebhooksCommand::Add { url, with_text } => {
            let body = json!({ "url": url, "with_text": with_text });
            let Told { whole, said: added } = client.post::<ToldWebhook>(&["webhooks"], &body).await?;
            if !screen.json(&whole)? {
                screen.line(format!("Webhook {}: {}", added.id, added.url))?;
                screen.line("The key of its signatures (X-Relay-Signature), which is not shown again:")?;
                screen.line(added.secret.as_deref().unwrap_or_default())?;
            }
        }
        WebhooksCommand::Remove { id } => {
            let removed = client.delete(&["webhooks", &id.to_string()]).await?;
            if !screen.json(&removed.whole)? {
                screen.line(format!("Removed webhook {id}."))?;
            }
        }
        WebhooksCommand::Test { id } => {
            let Told { whole, said: tested } = client.order::<ToldTrial>(&["webhooks", &id.to_string(), "test"]).await?;
            let printed = screen.json(&whole)?;
            let status = tested.status.map(|status| format!(" ({status})")).unwrap_or_default();
            if !tested.ok {
                let why = tested.error.unwrap_or_else(|| "it gave no reason".into());
                return Err(RelayCliError::Refused(format!("webhook {id} did not take it{status}: {why}")));
            }
            if !printed {
                screen.line(format!("Webhook {id} took it{status}."))?;
            }
        }
    }
    Ok(())
}

async fn list(client: &RelayClient, screen: &mut Screen<'_>) -> Result<(), RelayCliError> {
    let Told { whole, said: answer } = client.get::<ToldWebhooks>(&["webhooks"], &[]).await?;
    if screen.json(&whole)? {
        return Ok(());
    }
    let row = |webhook: &ToldWebhook| {
        let text = if webhook.with_text { "with text" } else { "" };
        [
            webhook.id.to_string(),
            webhook.url.clone(),
            text.to_owned(),
            time(webhook.created_at),
            webhook.waiting.to_string(),
            webhook.failed.to_string(),
            webhook.last_error.clone().unwrap_or_default(),
        ]
    };
    let rows: Vec<_> = answer.webhooks.iter().map(row).collect();
    let none = "There are no webhooks. Add one: relay webhooks add https://example.org/relay";
    Ok(screen.table(["ID", "ADDRESS", "", "ADDED", "WAITING", "GIVEN UP", "LAST ERROR"], &rows, none)?)
}
