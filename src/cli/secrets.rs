//! `level3 secret`: the values come from a prompt or from standard input, never from an argument,
//! which other users of the machine and the shell's history would see.

use std::io::{self, IsTerminal, Read};

use clap::Subcommand;
use secrecy::zeroize::Zeroizing;
use serde_json::json;

use super::client::Client;
use super::screen::time;
use super::{CliError, Screen};
use crate::wire::api;

/// More than any secret has; what is longer is cut and then refused for its length.
const MAX_READ: u64 = 64 * 1024;

/// The commands on secrets.
#[derive(Debug, Subcommand)]
pub enum SecretCommand {
    /// Set one; its value is asked for, or read from standard input
    Set {
        /// Its name, like API_KEY
        name: String,
    },
    /// List their names and who may use them; values are never shown
    List,
    /// Remove one
    Remove {
        /// Its name
        name: String,
    },
}

pub(super) async fn run(ask: SecretCommand, client: &Client, screen: &mut Screen<'_>) -> Result<(), CliError> {
    match ask {
        SecretCommand::Set { name } => {
            let value = value(&name).map_err(CliError::Value)?;
            let set: api::Secret = client.put(&["secrets", &name], &json!({ "value": *value })).await?;
            if !screen.json(&set)? {
                screen.line(format!(
                    "Set {}. Capabilities that are granted it send it to the hosts they are bound to.",
                    set.name
                ))?;
            }
        }
        SecretCommand::List => {
            let answer: api::Secrets = client.get(&["secrets"], &[]).await?;
            if !screen.json(&answer)? {
                let row = |secret: &api::Secret| {
                    let note = if secret.readable { "" } else { "not readable: restore secret-key, or set it anew" };
                    [secret.name.clone(), time(secret.updated_at), secret.used_by.join(", "), note.to_owned()]
                };
                let rows: Vec<_> = answer.secrets.iter().map(row).collect();
                screen.table(["NAME", "SET", "USED BY", ""], &rows, "There are no secrets. Set one: level3 secret set NAME")?;
            }
        }
        SecretCommand::Remove { name } => {
            let removed: api::RemovedSecret = client.delete(&["secrets", &name]).await?;
            if !screen.json(&removed)? {
                screen.line(format!("Removed {name}."))?;
            }
        }
    }
    Ok(())
}

fn value(name: &str) -> io::Result<Zeroizing<String>> {
    if io::stdin().is_terminal() {
        return rpassword::prompt_password(format!("Value of {name} (not shown): ")).map(Zeroizing::new);
    }
    let mut value = Zeroizing::new(String::new());
    io::stdin().lock().take(MAX_READ).read_to_string(&mut value)?;
    Ok(value)
}
