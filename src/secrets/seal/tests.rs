//! Tests of `secrets::seal`.

use secrecy::ExposeSecret;

use super::super::key;
use super::*;
use crate::clock::SeededRandom;

fn key(seed: u64) -> Key {
    let folder = tempfile::tempdir().unwrap();
    key::make(&folder.path().join(key::FILE), &SeededRandom::new(seed)).unwrap()
}

#[test]
fn what_is_sealed_opens_under_its_name_and_its_key_alone() {
    let random = SeededRandom::new(1);
    let (mine, other) = (key(2), key(3));
    let sealed = seal(&mine, "API_KEY", "correct horse", &random);
    assert_eq!(open(&mine, "API_KEY", &sealed).unwrap().expose_secret(), "correct horse");
    assert!(open(&mine, "OTHER_KEY", &sealed).is_none() && open(&other, "API_KEY", &sealed).is_none());
    assert!(open(&mine, "API_KEY", &sealed[..5]).is_none());
    let mut changed = sealed.clone();
    *changed.last_mut().unwrap() ^= 1;
    assert!(open(&mine, "API_KEY", &changed).is_none());
}

#[test]
fn the_same_value_is_never_sealed_the_same_way_twice_and_does_not_show() {
    let (key, random) = (key(2), SeededRandom::new(1));
    let [a, b] = [(); 2].map(|()| seal(&key, "API_KEY", "correct horse", &random));
    assert_ne!(a, b);
    assert!(!a.windows(5).any(|window| window == b"horse"));
}
