//! Prose of at most 100 columns, as `docs/style.md` asks for it, in comments that stand alone and
//! in documents. Code, samples, tables and pictures have a line of their own length.

use super::files::{Finding, Source};

/// The columns that a line of prose has at most.
const MOST: usize = 100;

/// Lines of comments that are too long.
pub fn comments(file: &Source) -> Vec<Finding> {
    let lines = file.text.lines().map(|line| {
        let text = line.trim_start().strip_prefix("//")?;
        Some((line, text.trim_start_matches(['/', '!']).trim()))
    });
    too_long(file, lines)
}

/// Lines of a document that are too long.
pub fn document(file: &Source) -> Vec<Finding> {
    too_long(file, file.text.lines().map(|line| Some((line, line.trim()))))
}

/// The lines that are longer than prose may be; each comes whole and as its words, or as `None` if
/// it is no prose.
fn too_long<'a>(file: &Source, lines: impl Iterator<Item = Option<(&'a str, &'a str)>>) -> Vec<Finding> {
    let mut is_sample = false;
    let mut findings = Vec::new();
    for (number, line) in lines.enumerate() {
        let Some((line, words)) = line else {
            is_sample = false;
            continue;
        };
        is_sample ^= words.starts_with("```");
        let columns = line.chars().count();
        // Nobody can break a table's row, a picture, or a single word such as an address.
        let is_whole = words.starts_with(['|', '!', '{']) || !words.contains(' ');
        if columns > MOST && !is_sample && !is_whole {
            findings.push(file.finding(number + 1, format!("{columns} columns of prose; {MOST} are the most")));
        }
    }
    findings
}

#[test]
fn a_long_line_of_prose_is_found_at_its_line() {
    let long = "word ".repeat(20) + "x";
    for (text, found) in [
        (format!("//! Short.\n//! {long}"), 1),
        (format!("fn a() {{\n    // {long}\n}}"), 1),
        (format!("/// {}", &long[4..]), 1),
        (format!("/// {}", &long[..96]), 0),
        (format!("let a = \"{long}\";"), 0),
        (format!("/// ```\n/// {long}\n/// ```"), 0),
        (format!("/// | {long} |"), 0),
        (format!("// https://{}", "a".repeat(120)), 0),
    ] {
        assert_eq!(comments(&Source::sample("src/a.rs", &text)).len(), found, "{text}");
    }
    assert_eq!(document(&Source::sample("docs/a.md", &format!("A line.\n\n{long}\n\n```sh\n{long}\n```\n"))).len(), 1);
}
