//! Secrets: set and removed, never shown. No error here repeats anything of a body.

use axum::Json;
use axum::extract::{Request, State};
use secrecy::SecretString;
use serde::Deserialize;

use super::reply::{At, Refusal, Reply, bytes};
use crate::http::Doors;
use crate::secrets::SecretInfo;
use crate::wire::api::{Secret, Secrets};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SetSecret {
    value: String,
}

pub(super) async fn list(State(doors): State<Doors>) -> Reply<Secrets> {
    Ok(Json(Secrets { secrets: doors.vault.list().await?.into_iter().map(told).collect() }))
}

pub(super) async fn set(State(doors): State<Doors>, At(name): At<String>, request: Request) -> Reply<Secret> {
    let body = bytes(request, &doors).await?;
    // What the parser says of a wrong body may hold a part of it.
    let SetSecret { value } = serde_json::from_slice(&body)
        .map_err(|_| Refusal::bad(r#"the body cannot be read; send {"value": "…"} and nothing else"#))?;
    doors.vault.set(&name, SecretString::from(value), doors.clock.now()).await?;
    let set = doors.vault.list().await?.into_iter().find(|secret| secret.name == name);
    set.map(|secret| Json(told(secret))).ok_or_else(|| removed(&name))
}

pub(super) async fn remove(State(doors): State<Doors>, At(name): At<String>) -> Reply<serde_json::Value> {
    if !doors.vault.remove(&name).await? {
        return Err(Refusal::unknown(format!("there is no secret `{name}`")));
    }
    Ok(Json(serde_json::json!({ "removed": name })))
}

fn removed(name: &str) -> Refusal {
    Refusal::conflict(format!("the secret {name} was set, and removed by somebody else in the same moment"))
}

fn told(secret: SecretInfo) -> Secret {
    Secret {
        name: secret.name,
        created_at: secret.created_at,
        updated_at: secret.updated_at,
        used_by: secret.used_by,
        readable: secret.readable,
    }
}
