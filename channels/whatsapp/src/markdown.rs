//! Markdown, as models write it, in the marks that WhatsApp knows: `*bold*`, `_italic_`,
//! `~struck~`, code, quotes and lists.

/// The text with WhatsApp's marks. Fenced code and code spans stay as they are, and so does a mark
/// that opens nothing.
pub fn whatsapp(markdown: &str) -> String {
    let mut fenced = false;
    let mut lines = Vec::new();
    for line in markdown.lines() {
        if line.trim_start().starts_with("```") {
            // WhatsApp would show the name of the language as the first line of the code.
            let closed_here = line.trim_start().trim_start_matches('`').contains("```");
            lines.push(if fenced || closed_here { line.to_owned() } else { "```".to_owned() });
            fenced ^= !closed_here;
        } else if fenced {
            lines.push(line.to_owned());
        } else {
            lines.push(block(line.trim_end()));
        }
    }
    lines.join("\n")
}

/// A line outside of code.
fn block(line: &str) -> String {
    let body = line.trim_start();
    let indent = &line[..line.len() - body.len()];
    let hashes = body.bytes().take_while(|byte| *byte == b'#').count();
    if (1..=6).contains(&hashes) && body[hashes..].starts_with(' ') {
        let title = body[hashes..].trim().trim_end_matches('#').trim_end();
        return format!("*{}*", inline(title).replace('*', ""));
    }
    for bullet in ["* ", "+ ", "- "] {
        if let Some(item) = body.strip_prefix(bullet) {
            return format!("{indent}- {}", inline(item));
        }
    }
    format!("{indent}{}", inline(body))
}

/// Text inside a line.
fn inline(text: &str) -> String {
    let mut out = String::new();
    let mut at = 0;
    while let Some(next) = text[at..].chars().next() {
        let before = text[..at].chars().next_back();
        let (piece, length) = code(&text[at..])
            .or_else(|| escaped(&text[at..]))
            .or_else(|| link(&text[at..]))
            .or_else(|| marked(&text[at..], before))
            .unwrap_or_else(|| (next.to_string(), next.len_utf8()));
        out.push_str(&piece);
        at += length;
    }
    out
}

/// A code span at the beginning, and how many bytes it takes.
fn code(text: &str) -> Option<(String, usize)> {
    let ticks = text.bytes().take_while(|byte| *byte == b'`').count();
    if ticks == 0 {
        return None;
    }
    let mark = &text[..ticks];
    let length = text[ticks..].find(mark)?;
    let all = 2 * ticks + length;
    Some((format!("`{}`", text[ticks..ticks + length].trim()), all))
}

/// A mark with a backslash before it: WhatsApp knows no backslashes.
fn escaped(text: &str) -> Option<(String, usize)> {
    let mark = text.strip_prefix('\\')?.chars().next()?;
    mark.is_ascii_punctuation().then(|| (mark.to_string(), 2))
}

/// A link or a picture: its words, then its address.
fn link(text: &str) -> Option<(String, usize)> {
    if let Some(rest) = text.strip_prefix('<') {
        let address = &rest[..rest.find('>')?];
        return address.starts_with("http").then(|| (address.to_owned(), address.len() + 2));
    }
    let body = text.strip_prefix('!').unwrap_or(text);
    let words = body.strip_prefix('[')?;
    let words = &words[..words.find("](")?];
    let rest = &body[words.len() + 3..];
    let address = &rest[..rest.find(')')?];
    let length = text.len() - body.len() + words.len() + address.len() + 4;
    let target = address.split_whitespace().next().unwrap_or_default();
    let shown = if words.is_empty() || words == target { target.to_owned() } else { format!("{} ({target})", inline(words)) };
    Some((shown, length))
}

/// Marked text at the beginning, in WhatsApp's marks.
fn marked(text: &str, before: Option<char>) -> Option<(String, usize)> {
    for (mark, open, close) in [("***", "*_", "_*"), ("**", "*", "*"), ("__", "*", "*"), ("~~", "~", "~"), ("*", "_", "_")] {
        let Some(rest) = text.strip_prefix(mark) else { continue };
        // Inside a word it is a product or a name, and WhatsApp would show the marks anyway.
        if before.is_some_and(char::is_alphanumeric) || rest.starts_with(char::is_whitespace) {
            continue;
        }
        let Some(end) = closing(rest, mark) else { continue };
        let inner = inline(&rest[..end]);
        return Some((format!("{open}{inner}{close}"), end + 2 * mark.len()));
    }
    None
}

/// The byte at which the closing mark begins.
fn closing(rest: &str, mark: &str) -> Option<usize> {
    let single = mark.len() == 1;
    let mut from = 0;
    while let Some(found) = rest[from..].find(mark).map(|at| from + at) {
        let (inner, after) = (&rest[..found], &rest[found + mark.len()..]);
        let doubled = single && (after.starts_with(mark) || inner.ends_with(mark));
        let right = !inner.is_empty() && !inner.ends_with(char::is_whitespace) && !after.starts_with(char::is_alphanumeric);
        if right && !doubled {
            return Some(found);
        }
        from = found + mark.len();
    }
    None
}

#[cfg(test)]
mod tests;
