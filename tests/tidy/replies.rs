//! The JSON of `/api` is made of the types in `wire::api` and in no other way: a handler replies
//! with one of these, and makes no JSON of its own.

use std::collections::BTreeSet;

use proc_macro2::{Delimiter, TokenTree};

use super::files::{Finding, Source};
use super::{names, tokens};

/// Protocols of other people's, whose JSON has its types elsewhere.
const OTHERS: [&str; 3] = ["src/http/v1/", "src/http/mcp/", "src/http/vapi/"];

/// The types that carry a reply.
const CARRIERS: [&str; 3] = ["Reply", "Json", "Response"];

/// The types beside those of `wire::api` that stand in a reply: lists, and the event in a replayed
/// turn, which `wire` does not know.
const WITHIN: [&str; 2] = ["Vec", "Event"];

/// The functions of `serde_json` that make JSON.
const MAKERS: [&str; 6] = ["to_value", "to_string", "to_string_pretty", "to_vec", "to_writer", "to_raw_value"];

/// True for the files that answer requests to `/api`.
pub fn applies(file: &Source) -> bool {
    file.path.starts_with("src/http/") && file.is_rust() && !OTHERS.iter().any(|other| file.path.starts_with(other))
}

/// The types of `wire::api`.
pub fn types(project: &[Source]) -> BTreeSet<String> {
    let of_it = project.iter().filter(|file| file.path == "src/wire/api.rs" || file.path.starts_with("src/wire/api/"));
    of_it.flat_map(names::visible_types).map(|(name, _)| name).collect()
}

/// How many replies the functions of a file give.
pub fn count(file: &Source) -> usize {
    functions(file).iter().flat_map(|function| carried(&function.gives)).count()
}

/// Types that are serialised in a file, replies of other types, and JSON that is made where a
/// reply is.
pub fn check(file: &Source, types: &BTreeSet<String>) -> Vec<Finding> {
    let all = tokens::without_tests(&tokens::of(file));
    let mut findings = Vec::new();
    tokens::each(&all, &mut |around, at| {
        if serialises(around, at) {
            findings.push(file.finding(tokens::line(&around[at]), "the JSON of `/api` has its types in `wire::api`"));
        }
    });
    for Function { line, gives, body } in functions(file) {
        let strange = |name: &String| !types.contains(name) && !WITHIN.contains(&name.as_str());
        for name in carried(&gives).into_iter().filter(strange) {
            findings.push(file.finding(line, format!("`{name}` is no type of `wire::api`, and a reply is one")));
        }
        let replies = words(&gives).iter().any(|word| CARRIERS.contains(&word.as_str()) || types.contains(word));
        tokens::each(&body, &mut |around, at| {
            if replies && makes(around, at) {
                findings.push(file.finding(tokens::line(&around[at]), "a reply is a type of `wire::api`, and not made here"));
            }
        });
    }
    findings
}

/// A function, or the name of a type: a reply's type may be named once for several functions.
struct Function {
    line: usize,
    gives: Vec<TokenTree>,
    body: Vec<TokenTree>,
}

fn functions(file: &Source) -> Vec<Function> {
    let mut found = Vec::new();
    tokens::each(&tokens::without_tests(&tokens::of(file)), &mut |all, at| {
        let line = tokens::line(&all[at]);
        match tokens::word(all.get(at)).as_deref() {
            Some("fn") => {
                // A function without a body ends with its semicolon.
                let ends = |at: &usize| is_body(&all[*at]) || tokens::is_punct(all, *at, ';');
                let Some(end) = (at..all.len()).find(ends) else { return };
                let TokenTree::Group(body) = &all[end] else { return };
                let arrow = (at..end).rev().find(|at| tokens::is_punct(all, *at, '>') && tokens::is_punct(all, *at - 1, '-'));
                let gives = arrow.map(|arrow| all[arrow + 1..end].to_vec()).unwrap_or_default();
                found.push(Function { line, gives, body: tokens::inside(body) });
            }
            // A type with a parameter says nothing of a reply yet.
            Some("type") if tokens::is_punct(all, at + 2, '=') => {
                let end = (at..all.len()).find(|at| tokens::is_punct(all, *at, ';')).unwrap_or(all.len());
                found.push(Function { line, gives: all[at + 3..end].to_vec(), body: Vec::new() });
            }
            _ => {}
        }
    });
    found
}

fn is_body(token: &TokenTree) -> bool {
    matches!(token, TokenTree::Group(group) if group.delimiter() == Delimiter::Brace)
}

/// The types within each `Reply<…>` and `Json<…>`.
fn carried(gives: &[TokenTree]) -> Vec<String> {
    let mut found = Vec::new();
    tokens::each(gives, &mut |all, at| {
        let carries = ["Reply", "Json"].iter().any(|carrier| tokens::word(all.get(at)).as_deref() == Some(carrier));
        if !carries || !tokens::is_punct(all, at + 1, '<') {
            return;
        }
        let mut depth = 0;
        for (at, token) in all.iter().enumerate().skip(at + 1) {
            depth += i32::from(tokens::is_punct(all, at, '<')) - i32::from(tokens::is_punct(all, at, '>'));
            if depth == 0 {
                break;
            }
            found.extend(tokens::word(Some(token)));
        }
    });
    found
}

/// Every word, those in groups among them.
fn words(all: &[TokenTree]) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    tokens::each(all, &mut |around, at| found.extend(tokens::word(around.get(at))));
    found
}

/// `derive(… Serialize …)`, or `Serialize for` in an `impl`.
fn serialises(all: &[TokenTree], at: usize) -> bool {
    match (tokens::word(all.get(at)).as_deref(), all.get(at + 1)) {
        (Some("derive"), Some(TokenTree::Group(derived))) => words(&tokens::inside(derived)).contains("Serialize"),
        (Some("Serialize"), next) => tokens::word(next).as_deref() == Some("for"),
        _ => false,
    }
}

/// `json!`, or a function of `serde_json` that makes JSON.
fn makes(all: &[TokenTree], at: usize) -> bool {
    match tokens::word(all.get(at)).as_deref() {
        Some("json") => tokens::is_punct(all, at + 1, '!'),
        Some("serde_json") => {
            tokens::is_path_separator(all, at + 1)
                && tokens::word(all.get(at + 3)).is_some_and(|word| MAKERS.contains(&word.as_str()))
        }
        _ => false,
    }
}

#[test]
fn json_of_a_handlers_own_is_found() {
    let types = BTreeSet::from(["Tasks".to_owned(), "Queued".to_owned()]);
    let wrong = [
        "#[derive(Debug, Serialize)]\nstruct Own {}",
        "impl Serialize for Own {}",
        "async fn list(at: At<Own>) -> Reply<Own> { own() }",
        "async fn list() -> Result<(StatusCode, Json<Vec<Own>>), ApiRefusal> { own() }",
        "type Ordered = Result<Json<Own>, ApiRefusal>;",
        "async fn list() -> Reply<Tasks> { let all = json!({}); Ok(Json(Tasks { all })) }",
        "fn part(all: Vec<Value>) -> Tasks { Tasks { all: all.iter().map(|one| serde_json::to_value(one)).collect() } }",
        "fn file() -> Response { serde_json::to_string(&own()).into_response() }",
    ];
    for text in wrong {
        assert_eq!(check(&Source::sample("src/http/api/tasks.rs", text), &types).len(), 1, "{text}");
    }
    let right = [
        "#[derive(Debug, Deserialize)]\nstruct Asked {}",
        "async fn list(Body(own): Body<Own>) -> Reply<Vec<Tasks>> { Ok(Json(found(own).await?)) }",
        "async fn order() -> Ordered { queue(&json!({ \"action\": \"list\" })).await }",
        "type Reply<T> = Result<Json<T>, ApiRefusal>;",
        "type Ordered = Result<(StatusCode, Json<Queued>), ApiRefusal>;",
        "#[cfg(test)]\nmod tests { fn all() -> Tasks { json!({}) } }",
    ];
    for text in right {
        assert_eq!(check(&Source::sample("src/http/api/tasks.rs", text), &types), [], "{text}");
    }
    assert_eq!(count(&Source::sample("src/http/api/tasks.rs", right[1])), 2);
}
