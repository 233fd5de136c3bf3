//! Tests of `http::access::tokens`.

use super::*;
use crate::clock::SeededRandom;

fn tokens(token: &str) -> Tokens {
    Tokens::new(token, &[7; 32], Arc::new(SeededRandom::new(1)))
}

/// True if a header shows a token, and true if it opens.
fn showing(tokens: &Tokens, name: &'static str, value: &str, now: DateTime<Utc>) -> (bool, bool) {
    let headers = HeaderMap::from_iter([(name.parse().unwrap(), value.parse().unwrap())]);
    let shown = Credentials::of(&headers, "");
    (shown.shows_token(), tokens.opens(&shown, now))
}

const RIGHT: (bool, bool) = (true, true);
const WRONG_ONE: (bool, bool) = (true, false);
const NOTHING: (bool, bool) = (false, false);
const SESSION_OPENS: (bool, bool) = (false, true);

#[test]
fn a_token_is_taken_from_header_or_address() {
    let (tokens, now) = (tokens("s3cret"), DateTime::UNIX_EPOCH);
    assert_eq!(showing(&tokens, "authorization", "Bearer s3cret", now), RIGHT);
    assert_eq!(showing(&tokens, "authorization", "Bearer s3cre", now), WRONG_ONE);
    assert_eq!(showing(&tokens, "authorization", "Basic s3cret", now), NOTHING);
    assert_eq!(showing(&tokens, "authorization", "Bearer ", now), NOTHING);
    let none = HeaderMap::new();
    for (query, opens) in [("a=b&token=s3cret", true), ("token=", false), ("", false)] {
        assert_eq!(tokens.opens(&Credentials::of(&none, query), now), opens, "{query}");
    }
}

#[test]
fn a_session_is_random_ends_by_itself_and_with_the_token() {
    let (tokens, now) = (tokens("s3cret"), DateTime::UNIX_EPOCH);
    let cookie = |tokens: &Tokens| tokens.cookie(false, now).split(';').next().unwrap().to_owned();
    let (one, two) = (cookie(&tokens), cookie(&tokens));
    assert!(one != two && !one.contains("s3cret"), "{one} {two}");
    assert_eq!(showing(&tokens, "cookie", &format!("a=b; {one}"), now), SESSION_OPENS);
    let again = Tokens::new("s3cret", &[7; 32], Arc::new(SeededRandom::new(9)));
    assert_eq!(showing(&again, "cookie", &one, now + SESSION - TimeDelta::seconds(1)), SESSION_OPENS);
    assert_eq!(showing(&tokens, "cookie", &one, now + SESSION), NOTHING);
    let other = Tokens::new("another", &[7; 32], Arc::new(SeededRandom::new(1)));
    assert_eq!(showing(&other, "cookie", &one, now), NOTHING);
    let longer = one.replacen(&format!("={}", SESSION.num_seconds()), "=99999999999", 1);
    assert_ne!(longer, one);
    for forged in [&longer, "level3_session=s3cret", "level3_session=", "level3_token=s3cret", &one[..one.len() - 2]] {
        assert_eq!(showing(&tokens, "cookie", forged, now), NOTHING, "{forged}");
    }
}

#[test]
fn ten_wrong_ones_a_minute_are_counted_for_each_address() {
    let (wrong, now) = (WrongTokens::default(), DateTime::UNIX_EPOCH);
    let at = |address: &str, seconds| wrong.count(address.parse().unwrap(), now + TimeDelta::seconds(seconds));
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
    let (wrong, now) = (WrongTokens::default(), DateTime::UNIX_EPOCH);
    for n in 0..u32::try_from(ADDRESSES).unwrap() {
        wrong.count(IpAddr::V4(n.into()), now);
    }
    let late: Vec<_> = (0..=WRONG).map(|n| wrong.count(IpAddr::V4((u32::MAX - n).into()), now)).collect();
    assert_eq!(late.last(), Some(&Wrong::TooMany(60, true)));
    assert!(wrong.0.lock().unwrap().len() <= ADDRESSES + 1);
    assert_eq!(wrong.count(IpAddr::V4(u32::MAX.into()), now + SPAN), Wrong::Refused);
    assert_eq!(wrong.0.lock().unwrap().len(), 1);
}

#[test]
fn only_what_has_the_form_of_a_secret_is_looked_up() {
    let secret = DoorSecret::new(&SeededRandom::new(3)).shown();
    let headers = HeaderMap::from_iter([
        (header::COOKIE, format!("level3_session={secret}; level3_session=1.2.3; other={secret}").parse().unwrap()),
        (header::AUTHORIZATION, format!("Bearer {secret}").parse().unwrap()),
    ]);
    let shown = Credentials::of(&headers, "token=short");
    assert_eq!((shown.sessions().len(), shown.user_tokens().len()), (1, 1));
    let cookie = session_cookie(&DoorSecret::read(&secret).unwrap(), true);
    assert_eq!(cookie, format!("level3_session={secret}; HttpOnly; SameSite=Strict; Path=/; Max-Age=2592000; Secure"));
    assert_eq!(no_cookie(false), "level3_session=; HttpOnly; SameSite=Strict; Path=/; Max-Age=0");
}
