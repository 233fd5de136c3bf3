//! The memory for proposals: those that were carried out are not repeated while the state is the
//! same, and a person's no holds until their yes.

use super::*;

fn judged(fingerprint: &str, refused: Option<bool>) -> Option<JudgedProposal> {
    Some(JudgedProposal { fingerprint: fingerprint.to_owned(), again: false, refused })
}

fn remember(campaign: &mut Campaign, state: &str, judged: Option<JudgedProposal>) {
    campaign.remember(state.to_owned(), judged, "it came");
}

#[test]
fn campaign_proposals_that_were_carried_out_against_the_same_state_are_refused_with_what_came_of_them() {
    let (mut there, again) = (ready(), read("no_op", json!({"task": 1, "why": "all is well"})));
    let at = there.sha256();
    there.campaign.remember(at, judged(&again.fingerprint(), Some(false)), "nothing was done");
    let refused = validate(&there, &again, 1, now()).unwrap_err();
    assert!(refused.contains("was made already") && refused.contains("nothing was done"), "{refused}");
    there.tasks[0].description.push('!');
    assert_eq!(validate(&there, &again, 1, now()), Ok(()), "another state is another case");
    let at = there.sha256();
    there.campaign.remember(at, judged(&again.fingerprint(), Some(true)), "it was refused");
    assert_eq!(validate(&there, &again, 1, now()), Ok(()), "the person is asked anew of what they refused");
}

#[test]
fn campaign_remembers_a_no_in_every_state_until_the_person_allows_the_same() {
    let mut campaign = ready().campaign;
    remember(&mut campaign, "one", judged("a", Some(true)));
    remember(&mut campaign, "one", judged("b", Some(false)));
    remember(&mut campaign, "two", judged("c", Some(false)));
    assert!(campaign.has_refused("a") && !campaign.has_refused("b") && !campaign.has_refused("c"));
    let no = Carried { proposal: "a".to_owned(), refused: true, ..Carried::default() };
    assert_eq!(campaign.carried[0], no, "of another state, the no alone is left");
    assert_eq!(campaign.carried.len(), 2, "{:?}", campaign.carried);
    // The law has refused it before a person could decide.
    remember(&mut campaign, "three", judged("a", None));
    assert!(campaign.has_refused("a"));
    remember(&mut campaign, "three", judged("a", Some(false)));
    assert!(!campaign.has_refused("a"), "the yes is the newer word");
    remember(&mut campaign, "three", judged("a", Some(true)));
    assert!(campaign.has_refused("a"));
    assert_eq!(campaign.carried.len(), 1, "it is remembered once: {:?}", campaign.carried);
}

#[test]
fn campaign_remembers_a_no_to_what_may_be_proposed_again_and_shows_it_to_no_model() {
    let mut there = ready();
    let before = snapshot(&there, now(), &tool_lines());
    let at = there.sha256();
    let touch = JudgedProposal { fingerprint: "touch".to_owned(), again: true, refused: Some(true) };
    there.campaign.remember(at.clone(), Some(touch.clone()), "it was refused");
    assert!(there.campaign.has_refused("touch"));
    assert_eq!(snapshot(&there, now(), &tool_lines()), before);
    there.campaign.remember(at, Some(JudgedProposal { refused: Some(false), ..touch }), "it is unknown");
    assert!(there.campaign.carried.is_empty(), "{:?}", there.campaign.carried);
}

#[test]
fn campaign_remembers_the_newest_noes_and_the_newest_proposals_that_went_ahead() {
    let mut campaign = ready().campaign;
    for n in 0..=MOST_REFUSED {
        remember(&mut campaign, "one", judged(&format!("no {n}"), Some(true)));
        remember(&mut campaign, "one", judged(&format!("yes {n}"), Some(false)));
    }
    assert!(!campaign.has_refused("no 0") && campaign.has_refused("no 1") && campaign.has_refused(&format!("no {MOST_REFUSED}")));
    assert_eq!(campaign.carried.len(), MOST_REFUSED + 20);
    remember(&mut campaign, "two", None);
    assert_eq!(campaign.carried.len(), MOST_REFUSED);
}
