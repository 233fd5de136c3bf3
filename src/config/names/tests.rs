//! Tests of `config::names`.

use std::collections::BTreeSet;

use super::*;

#[test]
fn a_mistyped_setting_is_told_with_the_nearest_there_is() {
    for (name, nearest) in [
        ("LEVEL3_TOKN", "LEVEL3_TOKEN"),
        ("LEVEL3_ALOWED_HOST", "LEVEL3_ALLOWED_HOSTS"),
        ("LLM_MODLE", "LLM_MODEL"),
        ("LLM_APIKEY", "LLM_API_KEY"),
        ("LEVEL3_", "LEVEL3_BIN"),
    ] {
        let told = unknown(&HashMap::from([(name.to_owned(), "x".to_owned())]));
        assert_eq!(told, [format!("{name} is set, and there is no such setting; the nearest is {nearest}")]);
    }
    let known = known().chain(["PATH", "LLMS", "level3_token", "OPENAI_ORG"]);
    assert!(unknown(&known.map(|name| (name.to_owned(), String::new())).collect()).is_empty());
}

#[test]
fn the_documents_list_every_setting_and_no_other() {
    let text = include_str!("../../../docs/operations.md");
    let section = text.split("\n## ").find(|section| section.starts_with("Settings\n")).expect("the section");
    let is_name = |word: &&str| {
        word.len() > 4 && word.contains('_') && word.chars().all(|c| c.is_ascii_uppercase() || c == '3' || c == '_')
    };
    let listed: BTreeSet<_> = section.split('`').filter(is_name).filter(|word| !word.ends_with('_')).collect();
    let known: BTreeSet<_> = known().filter(|name| *name != "LEVEL3_FAILPOINT").collect();
    assert_eq!(listed, known);
}
