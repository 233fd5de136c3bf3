//! Law, who keeps the same to-dos by voice: its words are made to be spoken.

use super::lea;
use crate::domain::Profile;

pub(super) fn profile() -> Profile {
    Profile { name: "law", prompt: include_str!("prompts/law.md"), ..lea::profile() }
}
