//! `relay status`: the daemon, its channels, and how much goes on.

use std::io;

use serde_json::{Value, json};

use super::home::RelayHome;
use super::instances::messages;
use super::spans::span;
use super::told::{Told, ToldChannel, ToldStatus};
use super::{RelayCliError, RelayClient};
use crate::cli::Screen;
use crate::cli::screen::time;

pub(super) async fn run(home: &RelayHome, client: &RelayClient, screen: &mut Screen<'_>) -> Result<(), RelayCliError> {
    let Told { whole, said: status } = client.get::<ToldStatus>(&["status"], &[]).await?;
    let config = home.config()?;
    // The process to speak of is the one that `start` has named, which keeps the server running.
    let daemon = if config.server.is_some() { None } else { home.running()? };
    let url = client.place()?.unwrap_or_else(|| config.url());
    if screen.json(&machine(whole, &status, daemon, url.as_str()))? {
        return Ok(());
    }
    let up = span(status.uptime_seconds);
    match daemon {
        Some(pid) => screen.line(format!("The Relay daemon runs: pid {pid}, up {up}, {url}"))?,
        None => screen.line(format!("level3 runs: pid {}, up {up}, {url}", status.pid))?,
    }
    screen.line(format!(
        "Instances: {} active, {} queued, {} paused, {} waiting for a person",
        status.active, status.queued, status.paused, status.needs_human
    ))?;
    if status.unknown > 0 {
        let many = messages(status.unknown, "has", "have");
        screen.line(format!("{many} an unknown outcome: relay list shows where; then relay resend or relay settle"))?;
    }
    for channel in &status.channels {
        print(channel, screen)?;
    }
    Ok(())
}

/// The status for programs: that of the server, with the daemon's own process and WhatsApp's state
/// by a name of its own.
fn machine(mut said: Value, status: &ToldStatus, daemon: Option<i32>, url: &str) -> Value {
    let whatsapp = status.channels.iter().find(|channel| channel.name == "whatsapp");
    said["server_pid"] = json!(status.pid);
    said["pid"] = daemon.map_or(json!(status.pid), |pid| json!(pid));
    said["url"] = json!(url);
    said["whatsapp"] = json!(whatsapp.map_or("off", |channel| &channel.state));
    said
}

/// One channel: its state, what to do about it, and how much of its pace is used up.
fn print(channel: &ToldChannel, screen: &mut Screen<'_>) -> io::Result<()> {
    let name = if channel.name == "whatsapp" { "WhatsApp" } else { &channel.name };
    let address = channel.address.as_ref().map(|address| format!(" as {address}")).unwrap_or_default();
    let until = channel.until.map(|until| format!(" until {}", time(until))).unwrap_or_default();
    let reason = channel.reason.as_ref().map(|reason| format!(": {reason}")).unwrap_or_default();
    screen.line(format!("{name}: {}{address}{until}{reason}", channel.state))?;
    if let Some(help) = help(&channel.state) {
        screen.line(format!("  {help}"))?;
    }
    if let Some(why) = &channel.no_first_contacts {
        screen.line(format!("  nobody new is written to: {why}"))?;
    }
    let used = &channel.used;
    if channel.state != "off" {
        screen.line(format!(
            "  sent {} of {} this minute, {} of {} today, {} of {} first contacts today",
            used.minute, used.minute_limit, used.day, used.day_limit, used.first_contacts_day, used.first_contacts_limit
        ))?;
    }
    let dropped: i64 = channel.dropped.values().sum();
    if dropped + channel.strangers > 0 {
        screen.line(format!("  {} senders without an instance, {dropped} messages dropped", channel.strangers))?;
    }
    Ok(())
}

/// The deed that helps in a state.
fn help(state: &str) -> Option<&'static str> {
    match state {
        "needs_scan" => Some("scan the code: relay init --channel whatsapp shows it, and the page's place Relay"),
        "logged_out" => Some("link it again: relay init --channel whatsapp"),
        "locked" => Some(
            "WhatsApp has restricted the account: look into WhatsApp on the phone; if no end is named, relay stop and relay start once it is free",
        ),
        "outdated" => Some("the WhatsApp program is too old: update it, then relay stop and relay start"),
        _ => None,
    }
}
