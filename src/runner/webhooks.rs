//! Tells webhooks of the transitions of instances: each with a signature and an idempotency key,
//! until the peer has it or eight tries are over.

use std::sync::Arc;

use chrono::TimeDelta;
use hmac::{Hmac, KeyInit as _, Mac as _};
use serde_json::{Value, json};
use sha2::Sha256;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;
use url::Url;

use crate::clock::Clock;
use crate::domain::{HttpGrant, HttpRequest, Scheme};
use crate::egress::Egress;
use crate::store::{DueWebhook, Store, WebhookEnd};

/// How soon to try again after the database did not answer.
const RETRY_AFTER: TimeDelta = TimeDelta::seconds(5);
/// So many webhooks are told at once, at most.
const MOST_AT_ONCE: usize = 32;

/// Tells webhooks. Cheap to clone.
#[derive(Clone)]
pub struct Webhooks {
    store: Store,
    egress: Egress,
    clock: Arc<dyn Clock>,
}

impl Webhooks {
    /// Requests leave by this egress, so private addresses are reached only if the operator allows
    /// them.
    pub fn new(store: Store, egress: Egress, clock: Arc<dyn Clock>) -> Self {
        Self { store, egress, clock }
    }

    /// Tells until `shutdown`. Each webhook has its own turn, of one transition: a peer that does
    /// not answer holds up nobody but itself.
    pub async fn run(self, shutdown: CancellationToken) {
        let mut changes = self.store.signals().deliveries();
        let (mut turns, mut busy) = (JoinSet::new(), Vec::new());
        loop {
            changes.mark_unchanged();
            let room = MOST_AT_ONCE.saturating_sub(busy.len());
            let next = match self.store.due_webhooks(&busy, room, self.clock.now()).await {
                Ok((due, next)) => {
                    for call in due {
                        busy.push(call.webhook);
                        turns.spawn(self.clone().turn(call));
                    }
                    // Without room, the end of a turn comes before anything that is due.
                    next.filter(|_| busy.len() < MOST_AT_ONCE)
                }
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
                Some(ended) = turns.join_next() => match ended {
                    Ok(webhook) => busy.retain(|other| *other != webhook),
                    Err(broken) => std::panic::resume_unwind(broken.into_panic()),
                },
                () = until => {}
            }
        }
    }

    /// Tells a webhook of one transition; gives the webhook's number.
    async fn turn(self, call: DueWebhook) -> i64 {
        let end = match self.tell(call.webhook, &call.url, &call.body, call.key()).await {
            Ok(_) => WebhookEnd::Told,
            Err(why) => WebhookEnd::Failed(why),
        };
        if let Err(error) = self.store.end_webhook(call.call, &end).await {
            // It is due again, and the peer knows its key.
            tracing::warn!(error = &error as &dyn std::error::Error, "the end of a webhook's try could not be kept");
        }
        call.webhook
    }

    /// Tells one webhook that this is a test.
    ///
    /// # Errors
    /// Why the peer does not have it, in words for a person.
    pub async fn try_out(&self, webhook: i64, url: &str, key: String) -> Result<u16, String> {
        self.tell(webhook, url, &json!({ "test": true, "webhook": webhook, "at": self.clock.now() }), key).await
    }

    /// Tells one webhook once; gives the status of the peer's answer. The error says why the peer
    /// does not have it, in words for a person.
    async fn tell(&self, webhook: i64, url: &str, body: &Value, key: String) -> Result<u16, String> {
        let grant = webhook_grant(url)?;
        let body = body.to_string().into_bytes();
        let request = HttpRequest {
            method: "POST".to_owned(),
            url: url.to_owned(),
            headers: vec![
                ("Content-Type".to_owned(), "application/json".to_owned()),
                ("X-Relay-Signature".to_owned(), format!("sha256={}", signature(&self.store.webhook_key(webhook), &body))),
            ],
            body: Some(body),
            idempotency_key: Some(key),
        };
        let answer = self.egress.tell(request, &[grant].into()).await.map_err(|error| error.for_person())?;
        if (200..300).contains(&answer.status) { Ok(answer.status) } else { Err(format!("the peer answered {}", answer.status)) }
    }
}

/// The one place that a webhook's requests may go to.
///
/// # Errors
/// A sentence with an example, if it is no address for one.
pub fn webhook_grant(address: &str) -> Result<HttpGrant, String> {
    let refused = || match address {
        "" => "write the address of the program that is to be told, like https://hooks.example.com/relay".to_owned(),
        _ => format!("`{address}` is no address of a webhook; write the whole of it, like https://hooks.example.com/relay"),
    };
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
