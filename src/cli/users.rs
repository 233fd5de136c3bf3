//! `level3 user`: who has an account on the server. Passwords come from a prompt or from standard
//! input, never from an argument, which other users of the machine and the shell's history would
//! see.

use std::io::{self, IsTerminal, Read, Write};

use clap::Subcommand;
use secrecy::zeroize::Zeroizing;
use serde_json::json;

use super::client::Client;
use super::screen::time;
use super::{CliError, Screen};
use crate::domain::{Tier, UserRole};
use crate::wire::api::{ChangeUser, Invited, ListedUser, MadeToken, RemovedUser, RevokedTokens, UserInfo, Users};

/// More than any password has.
const MAX_READ: u64 = 4 * 1024;

/// The commands on users.
#[derive(Debug, Subcommand)]
pub enum UserCommand {
    /// Add a member; prints a link with which they set their password, once, within 24 hours
    Add {
        /// The name with which they will sign in
        name: String,
        /// The name by which they are called
        #[arg(long)]
        display_name: Option<String>,
        /// free or paid
        #[arg(long)]
        tier: Option<Tier>,
        /// Their time zone, like Europe/Berlin
        #[arg(long)]
        zone: Option<String>,
    },
    /// List users with numbers about them
    List,
    /// Set a password; it is asked for, or read from standard input
    Password {
        /// The user
        name: String,
    },
    /// Print a new link for a user who has lost theirs, or their password
    Invite {
        /// The user
        name: String,
    },
    /// Say what a user is; there is one owner, number 1, so this changes nobody
    Role {
        /// The user
        name: String,
        /// owner or member
        role: UserRole,
    },
    /// Set how much a user may use
    Tier {
        /// The user
        name: String,
        /// free or paid
        tier: Tier,
    },
    /// Set a user's time zone
    Zone {
        /// The user
        name: String,
        /// Like Europe/Berlin
        zone: String,
    },
    /// Let a user in no more; what is theirs stays
    Disable {
        /// The user
        name: String,
    },
    /// Let a user in again
    Enable {
        /// The user
        name: String,
    },
    /// Remove a user with everything that is theirs; asks for the name again
    Remove {
        /// The user
        name: String,
        /// The name again, where nobody can be asked
        #[arg(long)]
        confirm: Option<String>,
    },
    /// Make a token for a user's programs, which is shown once; or take all of theirs away
    Token {
        /// The user
        name: String,
        /// Take all tokens of theirs away
        #[arg(long)]
        revoke: bool,
    },
}

pub(super) async fn run(ask: UserCommand, client: &Client, screen: &mut Screen<'_>) -> Result<(), CliError> {
    match ask {
        UserCommand::Add { name, display_name, tier, zone } => {
            let body = json!({ "name": name, "display_name": display_name, "tier": tier, "time_zone": zone });
            let invited: Invited = client.post(&["users"], Some(&body)).await?;
            link(&invited, client, screen)
        }
        UserCommand::Invite { name } => {
            let invited: Invited = client.post(&["users", &name, "invitation"], super::client::NOTHING).await?;
            link(&invited, client, screen)
        }
        UserCommand::List => list(client, screen).await,
        UserCommand::Password { name } => {
            let password = password(&name)?;
            let set: UserInfo = client.put(&["users", &name, "password"], &json!({ "password": *password })).await?;
            if !screen.json(&set)? {
                screen.line(format!(
                    "{} has this password from now on. Browsers in which they were signed in ask again.",
                    set.name
                ))?;
            }
            Ok(())
        }
        UserCommand::Role { name, role } => {
            change(&name, ChangeUser { role: Some(role), ..ChangeUser::default() }, client, screen).await
        }
        UserCommand::Tier { name, tier } => {
            change(&name, ChangeUser { tier: Some(tier), ..ChangeUser::default() }, client, screen).await
        }
        UserCommand::Zone { name, zone } => {
            change(&name, ChangeUser { time_zone: Some(zone), ..ChangeUser::default() }, client, screen).await
        }
        UserCommand::Disable { name } => {
            change(&name, ChangeUser { disabled: Some(true), ..ChangeUser::default() }, client, screen).await
        }
        UserCommand::Enable { name } => {
            change(&name, ChangeUser { disabled: Some(false), ..ChangeUser::default() }, client, screen).await
        }
        UserCommand::Remove { name, confirm } => remove(&name, confirm, client, screen).await,
        UserCommand::Token { name, revoke: true } => {
            let revoked: RevokedTokens = client.delete(&["users", &name, "tokens"]).await?;
            if !screen.json(&revoked)? {
                screen.line(format!("Took {} tokens of {name} away.", revoked.revoked))?;
            }
            Ok(())
        }
        UserCommand::Token { name, revoke: false } => {
            let made: MadeToken = client.post(&["users", &name, "tokens"], super::client::NOTHING).await?;
            if !screen.json(&made)? {
                screen.line(format!("The token of {name}, which is not shown again:"))?;
                screen.line(&made.token)?;
            }
            Ok(())
        }
    }
}

async fn change(name: &str, change: ChangeUser, client: &Client, screen: &mut Screen<'_>) -> Result<(), CliError> {
    let user: UserInfo = client.patch(&["users", name], &change).await?;
    if !screen.json(&user)? {
        let may = if user.disabled_at.is_some() { "may not come in" } else { "may come in" };
        screen.line(format!("{}: {}, {}, {}, {may}.", user.name, user.role, user.tier, user.time_zone))?;
    }
    Ok(())
}

fn link(invited: &Invited, client: &Client, screen: &mut Screen<'_>) -> Result<(), CliError> {
    if !screen.json(invited)? {
        let server = client.server().as_str().trim_end_matches('/');
        screen.line(format!("{} sets a password here, once, until {}:", invited.user.name, time(invited.expires_at)))?;
        screen.line(format!("{server}{}", invited.link))?;
    }
    Ok(())
}

async fn list(client: &Client, screen: &mut Screen<'_>) -> Result<(), CliError> {
    let answer: Users = client.get(&["users"], &[]).await?;
    if screen.json(&answer)? {
        return Ok(());
    }
    let row = |listed: &ListedUser| {
        let user = &listed.user;
        let state = match (user.disabled_at, user.password) {
            (Some(_), _) => "disabled",
            (None, true) => "",
            (None, false) => "no password",
        };
        [
            user.id.to_string(),
            user.name.clone(),
            user.role.to_string(),
            user.tier.to_string(),
            user.time_zone.clone(),
            listed.conversations.to_string(),
            listed.open_tasks.to_string(),
            listed.used.requests.to_string(),
            state.to_owned(),
        ]
    };
    let rows: Vec<_> = answer.users.iter().map(row).collect();
    screen.table(["", "NAME", "ROLE", "TIER", "ZONE", "CONVERSATIONS", "OPEN TASKS", "REQUESTS, 30 DAYS", ""], &rows, "")?;
    Ok(())
}

async fn remove(name: &str, confirm: Option<String>, client: &Client, screen: &mut Screen<'_>) -> Result<(), CliError> {
    let again = match confirm {
        Some(again) => again,
        None => asked(&format!("This removes {name} with everything that is theirs, for good. Type the name again: "))?,
    };
    let removed: RemovedUser = client.delete_with(&["users", name], &[("confirm", again)]).await?;
    if !screen.json(&removed)? {
        screen.line(format!("Removed {name}, and {} conversations.", removed.conversations))?;
    }
    Ok(())
}

/// A line from the person at the terminal, or from standard input.
fn asked(question: &str) -> Result<String, CliError> {
    if io::stdin().is_terminal() {
        let mut terminal = io::stderr();
        terminal.write_all(question.as_bytes()).and_then(|()| terminal.flush()).map_err(CliError::Value)?;
    }
    let mut line = String::new();
    io::stdin().read_line(&mut line).map_err(CliError::Value)?;
    Ok(line.trim_end_matches(['\r', '\n']).to_owned())
}

/// A new password: typed twice, or read from standard input without the end of its line.
fn password(name: &str) -> Result<Zeroizing<String>, CliError> {
    if !io::stdin().is_terminal() {
        let mut given = Zeroizing::new(String::new());
        io::stdin().lock().take(MAX_READ).read_to_string(&mut given).map_err(CliError::Value)?;
        return Ok(Zeroizing::new(given.trim_end_matches(['\r', '\n']).to_owned()));
    }
    let typed = |words: String| rpassword::prompt_password(words).map(Zeroizing::new).map_err(CliError::Value);
    let first = typed(format!("New password of {name} (not shown): "))?;
    let again = typed("The same again: ".to_owned())?;
    if *first != *again {
        return Err(CliError::Usage("the two were not the same; nothing was set".to_owned()));
    }
    Ok(first)
}
