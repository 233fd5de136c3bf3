//! `relay transcript`: everything that was said, who said it, when, and how far it got. The words
//! of a contact are shown as text and cannot act on the terminal.

use std::collections::BTreeMap;
use std::io;

use chrono::TimeDelta;
use clap::Args;
use serde_json::{Value, json};

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

/// A transcript, however many pages it had.
struct WholeTranscript {
    instance: i64,
    state: String,
    lines: Vec<TranscriptLine>,
}

/// A message as it came, and as it is understood.
struct TranscriptLine {
    whole: Value,
    said: ToldMessage,
}

pub(super) async fn run(
    ask: &TranscriptCommand,
    client: &RelayClient,
    clock: &dyn Clock,
    screen: &mut Screen<'_>,
) -> Result<(), RelayCliError> {
    let mut transcript = read(ask.id, client).await?;
    if !ask.follow {
        return Ok(once(&transcript, screen)?);
    }
    let (mut shown, mut state) = (BTreeMap::new(), String::new());
    loop {
        for news in news(&transcript.lines, &mut shown) {
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
        transcript = loop {
            clock.sleep_until(clock.now() + LOOK).await;
            match read(ask.id, client).await {
                // The instance goes on as long as its daemon does.
                Err(RelayCliError::NotBack(_)) => {}
                read => break read?,
            }
        };
    }
}

/// True if nothing can come any more.
fn is_over(transcript: &WholeTranscript) -> bool {
    let open = |line: &TranscriptLine| matches!(line.said.delivery.as_deref(), Some("queued" | "sending"));
    ["COMPLETED", "ABANDONED", "FAILED"].contains(&transcript.state.as_str()) && !transcript.lines.iter().any(open)
}

async fn read(instance: i64, client: &RelayClient) -> Result<WholeTranscript, RelayCliError> {
    let id = instance.to_string();
    let path = ["instances", &id, "transcript"];
    let (mut lines, mut after): (Vec<TranscriptLine>, i64) = (Vec::new(), 0);
    loop {
        let query = [("after", after.to_string()), ("limit", PAGE.to_string())];
        let page = client.get::<ToldTranscript>(&path, &query).await?.said;
        let more = page.more && !page.messages.is_empty();
        for whole in page.messages {
            let strange =
                |error| RelayCliError::Refused(format!("the server sent a message that this relay does not understand: {error}"));
            let said: ToldMessage = serde_json::from_value(whole.clone()).map_err(strange)?;
            after = said.seq;
            lines.push(TranscriptLine { whole, said });
        }
        if !more {
            return Ok(WholeTranscript { instance, state: page.state, lines });
        }
    }
}

fn once(transcript: &WholeTranscript, screen: &mut Screen<'_>) -> io::Result<()> {
    let messages: Vec<_> = transcript.lines.iter().map(|line| &line.whole).collect();
    if screen.json(&json!({ "instance": transcript.instance, "state": transcript.state, "messages": messages }))? {
        return Ok(());
    }
    if messages.is_empty() {
        return screen.line(format!("Nothing was said yet; instance {} is {}.", transcript.instance, transcript.state));
    }
    transcript.lines.iter().try_for_each(|line| print(&line.said, screen))
}

/// Something to show: a message, or that an earlier one got further.
enum News<'a> {
    Said(&'a TranscriptLine),
    Delivered(&'a TranscriptLine),
}

/// The news in these messages. `shown` holds what was shown of each.
fn news<'a>(lines: &'a [TranscriptLine], shown: &mut BTreeMap<i64, Option<String>>) -> Vec<News<'a>> {
    let look = |line: &'a TranscriptLine| match shown.insert(line.said.seq, line.said.delivery.clone()) {
        None => Some(News::Said(line)),
        Some(before) if before != line.said.delivery => Some(News::Delivered(line)),
        Some(_) => None,
    };
    lines.iter().filter_map(look).collect()
}

fn print_news(news: &News<'_>, screen: &mut Screen<'_>) -> io::Result<()> {
    let (News::Said(line) | News::Delivered(line)) = news;
    if screen.json {
        // A line each, so that a program can read along.
        serde_json::to_writer(&mut *screen.out, &line.whole)?;
        return writeln!(screen.out);
    }
    match news {
        News::Said(line) => print(&line.said, screen),
        News::Delivered(line) => screen.line(format!("-- message {} is {}", line.said.id, delivery(&line.said))),
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
    let reason = message.reason.clone().or_else(|| Some(message.waits.as_ref()?.words()));
    let reason = reason.map(|reason| format!(" ({reason})")).unwrap_or_default();
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
