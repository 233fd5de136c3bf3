//! The rules that look at one file at a time.

use std::ops::RangeInclusive;

use proc_macro2::TokenTree;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};

use super::files::{Finding, Source};
use super::tokens;

/// The longest a file may be.
const LONGEST: usize = 500;

/// The longest a file of the page may be.
const LONGEST_OF_PAGE: usize = 250;

/// The places in which SQL may stand as text that is shown to a model and never run by the program:
/// the tools' descriptions, and the tour's words. Neither may name `sqlx`, so neither can run it.
const SQL_AS_TEXT: [&str; 2] = ["src/tools/", "src/model/tour"];

/// Files of more than 500 lines.
pub fn length(file: &Source) -> Vec<Finding> {
    let lines = file.text.lines().count();
    if lines <= LONGEST {
        return Vec::new();
    }
    vec![file.finding(LONGEST + 1, format!("{lines} lines; aim at 250, {LONGEST} is the end: split it"))]
}

/// Modules and sheets of the page with more than 250 lines.
pub fn page_length(file: &Source) -> Vec<Finding> {
    let lines = file.text.lines().count();
    if lines <= LONGEST_OF_PAGE {
        return Vec::new();
    }
    vec![file.finding(LONGEST_OF_PAGE + 1, format!("{lines} lines; {LONGEST_OF_PAGE} are the end: split it"))]
}

/// Rust files that do not begin with what they are for.
pub fn opening(file: &Source) -> Vec<Finding> {
    let first = file.text.lines().next().unwrap_or_default();
    if first.strip_prefix("//! ").is_some_and(|purpose| !purpose.trim().is_empty()) {
        return Vec::new();
    }
    vec![file.finding(1, "begin with `//! ` and what the file is for")]
}

/// Anything but `mod` lines, which could carry names past the floors.
///
/// The modules of a crate below are named in one `pub use`.
pub fn only_modules(file: &Source) -> Vec<Finding> {
    let is_below =
        |tree: &syn::UseTree| matches!(tree, syn::UseTree::Path(path) if path.ident.to_string().starts_with("level3_"));
    let other = |item: &syn::Item| match item {
        syn::Item::Mod(module) => module.content.is_some(),
        syn::Item::Use(import) => !is_below(&import.tree),
        _ => true,
    };
    let items = syn::parse_file(&file.text).unwrap_or_else(|error| panic!("{}: {error}", file.path)).items;
    items
        .iter()
        .filter(|item| other(item))
        .map(|item| file.finding(item.span().start().line, "only `mod` lines and crates below stand here"))
        .collect()
}

/// Modules in the root of a crate that stand on other floors than it holds.
pub fn other_floors(file: &Source, floor: impl Fn(&str) -> Option<usize>, held: RangeInclusive<usize>) -> Vec<Finding> {
    let items = syn::parse_file(&file.text).unwrap_or_else(|error| panic!("{}: {error}", file.path)).items;
    let modules = items.iter().filter_map(|item| match item {
        syn::Item::Mod(module) => Some(module),
        _ => None,
    });
    modules
        .filter(|module| !floor(&module.ident.to_string()).is_some_and(|floor| held.contains(&floor)))
        .map(|module| file.finding(module.span().start().line, format!("`{}` stands on another crate's floor", module.ident)))
        .collect()
}

/// `sqlx` named outside `postgres` and `store`.
pub fn sqlx(file: &Source) -> Vec<Finding> {
    if ["src/postgres/", "src/store/"].iter().any(|place| file.path.starts_with(place)) {
        return Vec::new();
    }
    found(file, &tokens::of(file), |all, at| tokens::word(all.get(at)).as_deref() == Some("sqlx"), "`sqlx` is for `store`")
}

/// Text that is an SQL statement outside `postgres` and `store`; tests may hold some.
pub fn sql_text(file: &Source) -> Vec<Finding> {
    let is_test = file.path.ends_with("/tests.rs") || file.path.contains("/tests/");
    let allowed = SQL_AS_TEXT.iter().any(|place| file.path.starts_with(place));
    if is_test || allowed || ["src/postgres/", "src/store/"].iter().any(|place| file.path.starts_with(place)) {
        return Vec::new();
    }
    let is_sql = |all: &[TokenTree], at: usize| match &all[at] {
        TokenTree::Literal(literal) => tokens::text(literal).is_some_and(|text| is_statement(&text)),
        _ => false,
    };
    found(file, &tokens::without_tests(&tokens::of(file)), is_sql, "SQL stands in `store` only")
}

fn is_statement(text: &str) -> bool {
    const BEGINNINGS: [&str; 16] = [
        "SELECT ",
        "INSERT INTO ",
        "UPDATE ",
        "DELETE FROM ",
        "CREATE ",
        "ALTER ",
        "DROP ",
        "TRUNCATE ",
        "GRANT ",
        "REVOKE ",
        "WITH ",
        "NOTIFY ",
        "LISTEN ",
        "LOCK ",
        "COPY ",
        "MERGE INTO ",
    ];
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    BEGINNINGS.iter().any(|beginning| text.starts_with(beginning))
        || ["BEGIN", "COMMIT", "ROLLBACK"].contains(&text.trim_end_matches(';'))
}

/// `Permit { … }` outside `governor`, and whatever would let others make one: open fields, or a
/// derive that copies or invents it.
pub fn permit(file: &Source) -> Vec<Finding> {
    let mut permits = Permits::default();
    permits.visit_file(&syn::parse_file(&file.text).unwrap_or_else(|error| panic!("{}: {error}", file.path)));
    let mut findings = Vec::new();
    if !file.path.starts_with("src/governor/") {
        let made = permits.made.iter().map(|line| file.finding(*line, "only `governor` makes a `Permit`"));
        let defined = permits.defined.iter().map(|line| file.finding(*line, "`Permit` is defined in `governor`"));
        findings.extend(made.chain(defined));
    }
    findings.extend(permits.opened.iter().map(|(line, what)| file.finding(*line, what)));
    findings
}

/// How often `struct Permit` is defined in a file.
pub fn permits_defined(file: &Source) -> usize {
    let mut permits = Permits::default();
    permits.visit_file(&syn::parse_file(&file.text).unwrap_or_else(|error| panic!("{}: {error}", file.path)));
    permits.defined.len()
}

#[derive(Default)]
struct Permits {
    made: Vec<usize>,
    defined: Vec<usize>,
    opened: Vec<(usize, String)>,
}

impl<'ast> Visit<'ast> for Permits {
    fn visit_expr_struct(&mut self, made: &'ast syn::ExprStruct) {
        if made.path.segments.last().is_some_and(|name| name.ident == "Permit") {
            self.made.push(made.path.span().start().line);
        }
        visit::visit_expr_struct(self, made);
    }

    fn visit_item_struct(&mut self, item: &'ast syn::ItemStruct) {
        if item.ident == "Permit" {
            self.defined.push(item.ident.span().start().line);
            for field in item.fields.iter().filter(|field| !matches!(field.vis, syn::Visibility::Inherited)) {
                self.opened.push((field.span().start().line, "a field of `Permit` is open, so others could make one".into()));
            }
            for attribute in item.attrs.iter().filter(|attribute| attribute.path().is_ident("derive")) {
                let _ = attribute.parse_nested_meta(|derive| {
                    let name = derive.path.segments.last().map(|name| name.ident.to_string()).unwrap_or_default();
                    if ["Clone", "Copy", "Default", "Deserialize"].contains(&name.as_str()) {
                        self.opened
                            .push((derive.path.span().start().line, format!("`{name}` would make a `Permit` from nothing")));
                    }
                    Ok(())
                });
            }
        }
        visit::visit_item_struct(self, item);
    }

    fn visit_item_impl(&mut self, item: &'ast syn::ItemImpl) {
        let for_permit = matches!(&*item.self_ty, syn::Type::Path(path) if path.path.is_ident("Permit"));
        let of = item.trait_.as_ref().and_then(|(of, _)| of.segments.last()).map(|name| name.ident.to_string());
        if let (true, Some(name)) = (for_permit, of)
            && ["Clone", "Copy", "Default", "Deserialize", "From"].contains(&name.as_str())
        {
            self.opened.push((item.span().start().line, format!("`{name}` would make a `Permit` from nothing")));
        }
        visit::visit_item_impl(self, item);
    }
}

/// The files that name tools, each in the form `… = "name"`.
const NAMING: [&str; 4] =
    ["src/domain/names.rs", "src/domain/todo/function.rs", "src/domain/campaign/page.rs", "src/domain/campaign/proposal.rs"];

/// Names of tools that are everyday words as well: such a name counts if it is the whole text, and
/// not in the places of the other meaning.
const EVERYDAY: [(&str, &[&str]); 2] =
    [("relay", &["src/cli/relay/"]), ("restart", &["src/domain/policy.rs", "src/model/tour/script.rs"])];

/// The names that a file gives to tools; none if it is no file of names.
pub fn tools_named(file: &Source) -> Vec<String> {
    let mut names = Vec::new();
    if NAMING.contains(&file.path.as_str()) {
        given(&tokens::without_tests(&tokens::of(file)), &mut names);
    }
    names
}

/// The texts of one word that stand behind a `=`, but for those of attributes.
fn given(all: &[TokenTree], names: &mut Vec<String>) {
    for (at, token) in all.iter().enumerate() {
        match token {
            TokenTree::Group(group) if at == 0 || !tokens::is_punct(all, at - 1, '#') => given(&tokens::inside(group), names),
            TokenTree::Literal(literal) if is_given(all, at) => {
                names.extend(tokens::text(literal).filter(|text| words(text).eq([text.as_str()])));
            }
            _ => {}
        }
    }
}

fn is_given(all: &[TokenTree], at: usize) -> bool {
    at > 0 && tokens::is_punct(all, at - 1, '=')
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty())
}

/// The name of a tool in any text outside the files of names, each of which has its own, and the
/// coach, which helps models to call some.
pub fn tool_names(file: &Source, names: &[String]) -> Vec<Finding> {
    if file.path.starts_with("src/coach/") {
        return Vec::new();
    }
    let everyday = |word: &str| EVERYDAY.iter().find(|(name, _)| *name == word);
    let names_one = |text: &str| match everyday(text) {
        Some((_, places)) => !places.iter().any(|place| file.path.starts_with(place)),
        None => words(text).any(|word| everyday(word).is_none() && names.iter().any(|name| name == word)),
    };
    let names_itself = NAMING.contains(&file.path.as_str());
    let is_name = |all: &[TokenTree], at: usize| match &all[at] {
        TokenTree::Literal(literal) if !(names_itself && is_given(all, at)) => {
            tokens::text(literal).is_some_and(|text| names_one(&text))
        }
        _ => false,
    };
    found(file, &tokens::without_tests(&tokens::of(file)), is_name, "a tool is known by its name in a file of names only")
}

/// `process::exit`, `process::abort` and exit codes anywhere but in `program`, which decides how
/// the process ends, and `main`, which calls it. `libc::_exit` is free: it is how a child ends
/// between fork and exec.
pub fn exit(file: &Source) -> Vec<Finding> {
    if ["src/main.rs", "src/bin/relay.rs"].contains(&file.path.as_str()) || file.path.starts_with("src/program/") {
        return Vec::new();
    }
    let ends = |all: &[TokenTree], at: usize| {
        let ends = |token: &TokenTree| ["exit", "abort", "ExitCode"].contains(&token.to_string().as_str());
        tokens::word(all.get(at)).is_some_and(|word| word == "process" || word == "libc")
            && tokens::is_path_separator(all, at + 1)
            && match all.get(at + 3) {
                Some(TokenTree::Group(group)) => tokens::inside(group).iter().any(ends),
                Some(token) => ends(token),
                None => false,
            }
    };
    found(file, &tokens::of(file), ends, "return to `program`; it alone decides the exit code, and only `main` ends the process")
}

/// A wait of a test with a limit of its own, which a slow machine would reach. `PATIENCE` ends a
/// test that hangs, and nothing else. The files in the list wait for less on purpose: for a pace,
/// or since the end of the time is no failure.
pub fn impatience(file: &Source) -> Vec<Finding> {
    const MAY: [&str; 3] = ["tests/chaos/", "tests/evals/suite/run.rs", "tests/it/mcp_conformance.rs"];
    if MAY.iter().any(|place| file.path.starts_with(place)) {
        return Vec::new();
    }
    let waits = |all: &[TokenTree], at: usize| match (tokens::word(all.get(at)), all.get(at + 1)) {
        (Some(word), Some(TokenTree::Group(arguments))) => {
            let limit = tokens::word(tokens::inside(arguments).first());
            ["timeout", "timeout_at", "recv_timeout"].contains(&word.as_str()) && limit.as_deref() != Some("PATIENCE")
        }
        _ => false,
    };
    found(file, &tokens::of(file), waits, "a wait has no limit of its own: use `in_time`, or `PATIENCE`")
}

/// Words that put work off.
pub fn put_off(file: &Source) -> Vec<Finding> {
    // Written in halves, because this file is checked as well.
    let words = [concat!("TO", "DO"), concat!("FIX", "ME"), concat!("XX", "X")];
    let is_word = |line: &str, word: &str| line.split(|c: char| !c.is_alphanumeric() && c != '_').any(|part| part == word);
    let mut findings = Vec::new();
    for (number, line) in file.text.lines().enumerate() {
        if let Some(word) = words.iter().find(|word| is_word(line, word)) {
            findings.push(file.finding(number + 1, format!("{word}: do it, or open an issue")));
        }
    }
    findings
}

fn found(file: &Source, all: &[TokenTree], wrong: impl Fn(&[TokenTree], usize) -> bool, what: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    tokens::each(all, &mut |around, at| {
        if wrong(around, at) {
            findings.push(file.finding(tokens::line(&around[at]), what));
        }
    });
    findings
}

#[cfg(test)]
#[path = "rules_tests.rs"]
mod tests;
