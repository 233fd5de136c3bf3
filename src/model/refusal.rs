//! Reads what a server says when it refuses, and turns it into a sentence that tells a person what
//! to do.

use std::error::Error;

use chrono::{DateTime, Utc};
use reqwest::StatusCode;
use reqwest::header::{HeaderMap, LOCATION};
use serde_json::Value;

use super::ModelErrorKind as Kind;
use super::retry::{Again, FailedAttempt, asked_pause};

/// The server a refusal came from, for the sentence.
pub(super) struct RefusingServer<'a> {
    /// Its address.
    pub(super) address: &'a str,
    /// The model asked for.
    pub(super) model: &'a str,
    /// True if a key was sent.
    pub(super) has_key: bool,
    /// The variable with the key.
    pub(super) key_variable: &'a str,
    /// The variable with the address.
    pub(super) address_variable: &'a str,
}

/// The words of a refusal's body.
#[derive(Debug, Default, PartialEq)]
struct RefusalBody {
    message: String,
    code: String,
    status: Option<u16>,
    /// The model's text, if the server could not make a call of it.
    wrote: Option<String>,
}

impl RefusingServer<'_> {
    /// Understands a response that is no success.
    pub(super) fn refused(&self, status: StatusCode, headers: &HeaderMap, body: &[u8], now: DateTime<Utc>) -> FailedAttempt {
        let said = match serde_json::from_slice::<Value>(body) {
            Ok(value) => refusal_body(&value),
            Err(_) => RefusalBody { message: one_line(&strip_tags(&String::from_utf8_lossy(body))), ..RefusalBody::default() },
        };
        if status.is_redirection() {
            let to = headers.get(LOCATION).and_then(|to| to.to_str().ok()).unwrap_or("nowhere");
            let message = format!(
                "{} points to {}: set {} to the address that answers itself.",
                self.address,
                one_line(to),
                self.address_variable
            );
            return FailedAttempt::last(Kind::Refused, message);
        }
        self.explain(status.as_u16(), &said, asked_pause(headers, now))
    }

    /// Understands an error inside a stream or a reply that began as a success. `None` when there
    /// is no error in it.
    pub(super) fn error_inside(&self, chunk: &Value) -> Option<FailedAttempt> {
        let is_error = chunk["type"] == "error"
            || match &chunk["error"] {
                Value::Null | Value::Bool(false) => false,
                Value::String(text) => !text.is_empty(),
                Value::Object(error) => !error.is_empty(),
                _ => true,
            };
        let failed = chunk["choices"][0]["finish_reason"] == "error";
        if !is_error && !failed {
            return None;
        }
        let said = refusal_body(chunk);
        let status = said.status.unwrap_or(match said.code.as_str() {
            "rate_limit_exceeded" | "rate_limit_error" | "insufficient_quota" => 429,
            "authentication_error" | "invalid_api_key" => 401,
            "permission_error" => 403,
            "not_found_error" | "model_not_found" => 404,
            "invalid_request_error" | "context_length_exceeded" | "tool_use_failed" => 400,
            "overloaded_error" => 529,
            _ => 500,
        });
        Some(self.explain(status, &said, None))
    }

    fn explain(&self, status: u16, said: &RefusalBody, pause: Option<std::time::Duration>) -> FailedAttempt {
        let Self { address, model, has_key, key_variable, address_variable } = self;
        let detail = if said.message.is_empty() { String::new() } else { format!(" It said: {}", said.message) };
        let later = |kind, message| FailedAttempt { again: Again::Later(pause), ..FailedAttempt::last(kind, message) };
        if matches!(status, 400 | 413 | 422 | 500) && (status == 413 || overflows(said)) {
            let message = format!("The conversation is too long for the model `{model}`.{detail}");
            return FailedAttempt::last(Kind::ContextOverflow, message);
        }
        match status {
            // Gemini says it so.
            400 if said.message.contains("API key not valid") => {
                let message = format!("{address} does not accept the key ({status}): check {key_variable}.{detail}");
                FailedAttempt::last(Kind::Unauthorized, message)
            }
            401 | 403 if !has_key => {
                FailedAttempt::last(Kind::Unauthorized, format!("{address} wants a key ({status}): set {key_variable}.{detail}"))
            }
            401 | 403 => {
                let message =
                    format!("{address} does not accept the key ({status}): check {key_variable} and LLM_PROVIDER.{detail}");
                FailedAttempt::last(Kind::Unauthorized, message)
            }
            402 => self.unpaid(status, &detail),
            429 if out_of_money(said) => self.unpaid(status, &detail),
            404 | 405 => {
                let message = format!(
                    "{address} has no model `{model}`, or is not the right address ({status}): check LLM_MODEL and {address_variable}, \
                     which ends in /v1 for most servers.{detail}"
                );
                FailedAttempt::last(Kind::Refused, message)
            }
            429 => later(Kind::RateLimited, format!("{address} gets too many requests from this key ({status}).{detail}")),
            503 if loads(said) => {
                let message = format!("The server at {address} still loads its model ({status}).");
                FailedAttempt { again: Again::Loaded, ..FailedAttempt::last(Kind::Server, message) }
            }
            408 | 409 | 500.. => later(Kind::Server, format!("{address} has trouble of its own ({status}).{detail}")),
            // The next try is another throw of the dice.
            400 if said.code == "tool_use_failed" => {
                let message = format!("The model `{model}` wrote a tool call that {address} could not read ({status}).{detail}");
                FailedAttempt { wrote: said.wrote.clone(), ..later(Kind::Malformed, message) }
            }
            _ if said.message.contains("does not support tools") => {
                let message = format!("The model `{model}` cannot call tools: set LLM_MODEL to one that can.{detail}");
                FailedAttempt::last(Kind::Refused, message)
            }
            _ => FailedAttempt::last(Kind::Refused, format!("{address} refused the request to `{model}` ({status}).{detail}")),
        }
    }

    fn unpaid(&self, status: u16, detail: &str) -> FailedAttempt {
        let message = format!(
            "The account behind {} at {} is out of money ({status}): top it up.{detail}",
            self.key_variable, self.address
        );
        FailedAttempt::last(Kind::Payment, message)
    }

    /// Understands why there was no response at all.
    pub(super) fn unanswered(&self, error: &reqwest::Error) -> FailedAttempt {
        let Self { address, address_variable, .. } = self;
        let cause = one_line(&root_cause(error));
        if error.is_timeout() {
            let message = format!("Nobody took the connection to {address} in time: check the network and {address_variable}.");
            return FailedAttempt::passing(Kind::Timeout, message);
        }
        if cause.contains("certificate") {
            let message = format!("The certificate of {address} is not trusted: check {address_variable}. ({cause})");
            return FailedAttempt::last(Kind::Unreachable, message);
        }
        if error.is_connect() {
            let message = format!("Nobody answers at {address}: start the model server, or set {address_variable}. ({cause})");
            return FailedAttempt::passing(Kind::Unreachable, message);
        }
        FailedAttempt::passing(Kind::Unreachable, format!("The connection to {address} broke before an answer came. ({cause})"))
    }
}

fn root_cause(error: &dyn Error) -> String {
    let mut cause = error;
    while let Some(deeper) = cause.source() {
        cause = deeper;
    }
    cause.to_string()
}

/// Finds the message wherever servers put it: `error.message`, `error`, `message`, `detail`, also
/// inside an array.
fn refusal_body(value: &Value) -> RefusalBody {
    let value = if value.is_array() { &value[0] } else { value };
    let error = &value["error"];
    let text = |value: &Value| value.as_str().filter(|text| !text.trim().is_empty()).map(str::to_owned);
    let (detail, several) = (&value["detail"], &value["errors"][0]);
    let places = [
        &error["message"],
        error,
        &value["message"],
        detail,
        &detail[0]["msg"],
        &detail["message"],
        &error["detail"],
        &several["message"],
        several,
        &value["title"],
    ];
    let mut message = places.into_iter().find_map(text).unwrap_or_default();
    // More is not shown; a server may send megabytes.
    message.truncate(message.floor_char_boundary(16 << 10));
    let codes = [&error["code"], &error["type"], &value["code"]];
    let is_number = |code: &&Value| code.is_number() || code.as_str().is_some_and(|text| text.parse::<u16>().is_ok());
    let status = codes.into_iter().find(is_number).and_then(|code| match code {
        Value::String(text) => text.parse().ok(),
        number => number.as_u64().and_then(|number| u16::try_from(number).ok()),
    });
    let code = codes.into_iter().filter(|code| !is_number(code)).find_map(text).unwrap_or_default();
    let status = status.filter(|status| (400..600).contains(status));
    RefusalBody { message: one_line(&strip_tags(&message)), code, status, wrote: text(&error["failed_generation"]) }
}

fn overflows(said: &RefusalBody) -> bool {
    let telling = [
        "context length",
        "context window",
        "context size",
        "context_length",
        "maximum context",
        "max context",
        "prompt is too long",
        "input is too long",
        "too many tokens",
        "reduce the length",
        "maximum number of tokens",
    ];
    let message = said.message.to_ascii_lowercase();
    matches!(said.code.as_str(), "context_length_exceeded" | "exceed_context_size_error")
        || telling.iter().any(|words| message.contains(words))
}

/// llama.cpp's server says so until its model is loaded: it takes seconds, or minutes from a slow
/// disk.
fn loads(said: &RefusalBody) -> bool {
    said.code == "unavailable_error" && said.message == "Loading model"
}

fn out_of_money(said: &RefusalBody) -> bool {
    matches!(said.code.as_str(), "insufficient_quota" | "billing_hard_limit_reached" | "billing_not_active")
}

/// Text without its tags, for pages that a proxy puts in place of an answer.
fn strip_tags(text: &str) -> String {
    if !text.contains('<') {
        return text.to_owned();
    }
    let mut plain = String::new();
    // Code and styles inside these tags are not for reading.
    let mut rest = text;
    while let Some(open) = rest.find('<') {
        plain.push_str(&rest[..open]);
        plain.push(' ');
        rest = &rest[open..];
        let name: String = rest[1..].chars().take(6).collect::<String>().to_ascii_lowercase();
        let hidden = ["style", "script"].into_iter().find(|hidden| name.starts_with(hidden));
        let after = hidden.and_then(|hidden| rest.to_ascii_lowercase().find(&format!("</{hidden}")));
        let tag = &rest[after.unwrap_or(0)..];
        rest = tag.find('>').map_or("", |end| &tag[end + 1..]);
    }
    plain.push_str(rest);
    plain
}

/// One line of at most 300 characters.
pub(super) fn one_line(text: &str) -> String {
    const LONGEST: usize = 300;
    let text = text.split(|c: char| c.is_whitespace() || c.is_control()).filter(|word| !word.is_empty());
    let line = text.collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(LONGEST) {
        Some((cut, _)) => format!("{}…", &line[..cut]),
        None => line,
    }
}

#[cfg(test)]
mod tests;
