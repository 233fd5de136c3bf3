//! `relay list`, `get`, `pause`, `resume`, `cancel`, `send`, `resend` and `settle`.

use std::io;

use clap::Args;
use serde_json::json;

use super::spans::span;
use super::told::{Told, ToldInstance, ToldInstances, ToldMessage, ToldMessageSent};
use super::{RelayCliError, RelayClient};
use crate::cli::Screen;
use crate::cli::screen::time;

/// The most that the server lists at once.
const MOST: usize = 1000;
/// So much of an objective is shown in a list.
const SHOWN: usize = 48;

/// Which instances are listed.
#[derive(Debug, Args)]
pub(super) struct ListCommand {
    /// Only those in these states, like ACTIVE,PAUSED
    #[arg(long, value_delimiter = ',', value_name = "STATE")]
    state: Vec<String>,
    /// Only those with this contact, like +491701234567
    #[arg(long, value_name = "ADDRESS")]
    contact: Option<String>,
    /// At most so many
    #[arg(long, value_name = "N", default_value_t = MOST)]
    limit: usize,
}

/// The id of an instance, as an argument.
pub(super) fn id(text: &str) -> Result<i64, String> {
    number(text).ok_or_else(|| "expected the id of an instance, a number like 7; relay list shows them".to_owned())
}

/// The id of a message, as an argument.
pub(super) fn message_id(text: &str) -> Result<i64, String> {
    number(text).ok_or_else(|| "expected the id of a message, a number like 31; relay transcript shows them".to_owned())
}

fn number(text: &str) -> Option<i64> {
    text.parse().ok().filter(|number| *number > 0)
}

pub(super) async fn list(ask: ListCommand, client: &RelayClient, screen: &mut Screen<'_>) -> Result<(), RelayCliError> {
    let mut query = vec![("limit", ask.limit.to_string())];
    if !ask.state.is_empty() {
        query.push(("state", ask.state.join(",").to_uppercase()));
    }
    query.extend(ask.contact.map(|contact| ("contact", contact)));
    let Told { whole, said: answer } = client.get::<ToldInstances>(&["instances"], &query).await?;
    if screen.json(&whole)? {
        return Ok(());
    }
    let rows: Vec<_> = answer.instances.iter().map(row).collect();
    let none = "There are no instances. Make one: relay create --contact +491701234567 --objective \"…\"";
    let none = if query.len() > 1 { "No instance is like that." } else { none };
    screen.table(["ID", "STATE", "CONTACT", "TO-DOS", "FOLLOW-UPS", "CHANGED", "OBJECTIVE", ""], &rows, none)?;
    if answer.more {
        screen.line(format!("There are more; narrow it with --state or --contact, or raise --limit (at most {MOST})."))?;
    }
    Ok(())
}

fn row(instance: &ToldInstance) -> [String; 8] {
    let mut objective: String = instance.objective.chars().take(SHOWN).collect();
    if objective.len() < instance.objective.len() {
        objective.push('…');
    }
    let unknown = if instance.unknown > 0 { format!("{} unknown", instance.unknown) } else { String::new() };
    [
        instance.id.to_string(),
        instance.state.clone(),
        instance.contact.clone(),
        done(instance),
        format!("{}/{}", instance.follow_ups, instance.max_follow_ups),
        time(instance.updated_at),
        objective.replace('\n', " "),
        unknown,
    ]
}

fn done(instance: &ToldInstance) -> String {
    let over = instance.todos.iter().filter(|todo| ["done", "skipped"].contains(&todo.status.as_str())).count();
    format!("{over}/{}", instance.todos.len())
}

pub(super) async fn get(id: i64, client: &RelayClient, screen: &mut Screen<'_>) -> Result<(), RelayCliError> {
    let Told { whole, said: instance } = client.get::<ToldInstance>(&["instances", &id.to_string()], &[]).await?;
    if !screen.json(&whole)? {
        print(&instance, screen)?;
    }
    Ok(())
}

fn print(instance: &ToldInstance, screen: &mut Screen<'_>) -> io::Result<()> {
    screen.line(format!("Instance {}: {}", instance.id, state(instance)))?;
    screen.line(format!("Contact {} over {}", instance.contact, instance.channel))?;
    let heartbeat = span(instance.heartbeat_seconds.unsigned_abs());
    screen.line(format!("Follow-ups {} of {}, after {heartbeat} of silence", instance.follow_ups, instance.max_follow_ups))?;
    if let Some(at) = instance.next_heartbeat_at {
        screen.line(format!("Next heartbeat {}", time(at)))?;
    }
    if let Some(zone) = &instance.time_zone {
        screen.line(format!("Time zone {zone}"))?;
    }
    if let Some(key) = &instance.key {
        screen.line(format!("Key {key}"))?;
    }
    screen.line(format!("Made {}, changed {}", time(instance.created_at), time(instance.updated_at)))?;
    if let Some(at) = instance.ended_at {
        screen.line(format!("Ended {}", time(at)))?;
    }
    if instance.unknown > 0 {
        let many = messages(instance.unknown, "has", "have");
        screen.line(format!("{many} an unknown outcome: relay transcript {}, then relay resend or relay settle", instance.id))?;
    }
    if instance.queued_messages > 0 {
        let why = instance.waits.as_ref().map(|waits| format!(": {}", waits.words())).unwrap_or_default();
        screen.line(format!("{} to be sent{why}", messages(instance.queued_messages, "waits", "wait")))?;
    }
    screen.part("Objective", &instance.objective)?;
    let todos: Vec<_> = instance.todos.iter().map(|todo| format!("{}. [{}] {}", todo.id, todo.status, todo.text)).collect();
    screen.part("To-dos", &todos.join("\n"))
}

/// So many messages, with what they do: the verb for one, and for several.
pub(super) fn messages(count: i64, one: &str, several: &str) -> String {
    if count == 1 { format!("1 message {one}") } else { format!("{count} messages {several}") }
}

/// The state with what is to be known of it.
pub(super) fn state(instance: &ToldInstance) -> String {
    let from = instance.paused_from.as_ref().map(|from| format!(", was {from}")).unwrap_or_default();
    let reason = instance.reason.as_ref().map(|reason| format!(" ({reason})")).unwrap_or_default();
    format!("{}{from}{reason}", instance.state)
}

/// `pause`, `resume` and `cancel`.
pub(super) async fn steer(id: i64, how: &str, client: &RelayClient, screen: &mut Screen<'_>) -> Result<(), RelayCliError> {
    let Told { whole, said: instance } = client.order::<ToldInstance>(&["instances", &id.to_string(), how]).await?;
    if !screen.json(&whole)? {
        screen.line(format!("Instance {id} is {}.", state(&instance)))?;
    }
    Ok(())
}

pub(super) async fn send(id: i64, text: String, client: &RelayClient, screen: &mut Screen<'_>) -> Result<(), RelayCliError> {
    let Told { whole, said } =
        client.post::<ToldMessageSent>(&["instances", &id.to_string(), "send"], &json!({ "text": text })).await?;
    if !screen.json(&whole)? {
        let delivery = said.message.delivery.as_deref().unwrap_or("queued");
        screen.line(format!("Message {} is {delivery}; instance {id} is {}.", said.message.id, state(&said.instance)))?;
    }
    Ok(())
}

pub(super) async fn resend(id: i64, client: &RelayClient, screen: &mut Screen<'_>) -> Result<(), RelayCliError> {
    let message: Told<ToldMessage> = client.order(&["messages", &id.to_string(), "resend"]).await?;
    became(&message, screen)
}

pub(super) async fn settle(id: i64, outcome: String, client: &RelayClient, screen: &mut Screen<'_>) -> Result<(), RelayCliError> {
    let message: Told<ToldMessage> = client.post(&["messages", &id.to_string(), "settle"], &json!({ "as": outcome })).await?;
    became(&message, screen)
}

fn became(Told { whole, said: message }: &Told<ToldMessage>, screen: &mut Screen<'_>) -> Result<(), RelayCliError> {
    if !screen.json(whole)? {
        screen.line(format!("Message {} is {}.", message.id, message.delivery.as_deref().unwrap_or("kept")))?;
    }
    Ok(())
}
