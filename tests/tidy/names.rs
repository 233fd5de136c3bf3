//! One name for one thing: no two types of `src` that other files can see have the same name, so
//! that a search for the name finds one meaning. A type for its own file alone is free, and so is
//! one for tests. And no function has the name that fourteen of them once shared.

use std::collections::BTreeMap;

use proc_macro2::TokenTree;

use super::files::{Finding, Source};
use super::tokens;

/// A type: its name, and the line it is defined on.
type Defined = (String, usize);

/// A name that says of no function what it gives.
const EMPTY: &str = "told";

/// A finding for each function of that name, tests among them.
pub fn empty(file: &Source) -> Vec<Finding> {
    let mut findings = Vec::new();
    tokens::each(&tokens::of(file), &mut |all, at| {
        let is = |at: usize, word: &str| tokens::word(all.get(at)).as_deref() == Some(word);
        if is(at, "fn") && is(at + 1, EMPTY) {
            let why = format!("`{EMPTY}` does not say what the function gives; name it by that");
            findings.push(file.finding(tokens::line(&all[at]), why));
        }
    });
    findings
}

/// A finding for each type whose name an earlier one has.
pub fn shared(files: &[&Source]) -> Vec<Finding> {
    let mut first: BTreeMap<String, String> = BTreeMap::new();
    let mut findings = Vec::new();
    for file in files {
        for (name, line) in visible_types(file) {
            match first.get(&name) {
                Some(place) => {
                    findings.push(file.finding(line, format!("`{name}` is a type of {place} as well; give each its own name")));
                }
                None => drop(first.insert(name, format!("{}:{line}", file.path))),
            }
        }
    }
    findings
}

/// The types of a file that other files can see.
pub fn visible_types(file: &Source) -> Vec<Defined> {
    let mut found = Vec::new();
    tokens::each(&tokens::without_tests(&tokens::of(file)), &mut |all, at| found.extend(visible_type(all, at)));
    found
}

/// The visible type whose definition begins here.
fn visible_type(all: &[TokenTree], at: usize) -> Option<Defined> {
    let word = |at: usize| tokens::word(all.get(at));
    if word(at).as_deref() == Some("text_enum") && tokens::is_punct(all, at + 1, '!') {
        let Some(TokenTree::Group(body)) = all.get(at + 2) else { return None };
        return Some((tokens::word(tokens::inside(body).first())?, tokens::line(&all[at])));
    }
    if word(at).as_deref() != Some("pub") {
        return None;
    }
    // `pub(super)` and the like have brackets.
    let keyword = at + 1 + usize::from(matches!(all.get(at + 1), Some(TokenTree::Group(_))));
    let is_type = ["struct", "enum", "union", "trait", "type"].contains(&word(keyword)?.as_str());
    let name = word(keyword + 1).filter(|_| is_type)?;
    Some((name, tokens::line(&all[keyword])))
}

#[test]
fn a_function_named_told_is_found_and_nothing_else_that_is_called_so() {
    let found = |text: &str| empty(&Source::sample("src/a.rs", text)).len();
    assert_eq!(found("async fn told() {}\nimpl A { fn told(&self) {} }\n#[cfg(test)] mod tests { fn told() {} }"), 3);
    assert_eq!(found("mod told; fn told_of() { let told = told::it(\"CREATE FUNCTION told()\"); } // fn told()"), 0);
}

#[test]
fn two_visible_types_of_one_name_are_found() {
    let found = |one: &str, other: &str| -> Vec<String> {
        let files = [Source::sample("src/a.rs", one), Source::sample("src/b.rs", other)];
        shared(&files.each_ref()).iter().map(ToString::to_string).collect()
    };
    for (one, other) in [
        ("pub struct Limits;", "pub struct Limits { a: u8 }"),
        ("pub enum Limits {}", "\n\npub(crate) trait Limits {}"),
        ("pub(super) struct Limits;", "pub struct Limits;"),
        ("pub type Limits = u8;", "pub mod inner { pub union Limits { a: u8 } }"),
        ("text_enum! {\n    /// Words.\n    Limits { A = \"a\" }\n}", "pub struct Limits<T>(T);"),
    ] {
        let all = found(one, other);
        assert!(
            matches!(&all[..], [only] if only.starts_with("src/b.rs:") && only.contains("src/a.rs:1")),
            "{one} {other}: {all:?}"
        );
    }
    for (one, other) in [
        ("pub struct Limits;", "pub struct Bounds;"),
        ("pub struct Limits;", "struct Limits;"),
        ("struct Limits;", "pub(super) struct Limits;"),
        ("pub struct Limits;", "pub use super::a::Limits;\nfn a(limits: pub_to::Limits) {}"),
        ("pub struct Limits;", "#[cfg(test)] mod tests { pub struct Limits; }"),
        ("pub struct Limits;", "/// pub struct Limits;\npub fn limits() {}"),
    ] {
        assert_eq!(found(one, other), Vec::<String>::new(), "{one} {other}");
    }
}
