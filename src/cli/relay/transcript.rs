//! `relay transcript`: everything that was said, who said it, when, and how far it got. What a contact said is shown as text and cannot
//! act on the terminal.

use std::collections::BTreeMap;
use std::io;

use chrono::TimeDelta;
use clap::Args;

use super::told::{ToldMedia, ToldMessage, ToldTranscript};
use super::{RelayCliError, RelayClient, instances};
use crate::cli::Screen;
use crate::clock::Clock;

/// Messages of one answer of the server.
const PAGE: usize = 500;
/// Between two looks of `--follow`.
const LOOK: TimeDelta = TimeDelta::seconds(1);

/// Which transcript.
#[derive(Debug, Args)]
pub(super) struct TranscriptCommand {
    /// The instance
    #[arg(value_parser = instances::id)]
    id: i64,
    /// Go on as more is said and delivered, until the instance has ended
    #[arg(long, short)]
    follow: bool,
}

pub(super) async fn run(
    ask: &TranscriptCommand,
    client: &RelayClient,
    clock: &dyn Clock,
    screen: &mut Screen<'_>,
) -> Result<(), RelayCliError> {
    let mut transcript = whole(ask.id, client).await?;
    if !ask.follow {
        return Ok(once(&transcript, screen)?);
    }
    let (mut shown, mut state) = (BTreeMap::new(), String::new());
    loop {
        for news in news(&transcript.messages, &mut shown) {
            print_news(&news, screen)?;
        }
        if transcript.state != state {
            state.clone_from(&transcript.state);
            if !screen.json {
                screen.line(format!("-- instance {} is {state}", ask.id))?;
            }
        }
        screen.out.flush()?;
        if is_over(&transcript) {
            return Ok(());
        }
        clock.sleep_until(clock.now() + LOOK).await;
        transcript = whole(ask.id, client).await?;
    }
}

/// True if nothing can come any more.
fn is_over(transcript: &ToldTranscript) -> bool {
    let open = |message: &ToldMessage| matches!(message.delivery.as_deref(), Some("queued" | "sending"));
    ["COMPLETED", "ABANDONED", "FAILED"].contains(&transcript.state.as_str()) && !transcript.messages.iter().any(open)
}

/// The whole transcript, however many pages it has.
pub(super) async fn whole(id: i64, client: &RelayClient) -> Result<ToldTranscript, RelayCliError> {
    let id = id.to_string();
    let path = ["instances", &id, "transcript"];
    let mut whole: ToldTranscript = client.get(&path, &[("limit", PAGE.to_string())]).await?;
    while let (true, Some(last)) = (whole.more, whole.messages.last()) {
        let query = [("after", last.seq.to_string()), ("limit", PAGE.to_string())];
        let page: ToldTranscript = client.get(&path, &query).await?;
        if page.messages.is_empty() {
            break;
        }
        whole.messages.extend(page.messages);
        (whole.state, whole.more) = (page.state, page.more);
    }
    whole.more = false;
    Ok(whole)
}

fn once(transcript: &ToldTranscript, screen: &mut Screen<'_>) -> io::Result<()> {
    if screen.json(transcript)? {
        return Ok(());
    }
    if transcript.messages.is_empty() {
        return screen.line(format!("Nothing was said yet; instance {} is {}.", transcript.instance, transcript.state));
    }
    for message in &transcript.messages {
        print(message, screen)?;
    }
    Ok(())
}

/// Something to show: a message, or that an earlier one got further.
#[derive(Debug, PartialEq)]
enum News<'a> {
    Said(&'a ToldMessage),
    Delivered(&'a ToldMessage),
}

/// The news in these messages. `shown` holds what was shown of each.
fn news<'a>(messages: &'a [ToldMessage], shown: &mut BTreeMap<i64, Option<String>>) -> Vec<News<'a>> {
    let look = |message: &'a ToldMessage| match shown.insert(message.seq, message.delivery.clone()) {
        None => Some(News::Said(message)),
        Some(before) if before != message.delivery => Some(News::Delivered(message)),
        Some(_) => None,
    };
    messages.iter().filter_map(look).collect()
}

fn print_news(news: &News<'_>, screen: &mut Screen<'_>) -> io::Result<()> {
    let (News::Said(message) | News::Delivered(message)) = news;
    if screen.json {
        // A line each, so that a program can read along.
        serde_json::to_writer(&mut *screen.out, message)?;
        return writeln!(screen.out);
    }
    match news {
        News::Said(message) => print(message, screen),
        News::Delivered(message) => screen.line(format!("-- message {} is {}", message.id, delivery(message))),
    }
}

fn print(message: &ToldMessage, screen: &mut Screen<'_>) -> io::Result<()> {
    let said_by = if message.follow_up { "agent, follow-up" } else { &message.said_by };
    let at = message.at.format("%Y-%m-%d %H:%M:%S UTC");
    let how = if message.delivery.is_some() { format!("  {}", delivery(message)) } else { String::new() };
    screen.line(format!("{at}  {said_by}{how}  [message {}]", message.id))?;
    for line in message.text.lines() {
        screen.line(format!("    {line}"))?;
    }
    if message.cut {
        screen.line("    (cut: it was longer than 16 KiB)")?;
    }
    match &message.media {
        Some(media) => screen.line(format!("    ({})", file(media))),
        None => Ok(()),
    }
}

fn delivery(message: &ToldMessage) -> String {
    let reason = message.reason.as_ref().map(|reason| format!(" ({reason})")).unwrap_or_default();
    format!("{}{reason}", message.delivery.as_deref().unwrap_or_default())
}

fn file(media: &ToldMedia) -> String {
    let ToldMedia { kind, bytes, .. } = media;
    match &media.sha256 {
        Some(sha256) => format!("a file: {kind}, {bytes} bytes, media/{sha256}"),
        None => format!("a file that was not kept: {kind}, {bytes} bytes"),
    }
}

#[cfg(test)]
mod tests;
