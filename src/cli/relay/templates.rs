//! `relay templates`: objectives and to-dos by name, each a file in the folder. They need no
//! daemon.

use std::fs;

use clap::Subcommand;
use serde_json::json;

use super::RelayCliError;
use super::home::RelayHome;
use super::said::SaidOptions;
use super::spans::span;
use super::template::{InstanceTemplate, file, names, read};
use crate::cli::Screen;

/// The commands on templates.
#[derive(Debug, Subcommand)]
pub(super) enum TemplatesCommand {
    /// List them
    List,
    /// Show one
    Show {
        /// Its name
        name: String,
    },
    /// Keep one, or replace the one of this name; {{NAME}} in a text is filled by relay create
    /// --var NAME=VALUE
    Add {
        /// Its name
        name: String,
        #[command(flatten)]
        said: Box<SaidOptions>,
    },
    /// Remove one
    Remove {
        /// Its name
        name: String,
    },
}

pub(super) fn run(ask: TemplatesCommand, home: &RelayHome, screen: &mut Screen<'_>) -> Result<(), RelayCliError> {
    home.config()?;
    match ask {
        TemplatesCommand::List => list(home, screen),
        TemplatesCommand::Show { name } => show(&name, home, screen),
        TemplatesCommand::Add { name, said } => {
            let file = file(home, &name)?;
            let template = said.into_template()?;
            let text = serde_json::to_vec_pretty(&template).expect("a template is JSON");
            home.keep(&file, &text)?;
            if !screen.json(&json!({ "name": name, "template": template }))? {
                screen
                    .line(format!("Kept the template {name}. Use it: relay create --template {name} --contact +491701234567"))?;
            }
            Ok(())
        }
        TemplatesCommand::Remove { name } => {
            let file = file(home, &name)?;
            // One that is broken can be removed, too.
            if !file.exists() {
                read(home, &name)?;
            }
            fs::remove_file(&file).map_err(RelayCliError::file(&file))?;
            if !screen.json(&json!({ "name": name, "removed": true }))? {
                screen.line(format!("Removed the template {name}."))?;
            }
            Ok(())
        }
    }
}

fn list(home: &RelayHome, screen: &mut Screen<'_>) -> Result<(), RelayCliError> {
    let all: Vec<_> = names(home)?.into_iter().map(|name| (read(home, &name), name)).collect();
    let listed = all.iter().map(|(read, name)| match read {
        Ok(template) => json!({ "name": name, "template": template }),
        Err(error) => json!({ "name": name, "error": error.to_string() }),
    });
    let listed: Vec<_> = listed.collect();
    if screen.json(&json!({ "templates": listed }))? {
        return Ok(());
    }
    let row = |(read, name): &(Result<InstanceTemplate, RelayCliError>, String)| {
        let template = match read {
            Ok(template) => template,
            Err(error) => return [name.clone(), String::new(), String::new(), format!("cannot be read: {error}")],
        };
        let values: Vec<_> = template.names().into_iter().collect();
        let objective = template.objective.clone().unwrap_or_default().replace('\n', " ");
        [name.clone(), template.todos.len().to_string(), values.join(", "), objective]
    };
    let rows: Vec<_> = all.iter().map(row).collect();
    let none = "There are no templates. Keep one: relay templates add NAME --objective \"…\" --todo \"…\"";
    Ok(screen.table(["NAME", "TO-DOS", "VALUES", "OBJECTIVE"], &rows, none)?)
}

fn show(name: &str, home: &RelayHome, screen: &mut Screen<'_>) -> Result<(), RelayCliError> {
    let template = read(home, name)?;
    if screen.json(&json!({ "name": name, "template": template }))? {
        return Ok(());
    }
    screen.line(format!("Template {name}"))?;
    if let Some(seconds) = template.heartbeat_seconds {
        screen.line(format!("Follow-ups after {} of silence", span(seconds.unsigned_abs())))?;
    }
    if let Some(most) = template.max_follow_ups {
        screen.line(format!("At most {most} follow-ups"))?;
    }
    if let Some(channel) = template.channel {
        screen.line(format!("Channel {}", channel.name()))?;
    }
    if let Some(zone) = &template.time_zone {
        screen.line(format!("Time zone {zone}"))?;
    }
    screen.part("Objective", template.objective.as_deref().unwrap_or_default())?;
    Ok(screen.part("To-dos", &template.todos.join("\n"))?)
}
