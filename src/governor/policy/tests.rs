//! Tests of `governor::policy`.

use serde_json::json;

use super::*;
use crate::domain::{Classification, ToolCallId, Toolset};

/// The answer of each mode to each effect, with and without rules. A cell has three words: the
/// first holds without a rule, the second with `ask`, the third with `always`. `never` denies
/// everywhere.
const TABLE: &str = "
        effect  | auto              | smart             | ask               | read_only
        read    | allow ask allow   | allow ask allow   | allow ask allow   | allow ask allow
        write   | allow ask allow   | allow ask allow   | ask ask allow     | deny deny deny
        define  | allow ask allow   | allow ask allow   | ask ask allow     | deny deny deny
        delete  | allow ask allow   | ask ask allow     | ask ask allow     | deny deny deny
        opaque  | allow ask allow   | ask ask allow     | ask ask allow     | deny deny deny
        install | allow ask allow   | allow ask allow   | ask ask allow     | deny deny deny
        grant   | ask ask ask       | ask ask ask       | ask ask ask       | deny deny deny
        call    | allow ask allow   | allow ask allow   | ask ask allow     | deny deny deny
        restart | allow ask allow   | allow ask allow   | ask ask allow     | deny deny deny
        external | ask ask allow    | ask ask allow     | ask ask allow     | deny deny deny
        send    | allow ask allow   | ask ask allow     | ask ask allow     | deny deny deny
        confirm | ask ask ask       | ask ask ask       | ask ask ask       | deny deny deny
        persist | ask ask ask       | ask ask ask       | ask ask ask       | deny deny deny
        interact | ask ask ask      | ask ask ask       | ask ask ask       | deny deny deny
        script  | ask ask ask       | ask ask ask       | ask ask ask       | deny deny deny
    ";

fn judged(mode: Mode, effects: &[Effect], rule: Option<Rule>, opinion: Option<Opinion>) -> TableVerdict {
    let tool = "the_tool".to_owned();
    let rules = rule.map(|rule| (tool.clone(), rule)).into_iter().collect();
    let policy = Policy { mode, governor: false, rules, tools: Toolset::Builder };
    let effects = effects.iter().copied().collect();
    let (call, arguments) = (ToolCallId(1), json!({}));
    let proposal = Proposal { call, tool, arguments, effects, version: None, losses: Vec::new() };
    judge(&policy, &proposal, opinion)
}

fn word(judged: &TableVerdict) -> &'static str {
    ["allow", "ask", "deny"][usize::from(strictness(judged))]
}

#[test]
fn every_mode_effect_and_rule_is_judged_as_the_table_says() {
    let mut lines = TABLE.lines().map(str::trim).filter(|line| !line.is_empty());
    let cells = |line: &'static str| line.split('|').map(str::trim).collect::<Vec<_>>();
    let modes: Vec<Mode> = cells(lines.next().unwrap())[1..].iter().map(|mode| mode.parse().unwrap()).collect();
    assert_eq!(modes, Mode::ALL);
    let rows: Vec<_> = lines.map(cells).collect();
    assert_eq!(rows.iter().map(|row| row[0].parse().unwrap()).collect::<Vec<Effect>>(), Effect::ALL, "every effect has its row");
    for row in rows {
        let effect: Effect = row[0].parse().unwrap();
        for (mode, cell) in modes.iter().zip(&row[1..]) {
            let expected: Vec<_> = cell.split_whitespace().collect();
            let rules = [None, Some(Rule::Ask), Some(Rule::Always)];
            let found: Vec<_> = rules.iter().map(|rule| word(&judged(*mode, &[effect], *rule, None))).collect();
            assert_eq!(found, expected, "{effect} in {mode}");
            assert_eq!(word(&judged(*mode, &[effect], Some(Rule::Never), None)), "deny", "{effect} in {mode} under `never`");
        }
    }
}

#[test]
fn the_strictest_effect_wins_in_every_mode_and_under_every_rule() {
    for mode in Mode::ALL {
        for rule in [None, Some(Rule::Ask), Some(Rule::Always), Some(Rule::Never)] {
            for one in Effect::ALL {
                for other in Effect::ALL {
                    let alone = [one, other].map(|effect| strictness(&judged(*mode, &[*effect], rule, None)));
                    let together = strictness(&judged(*mode, &[*one, *other], rule, None));
                    assert_eq!(together, alone[0].max(alone[1]), "{one} and {other} in {mode} under {rule:?}");
                }
            }
        }
    }
}

#[test]
fn new_powers_and_what_is_confirmed_each_time_are_never_allowed_without_a_person() {
    let decided: Vec<_> = Effect::ALL.iter().copied().filter(|effect| effect.needs_decision()).collect();
    assert_eq!(decided, [Effect::Grant, Effect::Confirm, Effect::Persist, Effect::Interact, Effect::Script]);
    for mode in Mode::ALL {
        for rule in [None, Some(Rule::Always), Some(Rule::Ask), Some(Rule::Never)] {
            for beside in Effect::ALL {
                for effect in &decided {
                    let judged = judged(*mode, &[*effect, *beside], rule, None);
                    assert_ne!(judged, TableVerdict::Allow, "{mode} {rule:?} {effect} {beside}");
                }
            }
        }
    }
}

#[test]
fn what_names_no_effect_is_taken_as_the_worst() {
    for mode in Mode::ALL {
        assert_eq!(judged(*mode, &[], None, None), judged(*mode, &[Effect::Opaque], None, None));
    }
}

#[test]
fn a_classification_makes_a_verdict_stricter_and_never_milder() {
    let low = Classification { complexity: Grade::Low, risk: Grade::Low, impact: Impact::Local, requires_confirmation: false };
    let strict = [
        (Opinion::Given(Classification { impact: Impact::Systemic, ..low }), "The governor says"),
        (Opinion::Given(Classification { complexity: Grade::High, ..low }), "is complex"),
        (Opinion::Given(Classification { requires_confirmation: true, ..low }), "should see it first"),
        (Opinion::Given(Classification::STRICTEST), "reaches further"),
        (Opinion::Unread, "gave no answer that could be read"),
        (Opinion::NotAsked, "has not reviewed"),
    ];
    for mode in Mode::ALL {
        for effect in Effect::ALL {
            for rule in [None, Some(Rule::Always), Some(Rule::Ask), Some(Rule::Never)] {
                let without = judged(*mode, &[*effect], rule, None);
                assert_eq!(judged(*mode, &[*effect], rule, Some(Opinion::Given(low))), without, "nothing is made milder");
                for (opinion, told) in strict {
                    let with = judged(*mode, &[*effect], rule, Some(opinion));
                    match (&without, &with) {
                        (TableVerdict::Allow, TableVerdict::Ask(why)) => {
                            assert!(why.contains(told) && why.contains("the_tool"), "{why}")
                        }
                        _ => assert_eq!(with, without),
                    }
                    assert_ne!(with, TableVerdict::Allow);
                }
            }
        }
    }
    let risky = Classification { risk: Grade::High, ..low };
    assert_eq!(
        judged(Mode::Auto, &[Effect::Write], None, Some(Opinion::Given(risky))),
        TableVerdict::Allow,
        "high risk alone is recorded, not asked"
    );
}

#[test]
fn reasons_name_mode_and_tool_and_teach_nothing() {
    let reason = |mode, effect, rule| match judged(mode, &[effect], rule, None) {
        TableVerdict::Allow => panic!("allowed"),
        TableVerdict::Ask(reason) | TableVerdict::Deny(_, reason) => reason,
    };
    assert_eq!(
        reason(Mode::ReadOnly, Effect::Write, None),
        "This profile may only read (mode `read_only`), and this call of `the_tool` would do more."
    );
    assert_eq!(
        reason(Mode::Auto, Effect::Read, Some(Rule::Never)),
        "The tool `the_tool` is switched off for this profile (rule `never`)."
    );
    for (mode, effect) in
        [(Mode::Smart, Effect::Delete), (Mode::Smart, Effect::Opaque), (Mode::Smart, Effect::Send), (Mode::Ask, Effect::Write)]
    {
        let reason = reason(mode, effect, None);
        assert!(reason.contains("`the_tool`") && reason.contains(&format!("`{mode}`")), "{reason}");
    }
    assert_eq!(reason(Mode::Auto, Effect::Read, Some(Rule::Ask)), "The tool `the_tool` is set to ask each time (rule `ask`).");
}
