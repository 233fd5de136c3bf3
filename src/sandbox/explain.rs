//! Explains an engine's short message for this host: models write for Node.js and browsers, and
//! this is neither.

use crate::domain::SourcePlace;

/// How many characters before and after a place show where it is.
const NEAR: (usize, usize) = (40, 20);
/// How many bytes of a message are handed on.
const LONGEST: usize = 2000;

/// Words that are not defined here, and what to do instead.
const UNKNOWN: &[(&[&str], &str)] = &[
    (
        &["require", "module", "exports"],
        "This is an ES module without imports, not CommonJS: define the function and remove `require` and `module.exports`.",
    ),
    (
        &["process", "Buffer", "__dirname", "__filename", "global", "fs", "path", "axios"],
        "This is not Node.js: there are no files, no environment and no packages. For bytes use Uint8Array, TextEncoder, TextDecoder, atob, btoa.",
    ),
    (
        &["window", "document", "navigator", "localStorage", "alert", "XMLHttpRequest", "WebSocket"],
        "This is not a browser: there is no page. Requests go through fetch, where `http` was granted.",
    ),
    (
        &["AbortController", "AbortSignal"],
        "Requests cannot be given up here: they end by themselves at the call's deadline, so leave the signal out.",
    ),
    (&["Request"], "Give fetch the address and the options: `fetch(url, { method, headers, body })`."),
    (&["FormData", "Blob", "File", "ReadableStream"], "A body is a string, a Uint8Array, an ArrayBuffer or URLSearchParams."),
    (&["kv", "sql", "secret", "secrets"], "It is part of `host`: host.kv.get(key), host.sql(text, params), host.secret(name)."),
    (&["Intl"], "The engine has no Intl: format numbers and dates in your own code; the time zone is UTC."),
];

/// The engine's JSON of an object without fields.
const EMPTY: &str = "{}";
/// The words on such an object that was thrown.
const SAYS_NOTHING: &str = "the code threw an object without fields, which says nothing of itself. Catch it where it is thrown and throw an \
    Error: `throw new Error(error.message)`";
/// The beginning of the engine's words on a regular expression; shim.c has them.
const OF_REGEX: &str = "the regular expression ";

/// The message of a thrown value that is no `Error`: its text, or its JSON if it is an object.
pub(super) fn of_no_error(message: &str) -> String {
    if message == EMPTY { SAYS_NOTHING.to_owned() } else { with_hint(message) }
}

/// The message, with advice if there is some.
pub(super) fn with_hint(message: &str) -> String {
    let message = clip(message);
    let Some(name) = message.strip_suffix(" is not defined") else { return message };
    let name = name.trim_matches(['\'', '`']);
    match UNKNOWN.iter().find(|(names, _)| names.contains(&name)) {
        Some((_, hint)) => format!("{message}. {hint}"),
        None => message,
    }
}

/// Advice for a source within a Markdown fence. JavaScript reads a pair of fences as texts, so the
/// source may fail only when it is loaded.
pub(super) fn fence_hint(source: &str) -> &'static str {
    if source.trim_start().starts_with("```") { " Give the code alone, without Markdown fences." } else { "" }
}

/// Advice for a source that JavaScript cannot read at all.
pub(super) fn syntax_hint(source: &str) -> &'static str {
    let starts = |line: &str, words: &[&str]| words.iter().any(|word| line.trim_start().starts_with(word));
    let fence = fence_hint(source);
    if !fence.is_empty() {
        return fence;
    }
    if source.lines().any(|line| starts(line, &["def ", "async def ", "from ", "elif "]) && !line.contains('{')) {
        return " This looks like Python; write JavaScript: `async function NAME(params) { … }`.";
    }
    if source.lines().any(|line| starts(line, &["interface ", "type ", "export interface ", "export type "])) {
        return " This looks like TypeScript; write plain JavaScript without types.";
    }
    let typed = [": string", ": number", ": boolean", ": any", ": Promise<", " as string", " as any"];
    if typed.iter().any(|annotation| source.contains(annotation)) {
        return " If these are TypeScript types, remove them: it must be plain JavaScript.";
    }
    ""
}

/// Advice for a syntax error at a place: the function's name is a word of the language, or a
/// bracket before the place is still open.
pub(super) fn hint_at(source: &str, name: &str, message: &str, place: SourcePlace) -> Option<String> {
    if message == "function name expected" && source.contains(&format!("function {name}")) {
        return Some(format!(
            " JavaScript has the word `{name}` for itself, and no function can have this name: give the capability another name, or write \
             `export default async function (params) {{ … }}`."
        ));
    }
    if message.starts_with(OF_REGEX) { None } else { open_bracket(source, place) }
}

/// The place of a syntax error. Of a regular expression that cannot be read, the engine gives the
/// line alone; its words show how the expression begins.
pub(super) fn exact(source: &str, message: &str, place: SourcePlace) -> SourcePlace {
    let of_regex = || {
        let (shown, _) = message.strip_prefix(OF_REGEX)?.split_once(" cannot be read: ")?;
        let line = source.lines().nth(place.line.checked_sub(1)? as usize)?;
        let at = line.find(&shown[..shown.rfind('/')?])?;
        u32::try_from(line[..at].chars().count() + 1).ok()
    };
    SourcePlace { offset: of_regex().unwrap_or(place.offset), ..place }
}

/// The text around a place in a source, on its line.
pub(super) fn near(source: &str, place: SourcePlace) -> Option<String> {
    let line = source.lines().nth(place.line.checked_sub(1)? as usize)?;
    let at = (place.offset.max(1) - 1) as usize;
    let around: String = line.chars().skip(at.saturating_sub(NEAR.0)).take(NEAR.1 + at.min(NEAR.0)).collect();
    Some(around.trim().to_owned()).filter(|around| !around.is_empty())
}

/// The bracket that is still open at a place, if it is a `(` or `[`: the character the engine did
/// not expect is mostly not the mistake. Texts and comments are skipped; a regular expression with
/// a bracket in it misleads this, so it is said as what it is, a count.
fn open_bracket(source: &str, place: SourcePlace) -> Option<String> {
    let before = &source[..byte_at(source, place)?];
    let mut open = Vec::new();
    let mut rest = before;
    while let Some(first) = rest.chars().next() {
        let skipped = match first {
            '"' | '\'' | '`' => end_of_text(&rest[1..], first).map_or(rest.len(), |end| end + 1),
            '/' if rest.starts_with("//") => rest.find('\n').unwrap_or(rest.len()),
            '/' if rest.starts_with("/*") => rest.find("*/").map_or(rest.len(), |end| end + 2),
            '(' | '[' | '{' => {
                open.push(before.len() - rest.len());
                1
            }
            ')' | ']' | '}' => {
                open.pop();
                1
            }
            other => other.len_utf8(),
        };
        rest = &rest[skipped..];
    }
    let at = open.pop()?;
    let bracket = &before[at..=at];
    let line_start = before[..at].rfind('\n').map_or(0, |end| end + 1);
    let start = before.floor_char_boundary(at.saturating_sub(NEAR.1).max(line_start));
    let end = source.floor_char_boundary((at + NEAR.1).min(source.len()));
    let shown = source[start..end].lines().next().unwrap_or_default().trim();
    let close = match bracket {
        "(" => ")",
        "[" => "]",
        _ => return None,
    };
    Some(format!(" The `{bracket}` in `{shown}` is still open there: write its `{close}`, or take it out."))
}

/// The byte before which a semicolon is wanted, if lines were joined there: a statement ends with a
/// bracket, and the next one stands on the same line. With an end of line between them, JavaScript
/// would put the semicolon in by itself.
pub(super) fn lost_semicolon(source: &str, message: &str, place: SourcePlace) -> Option<usize> {
    let at = byte_at(source, place).filter(|_| message == "expecting ';'")?;
    let before = source[..at].trim_end_matches([' ', '\t']);
    before.ends_with(['}', ')', ']']).then_some(at)
}

/// The byte of a source at which a place is, or the end of its line.
fn byte_at(source: &str, place: SourcePlace) -> Option<usize> {
    let mut lines = source.split_inclusive('\n');
    let line_start: usize = lines.by_ref().take(place.line.checked_sub(1)? as usize).map(str::len).sum();
    let line = lines.next()?;
    Some(line_start + line.char_indices().nth((place.offset.max(1) - 1) as usize).map_or(line.len(), |(at, _)| at))
}

/// The end of a text, behind its closing quote.
fn end_of_text(rest: &str, quote: char) -> Option<usize> {
    let mut escaped = false;
    rest.char_indices().find_map(|(at, one)| {
        let ends = one == quote && !escaped;
        escaped = one == '\\' && !escaped;
        ends.then_some(at + 1)
    })
}

/// At most so much of a text that a guest chose.
pub(super) fn clip(text: &str) -> String {
    if text.len() <= LONGEST {
        return text.to_owned();
    }
    format!("{}… ({} bytes in all)", &text[..text.floor_char_boundary(LONGEST)], text.len())
}

#[cfg(test)]
mod tests;
