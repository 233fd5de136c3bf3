//! Credentials: those that a request shows, the token of the house, the sessions of browsers that
//! showed it, and the addresses that showed wrong ones.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Arc, Mutex, PoisonError};

use axum::http::{HeaderMap, HeaderValue, header};
use chrono::{DateTime, TimeDelta, Utc};
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;

use crate::clock::Random;
use crate::store::DoorSecret;

const COOKIE: &str = "level3_session";
/// How long a browser's session lasts.
const SESSION: TimeDelta = TimeDelta::days(30);
/// How many wrong tokens the server looks at from one address in one span of time.
const WRONG: u32 = 10;
const SPAN: TimeDelta = TimeDelta::seconds(60);
/// How many addresses are counted apart; the others are counted together.
const ADDRESSES: usize = 4096;

/// The credentials that a request shows, unchecked.
pub(super) struct Credentials<'r> {
    tokens: Vec<&'r str>,
    cookies: Vec<&'r str>,
}

impl<'r> Credentials<'r> {
    /// Looks for tokens in the header and the address, and for sessions in the cookies.
    pub(super) fn of(headers: &'r HeaderMap, query: &'r str) -> Self {
        let bearer = headers.get(header::AUTHORIZATION).and_then(|value| bearer(value.to_str().ok()?));
        let tokens = [bearer, token_in(query)].into_iter().flatten().filter(|token| !token.is_empty()).collect();
        Self { tokens, cookies: cookies(headers).collect() }
    }

    /// True if it shows a token, right or wrong.
    pub(super) fn shows_token(&self) -> bool {
        !self.tokens.is_empty()
    }

    /// Texts that may be the secret of a session.
    pub(super) fn sessions(&self) -> Vec<DoorSecret> {
        self.cookies.iter().filter_map(|cookie| DoorSecret::read(cookie)).collect()
    }

    /// Texts that may be the secret of a user's token.
    pub(super) fn user_tokens(&self) -> Vec<DoorSecret> {
        self.tokens.iter().filter_map(|token| DoorSecret::read(token)).collect()
    }
}

/// The answer to a wrong token.
#[derive(Debug, PartialEq)]
pub(super) enum Wrong {
    /// The server refuses it, and logs a line.
    Refused,
    /// There were too many; the client may come back after so many seconds. True for the first of
    /// them.
    TooMany(i64, bool),
}

/// Judges tokens and sessions.
pub(super) struct Tokens {
    /// Made of the token, so that sessions end when it changes, and of a key that is never told, so
    /// that nobody can try tokens against a session at home.
    key: [u8; 32],
    /// The code of the right token under that key.
    right: [u8; 32],
    random: Arc<dyn Random>,
}

/// Counts wrong tokens by address.
#[derive(Default)]
pub(super) struct WrongTokens(Mutex<HashMap<IpAddr, (DateTime<Utc>, u32)>>);

fn keyed(key: &[u8], text: &[u8]) -> Hmac<Sha256> {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).expect("HMAC takes a key of any length");
    mac.update(text);
    mac
}

impl Tokens {
    /// `secret` is the server's own.
    pub(super) fn new(token: &str, secret: &[u8; 32], random: Arc<dyn Random>) -> Self {
        let key: [u8; 32] = keyed(secret, token.as_bytes()).finalize().into_bytes().into();
        let right = keyed(&key, token.as_bytes()).finalize().into_bytes().into();
        Self { key, right, random }
    }

    /// True if the token is shown, or a session of a browser that showed it.
    pub(super) fn opens(&self, shown: &Credentials<'_>, now: DateTime<Utc>) -> bool {
        shown.tokens.iter().any(|token| self.is_right(token)) || shown.cookies.iter().any(|session| self.is_session(session, now))
    }

    /// The comparison takes as long for a token that is nearly right as for any other.
    fn is_right(&self, token: &str) -> bool {
        keyed(&self.key, token.as_bytes()).verify_slice(&self.right).is_ok()
    }

    fn is_session(&self, session: &str, now: DateTime<Utc>) -> bool {
        let Some((said, mac)) = session.rsplit_once('.') else { return false };
        let ours = hex::decode(mac).is_ok_and(|mac| self.mac(said).verify_slice(&mac).is_ok());
        let until = said.split('.').next().and_then(|until| until.parse().ok());
        ours && until.is_some_and(|until: i64| now.timestamp() < until)
    }

    /// The purpose differs from the token's, so that no token can pass for a session.
    fn mac(&self, said: &str) -> Hmac<Sha256> {
        keyed(&self.key, format!("session {said}").as_bytes())
    }

    /// The cookie of a new session.
    pub(super) fn cookie(&self, https: bool, now: DateTime<Utc>) -> String {
        let mut bytes = [0; 16];
        self.random.fill(&mut bytes);
        let said = format!("{}.{}", (now + SESSION).timestamp(), hex::encode(bytes));
        let mac = hex::encode(self.mac(&said).finalize().into_bytes());
        set_cookie(&format!("{said}.{mac}"), SESSION, https)
    }
}

/// The header that sets the cookie of a session: no script reads it, and no other page's request
/// brings it.
pub(super) fn set_cookie(value: &str, lasts: TimeDelta, https: bool) -> String {
    let secure = if https { "; Secure" } else { "" };
    let seconds = lasts.num_seconds();
    format!("{COOKIE}={value}; HttpOnly; SameSite=Strict; Path=/; Max-Age={seconds}{secure}")
}

/// The cookie of a user's session.
pub(super) fn session_cookie(secret: &DoorSecret, https: bool) -> String {
    set_cookie(&secret.shown(), SESSION, https)
}

/// Takes the cookie away.
pub(in crate::http) fn no_cookie(https: bool) -> String {
    set_cookie("", TimeDelta::zero(), https)
}

impl WrongTokens {
    /// Counts a wrong token.
    pub(super) fn count(&self, from: IpAddr, now: DateTime<Utc>) -> Wrong {
        let mut wrong = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if wrong.len() >= ADDRESSES {
            wrong.retain(|_, (since, _)| now < *since + SPAN);
        }
        let from = if wrong.len() < ADDRESSES { network(from) } else { IpAddr::V6(Ipv6Addr::UNSPECIFIED) };
        let (since, count) = wrong.entry(from).or_insert((now, 0));
        if now >= *since + SPAN {
            (*since, *count) = (now, 0);
        }
        *count = count.saturating_add(1);
        if *count <= WRONG {
            return Wrong::Refused;
        }
        Wrong::TooMany((*since + SPAN - now).num_seconds().max(1), *count == WRONG + 1)
    }
}

/// The token in an `Authorization` header. The name of a scheme has no case.
fn bearer(authorization: &str) -> Option<&str> {
    let (scheme, token) = authorization.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then_some(token.trim_start_matches(' '))
}

/// The token in the part behind the question mark.
pub(super) fn token_in(query: &str) -> Option<&str> {
    query.split('&').find_map(|pair| pair.strip_prefix("token="))
}

fn cookies(headers: &HeaderMap) -> impl Iterator<Item = &str> {
    let values = headers.get_all(header::COOKIE).iter().filter_map(|value: &HeaderValue| value.to_str().ok());
    values.flat_map(|cookies| cookies.split("; ")).filter_map(|pair| pair.strip_prefix(COOKIE)?.strip_prefix('='))
}

/// A client with one IPv6 address has the other 2^64 beside it.
pub(super) fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() & !u128::from(u64::MAX))),
        address => address,
    }
}

#[cfg(test)]
mod tests;
