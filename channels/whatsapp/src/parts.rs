//! Cuts long text into parts that WhatsApp takes, at the ends of paragraphs if it can.

/// The most characters of one message.
pub const LONGEST: usize = 4000;

/// The text in parts of at most `LONGEST` characters, in order. A part ends at the end of a
/// paragraph, else of a line, of a sentence, of a word; only a word that is longer than a message
/// is cut. A text of nothing but white space has no part.
pub fn parts(text: &str) -> Vec<String> {
    cut(text, LONGEST)
}

fn cut(text: &str, longest: usize) -> Vec<String> {
    let mut rest = text.trim();
    let mut parts = Vec::new();
    while !rest.is_empty() {
        let end = end_of_part(rest, longest);
        parts.push(rest[..end].trim_end().to_owned());
        rest = rest[end..].trim_start_matches(['\n', '\r', ' ', '\t']);
    }
    parts
}

/// The byte at which the first part ends.
fn end_of_part(text: &str, longest: usize) -> usize {
    let Some((limit, _)) = text.char_indices().nth(longest) else { return text.len() };
    let head = &text[..limit];
    // A break early in the part would make many small messages, so each kind of break has to be in
    // the second half.
    let half = head.char_indices().nth(longest / 2).map_or(0, |(at, _)| at);
    let last = |what: &str| head.rfind(what).map(|at| at + what.len()).filter(|end| *end > half);
    ["\n\n", "\n", ". ", "! ", "? ", " "].into_iter().find_map(last).unwrap_or(limit)
}

#[cfg(test)]
mod tests;
