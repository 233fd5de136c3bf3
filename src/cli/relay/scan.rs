//! Shows the QR code of WhatsApp in the terminal until a phone has scanned it.

use chrono::TimeDelta;

use super::told::{ToldChannel, ToldChannels};
use super::{RelayCliError, RelayClient, qr};
use crate::cli::Screen;
use crate::clock::Clock;

/// Between two looks.
const LOOK: TimeDelta = TimeDelta::milliseconds(500);
/// How long a person has to scan.
const PATIENCE: TimeDelta = TimeDelta::minutes(5);

/// Shows each code until the account is linked; gives its address, if the service says it.
pub(super) async fn linked(
    client: &RelayClient,
    clock: &dyn Clock,
    screen: &mut Screen<'_>,
) -> Result<Option<String>, RelayCliError> {
    let (until, mut shown) = (clock.now() + PATIENCE, None);
    while clock.now() < until {
        let answer = client.get::<ToldChannels>(&["channels"], &[]).await?.said;
        let channel = answer.channels.into_iter().find(|channel| channel.name == "whatsapp");
        let Some(channel) = channel else {
            return Err(RelayCliError::Refused(
                "the server has no WhatsApp program; name one: relay init --whatsapp-program FILE".into(),
            ));
        };
        if let Some(why) = hopeless(&channel) {
            return Err(RelayCliError::Refused(why));
        }
        if channel.state == "online" {
            return Ok(channel.address);
        }
        if channel.qr.is_some() && channel.qr != shown {
            show(channel.qr.as_deref().unwrap_or_default(), screen)?;
            shown = channel.qr;
        }
        clock.sleep_until(clock.now() + LOOK).await;
    }
    Err(RelayCliError::Refused("nobody has scanned the code in 5 minutes; try again: relay init --channel whatsapp".into()))
}

/// Why waiting does not help.
fn hopeless(channel: &ToldChannel) -> Option<String> {
    let reason = channel.reason.as_deref().unwrap_or("it gives no reason");
    match channel.state.as_str() {
        "outdated" => Some(format!("the WhatsApp program is too old or broken: {reason}")),
        "locked" => Some(format!("WhatsApp has locked the account: {reason}")),
        // A logout by the phone is followed by a new code; codes that nobody scanned, and a consent
        // that is missing, are followed by nothing.
        "logged_out" if reason.starts_with("unscanned") => Some(
            "nobody scanned any of the codes, and new ones come after a new start: relay stop, then relay init --channel whatsapp"
                .into(),
        ),
        "logged_out" if reason.contains("consent") => {
            Some(format!("the WhatsApp program has no consent to its words as they are now; give it: relay init --channel whatsapp --consent ({reason})"))
        }
        "off" => Some("WhatsApp is off, or its program does not start; relay status says more. Name another with relay init --whatsapp-program FILE".into()),
        _ => None,
    }
}

fn show(text: &str, screen: &mut Screen<'_>) -> Result<(), RelayCliError> {
    if screen.json(&serde_json::json!({ "qr": text }))? {
        return Ok(());
    }
    screen.line("Scan this code: WhatsApp on the phone, Settings, Linked devices, Link a device.")?;
    match qr::lines(text) {
        Some(lines) => screen.code(&lines)?,
        None => screen.line("The code is too large for a terminal; the page's place Relay shows it.")?,
    }
    Ok(screen.out.flush()?)
}
