//! Tells which rule helped a weak model, at debug level; `just evals` counts it. For one measurement, `EVALS_OFF` names the rules that are
//! switched off.

use std::sync::LazyLock;

/// True if the rule is not switched off, and says that it helped.
pub fn helps(rule: &'static str) -> bool {
    let on = is_on(rule);
    if on {
        tracing::debug!(target: "level3::help", rule);
    }
    on
}

/// True if the rule is not switched off.
#[expect(clippy::disallowed_methods, reason = "for one measurement")]
pub fn is_on(rule: &str) -> bool {
    static OFF: LazyLock<Vec<String>> =
        LazyLock::new(|| std::env::var("EVALS_OFF").unwrap_or_default().split(',').map(|name| name.trim().to_owned()).collect());
    !OFF.iter().any(|off| off == rule)
}
