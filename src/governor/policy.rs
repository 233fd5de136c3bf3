//! The table of the law: the answer of each mode to each effect, and the changes that rules and a
//! classification make.

use super::{Opinion, Policy, Proposal};
use crate::domain::{Denial, Effect, Grade, Impact, Mode, Rule};

/// The table's answer, before any decision of a person.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum TableVerdict {
    Allow,
    /// The reason, for the person who decides.
    Ask(String),
    /// The reason, as a value and in words.
    Deny(Denial, String),
}

/// Judges a proposal: the strictest effect decides, then a rule for the tool, then the second
/// model's judgement. Each reason names the mode and the tool.
pub(super) fn judge(policy: &Policy, proposal: &Proposal, opinion: Option<Opinion>) -> TableVerdict {
    let tool = &proposal.tool;
    if policy.rules.get(tool) == Some(&Rule::Never) {
        let why = format!("The tool `{tool}` is switched off for this profile (rule `never`).");
        return TableVerdict::Deny(Denial::SwitchedOff, why);
    }
    let by_mode = proposal.effects.iter().map(|effect| of_mode(policy.mode, *effect, tool));
    // A proposal that names no effect does not count as harmless.
    let strictest = by_mode.max_by_key(strictness).unwrap_or_else(|| of_mode(policy.mode, Effect::Opaque, tool));
    let ruled = match policy.rules.get(tool) {
        Some(Rule::Ask) if strictest == TableVerdict::Allow => {
            TableVerdict::Ask(format!("The tool `{tool}` is set to ask each time (rule `ask`)."))
        }
        // A rule never replaces a decision that has to be about this very proposal.
        Some(Rule::Always)
            if matches!(strictest, TableVerdict::Ask(_)) && !proposal.effects.iter().any(|effect| effect.needs_decision()) =>
        {
            TableVerdict::Allow
        }
        _ => strictest,
    };
    match (ruled, opinion) {
        (TableVerdict::Allow, Some(opinion)) => stricter(opinion, tool),
        (judged, _) => judged,
    }
}

fn strictness(judged: &TableVerdict) -> u8 {
    match judged {
        TableVerdict::Allow => 0,
        TableVerdict::Ask(_) => 1,
        TableVerdict::Deny(..) => 2,
    }
}

fn of_mode(mode: Mode, effect: Effect, tool: &str) -> TableVerdict {
    let ask = |why: &str| TableVerdict::Ask(format!("{why} (`{tool}`, mode `{mode}`)"));
    match (mode, effect) {
        (_, Effect::Read) => TableVerdict::Allow,
        (Mode::ReadOnly, _) => TableVerdict::Deny(
            Denial::OnlyReads,
            format!("This profile may only read (mode `read_only`), and this call of `{tool}` would do more."),
        ),
        (_, Effect::Grant) => TableVerdict::Ask("It asks for powers that nobody has approved yet.".to_owned()),
        (_, Effect::Confirm) => TableVerdict::Ask(format!("A person confirms each call of `{tool}` that does this.")),
        (_, Effect::Persist) => {
            TableVerdict::Ask("It keeps something in a campaign, which a person wants to see first.".to_owned())
        }
        (_, Effect::Interact) => TableVerdict::Ask("It does something on a page in your browser.".to_owned()),
        (_, Effect::Script) => TableVerdict::Ask("It runs a script or a capability; each run is approved.".to_owned()),
        (Mode::Ask, Effect::External) => ask("This profile asks before everything but reading."),
        (_, Effect::External) => {
            ask("It is a tool of an external server, and no rule says that it may be called without asking.")
        }
        (Mode::Auto, _) => TableVerdict::Allow,
        (Mode::Ask, _) => ask("This profile asks before everything but reading."),
        (Mode::Smart, Effect::Delete) => ask("It deletes or overwrites more than is done unasked."),
        (Mode::Smart, Effect::Opaque) => ask("What this does cannot be told beforehand."),
        (Mode::Smart, Effect::Send) => ask("It says something to somebody, which cannot be taken back."),
        (Mode::Smart, Effect::Write | Effect::Define | Effect::Install | Effect::Call | Effect::Restart) => TableVerdict::Allow,
    }
}

/// The consequences of the second model's opinion; docs/policy.md has their table (“Planner and
/// governor”).
fn stricter(opinion: Opinion, tool: &str) -> TableVerdict {
    let classified = match opinion {
        Opinion::Given(classified) => classified,
        Opinion::Unread => {
            return TableVerdict::Ask(format!(
                "The governor gave no answer that could be read about this call of `{tool}`, so a person decides."
            ));
        }
        Opinion::NotAsked => {
            return TableVerdict::Ask(format!(
                "The governor has not reviewed this call of `{tool}`, which turned out to do more than it seemed to."
            ));
        }
    };
    if classified.impact == Impact::Systemic {
        return TableVerdict::Ask(format!(
            "The governor says of this call of `{tool}` that it reaches further than what it names."
        ));
    }
    if classified.complexity == Grade::High {
        return TableVerdict::Ask(format!("The governor says of this call of `{tool}` that it is complex."));
    }
    if classified.requires_confirmation {
        return TableVerdict::Ask(format!("The governor says of this call of `{tool}` that a person should see it first."));
    }
    TableVerdict::Allow
}

#[cfg(test)]
mod tests;
