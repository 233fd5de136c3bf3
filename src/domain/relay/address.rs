//! Addresses of contacts: E.164, and nothing else.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The rule, for a person who wrote another thing.
pub const ADDRESS_RULE: &str = "write it with the country's number, like +491701234567: a plus and 8 to 15 digits";

/// The address of a contact: `+` and 8 to 15 digits.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ContactAddress(String);

impl ContactAddress {
    /// Reads an address as people write it: blanks, hyphens, dots, slashes and brackets between the
    /// digits do no harm. A zero in brackets, as in `+49 (0)170`, is refused: it is dialled at home
    /// only, but in some countries it belongs to the number.
    ///
    /// # Errors
    /// A sentence with an example.
    pub fn read(written: &str) -> Result<Self, String> {
        let refused = || format!("`{}` is no address of a contact; {ADDRESS_RULE}", shown(written));
        let bare: String = written.trim().chars().filter(|c| !matches!(c, ' ' | '-' | '.' | '/' | '(' | ')')).collect();
        let digits = bare.strip_prefix('+').ok_or_else(refused)?;
        let fits = (8..=15).contains(&digits.len()) && digits.bytes().all(|b| b.is_ascii_digit()) && !digits.starts_with('0');
        if written.split_whitespace().collect::<String>().contains("(0)") {
            let written = shown(written);
            return Err(format!("`{written}` has a zero that is dialled only at home; leave the (0) out, like +491701234567"));
        }
        if fits { Ok(Self(bare)) } else { Err(refused()) }
    }

    /// As it is stored and sent.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The same for a list of strangers: the country and the last two digits.
    pub fn masked(&self) -> String {
        let (head, tail) = self.0.split_at(self.0.len() - 2);
        format!("{}{}{tail}", &head[..3], "•".repeat(head.len() - 3))
    }
}

/// The written text, cut, so that a refusal stays short.
fn shown(written: &str) -> String {
    written.chars().filter(|c| !c.is_control()).take(40).collect()
}

impl fmt::Display for ContactAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl TryFrom<String> for ContactAddress {
    type Error = String;

    fn try_from(written: String) -> Result<Self, String> {
        Self::read(&written)
    }
}

impl From<ContactAddress> for String {
    fn from(address: ContactAddress) -> Self {
        address.0
    }
}

#[cfg(test)]
mod tests;
