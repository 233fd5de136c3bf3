//! The token, the sessions of browsers that showed it, and the addresses that showed wrong ones.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Arc, Mutex, PoisonError};

use axum::http::{HeaderMap, HeaderValue, header};
use chrono::{DateTime, TimeDelta, Utc};
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;

use crate::clock::Random;

const COOKIE: &str = "level3_session";
/// How long a browser's session lasts.
const SESSION: TimeDelta = TimeDelta::days(30);
/// How many wrong tokens the server looks at from one address in one span of time.
const WRONG: u32 = 10;
const SPAN: TimeDelta = TimeDelta::seconds(60);
/// How many addresses are counted apart; the others are counted together.
const ADDRESSES: usize = 4096;

/// The proof that a request shows.
#[derive(Debug, PartialEq)]
pub(super) enum Shown {
    /// The token, or the session of a browser that showed it.
    Right,
    /// Neither.
    Nothing,
    /// A token that is not ours.
    Wrong,
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
    wrong: Mutex<HashMap<IpAddr, (DateTime<Utc>, u32)>>,
}

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
        Self { key, right, random, wrong: Mutex::default() }
    }

    /// Looks for the token in the header and the address, and for a session in the cookie.
    pub(super) fn shown(&self, headers: &HeaderMap, query: &str, now: DateTime<Utc>) -> Shown {
        let bearer = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok()?.strip_prefix("Bearer "));
        let tokens: Vec<_> = [bearer, token_in(query)].into_iter().flatten().filter(|token| !token.is_empty()).collect();
        if tokens.iter().any(|token| self.is_right(token)) || sessions(headers).any(|session| self.is_session(session, now)) {
            return Shown::Right;
        }
        if tokens.is_empty() { Shown::Nothing } else { Shown::Wrong }
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
        let secure = if https { "; Secure" } else { "" };
        let seconds = SESSION.num_seconds();
        format!("{COOKIE}={said}.{mac}; HttpOnly; SameSite=Strict; Path=/; Max-Age={seconds}{secure}")
    }

    /// Counts a wrong token.
    pub(super) fn count_wrong(&self, from: IpAddr, now: DateTime<Utc>) -> Wrong {
        let mut wrong = self.wrong.lock().unwrap_or_else(PoisonError::into_inner);
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

/// The token in the part behind the question mark.
pub(super) fn token_in(query: &str) -> Option<&str> {
    query.split('&').find_map(|pair| pair.strip_prefix("token="))
}

fn sessions(headers: &HeaderMap) -> impl Iterator<Item = &str> {
    let cookies = headers.get_all(header::COOKIE).iter().filter_map(|value: &HeaderValue| value.to_str().ok());
    cookies.flat_map(|cookies| cookies.split("; ")).filter_map(|pair| pair.strip_prefix(COOKIE)?.strip_prefix('='))
}

/// A client with one IPv6 address has the other 2^64 beside it.
fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() & !u128::from(u64::MAX))),
        address => address,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::SeededRandom;

    fn tokens(token: &str) -> Tokens {
        Tokens::new(token, &[7; 32], Arc::new(SeededRandom::new(1)))
    }

    fn showing(tokens: &Tokens, name: &'static str, value: &str, now: DateTime<Utc>) -> Shown {
        tokens.shown(&HeaderMap::from_iter([(name.parse().unwrap(), value.parse().unwrap())]), "", now)
    }

    #[test]
    fn a_token_is_taken_from_header_or_address() {
        let (tokens, now) = (tokens("s3cret"), DateTime::UNIX_EPOCH);
        assert_eq!(showing(&tokens, "authorization", "Bearer s3cret", now), Shown::Right);
        assert_eq!(showing(&tokens, "authorization", "Bearer s3cre", now), Shown::Wrong);
        assert_eq!(showing(&tokens, "authorization", "Basic s3cret", now), Shown::Nothing);
        assert_eq!(showing(&tokens, "authorization", "Bearer ", now), Shown::Nothing);
        assert_eq!(tokens.shown(&HeaderMap::new(), "a=b&token=s3cret", now), Shown::Right);
        assert_eq!(tokens.shown(&HeaderMap::new(), "token=", now), Shown::Nothing);
        assert_eq!(tokens.shown(&HeaderMap::new(), "", now), Shown::Nothing);
    }

    #[test]
    fn a_session_is_random_ends_by_itself_and_with_the_token() {
        let (tokens, now) = (tokens("s3cret"), DateTime::UNIX_EPOCH);
        let cookie = |tokens: &Tokens| tokens.cookie(false, now).split(';').next().unwrap().to_owned();
        let (one, two) = (cookie(&tokens), cookie(&tokens));
        assert!(one != two && !one.contains("s3cret"), "{one} {two}");
        assert_eq!(showing(&tokens, "cookie", &format!("a=b; {one}"), now), Shown::Right);
        let again = Tokens::new("s3cret", &[7; 32], Arc::new(SeededRandom::new(9)));
        assert_eq!(showing(&again, "cookie", &one, now + SESSION - TimeDelta::seconds(1)), Shown::Right);
        assert_eq!(showing(&tokens, "cookie", &one, now + SESSION), Shown::Nothing);
        let other = Tokens::new("another", &[7; 32], Arc::new(SeededRandom::new(1)));
        assert_eq!(showing(&other, "cookie", &one, now), Shown::Nothing);
        let longer = one.replacen(&format!("={}", SESSION.num_seconds()), "=99999999999", 1);
        assert_ne!(longer, one);
        for forged in [&longer, "level3_session=s3cret", "level3_session=", "level3_token=s3cret", &one[..one.len() - 2]] {
            assert_eq!(showing(&tokens, "cookie", forged, now), Shown::Nothing, "{forged}");
        }
    }

    #[test]
    fn ten_wrong_ones_a_minute_are_counted_for_each_address() {
        let (tokens, now) = (tokens("s3cret"), DateTime::UNIX_EPOCH);
        let at = |address: &str, seconds| tokens.count_wrong(address.parse().unwrap(), now + TimeDelta::seconds(seconds));
        for _ in 0..WRONG {
            assert_eq!(at("10.0.0.1", 0), Wrong::Refused);
        }
        assert_eq!(at("10.0.0.1", 20), Wrong::TooMany(40, true));
        assert_eq!(at("::ffff:10.0.0.1", 59), Wrong::TooMany(1, false));
        assert_eq!(at("10.0.0.2", 59), Wrong::Refused);
        assert_eq!(at("10.0.0.1", 60), Wrong::Refused);
        // One network of IPv6 counts as one address.
        for n in 0..WRONG {
            assert_eq!(at(&format!("2001:db8::{n}"), 0), Wrong::Refused);
        }
        assert_eq!(at("2001:db8::ffff", 0), Wrong::TooMany(60, true));
        assert_eq!(at("2001:db8:0:1::1", 0), Wrong::Refused);
    }

    #[test]
    fn more_addresses_than_are_remembered_are_counted_together() {
        let (tokens, now) = (tokens("s3cret"), DateTime::UNIX_EPOCH);
        for n in 0..u32::try_from(ADDRESSES).unwrap() {
            tokens.count_wrong(IpAddr::V4(n.into()), now);
        }
        let late: Vec<_> = (0..=WRONG).map(|n| tokens.count_wrong(IpAddr::V4((u32::MAX - n).into()), now)).collect();
        assert_eq!(late.last(), Some(&Wrong::TooMany(60, true)));
        assert!(tokens.wrong.lock().unwrap().len() <= ADDRESSES + 1);
        assert_eq!(tokens.count_wrong(IpAddr::V4(u32::MAX.into()), now + SPAN), Wrong::Refused);
        assert_eq!(tokens.wrong.lock().unwrap().len(), 1);
    }
}
