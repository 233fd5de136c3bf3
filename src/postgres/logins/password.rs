//! The logins' passwords: derived from the administrator's, so that no state is kept.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::{Digest as _, Sha256};
use sqlx::ConnectOptions as _;
use sqlx::postgres::PgConnectOptions;

/// The administrator's password, in the encoding of a URL; `None` when there is none or it is
/// empty. The options give it out in no other way. Other parts are replaced, since some of them
/// make no URL.
pub(super) fn admin_password(admin: &PgConnectOptions) -> Option<String> {
    let url = admin.clone().host("localhost").username("admin").to_url_lossy();
    url.password().filter(|password| !password.is_empty()).map(str::to_owned)
}

/// The password that options connect with, as it is.
pub(in crate::postgres) fn plain_password(options: &PgConnectOptions) -> Option<String> {
    let encoded = admin_password(options)?;
    // The one decoder at hand: the value of a query is written the same way, but for `+`.
    let query = format!("p={}", encoded.replace('+', "%2B"));
    url::form_urlencoded::parse(query.as_bytes()).next().map(|(_, password)| password.into_owned())
}

/// The password of `role`.
pub(super) fn password(secret: &str, role: &str) -> String {
    hex::encode(mac(secret.as_bytes(), &[role.as_bytes()]))
}

fn keyed(key: &[u8]) -> Hmac<Sha256> {
    Hmac::new_from_slice(key).expect("HMAC takes a key of any length")
}

fn mac(key: &[u8], parts: &[&[u8]]) -> [u8; 32] {
    let mut mac = keyed(key);
    parts.iter().for_each(|part| mac.update(part));
    mac.finalize().into_bytes().into()
}

/// The verifier of a password that Postgres stores (RFC 5803). The salt is derived, so that the
/// same password gives the same text.
pub(super) fn verifier(password: &str) -> String {
    const ITERATIONS: usize = 4096;
    let salt = &mac(password.as_bytes(), &[b"salt"])[..16];
    let mut round = mac(password.as_bytes(), &[salt, &1_u32.to_be_bytes()]);
    let mut salted = round;
    let keyed = keyed(password.as_bytes());
    for _ in 1..ITERATIONS {
        round = keyed.clone().chain_update(round).finalize().into_bytes().into();
        salted.iter_mut().zip(round).for_each(|(sum, byte)| *sum ^= byte);
    }
    let stored = Sha256::digest(mac(&salted, &[b"Client Key"]));
    let server = mac(&salted, &[b"Server Key"]);
    let [salt, stored, server] = [salt, stored.as_slice(), &server].map(|bytes| BASE64_STANDARD.encode(bytes));
    format!("SCRAM-SHA-256${ITERATIONS}:{salt}${stored}:{server}")
}

#[cfg(test)]
mod tests;
