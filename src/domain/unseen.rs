//! Characters that a reader does not see: instructions hide in them, and a name of nothing else is
//! an empty line.

/// True for characters that a reader does not see, or that turn the direction of what they read.
pub fn invisible(c: char) -> bool {
    matches!(c,
        '\u{AD}' | '\u{34F}' | '\u{61C}' | '\u{115F}' | '\u{1160}' | '\u{17B4}' | '\u{17B5}' | '\u{180B}'..='\u{180F}'
        | '\u{200B}'..='\u{200F}' | '\u{2028}'..='\u{202E}' | '\u{2060}'..='\u{206F}' | '\u{3164}' | '\u{FE00}'..='\u{FE0F}'
        | '\u{FEFF}' | '\u{FFA0}' | '\u{FFF0}'..='\u{FFFB}' | '\u{1BCA0}'..='\u{1BCA3}' | '\u{1D173}'..='\u{1D17A}'
        | '\u{E0000}'..='\u{E0FFF}')
        || (c.is_control() && c != '\n' && c != '\t')
}

/// A name or a text, without blanks around it; empty if nothing of it can be seen.
pub fn seen_name(text: &str) -> &str {
    let name = text.trim();
    if name.chars().all(|c| c.is_whitespace() || invisible(c)) { "" } else { name }
}

/// The text with each character that turns the direction of what follows written out, as
/// `⟨U+202E⟩`. The marks that scripts are written with, such as U+200F, turn nothing that stands
/// beside the text, and stay.
pub fn unturned(text: &str) -> String {
    let mut unturned = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}' => unturned.push_str(&format!("⟨U+{:04X}⟩", u32::from(c))),
            _ => unturned.push(c),
        }
    }
    unturned
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_of_which_nothing_can_be_seen_is_none() {
        for unseen in ["", " \t\n", "\u{200b}", " \u{feff}\u{2060} \u{3164}", "\u{e0041}\u{ad}"] {
            assert_eq!(seen_name(unseen), "", "{unseen:?}");
        }
        assert_eq!(seen_name(" Tea \n"), "Tea");
        assert_eq!(seen_name("❤\u{fe0f}"), "❤\u{fe0f}", "it draws the heart in colour");
        assert_eq!(seen_name("👩\u{200d}🔧"), "👩\u{200d}🔧", "it joins two signs to one");
    }

    #[test]
    fn a_character_that_turns_text_is_written_out() {
        assert_eq!(unturned("\u{202e}live\u{202c} \u{2067}x\u{2069}"), "⟨U+202E⟩live⟨U+202C⟩ ⟨U+2067⟩x⟨U+2069⟩");
        for kept in ["Tea", "שלום\u{200f}!", "👩\u{200d}🔧"] {
            assert_eq!(unturned(kept), kept);
        }
    }
}
