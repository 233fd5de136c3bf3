//! Numbers as level3 writes them (`+491701234567`), and WhatsApp's own names for the same people.

use whatsapp_rust::{Client, Jid};

/// WhatsApp's name for a number.
///
/// # Errors
/// It is no number in international form.
pub fn jid(number: &str) -> Result<Jid, String> {
    let digits = number.strip_prefix('+').unwrap_or_default();
    let right = (8..=15).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_digit()) && !digits.starts_with('0');
    if !right {
        return Err(format!("`{number}` is no number: expected + and 8 to 15 digits, such as +491701234567"));
    }
    Ok(Jid::pn(digits))
}

/// The number behind a name of WhatsApp that shows it.
pub fn number(jid: &Jid) -> Option<String> {
    let digits = jid.user_base();
    let right = jid.is_pn() && (5..=15).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_digit());
    right.then(|| format!("+{digits}"))
}

/// The number behind a name of WhatsApp, a hidden one (`…@lid`) too: from what the message itself
/// says, or from what was learned before.
pub async fn resolve(client: &Client, jid: &Jid, other: Option<&Jid>) -> Option<String> {
    if let Some(number) = number(jid).or_else(|| other.and_then(number)) {
        return Some(number);
    }
    let entry = client.get_lid_pn_entry(jid).await.ok()??;
    number(&Jid::pn(&*entry.phone_number))
}

#[cfg(test)]
mod tests;
