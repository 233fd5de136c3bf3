//! The lessons about the host for models: taken from the WIT, so that nothing can be taught that is
//! not there, and no power is added without a word about it.
//!
//! In the doc comment of an interface a line `js: ` has expressions, separated by commas at the top
//! level, and after `: ` their results; a line `grant: ` has the power as `grants` write it. In the
//! world's doc comment `has: ` and `lacks: ` name globals. A test runs every one of them in the
//! sandbox.

use std::fmt::Write;
use std::sync::LazyLock;

use crate::domain::Power;

/// The interface of a power.
const fn wit(power: Power) -> &'static str {
    match power {
        Power::Log => include_str!("../../capabilities/wit/log.wit"),
        Power::Clock => include_str!("../../capabilities/wit/clock.wit"),
        Power::Random => include_str!("../../capabilities/wit/random.wit"),
        Power::Http => include_str!("../../capabilities/wit/http.wit"),
        Power::Sql => include_str!("../../capabilities/wit/sql.wit"),
        Power::Kv => include_str!("../../capabilities/wit/kv.wit"),
        Power::Secrets => include_str!("../../capabilities/wit/secrets.wit"),
        Power::Tools => include_str!("../../capabilities/wit/tools.wit"),
    }
}

const WORLD: &str = include_str!("../../capabilities/wit/world.wit");

/// The lines of a doc comment that begin with `word: `, without it.
fn lines_after<'t>(wit: &'t str, word: &str) -> impl Iterator<Item = &'t str> {
    wit.lines().filter_map(move |line| line.strip_prefix("/// ")?.strip_prefix(word)?.strip_prefix(": "))
}

/// The powers that the host offers to JavaScript, a line for each, for the prompt of a model that
/// writes capabilities.
pub fn text() -> &'static str {
    static TEXT: LazyLock<String> = LazyLock::new(|| {
        let names = |word| lines_after(WORLD, word).collect::<Vec<_>>().join(", ");
        let lines = |power| lines_after(wit(power), "js").collect::<Vec<_>>().join("; ");
        let (harmless, granted): (Vec<Power>, Vec<Power>) = Power::ALL.iter().partition(|power| power.is_harmless());
        let mut text = format!("- Always there: the language itself, {}", names("has"));
        for power in harmless {
            let _ = write!(text, "; {}", lines(power));
        }
        let _ = write!(text, ".\n- Not there: import, packages, files, TypeScript, Node, {}.", names("lacks"));
        text.push_str("\n- Only with a grant:");
        for power in granted {
            let _ = write!(text, "\n  {power}: {}.", lines(power));
        }
        text
    });
    &TEXT
}

/// How grants are written, as one object with all of them.
pub fn grants() -> &'static str {
    static GRANTS: LazyLock<String> = LazyLock::new(|| {
        let written = |power: &Power| lines_after(wit(*power), "grant").next().map(|grant| format!("\"{power}\": {grant}"));
        format!("{{{}}}", Power::ALL.iter().filter_map(written).collect::<Vec<_>>().join(", "))
    });
    &GRANTS
}

#[cfg(test)]
pub(super) mod lines {
    //! The single lines, for the test that runs them.

    use super::*;

    /// The taught expressions of a power.
    pub(in crate::sandbox) fn expressions(power: Power) -> Vec<&'static str> {
        lines_after(wit(power), "js")
            .flat_map(|line| at_top_level(line.split_once(": ").map_or(line, |(code, _)| code)))
            .collect()
    }

    pub(in crate::sandbox) fn globals(word: &str) -> Vec<&'static str> {
        lines_after(WORLD, word).flat_map(|names| names.split(", ")).collect()
    }

    /// The interfaces that the world imports.
    pub(in crate::sandbox) fn imports() -> Vec<&'static str> {
        WORLD.lines().filter_map(|line| line.trim().strip_prefix("import ")?.strip_suffix(';')).collect()
    }

    pub(in crate::sandbox) fn source(power: Power) -> &'static str {
        wit(power)
    }

    /// Splits at commas outside brackets.
    fn at_top_level(code: &str) -> Vec<&str> {
        let (mut parts, mut start, mut depth) = (Vec::new(), 0, 0);
        for (at, c) in code.char_indices() {
            match c {
                '(' | '{' | '[' => depth += 1,
                ')' | '}' | ']' => depth -= 1,
                ',' if depth == 0 => {
                    parts.push(code[start..at].trim());
                    start = at + 1;
                }
                _ => {}
            }
        }
        parts.push(code[start..].trim());
        parts
    }
}
