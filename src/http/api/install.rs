//! Installs a capability: from a folder, or one that comes with the program. Both become a turn
//! with the call that the agent itself would make, so they pass the same checks and approvals.

use std::collections::BTreeMap;

use axum::Json;
use axum::http::StatusCode;
use rust_embed::RustEmbed;
use serde_json::Value;

use super::folder::{self, ReadFolder};
use super::reply::{ApiRefusal, At, Body, Reply};
use super::turns::{self, Ordered};
use crate::domain::WRITE_CAPABILITY;
use crate::http::visitor::{Owner, Visitor};
use crate::wire::api::{CapabilityFolder, Shipped, ShippedEntry};

/// The capabilities that come with the program, one folder each.
#[derive(RustEmbed)]
#[folder = "capabilities/shipped/"]
#[allow_missing = true]
struct Files;

pub(super) async fn import(_: Owner, visitor: Visitor, Body(folder): Body<CapabilityFolder>) -> Ordered {
    let read = folder::read(&folder).map_err(ApiRefusal::bad)?;
    order(&visitor, "Import", &read).await
}

pub(super) async fn shipped(Owner(doors): Owner) -> Reply<Shipped> {
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

pub(super) async fn install(_: Owner, visitor: Visitor, At(name): At<String>) -> Ordered {
    let folders = folders();
    let Some(folder) = folders.get(&name) else {
        let names: Vec<_> = folders.into_keys().collect();
        let known = if names.is_empty() { "nothing".to_owned() } else { names.join(", ") };
        return Err(ApiRefusal::unknown(format!("no capability `{name}` comes with level3; there is: {known}")));
    };
    let read = folder::read(folder).map_err(|error| ApiRefusal::new(StatusCode::INTERNAL_SERVER_ERROR, error))?;
    order(&visitor, "Install", &read).await
}

async fn order(visitor: &Visitor, verb: &str, read: &ReadFolder) -> Ordered {
    turns::order(visitor, None, &format!("{verb} {}", read.name), WRITE_CAPABILITY, &read.arguments()).await
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
