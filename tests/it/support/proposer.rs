//! A model of campaigns that fills a form of a page. It goes by what the snapshot shows, and by
//! nothing else.

use serde_json::{Value, json};

/// A tool of the browser, with its arguments.
pub type PageStep = (&'static str, Value);

/// The part of a snapshot under a title.
pub fn part<'a>(snapshot: &'a str, title: &str) -> &'a str {
    let Some((_, rest)) = snapshot.split_once(&format!("\n## {title}\n")) else { return "" };
    rest.split_once("\n## ").map_or(rest, |(part, _)| part)
}

/// The tasks of a snapshot that may be worked on, with their descriptions.
pub fn eligible(snapshot: &str) -> Vec<(i64, String)> {
    let described = |id: i64| {
        let line = snapshot.lines().find(|line| line.starts_with(&format!("{id} [")))?;
        Some(line.split_once("] ")?.1.to_owned())
    };
    let numbers = snapshot.lines().filter_map(|line| line.strip_prefix("task ")?.strip_suffix(", still unproven:")?.parse().ok());
    numbers.filter_map(|id: i64| Some((id, described(id)?))).collect()
}

/// The step to a reading of this address; `None` if it is there.
pub fn step_to(page: &str, address: &str) -> Option<PageStep> {
    let at = |words: &str| {
        let there = page.lines().find_map(|line| line.strip_prefix(words)?.split([',', ' ']).next());
        there.is_some_and(|there| {
            let rest = there.trim_end_matches('.').strip_prefix(address);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['?', '/']))
        })
    };
    if at("Read at ") {
        None
    } else if at("The page is now at ") && !page.contains("\nRead at ") && !page.contains("was unknown") {
        Some(("browser_read", json!({})))
    } else {
        Some(("browser_open", json!({"address": address})))
    }
}

/// Types into a field, or sends what was typed.
pub fn step_in(page: &str, field: &str, words: &str, button: &str) -> PageStep {
    if page.lines().any(|line| line.starts_with("browser_type was done")) {
        ("browser_click", json!({"node": node(page, button)}))
    } else {
        ("browser_type", json!({"node": node(page, field), "text": words}))
    }
}

/// The number of a node of the page, by its line.
fn node(page: &str, what: &str) -> u32 {
    let line = page.lines().find(|line| line.split_once("] ").is_some_and(|(_, rest)| rest.starts_with(what)));
    let line = line.unwrap_or_else(|| panic!("no {what}: {page}"));
    line[1..].split_once(']').unwrap().0.parse().unwrap()
}
