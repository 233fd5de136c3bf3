//! The table of the law: what each mode says to each effect, and what rules and a classification change.

use super::{Policy, Proposal};
use crate::domain::{Classification, Effect, Grade, Impact, Mode, Rule};

/// What the table says, before any decision of a person.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Judged {
    Allow,
    /// Why, for the person who decides.
    Ask(String),
    /// Why, for the model.
    Deny(String),
}

/// Looks a proposal up.
pub(super) fn judge(policy: &Policy, proposal: &Proposal, classification: Option<&Classification>) -> Judged {
    let by_mode = proposal.effects.iter().map(|effect| of_mode(policy.mode, *effect));
    let strictest = by_mode.max_by_key(strictness).unwrap_or(Judged::Allow);
    let ruled = match policy.rules.get(&proposal.tool) {
        Some(Rule::Never) => Judged::Deny(format!("The tool `{}` is switched off for you. Tell the user.", proposal.tool)),
        Some(Rule::Ask) if strictest == Judged::Allow => Judged::Ask("This tool is set to ask each time.".to_owned()),
        // A rule never stands for a person's look at new powers.
        Some(Rule::Always) if !proposal.effects.contains(&Effect::Grant) && matches!(strictest, Judged::Ask(_)) => Judged::Allow,
        _ => strictest,
    };
    match (ruled, classification) {
        (Judged::Allow, Some(classified)) => stricter(classified),
        (judged, _) => judged,
    }
}

fn strictness(judged: &Judged) -> u8 {
    match judged {
        Judged::Allow => 0,
        Judged::Ask(_) => 1,
        Judged::Deny(_) => 2,
    }
}

fn of_mode(mode: Mode, effect: Effect) -> Judged {
    let ask = |why: &str| Judged::Ask(why.to_owned());
    match (mode, effect) {
        (_, Effect::Read) => Judged::Allow,
        (Mode::ReadOnly, _) => Judged::Deny(
            "You may only read here: this profile is in the mode `read_only`. Say what you would do, and let the user do it."
                .to_owned(),
        ),
        (_, Effect::Grant) => ask("It asks for powers that nobody has approved yet."),
        (Mode::Auto, _) => Judged::Allow,
        (Mode::Ask, _) => ask("This profile asks before every change."),
        (Mode::Smart, Effect::Delete) => ask("It deletes something that cannot be brought back."),
        (Mode::Smart, Effect::Opaque) => ask("What this does cannot be told beforehand."),
        (Mode::Smart, Effect::Write | Effect::Define | Effect::Install | Effect::Call | Effect::Restart) => Judged::Allow,
    }
}

/// The decision rules of the planner and governor (requirements/zeta.md, "Decision Rules").
fn stricter(classified: &Classification) -> Judged {
    if classified.impact == Impact::Systemic {
        return Judged::Ask("The governor says that it reaches further than what it names.".to_owned());
    }
    if classified.complexity == Grade::High {
        return Judged::Ask("The governor says that it is complex.".to_owned());
    }
    if classified.requires_confirmation {
        return Judged::Ask("The governor says that a person should see it first.".to_owned());
    }
    Judged::Allow
}
