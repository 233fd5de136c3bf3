//! The offer if not all tools have room.

use chrono::DateTime;
use serde_json::json;

use super::*;
use crate::domain::{DEFAULT_PROFILE, ToolCallId, TurnId, TurnState};
use crate::profiles::Profiles;

/// Capabilities `c0`, `c1` … of about 300 bytes each.
fn many(count: usize) -> Vec<ToolSpec> {
    let parameters = json!({"type": "object", "properties": {"text": {"type": "string", "description": "d".repeat(100)}}});
    let summary = |n: usize| ToolSpec {
        name: format!("c{n:02}"),
        description: format!("What number {n} is for.\nAnd more of it."),
        parameters: parameters.clone(),
    };
    (0..count).map(summary).collect()
}

fn stock(count: usize) -> Stock {
    of(many(count), Vec::new())
}

fn of(capabilities: Vec<ToolSpec>, external: Vec<ToolSpec>) -> Stock {
    let shared = |specs: Vec<ToolSpec>| specs.into_iter().map(SharedSpec::from).collect();
    Stock::new(Offered { first: tools::first().to_vec(), capabilities: shared(capabilities), external: shared(external) })
}

fn called(name: &str, arguments: &str) -> HistoryEntry {
    let call = CallRequest { id: "c".into(), name: name.into(), arguments: arguments.into() };
    HistoryEntry::Assistant(String::new(), vec![call])
}

fn said(text: &str) -> HistoryEntry {
    HistoryEntry::User(text.into(), DateTime::UNIX_EPOCH)
}

fn exchange(turn: i64, entries: Vec<HistoryEntry>) -> Exchange {
    let state = TurnState::Completed;
    Exchange { turn: TurnId(turn), state, reason: None, entries, waits: false, unproven: Vec::new() }
}

/// The names beside the first ones.
fn names(offer: &Offer) -> Vec<&str> {
    assert!(offer.tools.iter().map(|tool| &*tool.name).take(4).eq(tools::first().iter().map(|tool| &*tool.name)));
    offer.tools[4..].iter().map(|tool| tool.name.as_str()).collect()
}

fn bytes(offer: &Offer) -> usize {
    size_of_tools(&offer.tools[4..]) + offer.section.len()
}

#[test]
fn what_has_room_is_offered_as_it_always_was() {
    let offer = stock(3).whole();
    assert_eq!(names(&offer), ["c00", "c01", "c02"]);
    assert_eq!(offer.section, *ALL_OFFERED);
    assert_eq!(stock(3).size(), bytes(&offer));
}

#[test]
fn half_of_what_the_first_tools_leave_is_for_the_others() {
    // 4,096, 8,192, 32,768 and 200,000 tokens, before a provider has counted any.
    let builder = Profiles::default().get(DEFAULT_PROFILE).unwrap();
    let shares = [2907, 5833, 23_332, 182_210].map(|tokens| share(builder.prompt, tokens * 3));
    assert!(
        shares[0] < 1000 && (3000..5500).contains(&shares[1]) && (27_000..32_000).contains(&shares[2]) && shares[3] > 250_000,
        "{shares:?}"
    );
}

#[test]
fn what_was_used_here_comes_first_then_what_was_used_lately_then_the_names() {
    let history = [
        exchange(1, vec![said("c50, please"), called("c41", "{}"), called("c42", "{}")]),
        exchange(2, vec![said("now with c77"), called("execute_sql", r#"{"query":"SELECT parameters … WHERE name = 'c78'"}"#)]),
    ];
    let lately = ["execute_sql", "c42", "c90", "gone"].map(str::to_owned);
    let offer = stock(100).within(2400, &history, &lately);
    let expected = ["c00", "c41", "c42", "c77", "c78", "c90"];
    assert_eq!(names(&offer), expected, "in the order in which tools are always told");
    for name in expected {
        assert!(!offer.section.contains(&format!("- {name}:")), "{}", offer.section);
    }
    assert!(offer.section.contains("\n- c02: What number 2 is for.\n"), "{}", offer.section);
}

#[test]
fn however_many_there_are_they_stay_within_their_room() {
    for (count, most) in [(100, 3900), (1000, 3900), (1000, 20_000), (20, 0)] {
        let offer = stock(count).within(most, &[], &[]);
        // The sentences around the list are always there.
        assert!(bytes(&offer) <= most + 700, "{count} in {most}: {} bytes", bytes(&offer));
        assert!(offer.section.contains(&format!("You have {count} self-built")), "{}", offer.section);
        let told = offer.section.matches("What number").count();
        assert!(told > 0 || most == 0, "{}", offer.section);
        assert_eq!(offer.section.contains("more: SELECT name"), count == 1000 || most == 0, "{}", offer.section);
    }
}

#[test]
fn a_call_of_what_is_offered_changes_nothing_and_one_of_what_is_not_offers_it() {
    let lately: Vec<_> = (0..100).rev().map(|n| format!("c{n:02}")).collect();
    let mut history = vec![exchange(1, vec![said("go on")])];
    let offered = |history: &[Exchange]| -> (Vec<String>, String) {
        let offer = stock(100).within(4000, history, &lately);
        (names(&offer).into_iter().map(str::to_owned).collect(), offer.section)
    };
    let before = offered(&history);
    assert!(before.0.contains(&"c95".to_owned()) && !before.0.contains(&"c10".to_owned()), "{before:?}");
    for name in ["c95", "c93", "c99", "c95"] {
        history[0].entries.extend([called(name, "{}"), HistoryEntry::Tool("c".into(), "c10 c11".into(), ToolCallId(1), 0, None)]);
        assert_eq!(offered(&history), before);
    }
    history[0].entries.push(called("c10", "{}"));
    let after = offered(&history).0;
    assert!(after.contains(&"c10".to_owned()) && after.len() == before.0.len(), "{after:?}");
    history[0].entries.push(said("and c11"));
    assert!(offered(&history).0.contains(&"c11".to_owned()));
}

#[test]
fn one_that_is_larger_than_the_room_keeps_no_other_away() {
    let mut own = many(30);
    own[0].parameters = json!({"type": "object", "description": "d".repeat(30_000)});
    let offer = of(own, Vec::new()).within(3000, &[], &["c00".to_owned()]);
    assert!(names(&offer).len() > 5 && !names(&offer).contains(&"c00"));
    assert!(offer.section.contains("- c00: "), "{}", offer.section);
    let toolbox = offer.toolbox();
    assert!(toolbox.has("c00") && toolbox.has("c05") && toolbox.has("restart") && !toolbox.has("c30"));
}

#[test]
fn tools_of_external_servers_are_told_like_the_agents_own() {
    let spec =
        |n: usize| ToolSpec { name: format!("far__t{n}"), description: "é".repeat(200), parameters: json!({"type": "object"}) };
    let history = [exchange(1, vec![called("far__t7", "{}")])];
    let offer = of(many(2), (0..40).map(spec).collect()).within(2500, &history, &["c01".into(), "c00".into()]);
    assert_eq!(names(&offer)[..2], ["c00", "c01"]);
    assert!(names(&offer).contains(&"far__t7"), "{:?}", names(&offer));
    assert!(offer.section.contains("You have 2 self-built") && offer.section.contains(&format!(": {}…", "é".repeat(50))));
}

#[test]
fn after_a_refusal_half_is_offered_until_there_is_nothing_left_to_leave_out() {
    let mut extent = Extent { room: ToolRoom { most: Some(9000), offered: 5000 }, ..Extent::default() };
    assert!(extent.offers_less());
    assert_eq!(extent.room.most, Some(2500));
    extent.room.offered = 0;
    assert!(!extent.offers_less());
    assert!(!Extent::default().offers_less(), "nothing was offered yet");
}
