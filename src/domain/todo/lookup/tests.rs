//! Tests of `domain::todo::lookup`.

use proptest::prelude::*;

use super::*;

/// A person's tasks. #4 and #5 begin alike; #8 and #9 have one name; #14 has no word.
const TASKS: [(i64, &str); 20] = [
    (1, "Buy milk"),
    (2, "Milk the cow"),
    (3, "Prep dinner party"),
    (4, "Call the dentist"),
    (5, "Call Dad"),
    (6, "Café crème for Zoë"),
    (7, "Mom's birthday present"),
    (8, "Water plants"),
    (9, "water the plants!"),
    (10, "Plan A"),
    (11, "Plan B"),
    (12, "File taxes (2026)"),
    (13, "Étude in C"),
    (14, "🎉"),
    (15, "Straße fegen"),
    (16, "Planning meeting"),
    (17, "買い物に行く"),
    (18, "日本語を勉強"),
    (19, "ซื้อนม"),
    (20, "Αγορά του ΟΔΗΓΟΣ"),
];

/// The last task that was spoken of.
const LAST: i64 = 3;

fn candidates() -> Vec<Candidate<'static>> {
    TASKS.iter().map(|(number, title)| Candidate { number: *number, title, of: None, open: true }).collect()
}

/// Nothing was named before but the last one.
fn last(is: Option<i64>) -> SaidBefore<'static> {
    SaidBefore { last: is, meant: Vec::new() }
}

/// A short word for a result: `#1`; `several 1 2`; `nothing`, `nothing near 1`; `which`.
fn short(found: &LookedUp<'_>) -> String {
    let numbers = |all: &[Candidate<'_>]| all.iter().map(|one| format!(" {}", one.number)).collect::<String>();
    match found {
        LookedUp::One(one) => format!("#{}", one.number),
        LookedUp::Several(all, _) => format!("several{}", numbers(all)),
        LookedUp::Nothing(near) if near.is_empty() => "nothing".to_owned(),
        LookedUp::Nothing(near) => format!("nothing near{}", numbers(near)),
        LookedUp::NoLastOne => "which".to_owned(),
    }
}

#[test]
fn a_name_means_one_thing_or_is_a_question() {
    let table = [
        // Equal, but for case, accents, punctuation and articles.
        ("Buy milk", "#1"),
        ("buy MILK", "#1"),
        ("  buy   milk.  ", "#1"),
        ("buy the milk", "#1"),
        ("“Buy milk”", "#1"),
        ("prep-dinner-party", "#3"),
        ("call dentist", "#4"),
        ("cafe creme for zoe", "#6"),
        ("Cafe\u{301} Creme for Zoë", "#6"),
        ("moms birthday present", "#7"),
        ("mom’s birthday present", "#7"),
        ("file taxes 2026", "#12"),
        ("etude in c", "#13"),
        ("🎉", "#14"),
        ("STRASSE fegen", "#15"),
        ("strasse", "#15"),
        ("straße fegen", "#15"),
        ("plan a", "#10"),
        ("Plan B", "#11"),
        ("water plants", "several 8 9"),
        ("the water plants", "several 8 9"),
        // Every word is a word of the title, or begins one.
        ("dinner", "#3"),
        ("dinner party", "#3"),
        ("party dinner", "#3"),
        ("din par", "#3"),
        ("prep", "#3"),
        ("pre", "several 3 7"),
        ("dent", "#4"),
        ("dad", "#5"),
        ("call", "several 4 5"),
        ("cal", "several 4 5"),
        ("milk", "several 1 2"),
        ("mil", "several 1 2"),
        ("cow", "#2"),
        ("creme", "#6"),
        ("birth", "#7"),
        ("tax", "#12"),
        ("2026", "#12"),
        ("plan", "several 8 9 10 11 16"),
        ("plans", "nothing near 8 9 10 11"),
        ("planning", "#16"),
        ("plant", "several 8 9"),
        ("c", "#13"),
        // Two letters stand for no longer word.
        ("bu", "nothing"),
        ("di", "nothing"),
        // Any part of a script without spaces.
        ("買い", "#17"),
        ("に行く", "#17"),
        ("買い物", "#17"),
        ("日本", "#18"),
        ("語", "#18"),
        ("を買う", "nothing"),
        ("ซื้อ", "#19"),
        ("นม", "#19"),
        ("οδηγός", "#20"),
        // The noun beside a name.
        ("the dinner task", "#3"),
        ("buy milk task", "#1"),
        ("the buy milk task", "#1"),
        ("task buy milk", "#1"),
        ("the milk task", "several 1 2"),
        ("cow one", "#2"),
        ("dinner step", "nothing"),
        ("task", "nothing"),
        // Every word has to fit.
        ("buy bread", "nothing"),
        ("dinner tomorrow", "nothing"),
        ("laundry", "nothing"),
        // Near, and never meant.
        ("milc", "nothing near 1 2"),
        ("diner party", "nothing near 3"),
        ("dinnre", "nothing near 3"),
        ("call dentits", "nothing near 4"),
        ("brithday", "nothing near 7"),
        // Numbers.
        ("#12", "#12"),
        (" # 12. ", "#12"),
        ("task #12", "#12"),
        ("#1 Buy milk", "#1"),
        ("#1 Buy milk | 0 of 2 subtasks done", "#1"),
        ("#2 Buy milk", "nothing"),
        ("the task #1", "#1"),
        ("#99", "nothing"),
        ("#99999999999999999999", "nothing"),
        ("12", "nothing"),
        ("buy milk #12", "nothing"),
        // The last one.
        ("it", "#3"),
        ("It!", "#3"),
        ("that task", "#3"),
        ("The last one", "#3"),
        ("this one", "#3"),
        ("that", "#3"),
        ("the same task", "#3"),
        ("last task", "#3"),
        ("the current task", "#3"),
        ("that subtask", "nothing"),
        ("last", "nothing"),
        // Nothing was said.
        ("", "which"),
        ("   ", "which"),
    ];
    assert!(table.len() >= 60, "{} rows", table.len());
    for (name, expected) in table {
        assert_eq!(short(&look_up(name, NamedKind::Task, &candidates(), &last(Some(LAST)))), expected, "{name}");
    }
}

#[test]
fn the_last_one_is_asked_about_if_there_is_none_or_it_is_gone() {
    for is in [None, Some(99)] {
        for name in ["it", "that task", "the last one"] {
            let found = look_up(name, NamedKind::Task, &candidates(), &last(is));
            assert_eq!(found.question(name, NamedKind::Task).as_deref(), Some("Which task do you mean?"), "{name}");
        }
    }
    let steps = [Candidate { number: 7, title: "Shop", of: Some("Dinner"), open: true }];
    for name in ["it", "that step", "the subtask"] {
        assert_eq!(short(&look_up(name, NamedKind::Subtask, &steps, &last(Some(7)))), "#7", "{name}");
        let found = look_up(name, NamedKind::Subtask, &steps, &last(None));
        assert_eq!(found.question(name, NamedKind::Subtask).as_deref(), Some("Which subtask do you mean?"), "{name}");
    }
}

#[test]
fn a_question_has_the_words_of_the_document() {
    let question = |name: &str| look_up(name, NamedKind::Task, &candidates(), &last(None)).question(name, NamedKind::Task);
    assert_eq!(question("Buy milk"), None);
    assert_eq!(
        question("milk").as_deref(),
        Some("I found multiple items matching milk, which one? #1 Buy milk, #2 Milk the cow")
    );
    assert_eq!(question("laundry").as_deref(), Some("I couldn't find a task called laundry"));
    assert_eq!(
        question("milc").as_deref(),
        Some("I couldn't find a task called milc. Did you mean #1 Buy milk or #2 Milk the cow?")
    );
    assert_eq!(question("lau\u{202e}ndry").as_deref(), Some("I couldn't find a task called laundry"));
    assert_eq!(question("lau\nndry").as_deref(), Some("I couldn't find a task called lau ndry"));
    assert_eq!(question(&"x".repeat(900)).map(|told| told.len()), Some("I couldn't find a task called ".len() + 200));
    let steps: Vec<_> = (1..=7).map(|number| Candidate { number, title: "Shop", of: Some("Dinner"), open: true }).collect();
    let found = look_up("shop", NamedKind::Subtask, &steps, &last(None));
    assert_eq!(
        found.question("shop", NamedKind::Subtask).as_deref(),
        Some(
            "I found multiple items matching shop, which one? #1 Shop (in Dinner), #2 Shop (in Dinner), #3 Shop (in Dinner), \
             #4 Shop (in Dinner), #5 Shop (in Dinner) and 2 more"
        )
    );
}

/// Titles and names of few words, so that many fit.
fn few_words() -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(vec!["buy", "milk", "Milk!", "the", "dinner", "din", "café", "cafe"]), 1..4)
        .prop_map(|words| words.join(" "))
}

proptest! {
    /// **Feature: vapi-voice-agent, Property 7: Disambiguation requested for ambiguous matches**
    /// **Validates: Requirements 5.3**
    #[test]
    fn of_several_that_fit_none_is_meant(titles in prop::collection::vec(few_words(), 0..9), name in few_words()) {
        let among: Vec<_> = (1..).zip(&titles).map(|(number, title)| Candidate { number, title, of: None, open: true }).collect();
        let equal: Vec<_> = among.iter().filter(|one| folded(one.title) == folded(&name)).collect();
        let found = look_up(&name, NamedKind::Task, &among, &last(Some(1)));
        match &found {
            LookedUp::One(one) => prop_assert!(equal.is_empty() || equal == [one]),
            LookedUp::Several(named, many) => {
                prop_assert!(*many > 1 && named.len() == (*many).min(MOST_CANDIDATES));
                prop_assert!(equal.is_empty() || *many == equal.len());
                let question = found.question(&name, NamedKind::Task).unwrap();
                let begins = format!("I found multiple items matching {name}, which one?");
                let names = |one: &Candidate<'_>| question.contains(&format!("#{} {}", one.number, one.title));
                prop_assert!(question.starts_with(&begins) && named.iter().all(names), "{}", question);
            }
            LookedUp::Nothing(near) => prop_assert!(equal.is_empty() && near.len() <= MOST_CANDIDATES),
            LookedUp::NoLastOne => prop_assert!(false, "no such name was said"),
        }
    }

    /// **Feature: vapi-voice-agent, Property 10: Pronoun resolution uses last referenced task**
    /// **Validates: Requirements 13.3, 13.4**
    #[test]
    fn it_is_the_last_one_or_a_question(
        titles in prop::collection::vec(few_words(), 0..9),
        said in prop::sample::select(vec!["it", "That task", "the last one", "this one.", "that"]),
        is in prop::option::of(1..12i64),
    ) {
        let among: Vec<_> = (1..).zip(&titles).map(|(number, title)| Candidate { number, title, of: None, open: true }).collect();
        let there = is.and_then(|last| among.iter().find(|one| one.number == last).copied());
        prop_assert_eq!(look_up(said, NamedKind::Task, &among, &last(is)), there.map_or(LookedUp::NoLastOne, LookedUp::One));
    }

    #[test]
    fn any_name_and_any_title_are_looked_through(name in "\\PC{0,30}|[#0-9 ]{0,6}", titles in prop::collection::vec("\\PC{0,30}", 0..6)) {
        let among: Vec<_> = (1..).zip(&titles).map(|(number, title)| Candidate { number, title, of: None, open: true }).collect();
        let found = look_up(&name, NamedKind::Task, &among, &last(None));
        prop_assert_eq!(found.question(&name, NamedKind::Task).is_none(), matches!(found, LookedUp::One(_)));
    }
}
