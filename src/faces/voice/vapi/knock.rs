//! A request of Vapi's shows which call it is: by the bearer of the call, or by a signature with
//! its key. Both are computed from a key of the server, so they outlive a restart and die with the
//! call. Nothing says why one was wrong.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use chrono::{DateTime, TimeDelta};
use hmac::{EagerHash, Hmac, KeyInit as _, Mac as _};
use secrecy::ExposeSecret;
use serde_json::Value;
use sha1::Sha1;
use sha2::{Sha256, Sha512};

use super::Vapi;
use crate::config::{SignatureAlgorithm, SignatureEncoding, SignaturePlan};
use crate::domain::VoiceCallId;
use crate::store::{StoreError, VapiCall};

/// A message that is older, or newer, is refused.
const FRESH: TimeDelta = TimeDelta::minutes(5);
/// The header of a secret that is sent as it is.
const PLAIN: &str = "x-vapi-secret";

/// A call that has shown to be it. Only this module makes one.
#[derive(Clone, Debug)]
pub struct KnownCall(VapiCall);

impl KnownCall {
    /// The call.
    pub fn call(&self) -> &VapiCall {
        &self.0
    }
}

impl Vapi {
    /// The bearer of a call.
    pub(super) fn bearer(&self, call: VoiceCallId) -> String {
        hex::encode(self.store.derived_key(&format!("bearer of the Vapi call {call}")))
    }

    /// The key with which the messages of a call are signed.
    pub(super) fn signing_key(&self, call: VoiceCallId) -> String {
        hex::encode(self.store.derived_key(&format!("signatures of the Vapi call {call}")))
    }

    /// The call that goes on and has this bearer; `header` finds a header of the request.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn by_bearer(
        &self,
        call: VoiceCallId,
        header: impl Fn(&str) -> Option<String>,
    ) -> Result<Option<KnownCall>, StoreError> {
        let shown = header("authorization").and_then(|value| Some(value.strip_prefix("Bearer ")?.trim().to_owned()));
        let is_right = shown.is_some_and(|shown| same(shown.as_bytes(), self.bearer(call).as_bytes()));
        if !is_right || !self.is_set() {
            return Ok(None);
        }
        let known = self.store.vapi_call(call, self.clock.now()).await?;
        Ok(known.filter(|known| known.open).map(KnownCall))
    }

    /// The call whose message this is, by its signature over exactly these bytes. Each signature is
    /// taken once.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn by_signature(
        &self,
        call: VoiceCallId,
        header: impl Fn(&str) -> Option<String>,
        body: &[u8],
    ) -> Result<Option<KnownCall>, StoreError> {
        let Some(settings) = &self.config.whole else { return Ok(None) };
        let plan = &settings.signature;
        let own = self.signing_key(call);
        let shared = match &settings.secret {
            Some(name) => self.vault.get(name).await.ok().flatten(),
            None => None,
        };
        // The key of the call first: a message with the other one has to say itself which call it
        // is about.
        let keys = [Some(own.as_str()), shared.as_ref().map(ExposeSecret::expose_secret)];
        let of = |is_right: &dyn Fn(&[u8]) -> bool| keys.iter().position(|key| key.is_some_and(|key| is_right(key.as_bytes())));
        let (key, seen) = match header(&plan.signature) {
            Some(signature) => {
                let Some(timestamp) = header(&plan.timestamp) else { return Ok(None) };
                let fresh = moment(&timestamp).is_some_and(|at| (self.clock.now() - at).abs() <= FRESH);
                let Some(bytes) = bytes_of(plan, &signature).filter(|_| fresh) else { return Ok(None) };
                let key = of(&|key| signed(plan.algorithm, key, &timestamp, body, &bytes));
                (key, Some(format!("signature {}", hex::encode(bytes))))
            }
            // The secret itself proves nothing about the message, so it is taken only if the
            // operator says so.
            None if plan.plain => {
                let Some(shown) = header(PLAIN) else { return Ok(None) };
                (of(&|key| same(shown.as_bytes(), key)), None)
            }
            None => return Ok(None),
        };
        let Some(key) = key else { return Ok(None) };
        let Some(known) = self.store.vapi_call(call, self.clock.now()).await? else { return Ok(None) };
        if key > 0 && !names(body, known.id.as_deref()) {
            return Ok(None);
        }
        if let Some(seen) = seen
            && !self.store.of(known.user).comes_first(call, &seen).await?
        {
            return Ok(None);
        }
        Ok(Some(KnownCall(known)))
    }
}

/// True if a message says that it is about this call of Vapi's. The secret of a dashboard's
/// assistant is one for all of its calls, so that a message of one of them would else be good for
/// another.
fn names(body: &[u8], id: Option<&str>) -> bool {
    let read: Value = serde_json::from_slice(body).unwrap_or_default();
    id.is_some_and(|id| read["message"]["call"]["id"] == id)
}

/// The time of a message: seconds since 1970, or milliseconds.
fn moment(written: &str) -> Option<DateTime<chrono::Utc>> {
    const MILLISECONDS_FROM: i64 = 100_000_000_000;
    let number: i64 = written.trim().parse().ok()?;
    if number >= MILLISECONDS_FROM { DateTime::from_timestamp_millis(number) } else { DateTime::from_timestamp(number, 0) }
}

fn bytes_of(plan: &SignaturePlan, written: &str) -> Option<Vec<u8>> {
    let digits = written.trim().strip_prefix(plan.prefix.as_str())?;
    match plan.encoding {
        SignatureEncoding::Hex => hex::decode(digits).ok(),
        SignatureEncoding::Base64 => BASE64_STANDARD.decode(digits).ok(),
    }
}

/// True if `signature` is that of `{timestamp}.{body}`. The comparison takes as long for any
/// signature.
fn signed(algorithm: SignatureAlgorithm, key: &[u8], timestamp: &str, body: &[u8], signature: &[u8]) -> bool {
    match algorithm {
        SignatureAlgorithm::Sha256 => by::<Sha256>(key, timestamp, body, signature),
        SignatureAlgorithm::Sha512 => by::<Sha512>(key, timestamp, body, signature),
        SignatureAlgorithm::Sha1 => by::<Sha1>(key, timestamp, body, signature),
    }
}

fn by<D: EagerHash>(key: &[u8], timestamp: &str, body: &[u8], signature: &[u8]) -> bool {
    let Ok(mut mac) = Hmac::<D>::new_from_slice(key) else { return false };
    mac.update(timestamp.as_bytes());
    mac.update(b".");
    mac.update(body);
    mac.verify_slice(signature).is_ok()
}

/// Compares two secrets; nobody learns from the time that it takes how much of one was right.
fn same(shown: &[u8], right: &[u8]) -> bool {
    const KEY: &[u8] = b"level3 compares";
    let mac = |text: &[u8]| {
        let mut mac = Hmac::<Sha256>::new_from_slice(KEY).expect("HMAC takes a key of any length");
        mac.update(text);
        mac
    };
    mac(shown).verify_slice(&mac(right).finalize().into_bytes()).is_ok()
}

#[cfg(test)]
mod tests;
