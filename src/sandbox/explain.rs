//! What an engine's short message means here: models write for Node.js and browsers, and this is neither.

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

/// The message, with advice where there is some.
pub(super) fn with_hint(message: &str) -> String {
    let message = clip(message);
    let Some(name) = message.strip_suffix(" is not defined") else { return message };
    let name = name.trim_matches(['\'', '`']);
    match UNKNOWN.iter().find(|(names, _)| names.contains(&name)) {
        Some((_, hint)) => format!("{message}. {hint}"),
        None => message,
    }
}

/// Advice for a source that JavaScript cannot read at all.
pub(super) fn syntax_hint(source: &str) -> &'static str {
    let starts = |line: &str, words: &[&str]| words.iter().any(|word| line.trim_start().starts_with(word));
    if source.trim_start().starts_with("```") {
        return " Give the code alone, without Markdown fences.";
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

/// At most so much of a text that a guest chose.
pub(super) fn clip(text: &str) -> String {
    if text.len() <= LONGEST {
        return text.to_owned();
    }
    format!("{}… ({} bytes in all)", &text[..text.floor_char_boundary(LONGEST)], text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_other_places_are_explained() {
        assert!(with_hint("require is not defined").ends_with("remove `require` and `module.exports`."));
        assert!(with_hint("'Intl' is not defined").ends_with("the time zone is UTC."));
        assert_eq!(with_hint("totals is not defined"), "totals is not defined");
    }

    #[test]
    fn other_languages_are_recognised() {
        assert!(syntax_hint("```js\nfunction f() {}\n```").contains("Markdown"));
        assert!(syntax_hint("async def f(params):\n    return 1").contains("Python"));
        assert!(syntax_hint("function f(params: any) {}").contains("TypeScript"));
        assert_eq!(syntax_hint("function f( {"), "");
    }

    #[test]
    fn long_messages_are_clipped_between_characters() {
        let clipped = clip(&"é".repeat(3000));
        assert!(clipped.ends_with("é… (6000 bytes in all)"), "{clipped}");
    }
}
