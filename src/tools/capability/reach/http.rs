//! `fetch`: if the request may have an effect, the ledger has it as intended before it is sent, and
//! as done afterwards.

use serde_json::json;
use sha2::{Digest, Sha256};
use url::Url;

use super::{ANOTHER_WAY, Inner, LedgerEntry, OperationError, Reaching};
use crate::domain::{EffectClass, HttpRequest, OperationKind, OperationState};
use crate::failpoint::{self, Point};
use crate::store::{Earlier, NewOperation, StoreError};

const MAY_HAVE_HAPPENED: &str = "Nobody knows whether this request arrived: the server was interrupted in the middle of it, and the peer is not \
     known to honour Idempotency-Key. It is not sent again by itself. Look at the peer's side, or let the user decide.";

/// If this point is armed to fail, fails as if the database did not answer.
fn hit(point: Point) -> Result<(), OperationError> {
    failpoint::hit(point).map_err(|error| OperationError::Store(StoreError::broken(error)))
}

impl Reaching {
    pub(super) async fn http(&self, ordinal: i32, request: HttpRequest) -> Result<String, OperationError> {
        let Inner { tools, lease, permit, .. } = &*self.0;
        let (entry, safe) = self.entry(ordinal, &request);
        let operation = entry.of(permit);
        match tools.kit.store.earlier_operation(&operation).await? {
            Earlier::Done(answer) => return answer.map_err(OperationError::Refused),
            Earlier::Different => return Err(OperationError::Refused(ANOTHER_WAY.to_owned())),
            // The request is sent again with the same key, which the peer recognises.
            Earlier::Intended if entry.class == EffectClass::Keyed => {}
            Earlier::Intended => return self.unknown(&operation).await,
            Earlier::New if safe => {}
            Earlier::New => {
                hit(Point::BeforeIntent)?;
                tools.kit.store.intend_operation(lease, &operation, tools.kit.clock.now()).await?;
                hit(Point::AfterIntent)?;
            }
        }
        let (state, answer) = self.sent(ordinal, request, safe).await;
        let text = answer.as_ref().unwrap_or_else(|why| why);
        hit(Point::AfterSend)?;
        tools.kit.store.end_operation(lease, &operation, state, Some(text), tools.kit.clock.now()).await?;
        hit(Point::AfterOperation)?;
        answer.map_err(OperationError::Refused)
    }

    /// Sends the request, and says how it ended.
    async fn sent(&self, ordinal: i32, request: HttpRequest, safe: bool) -> (OperationState, Result<String, String>) {
        let Inner { tools, permit, grants, secrets, .. } = &*self.0;
        let key = tools.kit.store.derived_key(&format!("idempotency:{}:{ordinal}", permit.call()));
        let request = HttpRequest { idempotency_key: (!safe).then(|| hex::encode(&key[..16])), ..request };
        match tools.kit.hands.egress.send(permit, request, &grants.http, &secrets.placeholders).await {
            Ok(response) => (OperationState::Done, Ok(response.to_json())),
            Err(error) if error.may_have_arrived() && !safe => {
                (OperationState::Unknown, Err(format!("{error} It may have arrived all the same.")))
            }
            Err(error) => (OperationState::Failed, Err(error.to_string())),
        }
    }

    async fn unknown(&self, operation: &NewOperation<'_>) -> Result<String, OperationError> {
        let Inner { tools, lease, .. } = &*self.0;
        let (state, now) = (OperationState::Unknown, tools.kit.clock.now());
        // The ledger may have it as unknown already.
        match tools.kit.store.end_operation(lease, operation, state, Some(MAY_HAVE_HAPPENED), now).await {
            Ok(()) | Err(StoreError::LostLease) => Err(OperationError::Refused(MAY_HAVE_HAPPENED.to_owned())),
            Err(error) => Err(error.into()),
        }
    }

    /// The ledger's entry, and whether the method is safe (RFC 9110, section 9.2.1).
    fn entry(&self, ordinal: i32, request: &HttpRequest) -> (LedgerEntry, bool) {
        let HttpRequest { method, url, headers, body, idempotency_key: _ } = request;
        let safe = matches!(method.as_str(), "GET" | "HEAD" | "OPTIONS");
        // PUT and DELETE may be repeated by their meaning (section 9.2.2). Any other method may be
        // repeated only if the grant says that the peer honours keys.
        let keyed = matches!(method.as_str(), "PUT" | "DELETE")
            || Url::parse(url).is_ok_and(|url| self.0.grants.http.iter().any(|grant| grant.keyed && grant.allows(method, &url)));
        let class = if safe || keyed { EffectClass::Keyed } else { EffectClass::Neither };
        let content = Sha256::digest(json!([headers, body]).to_string());
        let shown = json!({
            "method": method,
            "url": self.named(url),
            "bytes": body.as_ref().map_or(0, Vec::len),
            "sha256": hex::encode(&content[..8]),
        });
        (LedgerEntry::new(ordinal, OperationKind::Http, class, shown), safe)
    }

    /// A text, such as an address, with the secrets' names in place of their placeholders.
    pub(super) fn named(&self, text: &str) -> String {
        self.0
            .secrets
            .names
            .iter()
            .fold(text.to_owned(), |text, (name, placeholder)| text.replace(placeholder, &format!("[secret {name}]")))
    }
}
