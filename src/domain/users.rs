//! Users: the persons with an account here.

use serde::{Deserialize, Serialize};

use super::turn::text_enum;
use super::{invisible, seen_name};

/// The most characters of a user's name.
const LONGEST_NAME: usize = 40;
/// The most characters of the name by which a user is called.
const LONGEST_DISPLAY_NAME: usize = 100;
/// How many characters a password may have.
const PASSWORD: std::ops::RangeInclusive<usize> = 12..=128;

/// A person with an account here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct UserId(pub i64);

impl UserId {
    /// The one whose server it is.
    pub const OWNER: Self = Self(1);
}

impl std::fmt::Display for UserId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

text_enum! {
    /// The part of a user here.
    UserRole {
        /// The one whose server it is: number 1.
        Owner = "owner",
        /// A person with an account for the assistants.
        Member = "member",
    }
}

impl UserRole {
    /// The role of a user: the number says it.
    pub fn of(user: UserId) -> Self {
        if user == UserId::OWNER { Self::Owner } else { Self::Member }
    }

    /// True if a user of this role has what is open to `least` and to all above.
    pub fn reaches(self, least: Self) -> bool {
        self == Self::Owner || least == Self::Member
    }
}

text_enum! {
    /// How much a user may use.
    Tier {
        /// It costs nothing.
        Free = "free",
        /// More.
        Paid = "paid",
    }
}

/// The form in which names are compared.
pub fn user_key(name: &str) -> String {
    name.to_lowercase()
}

/// Refuses what cannot be a user's name, in words.
///
/// # Errors
/// The sentence.
pub fn valid_user_name(name: &str) -> Result<(), String> {
    let length = name.chars().count();
    // Two names that look the same are two persons for the program, and one for their owner.
    let plain = name.trim() == name && !name.contains(|c: char| c.is_control() || invisible(c) || c == '/');
    if plain && (1..=LONGEST_NAME).contains(&length) {
        return Ok(());
    }
    Err(format!("a user's name has 1 to {LONGEST_NAME} characters that can be seen, none of them `/`, and no space at an end"))
}

/// Refuses what nobody can be called, in words.
///
/// # Errors
/// The sentence.
pub fn valid_display_name(name: &str) -> Result<(), String> {
    if (1..=LONGEST_DISPLAY_NAME).contains(&seen_name(name).chars().count()) {
        return Ok(());
    }
    Err(format!("a name has 1 to {LONGEST_DISPLAY_NAME} characters, and one of them at least can be seen"))
}

/// Refuses what cannot be a password, in words that do not repeat it.
///
/// # Errors
/// The sentence.
pub fn valid_password(password: &str) -> Result<(), String> {
    if PASSWORD.contains(&password.chars().count()) {
        return Ok(());
    }
    Err(format!("a password has {} to {} characters", PASSWORD.start(), PASSWORD.end()))
}

#[cfg(test)]
mod tests;
