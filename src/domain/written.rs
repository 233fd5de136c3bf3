//! Texts as people's programs write them into files.

/// A text without the byte order mark that some programs put before it.
pub fn unmarked(text: &str) -> &str {
    text.strip_prefix('\u{feff}').unwrap_or(text)
}
