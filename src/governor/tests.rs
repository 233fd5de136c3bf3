//! Tests of `governor`.

use super::*;
use serde_json::json;

fn policy() -> Policy {
    Policy { mode: Mode::Smart, governor: false, rules: BTreeMap::new(), tools: Toolset::Only(&["execute_sql", "restart"]) }
}

fn proposal(tool: &str, arguments: Value, effect: Effect) -> Proposal {
    let effects = [effect].into();
    Proposal { call: ToolCallId(1), tool: tool.into(), arguments, effects, version: None, losses: Vec::new() }
}

fn decision(about: &Proposal, state: ApprovalState) -> Recorded {
    let proposal_sha256 = about.sha256().to_vec();
    Recorded { approval: ApprovalId(1), state, proposal_sha256, used: false, reason: None }
}

fn with<'a>(decision: &'a Recorded) -> Evidence<'a> {
    Evidence { decision: Some(decision), ..Evidence::default() }
}

#[test]
fn a_known_tool_is_allowed_and_its_permit_is_bound_to_the_content() {
    let first = proposal("execute_sql", json!({"query": "SELECT 1", "a": 1}), Effect::Read);
    let Verdict::Allow(permit) = authorize(&policy(), &first, Evidence::default()) else { panic!("denied") };
    let same = |arguments| proposal("execute_sql", arguments, Effect::Read).sha256();
    assert_eq!(permit.proposal_sha256(), &same(json!({"a": 1, "query": "SELECT 1"})));
    assert_ne!(permit.proposal_sha256(), &same(json!({"a": 2, "query": "SELECT 1"})));
    assert_eq!(permit.verdict(), "allow");
}

#[test]
fn an_unknown_tool_is_denied() {
    let verdict = authorize(&policy(), &proposal("send_email", json!({}), Effect::Read), Evidence::default());
    let Verdict::Deny(reason) = verdict else { panic!("allowed") };
    assert_eq!(reason.code, RefusalCode::UnknownTool);
    assert_eq!(reason.message, "There is no tool `send_email`. The tools are: execute_sql, restart.");
}

#[test]
fn an_approval_allows_exactly_what_was_shown_and_once() {
    let asked = proposal("execute_sql", json!({"query": "DROP TABLE a"}), Effect::Delete);
    assert!(matches!(authorize(&policy(), &asked, Evidence::default()), Verdict::Ask(_)));
    let approved = decision(&asked, ApprovalState::Approved);
    let Verdict::Allow(permit) = authorize(&policy(), &asked, with(&approved)) else { panic!("not allowed") };
    assert_eq!((permit.approval(), permit.verdict()), (Some(ApprovalId(1)), "ask"));
    let edited = proposal("execute_sql", json!({"query": "DROP TABLE b"}), Effect::Delete);
    assert!(matches!(authorize(&policy(), &edited, with(&approved)), Verdict::Ask(_)));
    let other_version = Proposal { version: Some(2), ..asked.clone() };
    assert!(matches!(authorize(&policy(), &other_version, with(&approved)), Verdict::Ask(_)));
    let losses = vec![RowLoss { table: "a".into(), relation: None, deleted: 2, overwritten: 0 }];
    let loses_more = Proposal { losses, ..asked.clone() };
    assert!(matches!(authorize(&policy(), &loses_more, with(&approved)), Verdict::Ask(_)));
    let used = Recorded { used: true, ..approved };
    assert!(matches!(authorize(&policy(), &asked, with(&used)), Verdict::Ask(_)));
}

#[test]
fn a_call_that_was_approved_as_another_is_asked_about_again_even_if_it_is_allowed_unasked() {
    let asked = proposal("execute_sql", json!({"query": "DROP TABLE a"}), Effect::Delete);
    let now = Proposal { effects: [Effect::Define].into(), ..asked.clone() };
    assert!(matches!(authorize(&policy(), &now, Evidence::default()), Verdict::Allow(_)));
    let approved = decision(&asked, ApprovalState::Approved);
    let Verdict::Ask(why) = authorize(&policy(), &now, with(&approved)) else { panic!("not asked") };
    assert_eq!(why, CHANGED);
    let about_this = authorize(&policy(), &now, with(&decision(&now, ApprovalState::Approved)));
    assert!(matches!(&about_this, Verdict::Allow(permit) if permit.approval().is_none()), "{about_this:?}");
    let void = decision(&asked, ApprovalState::Void);
    let used = Recorded { used: true, ..approved.clone() };
    for over in [void, used] {
        assert!(matches!(authorize(&policy(), &now, with(&over)), Verdict::Allow(_)), "{over:?}");
    }
    let reads = Proposal { effects: [Effect::Read].into(), ..asked.clone() };
    assert!(matches!(authorize(&policy(), &reads, with(&approved)), Verdict::Allow(_)), "looking needs nobody");
}

#[test]
fn a_no_holds_for_the_call_whatever_it_would_do_by_now_and_whatever_else_allows_it() {
    let asked = proposal("execute_sql", json!({"query": "DROP TABLE a"}), Effect::Persist);
    let changed = Proposal { arguments: json!({"query": "DROP TABLE a", "version": 2}), ..asked.clone() };
    let unasked = Proposal { effects: [Effect::Define].into(), ..asked.clone() };
    let reads = Proposal { effects: [Effect::Read].into(), ..asked.clone() };
    for (state, code) in [(ApprovalState::Denied, RefusalCode::Denied), (ApprovalState::Expired, RefusalCode::Expired)] {
        let no = decision(&asked, state);
        for (now, context) in [(&asked, Some(3)), (&changed, Some(3)), (&changed, None), (&unasked, None), (&reads, None)] {
            let judged = authorize(&policy(), now, Evidence { context, ..with(&no) });
            assert!(matches!(&judged, Verdict::Deny(refusal) if refusal.code == code), "{state}, {context:?}: {judged:?}");
        }
    }
    let approved = decision(&asked, ApprovalState::Approved);
    let by_context = Evidence { context: Some(3), ..with(&approved) };
    assert!(matches!(authorize(&policy(), &changed, by_context), Verdict::Ask(_)), "the person saw another call");
    let Verdict::Allow(permit) = authorize(&policy(), &changed, Evidence { context: Some(3), ..Evidence::default() }) else {
        panic!("not allowed")
    };
    assert_eq!((permit.context(), permit.approval()), (Some(3), None));
}

#[test]
fn a_refusal_and_an_expiry_are_told_to_the_model() {
    let asked = proposal("execute_sql", json!({"query": "DROP TABLE a"}), Effect::Delete);
    let denied = Recorded { reason: Some("keep it".into()), ..decision(&asked, ApprovalState::Denied) };
    let Verdict::Deny(reason) = authorize(&policy(), &asked, with(&denied)) else { panic!("not denied") };
    assert_eq!((reason.code, &*reason.message), (RefusalCode::Denied, "The user refused this: keep it"));
    let Verdict::Deny(reason) = authorize(&policy(), &asked, with(&decision(&asked, ApprovalState::Expired))) else {
        panic!("not denied")
    };
    let late = "Nobody decided about this in time, which counts as no.";
    assert_eq!((reason.code, reason.denial, &*reason.message), (RefusalCode::Expired, Some(Denial::TooLate), late));
    let plain = Recorded { reason: None, ..denied };
    let Verdict::Deny(reason) = authorize(&policy(), &asked, with(&plain)) else { panic!("not denied") };
    let no = "The user refused this.";
    assert_eq!((reason.code, reason.denial, &*reason.message), (RefusalCode::Denied, Some(Denial::PlainNo), no));
}
