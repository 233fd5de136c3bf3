//! Servers of other people's tools, as an operator adds them, and the tools that they list.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use url::Url;

use super::{SECRET_NAME_RULE, valid_name, valid_secret_name};

/// The rule a server's name must keep, in words.
pub const MCP_NAME_RULE: &str = "a server's name begins with a lower-case letter, goes on with lower-case letters, digits or single underscores, \
     does not end with an underscore, and has 24 characters at most, like my_files";

/// The separator between a server's name and its tool's, in the name for models.
pub const MCP_SEPARATOR: &str = "__";

/// The longest text of a setting, in bytes.
const MAX_TEXT: usize = 2 << 10;
/// The most headers, variables or arguments.
const MAX_TEXTS: usize = 64;

/// The way to a server. Secrets of the vault are written `{{NAME}}`, in headers and variables.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged, try_from = "Value")]
pub enum McpTransport {
    /// Over HTTP.
    Http {
        /// Its address.
        url: String,
        /// Headers that go with every request.
        headers: BTreeMap<String, String>,
    },
    /// A program that the server starts with its own user's rights, spoken to on standard input and
    /// output.
    Command {
        /// The program and its arguments.
        command: Vec<String>,
        /// Variables of its environment, beside the few that it gets in any case.
        env: BTreeMap<String, String>,
    },
}

/// The part of a [`McpTransport`] at fault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct McpFault {
    /// The name of the field.
    pub field: &'static str,
    /// Words that say what to do.
    pub why: String,
}

/// A tool as its server defines it, cleaned for its readers.
#[derive(Clone, Debug, PartialEq)]
pub struct McpDefinition {
    /// The name for models: `server__tool`.
    pub tool: String,
    /// The server's own name for it.
    pub name: String,
    /// The server's description of it: bounded, without invisible characters.
    pub description: String,
    /// JSON Schema of its arguments, without references.
    pub parameters: Value,
    /// Fingerprint of name, description and parameters exactly as the server gave them, in
    /// hexadecimal.
    pub sha256: String,
}

/// The tools a server lists, and those that were left out.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct McpListing {
    /// Tools a model can be offered.
    pub tools: Vec<McpDefinition>,
    /// The names of the others, and why not.
    pub left_out: BTreeMap<String, String>,
}

/// True if `name` keeps [`MCP_NAME_RULE`].
pub fn valid_mcp_name(name: &str) -> bool {
    valid_name(name) && name.len() <= 24 && !name.contains(MCP_SEPARATOR) && !name.ends_with('_')
}

/// The name by which models call a server's tool; `None` if no name fits.
pub fn mcp_tool_name(server: &str, name: &str) -> Option<String> {
    let mut clean = String::new();
    let mut before = '_';
    for c in name.chars() {
        if c.is_ascii_uppercase() && (before.is_ascii_lowercase() || before.is_ascii_digit()) {
            clean.push('_');
        }
        before = c;
        clean.push(if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '_' });
    }
    let tool = format!("{server}{MCP_SEPARATOR}{clean}");
    (clean.contains(|c: char| c.is_ascii_alphanumeric()) && valid_name(&tool)).then_some(tool)
}

impl TryFrom<Value> for McpTransport {
    type Error = String;

    /// Reads it by hand: of fields that go in two pairs, the error says which one is wrong.
    fn try_from(written: Value) -> Result<Self, String> {
        let Value::Object(mut fields) = written else { return Err(WAYS.to_owned()) };
        let mut texts = |name| texts(name, fields.remove(name));
        let (headers, env) = (texts("headers")?, texts("env")?);
        let (url, command) = (fields.remove("url"), fields.remove("command"));
        if let Some(name) = fields.keys().next() {
            return Err(format!("`{name}` is not known here: {WAYS}"));
        }
        match (url, command, headers, env) {
            (Some(Value::String(url)), None, headers, None) => Ok(Self::Http { url, headers: headers.unwrap_or_default() }),
            (Some(_), None, _, None) => Err("`url` is a text".to_owned()),
            (None, Some(command), None, env) => {
                let command = serde_json::from_value(command)
                    .map_err(|_| "`command` is a list of texts: the program, and each of its arguments".to_owned())?;
                Ok(Self::Command { command, env: env.unwrap_or_default() })
            }
            _ => Err(WAYS.to_owned()),
        }
    }
}

const WAYS: &str = "a server has either `url`, with `headers` if it needs them, or `command`, with `env`";

/// The texts of an object; `None` if there is none.
fn texts(name: &str, written: Option<Value>) -> Result<Option<BTreeMap<String, String>>, String> {
    let read = written.map(serde_json::from_value).transpose();
    read.map_err(|_| format!("`{name}` is an object of texts: each name with its value"))
}

impl McpTransport {
    /// Finds faults, in words that say what to do.
    ///
    /// # Errors
    /// The first fault.
    pub fn check(&self) -> Result<(), McpFault> {
        let at = |field| move |why| McpFault { field, why };
        match self {
            Self::Http { url, headers } => {
                check_url(url).map_err(at("url"))?;
                check_headers(headers).map_err(at("headers"))
            }
            Self::Command { command, env } => {
                check_command(command).map_err(at("command"))?;
                check_env(env).map_err(at("env"))
            }
        }
    }

    /// Its address or command, in words for a person.
    pub fn in_words(&self) -> String {
        match self {
            Self::Http { url, .. } => url.clone(),
            Self::Command { command, .. } => format!("the program `{}`", command.join(" ")),
        }
    }
}

fn bounded<'a>(texts: impl IntoIterator<Item = &'a String>) -> Result<(), String> {
    let mut many = 0;
    for text in texts {
        many += 1;
        if text.len() > MAX_TEXT || text.contains(|c: char| c.is_control()) {
            return Err(format!("each part has at most {MAX_TEXT} bytes and no control characters"));
        }
    }
    if many > MAX_TEXTS { Err(format!("there can be {MAX_TEXTS} parts at most")) } else { Ok(()) }
}

fn check_url(url: &str) -> Result<(), String> {
    bounded([&url.to_owned()])?;
    if url.is_empty() {
        return Err("write the address of the server, like https://example.com/mcp".to_owned());
    }
    let parsed =
        Url::parse(url).map_err(|_| format!("`{url}` is no address; write the whole of it, like https://example.com/mcp"))?;
    if !["http", "https"].contains(&parsed.scheme()) || parsed.host_str().is_none() {
        return Err("the address of a server begins with http:// or https://".to_owned());
    }
    if !parsed.username().is_empty() || parsed.password().is_some() || url.contains("{{") || parsed.fragment().is_some() {
        return Err(
            "secrets do not belong into the address; keep one under Secrets and name it in a header, like Authorization: \
             Bearer {{NAME}}"
                .to_owned(),
        );
    }
    Ok(())
}

fn check_headers(headers: &BTreeMap<String, String>) -> Result<(), String> {
    bounded(headers.keys().chain(headers.values()))?;
    for (name, value) in headers {
        if name.is_empty() || !name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_') {
            return Err(format!("`{name}` is no name of a header"));
        }
        by_name("header", name, value)?;
    }
    Ok(())
}

fn check_command(command: &[String]) -> Result<(), String> {
    bounded(command)?;
    if command.first().is_none_or(|program| program.is_empty()) {
        return Err("name the program to start".to_owned());
    }
    if command.iter().any(|part| part.contains("{{")) {
        return Err("everybody on this machine can see what stands in a command; give secrets as variables, like NAME={{NAME}}"
            .to_owned());
    }
    Ok(())
}

fn check_env(env: &BTreeMap<String, String>) -> Result<(), String> {
    bounded(env.keys().chain(env.values()))?;
    for (name, value) in env {
        if name.is_empty() || !name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
            return Err(format!("`{name}` is no name of a variable"));
        }
        by_name("variable", name, value)?;
    }
    Ok(())
}

/// Refuses a text that looks like a secret: it must be in the vault.
fn by_name(what: &str, name: &str, value: &str) -> Result<(), String> {
    const SECRET: [&str; 7] = ["auth", "token", "key", "secret", "password", "cookie", "credential"];
    let names = secrets_in(value)?;
    let lower = name.to_ascii_lowercase();
    if names.is_empty() && !value.is_empty() && SECRET.iter().any(|word| lower.contains(word)) {
        return Err(format!(
            "the {what} {name} looks like a secret, and its value would be kept in the clear; keep it under Secrets, or with `level3 \
             secret set NAME`, and write {{{{NAME}}}} in its place"
        ));
    }
    Ok(())
}

/// The names of the secrets that a text stands for: `{{NAME}}`.
///
/// # Errors
/// The fault, if braces hold no name of a secret.
pub fn secrets_in(text: &str) -> Result<Vec<&str>, String> {
    let mut names = Vec::new();
    let mut rest = text;
    while let Some((_, from)) = rest.split_once("{{") {
        let Some((name, after)) = from.split_once("}}") else { return Err(format!("`{{{{` without `}}}}` in `{text}`")) };
        if !valid_secret_name(name) {
            return Err(format!("`{name}` is no name of a secret: {SECRET_NAME_RULE}"));
        }
        names.push(name);
        rest = after;
    }
    Ok(names)
}

#[cfg(test)]
mod tests;
