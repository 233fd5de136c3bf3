//! Rust sources as tokens: comments of both kinds are gone, text in quotes is one token, and macros
//! hide nothing.

use proc_macro2::{Delimiter, Group, Literal, TokenStream, TokenTree};

use super::files::Source;

/// The tokens of a file.
pub fn of(file: &Source) -> Vec<TokenTree> {
    let tokens: TokenStream = file.text.parse().unwrap_or_else(|error| panic!("{}: {error}", file.path));
    without_docs(tokens)
}

/// The same tokens without `#[doc = "…"]`, which is what the compiler makes of a doc comment.
fn without_docs(tokens: TokenStream) -> Vec<TokenTree> {
    let tokens: Vec<_> = tokens.into_iter().collect();
    let is_doc = |at: usize| match tokens.get(at) {
        Some(TokenTree::Group(group)) => {
            let tokens = inside(group);
            word(tokens.first()).as_deref() == Some("doc") && is_punct(&tokens, 1, '=')
        }
        _ => false,
    };
    let mut kept = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        // `#[doc = …]` and `#![doc = …]`.
        let bang = usize::from(is_punct(&tokens, at + 1, '!'));
        if is_punct(&tokens, at, '#') && is_doc(at + 1 + bang) {
            at += 2 + bang;
            continue;
        }
        kept.push(with_contents(&tokens[at], without_docs));
        at += 1;
    }
    kept
}

/// The token itself; brackets with what `change` makes of their contents.
fn with_contents(token: &TokenTree, change: impl Fn(TokenStream) -> Vec<TokenTree>) -> TokenTree {
    match token {
        TokenTree::Group(group) => {
            let mut changed = Group::new(group.delimiter(), change(group.stream()).into_iter().collect());
            changed.set_span(group.span());
            TokenTree::Group(changed)
        }
        other => other.clone(),
    }
}

/// The tokens inside brackets.
pub fn inside(group: &Group) -> Vec<TokenTree> {
    group.stream().into_iter().collect()
}

/// The line a token begins on, counted from 1.
pub fn line(token: &TokenTree) -> usize {
    token.span().start().line
}

/// The word, when the token is one.
pub fn word(token: Option<&TokenTree>) -> Option<String> {
    match token {
        Some(TokenTree::Ident(ident)) => Some(ident.to_string()),
        _ => None,
    }
}

/// True when this punctuation stands at `at`.
pub fn is_punct(tokens: &[TokenTree], at: usize, what: char) -> bool {
    matches!(tokens.get(at), Some(TokenTree::Punct(punct)) if punct.as_char() == what)
}

/// True when `::` stands at `at`.
pub fn is_path_separator(tokens: &[TokenTree], at: usize) -> bool {
    is_punct(tokens, at, ':') && is_punct(tokens, at + 1, ':')
}

/// The text of a string literal; nothing for numbers, characters and bytes.
pub fn text(literal: &Literal) -> Option<String> {
    match syn::Lit::new(literal.clone()) {
        syn::Lit::Str(text) => Some(text.value()),
        _ => None,
    }
}

/// The same tokens without the items marked `#[cfg(test)]`.
pub fn without_tests(tokens: &[TokenTree]) -> Vec<TokenTree> {
    let mut kept = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        if is_punct(tokens, at, '#') && tokens.get(at + 1).is_some_and(is_cfg_test) {
            // The item ends with its body or with a semicolon.
            at += 2;
            while at < tokens.len() && !is_punct(tokens, at, ';') && !is_body(&tokens[at]) {
                at += 1;
            }
            at += 1;
            continue;
        }
        kept.push(with_contents(&tokens[at], |inner| without_tests(&inner.into_iter().collect::<Vec<_>>())));
        at += 1;
    }
    kept
}

fn is_body(token: &TokenTree) -> bool {
    matches!(token, TokenTree::Group(group) if group.delimiter() == Delimiter::Brace)
}

fn is_cfg_test(token: &TokenTree) -> bool {
    let TokenTree::Group(group) = token else { return false };
    let tokens = inside(group);
    let argument = match tokens.get(1) {
        Some(TokenTree::Group(argument)) => inside(argument),
        _ => return false,
    };
    word(tokens.first()).as_deref() == Some("cfg") && argument.len() == 1 && word(argument.first()).as_deref() == Some("test")
}

/// Calls `visit` for every token, those in brackets too, with the tokens around it and its place
/// among them.
pub fn each(tokens: &[TokenTree], visit: &mut impl FnMut(&[TokenTree], usize)) {
    for (at, token) in tokens.iter().enumerate() {
        visit(tokens, at);
        if let TokenTree::Group(group) = token {
            each(&inside(group), visit);
        }
    }
}

#[test]
fn items_for_tests_are_left_out_and_nothing_else() {
    let file = Source::sample(
        "src/a.rs",
        "fn a() { one() } #[cfg(test)] mod tests { fn b() { two() } } #[cfg(test)] use x::three; #[cfg(unix)] fn c() { four() }",
    );
    let mut words = Vec::new();
    each(&without_tests(&of(&file)), &mut |tokens, at| words.extend(word(tokens.get(at))));
    assert!(words.contains(&"one".into()) && words.contains(&"four".into()), "{words:?}");
    assert!(!words.contains(&"two".into()) && !words.contains(&"three".into()), "{words:?}");
}
