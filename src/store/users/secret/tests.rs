//! Tests of `store::users::secret`.

use super::*;
use crate::clock::SeededRandom;

#[test]
fn a_secret_reads_back_from_one_form_and_is_not_printed() {
    let secret = DoorSecret::new(&SeededRandom::new(1));
    let shown = secret.shown();
    assert_eq!((shown.len(), DoorSecret::read(&shown)), (64, Some(secret.clone())));
    assert_ne!(DoorSecret::new(&SeededRandom::new(2)), secret);
    for wrong in ["", &shown[..63], &format!("{shown}0"), &shown.to_uppercase(), &hex::encode(secret.sha256()).replace('0', "g")]
    {
        assert_eq!(DoorSecret::read(wrong), None, "{wrong}");
    }
    assert_eq!(format!("{secret:?}"), "DoorSecret(…)");
    assert_ne!(hex::encode(secret.sha256()), shown);
}
