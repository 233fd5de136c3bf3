//! Tests of `profiles`.

use super::*;
use crate::domain::{Audience, Context, TasksShown, Toolset, WRITE_CAPABILITY};

#[test]
fn a_profile_is_found_by_its_name_and_never_by_another() {
    let profiles = Profiles::default();
    assert_eq!(profiles.get(DEFAULT_PROFILE).unwrap().name, DEFAULT_PROFILE);
    let error = profiles.get("zeta").unwrap_err().to_string();
    assert_eq!(error, "there is no profile `zeta`; there are: builder, campaign, contact, law, lea, mcp, operator");
    let more = profiles.clone().with(Profile { name: "zeta", audience: Audience::Contact, ..builder::profile() });
    assert_eq!(more.get("zeta").unwrap().audience, Audience::Contact);
    let mains = profiles.mains(UserRole::Owner);
    assert_eq!((more.mains(UserRole::Owner), profiles.get("zeta").is_err()), (mains.clone(), true));
    assert_eq!((mains, profiles.counted()), (named(&[DEFAULT_PROFILE, "law", "lea", OPERATOR]), named(&["law", "lea"])));
}

#[test]
fn a_profile_completes_tasks_with_a_tool_that_it_has() {
    for profile in Profiles::default().0.values() {
        let sealed = profile.audience == Audience::Contact || profile.is_campaigns() || profile.operates;
        let persons = profile.tasks == TasksShown::Todos;
        assert_eq!(profile.completes_with.is_none(), sealed || persons, "{}", profile.name);
        assert!(profile.completes_with.is_none_or(|tool| profile.tools.has(tool)), "{}", profile.name);
    }
}

#[test]
fn a_profile_is_known_by_what_it_is_and_not_by_its_name() {
    let of = |profile: &str, context| Profile { name: "zeta", context, ..(*Profiles::default().get(profile).unwrap()).clone() };
    for (profile, context) in [("campaign", Context::Worker), ("contact", Context::Transcript)] {
        let profile = of(profile, context);
        let open = Profiles::default().with(profile).open_to(UserRole::Owner, "zeta");
        assert!(open.is_err(), "nobody begins such a conversation, whatever the profile is called");
    }
    let snapshot = of("campaign", Context::Snapshot(|_| String::new()));
    assert!(Profiles::default().with(snapshot).open_to(UserRole::Owner, "zeta").is_ok());
}

fn named(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

#[test]
fn a_profile_that_is_not_open_to_a_user_reads_like_one_that_does_not_exist() {
    let all = Profiles::default();
    assert_eq!(all.open_to(UserRole::Member, "lea").unwrap().name, "lea");
    let refused = all.open_to(UserRole::Member, DEFAULT_PROFILE).unwrap_err();
    assert_eq!(refused.to_string(), "there is no profile `builder`; there are: law, lea");
    assert_eq!(all.open_to(UserRole::Owner, "mcp").unwrap().name, "mcp");
    assert_eq!((all.mains(UserRole::Member), all.mains(UserRole::Owner).len()), (named(&["law", "lea"]), 4));
}

#[test]
fn other_agents_may_order_capabilities_and_the_tool_that_writes_them_and_nothing_else() {
    let ordered = mcp::profile().by_hand;
    assert_eq!(ordered, Toolset::Capabilities(&[WRITE_CAPABILITY]));
    assert!(ordered.has("greet") && !ordered.has_external("far__greet"));
}
