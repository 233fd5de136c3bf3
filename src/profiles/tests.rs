//! Tests of `profiles`.

use super::*;
use crate::domain::{Audience, DEFAULT_PROFILE};

#[test]
fn a_profile_is_found_by_its_name_and_never_by_another() {
    let profiles = Profiles::default();
    assert_eq!(profiles.get(DEFAULT_PROFILE).unwrap().name, DEFAULT_PROFILE);
    let error = profiles.get("lea").unwrap_err().to_string();
    assert_eq!(error, "there is no profile `lea`; there are: builder, mcp");
    let more = profiles.clone().with(Profile { name: "lea", audience: Audience::Contact, ..builder::profile() });
    assert_eq!(more.get("lea").unwrap().audience, Audience::Contact);
    assert_eq!((more.of_the_owner(), profiles.get("lea").is_err()), (vec![DEFAULT_PROFILE.to_owned()], true));
}
