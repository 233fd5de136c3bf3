//! Tells webhooks of the transitions of instances: each with a signature and an idempotency key, until the peer has it or eight tries are over.

use std::sync::Arc;

use chrono::{DateTime, TimeDelta, Utc};
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;
use tokio_util::sync::CancellationToken;
use url::Url;

use crate::clock::Clock;
use crate::domain::{HttpGrant, HttpRequest, Scheme};
use crate::egress::Egress;
use crate::store::{DueWebhook, Store, StoreError, WebhookEnd};

/// How soon to try again after the database did not answer.
const RETRY_AFTER: TimeDelta = TimeDelta::seconds(5);

/// Tells webhooks. Cheap to clone.
#[derive(Clone)]
pub struct Webhooks {
    store: Store,
    egress: Egress,
    clock: Arc<dyn Clock>,
}

impl Webhooks {
    /// Requests leave by this egress, so private addresses are reached only if the operator allows them.
    pub fn new(store: Store, egress: Egress, clock: Arc<dyn Clock>) -> Self {
        Self { store, egress, clock }
    }

    /// Tells until `shutdown`.
    pub async fn run(self, shutdown: CancellationToken) {
        let mut changes = self.store.signals().deliveries();
        loop {
            changes.mark_unchanged();
            let next = match self.tell_due().await {
                Ok(next) => next,
                Err(error) => {
                    tracing::warn!(
                        error = &error as &dyn std::error::Error,
                        "webhooks could not be looked for; trying again soon"
                    );
                    Some(self.clock.now() + RETRY_AFTER)
                }
            };
            let until = async {
                match next {
                    Some(at) => self.clock.sleep_until(at).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                () = shutdown.cancelled() => return,
                Ok(()) = changes.changed() => {}
                () = until => {}
            }
        }
    }

    /// Tells all that is due; the time of the next.
    async fn tell_due(&self) -> Result<Option<DateTime<Utc>>, StoreError> {
        let (due, next) = self.store.due_webhooks(self.clock.now()).await?;
        let more = !due.is_empty();
        for webhook in due {
            let end = match self.tell(&webhook).await {
                Ok(_) => WebhookEnd::Told,
                Err(why) => WebhookEnd::Failed(why),
            };
            self.store.end_webhook(webhook.call, &end).await?;
        }
        if more { Ok(Some(self.clock.now())) } else { Ok(next) }
    }

    /// Tells one webhook once; gives the status of the peer's answer.
    ///
    /// # Errors
    /// Why the peer does not have it, in words.
    pub async fn tell(&self, webhook: &DueWebhook) -> Result<u16, String> {
        let grant = webhook_grant(&webhook.url)?;
        let body = webhook.body.to_string().into_bytes();
        let request = HttpRequest {
            method: "POST".to_owned(),
            url: webhook.url.clone(),
            headers: vec![
                ("Content-Type".to_owned(), "application/json".to_owned()),
                (
                    "X-Relay-Signature".to_owned(),
                    format!("sha256={}", signature(&self.store.webhook_key(webhook.webhook), &body)),
                ),
            ],
            body: Some(body),
            idempotency_key: Some(format!("relay-webhook-{}-{}", webhook.webhook, webhook.call)),
        };
        let answer = self.egress.tell(request, &[grant].into()).await.map_err(|error| error.to_string())?;
        if (200..300).contains(&answer.status) { Ok(answer.status) } else { Err(format!("the peer answered {}", answer.status)) }
    }
}

/// The one place that a webhook's requests may go to.
///
/// # Errors
/// A sentence with an example, if it is no address for one.
pub fn webhook_grant(address: &str) -> Result<HttpGrant, String> {
    let refused = || format!("`{address}` is no address of a webhook, like https://hooks.example.com/relay");
    let url = Url::parse(address).map_err(|_| refused())?;
    let scheme: Scheme = url.scheme().parse().map_err(|_| refused())?;
    let host = url.host_str().filter(|_| url.username().is_empty() && url.password().is_none()).ok_or_else(refused)?;
    let grant = HttpGrant::host(host);
    Ok(HttpGrant { scheme, port: url.port(), methods: ["POST".to_owned()].into(), keyed: true, ..grant })
}

/// The signature of a body with a webhook's key, in hexadecimal digits.
fn signature(key: &str, body: &[u8]) -> String {
    let Ok(mac) = Hmac::<Sha256>::new_from_slice(key.as_bytes()) else { return String::new() };
    let mut mac = mac;
    mac.update(body);
    hex::encode(mac.finalize().into_bytes())
}
