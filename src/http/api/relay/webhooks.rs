//! Webhooks: set up, looked at, taken away and tried.

use axum::Json;

use super::super::reply::{ApiRefusal, At, Body, Reply};
use crate::http::Doors;
use crate::http::visitor::Owner;
use crate::runner::webhook_grant;
use crate::store::Webhook;
use crate::wire::api::{NewWebhook, RemovedWebhook, WebhookInfo, WebhookList, WebhookTried};

pub(super) async fn list(Owner(doors): Owner) -> Reply<WebhookList> {
    let webhooks = doors.store.webhooks().await?.into_iter().map(|webhook| shown(webhook, None)).collect();
    Ok(Json(WebhookList { webhooks }))
}

pub(super) async fn add(Owner(doors): Owner, Body(NewWebhook { url, with_text }): Body<NewWebhook>) -> Reply<WebhookInfo> {
    webhook_grant(&url).map_err(|why| ApiRefusal::bad(format!("`url`: {why}")).at("url", &why))?;
    let id = doors.store.add_webhook(&url, with_text, doors.clock.now()).await?;
    let secret = doors.store.webhook_key(id);
    Ok(Json(shown(there(&doors, id).await?, Some(secret))))
}

pub(super) async fn remove(Owner(doors): Owner, At(id): At<i64>) -> Reply<RemovedWebhook> {
    there(&doors, id).await?;
    doors.store.remove_webhook(id).await?;
    Ok(Json(RemovedWebhook {}))
}

pub(super) async fn try_once(Owner(doors): Owner, At(id): At<i64>) -> Reply<WebhookTried> {
    let webhook = there(&doors, id).await?;
    // A peer that sorts out repeats takes each test for a new one.
    let key = format!("relay-webhook-{id}-test-{}", doors.access.fresh_id());
    let told = doors.webhooks.try_out(id, &webhook.url, key).await;
    Ok(Json(WebhookTried { ok: told.is_ok(), status: told.as_ref().ok().copied(), error: told.err() }))
}

async fn there(doors: &Doors, id: i64) -> Result<Webhook, ApiRefusal> {
    let all = doors.store.webhooks().await?;
    let numbers: Vec<_> = all.iter().map(|webhook| webhook.id.to_string()).collect();
    let told = || if numbers.is_empty() { "there is none".to_owned() } else { format!("there are {}", numbers.join(", ")) };
    let found = all.into_iter().find(|webhook| webhook.id == id);
    found.ok_or_else(|| ApiRefusal::unknown(format!("there is no webhook {id}; {}", told())))
}

fn shown(webhook: Webhook, secret: Option<String>) -> WebhookInfo {
    let Webhook { id, url, with_text, created_at, waiting, failed, last_error } = webhook;
    WebhookInfo { id, url, with_text, created_at, waiting, failed, last_error, secret }
}
