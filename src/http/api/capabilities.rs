//! Capabilities: the list, the differences between versions, and which version is live.

use axum::Json;
use serde::Deserialize;
use serde_json::{Value, json};
use similar::TextDiff;

use super::folder;
use super::reply::{ApiRefusal, At, Body, QueryString, Reply};
use super::turns::{self, Ordered};
use crate::domain::{CapabilityVersion, SourceLanguage};
use crate::http::Doors;
use crate::http::visitor::{Owner, Visitor};
use crate::wire::api::{
    Capabilities, Capability, CapabilityCall, CapabilityDiff, Changed, ExportedFolder, RollBack, Tested, TestedCase,
};

#[derive(Deserialize)]
pub(super) struct Which {
    version: Option<i32>,
}

#[derive(Deserialize)]
pub(super) struct Between {
    from: Option<i32>,
    to: Option<i32>,
}

pub(super) async fn list(Owner(doors): Owner) -> Reply<Capabilities> {
    let (mut capabilities, mut used) =
        tokio::try_join!(doors.store.capability_entries(), doors.store.capability_use(doors.clock.now()))?;
    for entry in &mut capabilities {
        entry.calls = used.remove(&entry.name).unwrap_or_default();
    }
    Ok(Json(Capabilities { capabilities }))
}

pub(super) async fn show(
    Owner(doors): Owner,
    At(name): At<String>,
    QueryString(Which { version }): QueryString<Which>,
) -> Reply<Capability> {
    let kept = doors.store.kept_version(&name, version).await?;
    let versions = doors.store.capability_versions(&name).await?;
    let capability = kept.capability;
    Ok(Json(Capability {
        name: capability.name,
        version: capability.version,
        live: kept.live,
        state: state(kept.enabled),
        description: capability.description,
        language: capability.language.to_string(),
        source: capability.source,
        parameters: capability.parameters,
        grants_in_words: capability.grants.in_words(),
        grants: capability.grants,
        tests: capability.tests,
        created_at: kept.created_at,
        sha256: capability.sha256,
        versions,
    }))
}

pub(super) async fn diff(
    Owner(doors): Owner,
    At(name): At<String>,
    QueryString(Between { from, to }): QueryString<Between>,
) -> Reply<CapabilityDiff> {
    let new = doors.store.kept_version(&name, to).await?.capability;
    let from = match from {
        Some(from) => from,
        None => version_before(&doors, &name, new.version).await?,
    };
    let old = doors.store.kept_version(&name, Some(from)).await?.capability;
    Ok(Json(CapabilityDiff { name, from, to: new.version, diff: difference(&old, &new) }))
}

pub(super) async fn export(
    Owner(doors): Owner,
    At(name): At<String>,
    QueryString(Which { version }): QueryString<Which>,
) -> Reply<ExportedFolder> {
    Ok(Json(folder::write(doors.store.kept_version(&name, version).await?.capability)))
}

/// Calls the live version, as an order: the same law and the same record as for a call of the
/// agent.
pub(super) async fn call(
    Owner(doors): Owner,
    visitor: Visitor,
    At(name): At<String>,
    Body(CapabilityCall { arguments, conversation }): Body<CapabilityCall>,
) -> Ordered {
    if !doors.store.kept_version(&name, None).await?.enabled {
        return Err(ApiRefusal::conflict(format!("`{name}` is disabled; enable it to call it")));
    }
    turns::order(&visitor, conversation, &format!("Call {name}"), &name, &Value::Object(arguments)).await
}

/// Runs the tests kept with a version. They reach nothing outside the sandbox.
pub(super) async fn test(
    Owner(doors): Owner,
    At(name): At<String>,
    QueryString(Which { version }): QueryString<Which>,
) -> Reply<Tested> {
    let capability = doors.store.kept_version(&name, version).await?.capability;
    let unusable = |error| ApiRefusal::conflict(format!("version {} cannot be used: {error}", capability.version));
    let results = doors.sandbox.run_tests(&capability).await.map_err(unusable)?;
    let passed = results.iter().filter(|result| result.ok).count();
    let (version, failed) = (capability.version, results.len() - passed);
    Ok(Json(Tested { name, version, passed, failed, results: results.into_iter().map(TestedCase::from).collect() }))
}

pub(super) async fn roll_back(
    Owner(doors): Owner,
    At(name): At<String>,
    Body(RollBack { version, confirm_grants }): Body<RollBack>,
) -> Reply<Changed> {
    let to = match version {
        Some(version) => version,
        None => version_before(&doors, &name, doors.store.kept_version(&name, None).await?.live).await?,
    };
    let kept = doors.store.kept_version(&name, Some(to)).await?;
    doors
        .sandbox
        .load(&kept.capability)
        .await
        .map_err(|error| ApiRefusal::conflict(format!("version {to} cannot be used: {error}")))?;
    doors.store.roll_back(&name, to, confirm_grants, doors.clock.now()).await?;
    changed(&doors, name).await
}

pub(super) async fn disable(Owner(doors): Owner, At(name): At<String>) -> Reply<Changed> {
    doors.store.enable_capability(&name, false, doors.clock.now()).await?;
    changed(&doors, name).await
}

pub(super) async fn enable(Owner(doors): Owner, At(name): At<String>) -> Reply<Changed> {
    doors.store.enable_capability(&name, true, doors.clock.now()).await?;
    changed(&doors, name).await
}

async fn version_before(doors: &Doors, name: &str, version: i32) -> Result<i32, ApiRefusal> {
    let earlier = doors.store.capability_versions(name).await?.into_iter().rev().find(|old| old.version < version);
    let nothing = || ApiRefusal::conflict(format!("`{name}` has no version before {version}; name the one you mean"));
    Ok(earlier.ok_or_else(nothing)?.version)
}

async fn changed(doors: &Doors, name: String) -> Reply<Changed> {
    let kept = doors.store.kept_version(&name, None).await?;
    Ok(Json(Changed { name, version: kept.live, state: state(kept.enabled) }))
}

fn state(enabled: bool) -> String {
    if enabled { "installed" } else { "disabled" }.to_owned()
}

/// The differences between two versions, as one unified diff.
fn difference(old: &CapabilityVersion, new: &CapabilityVersion) -> String {
    let source = |version: &CapabilityVersion| match version.language {
        SourceLanguage::JavaScript | SourceLanguage::Wat => version.source.clone(),
        // Base64 would differ in one endless line.
        SourceLanguage::Wasm => format!("a component with sha256 {}\n", version.sha256),
    };
    let pretty = |value: Value| format!("{value:#}\n");
    let parts = [
        ("source", source(old), source(new)),
        ("grants", pretty(json!(old.grants)), pretty(json!(new.grants))),
        ("parameters", pretty(old.parameters.clone()), pretty(new.parameters.clone())),
        ("description", format!("{}\n", old.description), format!("{}\n", new.description)),
        ("tests", pretty(json!(old.tests)), pretty(json!(new.tests))),
    ];
    let part = |(what, old_text, new_text): (&str, String, String)| {
        let (from, to) = (format!("{what} of version {}", old.version), format!("{what} of version {}", new.version));
        TextDiff::from_lines(&old_text, &new_text).unified_diff().header(&from, &to).to_string()
    };
    parts.map(part).concat()
}
