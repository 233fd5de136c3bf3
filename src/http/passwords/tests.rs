//! Tests of `http::passwords`.

use super::*;
use crate::clock::SeededRandom;

#[tokio::test]
async fn a_hash_is_argon2id_as_it_is_advised_and_knows_its_password_alone() {
    let passwords = Passwords::new(Arc::new(SeededRandom::new(1)));
    let (one, two) = (passwords.hash("correct horse".into()).await, passwords.hash("correct horse".into()).await);
    assert!(one.starts_with("$argon2id$v=19$m=19456,t=2,p=1$") && one != two, "{one}");
    assert!(passwords.is_right("correct horse".into(), Some(one.clone())).await);
    for wrong in ["", "correct hors", "correct horse ", "Correct horse"] {
        assert!(!passwords.is_right(wrong.into(), Some(one.clone())).await, "{wrong}");
    }
    assert!(!passwords.is_right("correct horse".into(), None).await);
    assert!(!passwords.is_right("correct horse".into(), Some("no hash".into())).await);
}
