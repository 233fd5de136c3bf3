//! Templates, from which instances are created, and their files: the names in double braces, and
//! their values.

use std::collections::BTreeSet;
use std::fs;
use std::io::ErrorKind;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::RelayCliError;
use super::home::RelayHome;
use super::settings::HomeChannel;

/// A template: every field may be said at creation instead.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct InstanceTemplate {
    /// The purpose of the conversation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) objective: Option<String>,
    /// The to-dos.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) todos: Vec<String>,
    /// How long the contact may be silent before a follow-up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) heartbeat_seconds: Option<i64>,
    /// How many follow-ups there may be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) max_follow_ups: Option<i64>,
    /// The channel.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) channel: Option<HomeChannel>,
    /// The contact's time zone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) time_zone: Option<String>,
}

impl InstanceTemplate {
    /// This one where it says something, and `below` where it does not.
    pub(super) fn over(self, below: Self) -> Self {
        Self {
            objective: self.objective.or(below.objective),
            todos: if self.todos.is_empty() { below.todos } else { self.todos },
            heartbeat_seconds: self.heartbeat_seconds.or(below.heartbeat_seconds),
            max_follow_ups: self.max_follow_ups.or(below.max_follow_ups),
            channel: self.channel.or(below.channel),
            time_zone: self.time_zone.or(below.time_zone),
        }
    }

    /// The names in double braces, in objective and to-dos.
    pub(super) fn names(&self) -> BTreeSet<String> {
        let texts = self.objective.iter().chain(&self.todos);
        texts.flat_map(|text| pieces(text)).filter_map(|piece| piece.err()).map(str::to_owned).collect()
    }

    /// The part of the template that `said` leaves to it, with these values in place of its names.
    /// Each name in it needs a value, and each value a name of the template.
    pub(super) fn filled(self, name: &str, values: &[(String, String)], said: &Self) -> Result<Self, RelayCliError> {
        let names = self.names();
        let left = Self {
            objective: self.objective.filter(|_| said.objective.is_none()),
            todos: if said.todos.is_empty() { self.todos } else { Vec::new() },
            ..self
        };
        let mut seen = BTreeSet::new();
        if let Some(twice) = values.iter().map(|(given, _)| given).find(|given| !seen.insert(*given)) {
            return Err(RelayCliError::Usage(format!("var: {twice} is given twice; give it once, like --var {twice}=Ana")));
        }
        let of = |wanted: &str| values.iter().find(|(name, _)| name == wanted).map(|(_, value)| value.as_str());
        if let Some(missing) = left.names().iter().find(|name| of(name).is_none()) {
            let told = format!("var: the template {name} has {{{{{missing}}}}}; give it, like --var {missing}=Ana");
            return Err(RelayCliError::Usage(told));
        }
        if let Some((unknown, _)) = values.iter().find(|(given, _)| !names.contains(given)) {
            let there = names.iter().min_by_key(|name| strsim::damerau_levenshtein(name, unknown));
            let nearest = there.map_or_else(|| "; it has none".to_owned(), |nearest| format!("; the nearest is {nearest}"));
            return Err(RelayCliError::Usage(format!("var: the template {name} has no {{{{{unknown}}}}}{nearest}")));
        }
        let fill = |text: &String| -> String {
            pieces(text).map(|piece| piece.unwrap_or_else(|name| of(name).unwrap_or_default())).collect()
        };
        Ok(Self { objective: left.objective.as_ref().map(fill), todos: left.todos.iter().map(fill).collect(), ..left })
    }
}

/// A text in pieces: `Ok` a text as it is, `Err` a name that stood in double braces. A value is
/// never read again.
fn pieces(text: &str) -> impl Iterator<Item = Result<&str, &str>> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        if let Some((name, behind)) = rest.strip_prefix("{{").and_then(|inner| inner.split_once("}}"))
            && is_name(name.trim())
        {
            rest = behind;
            return Some(Err(name.trim()));
        }
        // The first two braces may be no name; the text goes on behind them.
        let skip = if rest.starts_with("{{") { 2 } else { 0 };
        let end = rest[skip..].find("{{").map_or(rest.len(), |at| at + skip);
        let (piece, behind) = rest.split_at(end);
        rest = behind;
        Some(Ok(piece))
    })
}

/// True for a name of a template or of a value in one. It is also the name of a file.
pub(super) fn is_name(name: &str) -> bool {
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    (1..=64).contains(&name.len()) && name.chars().all(fits) && !name.starts_with('-')
}

/// The template of this name.
pub(super) fn read(home: &RelayHome, name: &str) -> Result<InstanceTemplate, RelayCliError> {
    let file = file(home, name)?;
    let text = match fs::read(&file) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound => {
            let names = names(home)?;
            let nearest = names.iter().min_by_key(|there| strsim::damerau_levenshtein(there, name));
            let told = nearest.map_or_else(
                || "there are none yet; keep one with: relay templates add".to_owned(),
                |nearest| format!("the nearest is {nearest}"),
            );
            return Err(RelayCliError::Refused(format!("there is no template {name}; {told}")));
        }
        Err(error) => return Err(RelayCliError::file(&file)(error)),
    };
    let wrong = |why: String| RelayCliError::Usage(format!("{}: {why}", file.display()));
    // A list would be read as the fields in their order.
    if text.trim_ascii().starts_with(b"[") {
        return Err(wrong("a template is one JSON object, like {\"objective\": \"Arrange a viewing\"}".into()));
    }
    serde_json::from_slice(&text).map_err(|error| wrong(error.to_string()))
}

/// The file of the template of this name.
pub(super) fn file(home: &RelayHome, name: &str) -> Result<PathBuf, RelayCliError> {
    if !is_name(name) {
        let told = format!("name: `{name}` names no template; take letters, digits, _ and -, like viewing");
        return Err(RelayCliError::Usage(told));
    }
    Ok(home.templates().join(format!("{name}.json")))
}

/// The names of all templates.
pub(super) fn names(home: &RelayHome) -> Result<Vec<String>, RelayCliError> {
    let folder = home.templates();
    let entries = match fs::read_dir(&folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(RelayCliError::file(&folder)(error)),
    };
    let named = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.strip_suffix(".json").map(str::to_owned));
    let mut names: Vec<_> = named.filter(|name| is_name(name)).collect();
    names.sort();
    Ok(names)
}

#[cfg(test)]
mod tests;
