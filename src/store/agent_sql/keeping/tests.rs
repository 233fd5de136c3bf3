//! Tests of `store::agent_sql::keeping`.

use super::*;

fn lost(deleted: i64, overwritten: i64) -> Lost {
    let kept = deleted + overwritten;
    Lost {
        name: "notes".into(),
        whole: kept <= 1001,
        deleted,
        overwritten,
        kept: kept.min(1001),
        bytes: 100 * kept.min(1001),
        ..Lost::default()
    }
}

fn asks(room: i64, table: Lost) -> Option<Vec<String>> {
    let fits = table.bytes <= room;
    Settled { fits, full: false, room, tables: vec![table] }.finding().map(|finding| finding.sentences().cloned().collect())
}

#[test]
fn up_to_a_thousand_rows_that_are_kept_ask_nobody() {
    assert_eq!(asks(1 << 20, lost(1000, 0)), None);
    assert_eq!(asks(1 << 20, lost(400, 600)), None);
    let many = asks(1 << 20, lost(1001, 0)).unwrap();
    assert_eq!(many, ["It deletes 1001 rows of `notes`.", "What it loses is kept for 30 days: it can be undone."]);
    let more = asks(1 << 20, lost(500, 1000)).unwrap();
    assert_eq!(more[0], "It deletes 500 rows of `notes` and overwrites 1000 rows.");
}

#[test]
fn what_has_no_room_or_is_too_much_is_said_to_be_lost() {
    let full = asks(10, lost(1, 0)).unwrap();
    assert_eq!(full[0], "It deletes 1 row of `notes`.");
    assert!(full[1].starts_with("It cannot be undone: keeping what it loses takes about 1 KiB"), "{full:?}");
    let huge = asks(1 << 40, lost(50_001, 0)).unwrap();
    assert!(huge[1].contains("at most 50000 rows"), "{huge:?}");
    let near = asks(300_000, lost(2000, 0)).unwrap();
    assert!(near[1].starts_with("It cannot be undone"), "an estimate near the edge promises nothing: {near:?}");
}

#[test]
fn what_was_not_seen_is_asked_about_however_little_it_is() {
    let unseen = asks(1 << 20, Lost { whole: false, kept: 0, ..lost(1, 0) }).unwrap();
    assert!(unseen[1].contains("not seen row by row"), "{unseen:?}");
}

#[test]
fn rows_that_found_no_room_are_said_to_have_none() {
    let full = |tables| Settled { fits: true, full: true, room: 1 << 20, tables }.as_question(None).lost.unwrap().why;
    let some = Lost { whole: false, kept: 320, bytes: 320 * 3300, ..lost(900, 0) };
    let none = Lost { whole: false, kept: 0, bytes: 0, ..lost(5, 0) };
    for tables in [vec![some], vec![none], vec![Lost { whole: false, kept: 1, bytes: 10, ..lost(2, 0) }]] {
        let why = full(tables);
        let told = why.last().unwrap();
        assert!(told.starts_with("It cannot be undone: keeping what it loses takes about"), "{why:?}");
        assert!(told.ends_with("and there is room for 1025 KiB."), "{why:?}");
    }
}

#[test]
fn all_rows_of_a_table_are_asked_about_unless_they_only_gain() {
    let all = |filled: Option<(&str, &str)>| {
        let filled = filled.map(|(old, new)| vec![(old.to_owned(), new.to_owned())]);
        asks(1 << 20, Lost { all: true, filled, ..lost(0, 2) })
    };
    assert_eq!(all(None).unwrap()[0], "It overwrites all 2 rows of `notes`.");
    assert_eq!(all(Some(("(1,x)", "(1,)"))).unwrap()[0], "It overwrites all 2 rows of `notes`.");
    assert_eq!(all(Some(("(1,)", "(1,x)"))), None);
}
