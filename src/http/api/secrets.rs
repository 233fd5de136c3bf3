//! Secrets: they are set and removed, and never shown. No error here repeats anything of a body.

use std::collections::BTreeMap;

use axum::Json;
use axum::extract::Request;
use secrecy::SecretString;

use super::reply::{ApiRefusal, At, Reply, bytes};
use crate::domain::{Profile, undoubled};
use crate::http::visitor::Owner;
use crate::secrets::MIN_VALUE_CHARS;
use crate::wire::api::{RemovedSecret, Secret, Secrets};

pub(super) async fn list(Owner(doors): Owner) -> Reply<Secrets> {
    Ok(Json(Secrets { secrets: doors.vault.list().await? }))
}

pub(super) async fn set(Owner(doors): Owner, At(name): At<String>, request: Request) -> Reply<Secret> {
    let body = bytes(request, &doors).await?;
    // A parser's words on a wrong body may hold a part of it.
    let wrong = || ApiRefusal::bad(r#"the body cannot be read; send {"value": "…"} and nothing else"#);
    let text = str::from_utf8(&body).ok().filter(|text| undoubled(text).is_ok()).ok_or_else(wrong)?;
    let mut object: BTreeMap<String, String> = serde_json::from_str(text).map_err(|_| wrong())?;
    let value = object.remove("value").filter(|_| object.is_empty()).ok_or_else(wrong)?;
    // Hidden wherever it stands, it would take the tool away. A shorter one is refused in any case.
    let catalogue = doors.store.catalogue(None).await?;
    let named = |profile: &Profile| doors.tools.known(profile, &catalogue).iter().any(|tool| tool.contains(value.trim()));
    if value.trim().chars().count() >= MIN_VALUE_CHARS && doors.profiles.all().any(named) {
        return Err(ApiRefusal::bad(
            "the value stands in the name of a tool, which each model is told, so it cannot be kept out of other texts",
        ));
    }
    doors.vault.set(&name, SecretString::from(value), doors.clock.now()).await?;
    let set = doors.vault.list().await?.into_iter().find(|secret| secret.name == name);
    set.map(Json).ok_or_else(|| removed(&name))
}

pub(super) async fn remove(Owner(doors): Owner, At(name): At<String>) -> Reply<RemovedSecret> {
    if !doors.vault.remove(&name).await? {
        return Err(ApiRefusal::unknown(format!("there is no secret `{name}`")));
    }
    Ok(Json(RemovedSecret { removed: name }))
}

fn removed(name: &str) -> ApiRefusal {
    ApiRefusal::conflict(format!("the secret {name} was set, and removed by somebody else in the same moment"))
}
