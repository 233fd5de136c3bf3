//! `level3 replay`: whether everything is what was recorded, and what was recorded of a turn.

use std::io;

use clap::Args;
use serde_json::Value;

use super::client::Client;
use super::{CliError, Screen};
use crate::domain::{CallRequest, Event, Image, Outcome};
use crate::wire::api::{ReplayCheck, ReplayedEvent, ReplayedTurn};

/// The ways to replay.
#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
pub struct Replay {
    /// Rebuild every table that follows from events, and compare; check that no event was changed or taken out
    #[arg(long)]
    check: bool,
    /// Show a turn as it was recorded: answers, calls, verdicts, operations, outcomes
    #[arg(long, value_name = "N")]
    turn: Option<i64>,
}

pub(super) async fn run(ask: Replay, client: &Client, screen: &mut Screen<'_>) -> Result<(), CliError> {
    match ask.turn {
        Some(turn) => {
            let replayed: ReplayedTurn = client.get(&["replay", "turns", &turn.to_string()], &[]).await?;
            if !screen.json(&replayed)? {
                print_turn(&replayed, screen)?;
            }
            Ok(())
        }
        None => check(client, screen).await,
    }
}

async fn check(client: &Client, screen: &mut Screen<'_>) -> Result<(), CliError> {
    let found: ReplayCheck = client.get(&["replay", "check"], &[]).await?;
    if !screen.json(&found)? {
        print_check(&found, screen)?;
    }
    if found.clean {
        return Ok(());
    }
    Err(CliError::Failed("what the server works with is not what was recorded".to_owned()))
}

fn print_check(found: &ReplayCheck, screen: &mut Screen<'_>) -> io::Result<()> {
    if found.clean {
        return screen.line(format!("{} events replayed: none was changed, and every table is what they say.", found.events));
    }
    screen.line(format!("{} events replayed.", found.events))?;
    let line = |link: &crate::wire::api::BrokenLink| {
        format!("conversation {}, event {} {}", link.conversation, link.sequence, link.what)
    };
    screen.part("Events", &found.broken.iter().map(line).collect::<Vec<_>>().join("\n"))?;
    let line = |row: &crate::wire::api::RowDifference| {
        let place = match &row.column {
            Some(column) => format!("{} {}, {column}", row.table, row.row),
            None => format!("{} {}", row.table, row.row),
        };
        let said = |value: &Option<String>| value.as_deref().map_or("nothing".to_owned(), |text| text.replace('\n', "\\n"));
        format!("{place}: is {}; events say {}", said(&row.live), said(&row.events))
    };
    screen.part("Tables", &found.differences.iter().map(line).collect::<Vec<_>>().join("\n"))?;
    if found.more { screen.line("There are more differences than these.") } else { Ok(()) }
}

fn print_turn(turn: &ReplayedTurn, screen: &mut Screen<'_>) -> io::Result<()> {
    screen.line(format!("Turn {}", turn.turn))?;
    for ReplayedEvent { sequence, at, event } in &turn.events {
        let (what, text) = told(event);
        screen.part(&format!("{sequence}  {}  {what}", at.format("%Y-%m-%d %H:%M:%S%.3f UTC")), &text)?;
        if text.trim().is_empty() {
            screen.line(format!("\n{sequence}  {}  {what}", at.format("%Y-%m-%d %H:%M:%S%.3f UTC")))?;
        }
    }
    Ok(())
}

/// An event as a heading and a text.
fn told(event: &Event) -> (String, String) {
    match event {
        Event::TurnQueued { origin, content, images, .. } => (format!("queued, from a {origin}"), with_images(content, images)),
        Event::TurnSteered { message, content, images, .. } => {
            (format!("message {message} said into it"), with_images(content, images))
        }
        Event::SteeringShown { step, messages, .. } => {
            let messages: Vec<_> = messages.iter().map(ToString::to_string).collect();
            (format!("step {step} is shown message {}", messages.join(", ")), String::new())
        }
        Event::TurnStarted { fence, .. } => (format!("taken up, fence {fence}"), String::new()),
        Event::StepAnswered { number, model, finish_reason, usage, content, last, unproven, .. } => {
            let tokens = usage.map(|usage| format!(", {} tokens read, {} written", usage.input, usage.output));
            let mark = match (unproven, last) {
                (false, _) => "",
                (true, false) => ", taken back: nothing recorded shows what it claims",
                (true, true) => ", nothing recorded shows what it claims",
            };
            (format!("step {number}, {model} answered ({finish_reason}{}){mark}", tokens.unwrap_or_default()), content.clone())
        }
        Event::ToolCallProposed { call, request: CallRequest { name, arguments, .. }, .. } => {
            (format!("call {call} of {name} proposed"), arguments.clone())
        }
        Event::ProposalClassified { call, classification, answered, .. } => {
            let how = if *answered { "classified" } else { "not classified, so the strictest is taken" };
            (format!("call {call} {how}"), json(classification))
        }
        Event::ApprovalRequested { call, approval, shown, .. } => {
            (format!("verdict on call {call}: ask, approval {approval}"), format!("{}\n{}", shown.what.join("\n"), shown.why))
        }
        Event::ApprovalDecided { approval, state, channel, reason, .. } => {
            (format!("approval {approval} {state}, by {channel}"), reason.clone().unwrap_or_default())
        }
        Event::TurnResumed { content, .. } => ("in the queue again".to_owned(), content.clone().unwrap_or_default()),
        Event::OperationRecorded { call, ordinal, power, class, request, state, .. } => {
            (format!("operation {ordinal} of call {call}, {power} of class {class}: {state}"), json(request))
        }
        Event::ToolCallEnded { call, name, outcome: Outcome { ok, result, logs, .. }, verdict, approval, .. } => {
            let verdict = match (verdict, approval) {
                (Some(verdict), Some(approval)) => format!("verdict {verdict}, approval {approval} used"),
                (Some(verdict), None) => format!("verdict {verdict}"),
                (None, _) => "never judged".to_owned(),
            };
            let came = if *ok { "done" } else { "failed" };
            let logged: String = logs.iter().map(|line| format!("\nlogged: {line}")).collect();
            (format!("call {call} of {name} {came} ({verdict})"), format!("{result}{logged}"))
        }
        Event::CallUndone { call, rows, .. } => (format!("call {call} undone, {rows} rows put back"), String::new()),
        Event::AnswerBrokenOff { model, usage, counted, .. } => {
            let how = if *counted { "as the provider counted" } else { "by its bytes" };
            let tokens = format!("{} tokens read, {} written, {how}", usage.input, usage.output);
            (format!("an answer of {model} broke off"), tokens)
        }
        Event::TasksHeld { tasks, .. } => (format!("tasks {} wait", json(tasks)), String::new()),
        Event::TasksFired { tasks, model, .. } => {
            (format!("for tasks {}", json(tasks)), model.as_ref().map(|model| format!("with {model}")).unwrap_or_default())
        }
        Event::TaskChanged { .. } | Event::CapabilityInstalled { .. } | Event::CapabilityChanged { .. } => {
            (event.kind().to_owned(), json(event))
        }
        Event::TurnEnded { state, reason, .. } => (state.to_string(), reason.clone().unwrap_or_default()),
    }
}

fn with_images(content: &str, images: &[Image]) -> String {
    let lines: String = images.iter().map(|image| format!("\nwith an image: {}, {}", image.words(), image.sha256)).collect();
    format!("{content}{lines}")
}

fn json(value: &impl serde::Serialize) -> String {
    serde_json::to_value(value).as_ref().map(Value::to_string).unwrap_or_default()
}
