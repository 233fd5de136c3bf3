//! The consent to the risk: shown before the first QR code, answered by a person, recorded with
//! time and text. Without the record the program connects to nobody.

use std::io::{self, BufRead, Write};
use std::path::Path;

use serde::{Deserialize, Serialize};

/// The text that a person agrees to.
pub const TEXT: &str = include_str!("../consent.txt");

/// The word that agrees.
const YES: &str = "yes";

/// The record of a consent.
#[derive(Debug, Serialize, Deserialize, PartialEq, Eq)]
pub struct Consent {
    /// When it was given, RFC 3339.
    pub at: String,
    /// How: `typed` or `--accept-risk`.
    pub how: String,
    /// The text that was agreed to.
    pub text: String,
}

/// True if somebody agreed to the text as it is now.
pub fn given(folder: &Path) -> bool {
    let record = std::fs::read(folder.join("consent.json")).ok();
    let consent: Option<Consent> = record.and_then(|bytes| serde_json::from_slice(&bytes).ok());
    consent.is_some_and(|consent| consent.text == TEXT)
}

/// Shows the text, asks unless `accept_risk` is set, and records a yes. True if there is one. A
/// text that was agreed to already is neither shown nor asked about again.
///
/// # Errors
/// The words cannot be shown or read, or the record cannot be written.
pub fn ask(folder: &Path, accept_risk: bool, now: &str, input: &mut impl BufRead, output: &mut impl Write) -> io::Result<bool> {
    if given(folder) {
        return Ok(true);
    }
    writeln!(output, "{TEXT}")?;
    if !accept_risk {
        write!(output, "Type `{YES}` to go on, anything else to leave it: ")?;
        output.flush()?;
        let mut answer = String::new();
        input.read_line(&mut answer)?;
        if answer.trim() != YES {
            writeln!(output, "Nothing was changed. `--channel loopback` tries level3 without WhatsApp.")?;
            return Ok(false);
        }
    }
    let how = if accept_risk { "--accept-risk" } else { "typed" };
    let consent = Consent { at: now.to_owned(), how: how.to_owned(), text: TEXT.to_owned() };
    std::fs::create_dir_all(folder)?;
    std::fs::write(folder.join("consent.json"), serde_json::to_vec_pretty(&consent)?)?;
    writeln!(output, "Recorded in {}.", folder.join("consent.json").display())?;
    Ok(true)
}

#[cfg(test)]
mod tests;
