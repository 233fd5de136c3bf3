//! `level3 capability`: looking at capabilities, going back, bringing some in.

use std::path::PathBuf;

use clap::Subcommand;
use serde_json::{Value, json};

use super::client::{Client, NOTHING};
use super::folder::{self, WasmOptions};
use super::screen::time;
use super::{CliError, Screen, approvals};
use crate::domain::TurnState;
use crate::wire::api::{
    self, Capabilities, CapabilityDiff, CapabilityEntry, CapabilityFolder, Changed, Queued, RollBack, Shipped, ShippedEntry,
    Tested,
};

const WAITS: &str = "This waits for your decision.";
const WAITS_BEHIND: &str = "This is queued behind another question of its conversation, which waits for your decision. \
    Once you decide that, the order goes on by itself: do not repeat it. If it asks something itself, \
    `level3 approvals list` shows it.";

/// The commands on capabilities.
#[derive(Debug, Subcommand)]
pub enum CapabilityCommand {
    /// List them
    List,
    /// Show what one is, may do, and which versions there are
    Show {
        /// Its name
        name: String,
        /// This version instead of the live one
        #[arg(long, value_name = "N")]
        version: Option<i32>,
    },
    /// Print its source
    Source {
        /// Its name
        name: String,
        /// This version instead of the live one
        #[arg(long, value_name = "N")]
        version: Option<i32>,
    },
    /// Show what differs between two versions
    Diff {
        /// Its name
        name: String,
        /// The earlier version; else the one before the other
        #[arg(long, value_name = "N")]
        from: Option<i32>,
        /// The later version; else the live one
        #[arg(long, value_name = "N")]
        to: Option<i32>,
    },
    /// Run the tests kept with it; they reach nothing outside
    Test {
        /// Its name
        name: String,
        /// This version instead of the live one
        #[arg(long, value_name = "N")]
        version: Option<i32>,
    },
    /// Make an earlier version live again
    Rollback {
        /// Its name
        name: String,
        /// The version; else the one before the live one
        #[arg(long, value_name = "N")]
        to: Option<i32>,
        /// Even if that version may do more than the live one
        #[arg(long)]
        confirm_grants: bool,
    },
    /// Take it out of use; nothing is lost
    Disable {
        /// Its name
        name: String,
    },
    /// Bring it back into use
    Enable {
        /// Its name
        name: String,
    },
    /// Write it as a folder
    Export {
        /// Its name
        name: String,
        /// The folder; else one of its name, here
        #[arg(long, value_name = "DIR")]
        out: Option<PathBuf>,
        /// This version instead of the live one
        #[arg(long, value_name = "N")]
        version: Option<i32>,
    },
    /// Bring one in, through the same checks and approvals as one that the agent writes
    Import {
        /// A folder as `export` writes it, or a .wasm file
        path: PathBuf,
        /// The options that describe a .wasm file.
        #[command(flatten)]
        said: WasmOptions,
    },
    /// List the capabilities that come with level3
    Shipped,
    /// Install one that comes with level3
    Install {
        /// Its name
        name: String,
    },
}

pub(super) async fn run(ask: CapabilityCommand, client: &Client, screen: &mut Screen<'_>) -> Result<(), CliError> {
    match ask {
        CapabilityCommand::List => list(client, screen).await,
        CapabilityCommand::Show { name, version } => show(client, screen, &name, version).await,
        CapabilityCommand::Source { name, version } => {
            let capability = one(client, &name, version).await?;
            Ok(screen.raw(&capability.source)?)
        }
        CapabilityCommand::Diff { name, from, to } => {
            let query: Vec<_> =
                [("from", from), ("to", to)].into_iter().filter_map(|(end, n)| Some((end, n?.to_string()))).collect();
            let answer: CapabilityDiff = client.get(&["capabilities", &name, "diff"], &query).await?;
            if screen.json(&answer)? {
                return Ok(());
            }
            match answer.diff.is_empty() {
                true => Ok(screen.line(format!("Versions {} and {} are the same.", answer.from, answer.to))?),
                false => Ok(screen.raw(&answer.diff)?),
            }
        }
        CapabilityCommand::Test { name, version } => test(client, screen, &name, version).await,
        CapabilityCommand::Rollback { name, to, confirm_grants } => {
            let body = RollBack { version: to, confirm_grants };
            let done = client.post(&["capabilities", &name, "rollback"], Some(&body)).await.map_err(with_flag)?;
            changed(&done, screen)
        }
        CapabilityCommand::Disable { name } => changed(&client.post(&["capabilities", &name, "disable"], NOTHING).await?, screen),
        CapabilityCommand::Enable { name } => changed(&client.post(&["capabilities", &name, "enable"], NOTHING).await?, screen),
        CapabilityCommand::Export { name, out, version } => {
            let folder: CapabilityFolder = client.get(&["capabilities", &name, "export"], &version_query(version)).await?;
            for path in folder::write(&folder, &out.unwrap_or_else(|| PathBuf::from(&name)))? {
                screen.line(path.display().to_string())?;
            }
            Ok(())
        }
        CapabilityCommand::Import { path, said } => {
            let folder = folder::read(&path, &said)?;
            let queued: Queued = client.post(&["capabilities", "import"], Some(&folder)).await?;
            outcome(client, screen, queued).await
        }
        CapabilityCommand::Shipped => shipped(client, screen).await,
        CapabilityCommand::Install { name } => {
            let queued: Queued = client.post(&["shipped", &name, "install"], NOTHING).await?;
            outcome(client, screen, queued).await
        }
    }
}

async fn list(client: &Client, screen: &mut Screen<'_>) -> Result<(), CliError> {
    let answer: Capabilities = client.get(&["capabilities"], &[]).await?;
    if !screen.json(&answer)? {
        let row = |entry: &CapabilityEntry| {
            let powers = entry.grants.to_json().keys().map(String::as_str).collect::<Vec<_>>().join(" ");
            let version = format!("{} of {}", entry.version, entry.versions);
            [entry.name.clone(), version, entry.state.clone(), powers, entry.description.clone()]
        };
        let rows: Vec<_> = answer.capabilities.iter().map(row).collect();
        screen.table(["NAME", "VERSION", "STATE", "POWERS", "WHAT IT DOES"], &rows, "There are no capabilities yet.")?;
    }
    Ok(())
}

async fn show(client: &Client, screen: &mut Screen<'_>, name: &str, version: Option<i32>) -> Result<(), CliError> {
    let capability = one(client, name, version).await?;
    if screen.json(&capability)? {
        return Ok(());
    }
    let live = if capability.version == capability.live { "live".to_owned() } else { format!("{} is live", capability.live) };
    screen.line(format!(
        "{}, version {} ({live}), {}, {}",
        capability.name, capability.version, capability.state, capability.language
    ))?;
    screen.line(&capability.description)?;
    let grants = match capability.grants_in_words.as_slice() {
        [] => "Nothing outside its sandbox.".to_owned(),
        grants => grants.join("\n"),
    };
    screen.part("It may", &grants)?;
    screen.part("Parameters", &format!("{:#}", capability.parameters))?;
    screen.part("Grants as written", &format!("{:#}", json!(capability.grants)))?;
    let tests: Vec<_> = capability.tests.iter().filter_map(|test| serde_json::to_string(test).ok()).collect();
    screen.part("Tests", &tests.join("\n"))?;
    let version =
        |version: &api::Version| format!("{}  {}  sha256 {}", version.version, time(version.created_at), version.sha256);
    screen.part("Versions", &capability.versions.iter().map(version).collect::<Vec<_>>().join("\n"))?;
    Ok(())
}

async fn test(client: &Client, screen: &mut Screen<'_>, name: &str, version: Option<i32>) -> Result<(), CliError> {
    let tested: Tested = client.post_at(&["capabilities", name, "test"], &version_query(version)).await?;
    if !screen.json(&tested)? {
        for result in tested.results.iter().filter(|result| !result.ok) {
            screen.line(format!("failed: {}", json!(result)))?;
        }
        let held = match tested.results.len() {
            0 => "it has no tests".to_owned(),
            all => format!("{} of its {all} tests hold", tested.passed),
        };
        screen.line(format!("{}, version {}: {held}.", tested.name, tested.version))?;
    }
    match tested.failed {
        0 => Ok(()),
        failed => Err(CliError::Failed(format!("{failed} of the tests of {name} do not hold"))),
    }
}

async fn shipped(client: &Client, screen: &mut Screen<'_>) -> Result<(), CliError> {
    let answer: Shipped = client.get(&["shipped"], &[]).await?;
    if !screen.json(&answer)? {
        let row = |entry: &ShippedEntry| {
            let installed = entry.installed.map(|version| format!("version {version}")).unwrap_or_default();
            [entry.name.clone(), installed, entry.description.clone()]
        };
        let rows: Vec<_> = answer.shipped.iter().map(row).collect();
        screen.table(["NAME", "INSTALLED", "WHAT IT DOES"], &rows, "No capabilities come with this level3.")?;
    }
    Ok(())
}

async fn one(client: &Client, name: &str, version: Option<i32>) -> Result<api::Capability, CliError> {
    client.get(&["capabilities", name], &version_query(version)).await
}

fn version_query(version: Option<i32>) -> Vec<(&'static str, String)> {
    version.map(|version| ("version", version.to_string())).into_iter().collect()
}

fn changed(done: &Changed, screen: &mut Screen<'_>) -> Result<(), CliError> {
    if !screen.json(done)? {
        screen.line(format!("{}: version {} is live, {}.", done.name, done.version, done.state))?;
    }
    Ok(())
}

/// Names the flag if a rollback was refused for its grants.
fn with_flag(error: CliError) -> CliError {
    match error {
        CliError::Refused { status, mut said } if !said.grants_in_words.is_empty() => {
            said.error.push_str(" (--confirm-grants). It may:");
            CliError::Refused { status, said }
        }
        error => error,
    }
}

/// Waits for what comes of an order and prints it.
async fn outcome(client: &Client, screen: &mut Screen<'_>, queued: Queued) -> Result<(), CliError> {
    let turn = client.settled(queued.turn).await?;
    if screen.json(&turn)? {
        return Ok(());
    }
    if let Some(id) = turn.approval.or(turn.behind) {
        screen.line(if turn.approval.is_some() { WAITS } else { WAITS_BEHIND })?;
        screen.line("")?;
        return Ok(approvals::print(&approvals::show(client, id).await?, screen)?);
    }
    for call in &turn.results {
        if !call.ok {
            return Err(CliError::Failed(result_in_words(&call.result)));
        }
        screen.line(result_in_words(&call.result))?;
    }
    match turn.state {
        TurnState::Completed => Ok(()),
        _ => Err(CliError::Failed(turn.reason.unwrap_or_else(|| format!("the turn is {}", turn.state)))),
    }
}

/// A call's result in words for a person: results are written for models.
fn result_in_words(result: &str) -> String {
    let Ok(value) = serde_json::from_str::<Value>(result) else { return result.to_owned() };
    match (value["installed"].as_str(), value["version"].as_i64(), value["message"].as_str()) {
        (Some(name), Some(version), _) => format!("Installed {name}, version {version}."),
        (None, _, Some(message)) => format!("{message}{}", place_in_words(&value)),
        _ => result.to_owned(),
    }
}

/// The place in the source that a failure names, and the text there.
fn place_in_words(failure: &Value) -> String {
    let (Some(line), Some(offset)) = (failure["line"].as_u64(), failure["offset"].as_u64()) else { return String::new() };
    let near = failure["near"].as_str().map(|near| format!(", near `{near}`")).unwrap_or_default();
    format!("\nThe place in the source: line {line}, column {offset}{near}.")
}
