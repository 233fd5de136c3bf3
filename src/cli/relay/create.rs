//! `relay create`: a new instance, from options, a template, or both.

use clap::Args;

use super::home::RelayHome;
use super::said::SaidOptions;
use super::told::{OrderedInstance, Told, ToldInstance};
use super::{RelayCliError, RelayClient, template};
use crate::cli::Screen;

/// A new instance.
#[derive(Debug, Args)]
pub(super) struct CreateCommand {
    /// The contact, like +491701234567
    #[arg(long, value_name = "ADDRESS", allow_hyphen_values = true)]
    contact: String,
    #[command(flatten)]
    said: SaidOptions,
    /// Take what is not said here from this template; relay templates list shows them
    #[arg(long, value_name = "NAME")]
    template: Option<String>,
    /// Put a value into the template's {{NAME}}
    #[arg(long = "var", value_name = "NAME=VALUE", value_parser = variable, requires = "template")]
    variables: Vec<(String, String)>,
    /// The same key gives the same instance, however often this is called
    #[arg(long, value_name = "KEY")]
    key: Option<String>,
}

fn variable(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if template::is_name(name) => Ok((name.to_owned(), value.to_owned())),
        _ => Err("expected a name and a value, like name=Ana".to_owned()),
    }
}

pub(super) async fn run(
    ask: CreateCommand,
    home: &RelayHome,
    client: &RelayClient,
    screen: &mut Screen<'_>,
) -> Result<(), RelayCliError> {
    let mut said = ask.said.into_template()?;
    if let Some(name) = &ask.template {
        let template = template::read(home, name)?.filled(name, &ask.variables, &said)?;
        said = said.over(template);
    }
    let missing =
        || RelayCliError::Usage("objective is missing: say it, like --objective \"Arrange a viewing on Friday\"".into());
    let new = OrderedInstance {
        objective: said.objective.ok_or_else(missing)?,
        contact: ask.contact,
        todos: said.todos,
        channel: said.channel.map_or_else(|| home.config().map(|config| config.channel), Ok)?.name(),
        heartbeat_seconds: said.heartbeat_seconds,
        max_follow_ups: said.max_follow_ups,
        time_zone: said.time_zone,
        key: ask.key,
    };
    let made: Told<ToldInstance> = client.post(&["instances"], &new).await?;
    if !screen.json(&made.whole)? {
        screen.line(made.said.id.to_string())?;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
