//! Cuts a text that is too long in its middle, with a note that says how to read the rest.

use crate::domain::{EXECUTE_SQL, ToolCallId};

/// A tool result of more bytes is cut.
pub(super) const RESULT_BYTES: usize = 24 * 1024;
/// The note in the place of a cut takes no more bytes than this.
const NOTE_BYTES: usize = 256;
/// The bytes of a missing piece that `execute_sql` still shows whole: it cuts a value at 8 KiB.
const PIECE_BYTES: usize = 6000;

/// A tool result of at most so many bytes. The note in it is a statement that reads the rest: the
/// whole is in `shared.messages`.
pub(super) fn result(content: &str, most: usize, call: ToolCallId) -> String {
    middle(content, most, |gap| {
        // JSON within JSON has more quotes.
        let piece = PIECE_BYTES.min(most / 2).min(gap.text.len());
        let piece = gap.text[..gap.text.floor_char_boundary(piece)].chars().count();
        let (from, to) = (gap.before.chars().count() + 1, gap.before.chars().count() + gap.text.chars().count());
        format!(
            "characters {from} to {to} are left out here. Read them where you need them, with {EXECUTE_SQL}, {piece} at a time: \
             SELECT substr(content, {from}, {piece}) FROM shared.messages WHERE tool_call_id = {call}"
        )
    })
}

/// The words behind the result of a call that logged something. The lines themselves help only a
/// search for a mistake: in every request they would take the room of more important text.
pub(super) fn logs(lines: usize, call: ToolCallId) -> String {
    if lines == 0 {
        return String::new();
    }
    let lines = if lines == 1 { "1 line".to_owned() } else { format!("{lines} lines") };
    format!("\n[logged {lines}; {EXECUTE_SQL} reads them: SELECT logs FROM shared.messages WHERE tool_call_id = {call}]")
}

/// A text of at most so many bytes, without a way to the rest.
pub(super) fn text(content: &str, most: usize) -> String {
    middle(content, most, |gap| format!("{} bytes left out here", gap.text.len()))
}

/// A part that is left out, and the text before it.
struct Gap<'a> {
    before: &'a str,
    text: &'a str,
}

fn middle(content: &str, most: usize, note: impl Fn(Gap<'_>) -> String) -> String {
    // A cut would win little here, and would cut a text once more that was cut already.
    if content.len() <= most + NOTE_BYTES {
        return content.to_owned();
    }
    let head = content.floor_char_boundary(most * 2 / 3);
    let tail = content.ceil_char_boundary(content.len() - most / 3);
    let note = note(Gap { before: &content[..head], text: &content[head..tail] });
    format!("{}\n[… {note} …]\n{}", &content[..head], &content[tail..])
}

#[cfg(test)]
mod tests;
