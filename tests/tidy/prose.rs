//! Plain English in comments and documents, as `docs/style.md` asks for it: no sentence hides its
//! actor behind `What`, `Who`, `Where` or `Whether`.

use super::files::{Finding, Source};

/// The words that no sentence begins with.
const REFUSED: [&str; 6] = ["What", "Whoever", "Who", "Whatever", "Where", "Whether"];

/// Sentences in comments that begin with one of the refused words.
pub fn openings(file: &Source) -> Vec<Finding> {
    found(file, file.text.lines().map(|line| comment(line, "//")))
}

/// The same in a module or a sheet of the page, where comments also stand between `/*` and `*/`.
pub fn page(file: &Source) -> Vec<Finding> {
    let mut is_open = false;
    let sentences = file.text.lines().map(|line| {
        let inside = line.trim();
        let block = if is_open { Some(inside.strip_prefix("* ").unwrap_or(inside)) } else { comment(line, "/*") };
        let block = block.map(|text| text.find("*/").map_or(text, |end| &text[..end + 2]));
        is_open = block.is_some_and(|text| !text.ends_with("*/"));
        block.or_else(|| comment(line, "//"))
    });
    found(file, sentences)
}

/// The same in a document. Headings and tables are no sentences.
pub fn document(file: &Source) -> Vec<Finding> {
    let mut is_code = false;
    let sentences = file.text.lines().map(|line| {
        let line = line.trim();
        is_code ^= line.starts_with("```");
        Some(if is_code || !line.starts_with(['#', '|']) { line } else { "" })
    });
    found(file, sentences)
}

/// The findings in the lines of a file; `None` for a line without prose.
fn found<'a>(file: &Source, lines: impl Iterator<Item = Option<&'a str>>) -> Vec<Finding> {
    let mut findings = Vec::new();
    // True while the next word begins a sentence; a comment goes on over lines.
    let mut begins = true;
    let mut is_code = false;
    for (number, line) in lines.enumerate() {
        let Some(comment) = line else {
            (begins, is_code) = (true, false);
            continue;
        };
        let is_fence = comment.starts_with("```");
        is_code ^= is_fence;
        begins |= is_fence || comment.is_empty() || is_item(comment);
        if is_fence || is_code {
            continue;
        }
        for word in comment.split_whitespace() {
            let bare = word.trim_start_matches(['*', '(', '"', '“']);
            let letters = bare.split(|c: char| !c.is_alphabetic()).next().unwrap_or_default();
            if begins && REFUSED.contains(&letters) {
                findings.push(file.finding(number + 1, format!("a sentence begins with `{letters}`; see docs/style.md")));
            }
            // The mark of an item is not yet a word of it.
            begins = begins && letters.is_empty() && !bare.starts_with('`') || ends_a_sentence(word);
        }
    }
    findings
}

/// The text of a line's comment that begins with this mark; `None` if the line has none.
fn comment<'a>(line: &'a str, mark: &str) -> Option<&'a str> {
    let (before, after) = line.split_once(mark)?;
    // Behind code a comment has a blank before it, and stands in no text.
    let is_alone = before.trim().is_empty();
    let is_behind = before.ends_with(' ') && before.matches('"').count() % 2 == 0;
    (is_alone || is_behind).then(|| after.trim_start_matches(['/', '!', '*']).trim())
}

/// True for a line that begins an item of a list.
fn is_item(comment: &str) -> bool {
    let mark = comment.split(' ').next().unwrap_or_default();
    ["*", "-", "|"].contains(&mark) || mark.strip_suffix('.').is_some_and(|number| number.parse::<u32>().is_ok())
}

/// True for the last word of a sentence, and for the end of a comment.
fn ends_a_sentence(word: &str) -> bool {
    word.ends_with("*/") || word.trim_end_matches(['*', ')', '"', '”', '`']).ends_with(['.', '!', '?'])
}

#[test]
fn a_sentence_that_begins_with_a_refused_word_is_found_at_its_line() {
    let lines = |text: &str| -> Vec<String> {
        let findings = openings(&Source::sample("src/a.rs", text));
        findings.iter().map(|finding| finding.to_string().split(':').nth(1).unwrap_or_default().to_owned()).collect()
    };
    for (text, found) in [
        ("//! What it is.", "1"),
        ("/// Whoever asks.\nfn a() {}", "1"),
        ("fn a() {\n    // Where it is.\n}", "2"),
        ("fn a() {} // Whatever it is.", "1"),
        ("/// One sentence. Who asks is told.", "1"),
        ("/// A sentence that goes\n/// on. What follows is another.", "2"),
        ("/// A sentence.\n/// Where is another.", "2"),
        ("/// A list:\n/// * What is an item.\n/// 2. Who is one, too.", "2 3"),
        ("/// (In brackets.) What follows.", "1"),
        ("/// **Where** it is.", "1"),
        ("/// Whether it is there.\nfn a() {}", "1"),
        ("/// A paragraph without an end\n///\n/// What begins another.", "3"),
        ("/// A comment\nfn a() {}\n/// What begins another.", "3"),
        ("/// ```\n/// let a = 1;\n/// ```\n/// What comes after code.", "4"),
    ] {
        assert_eq!(lines(text).join(" "), found, "{text}");
    }
}

#[test]
fn the_words_elsewhere_are_no_finding() {
    for text in [
        "/// The place where it is, and what it does.",
        "/// A sentence that goes on with\n/// What in capitals.",
        "/// `What` is a name. Whole sentences pass, and so does Whose.",
        "fn a() { say(\"What now?\") }",
        "const A: &str = \"https://example.com // What\";",
        "/// ```\n/// What a text shows.\n/// ```",
        "struct What;\nimpl Who for What {}",
    ] {
        assert_eq!(openings(&Source::sample("src/a.rs", text)), [], "{text}");
    }
}

#[test]
fn every_sentence_of_a_comment_of_the_page_is_read() {
    let found = |text: &str| page(&Source::sample("static/a.js", text)).len();
    for text in [
        "// One sentence. What follows.",
        "/** One sentence. Who asks is told. */",
        "const a = 1; /* Whether it is. */",
        "/**\n * A sentence that goes\n * on. Where it is.\n */",
        "a {\n  /* One sentence,\n     and its end. Whatever it is. */\n}",
        "/** No end */\n// What begins another.",
    ] {
        assert_eq!(found(text), 1, "{text}");
    }
    for text in [
        "/** The place where it is. */\nclass Who {}",
        "const accept = \"image/*\";\nclass What {}",
        "/**\n * A sentence that goes on with\n * What in capitals.\n */\nclass Where {}",
        "/** A name. */ class What {}",
    ] {
        assert_eq!(found(text), 0, "{text}");
    }
}

#[test]
fn a_document_is_read_without_its_headings_tables_and_samples() {
    let found = |text: &str| document(&Source::sample("docs/a.md", text)).len();
    for text in ["What it is.", "One sentence.\nWhere it is.", "* Who asks.", "```sh\n# What it does.\n```\nWhoever asks."] {
        assert_eq!(found(text), 1, "{text}");
    }
    for text in ["## What it is", "| What | Where |", "```sh\n# What it does.\n```", "A sentence that says\nWhat it is."] {
        assert_eq!(found(text), 0, "{text}");
    }
}
