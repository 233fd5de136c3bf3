//! Installs a capability: from a folder, or one that comes with the program. Both become a turn
//! with the call that the agent itself would make, so they pass the same checks and approvals.

use std::collections::BTreeMap;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use rust_embed::RustEmbed;
use serde_json::Value;

use super::folder::{self, ReadFolder};
use super::reply::{ApiRefusal, At, Body, Reply};
use crate::domain::{CallRequest, WRITE_CAPABILITY};
use crate::http::Doors;
use crate::wire::api::{CapabilityFolder, Queued, Shipped, ShippedEntry};

/// The capabilities that come with the program, one folder each.
#[derive(RustEmbed)]
#[folder = "capabilities/shipped/"]
#[allow_missing = true]
struct Files;

type Accepted = Result<(StatusCode, Json<Queued>), ApiRefusal>;

pub(super) async fn import(State(doors): State<Doors>, Body(folder): Body<CapabilityFolder>) -> Accepted {
    let read = folder::read(&folder).map_err(ApiRefusal::bad)?;
    order(&doors, "Import", &read).await
}

pub(super) async fn shipped(State(doors): State<Doors>) -> Reply<Shipped> {
    let installed: BTreeMap<_, _> =
        doors.store.capability_entries().await?.into_iter().map(|entry| (entry.name, entry.version)).collect();
    let entry = |(name, folder): (String, CapabilityFolder)| {
        let read = folder::read(&folder).ok()?;
        let grants_in_words = read.grants().ok()?.in_words();
        let installed = installed.get(&name).copied();
        Some(ShippedEntry { name, description: read.description, grants_in_words, installed })
    };
    Ok(Json(Shipped { shipped: folders().into_iter().filter_map(entry).collect() }))
}

pub(super) async fn install(State(doors): State<Doors>, At(name): At<String>) -> Accepted {
    let folders = folders();
    let Some(folder) = folders.get(&name) else {
        let names: Vec<_> = folders.into_keys().collect();
        let known = if names.is_empty() { "nothing".to_owned() } else { names.join(", ") };
        return Err(ApiRefusal::unknown(format!("no capability `{name}` comes with level3; there is: {known}")));
    };
    let read = folder::read(folder).map_err(|error| ApiRefusal::new(StatusCode::INTERNAL_SERVER_ERROR, error))?;
    order(&doors, "Install", &read).await
}

async fn order(doors: &Doors, verb: &str, read: &ReadFolder) -> Accepted {
    let now = doors.clock.now();
    let conversation = doors.store.main_conversation(now).await?;
    let request = CallRequest { id: "command".into(), name: WRITE_CAPABILITY.into(), arguments: read.arguments().to_string() };
    let turn = doors.store.queue_command(conversation, &format!("{verb} {}", read.name), request, now).await?;
    Ok((StatusCode::ACCEPTED, Json(Queued { turn, conversation })))
}

/// The folders that come with the program, by name.
fn folders() -> BTreeMap<String, CapabilityFolder> {
    let mut folders: BTreeMap<String, CapabilityFolder> = BTreeMap::new();
    for path in Files::iter() {
        let (Some((name, file)), Some(content)) = (path.split_once('/'), Files::get(&path)) else { continue };
        let text = String::from_utf8_lossy(&content.data).into_owned();
        folders.entry(name.to_owned()).or_default().insert(file.to_owned(), Value::from(text));
    }
    folders
}

#[cfg(test)]
mod tests;
