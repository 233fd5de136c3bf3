//! Tests of `governor::sql::depth`.

use crate::domain::Effect;
use crate::governor::sql::{classify, in_words, statements, whole_loss};

/// The beginning, link and end of chains that the parser builds in a loop.
const CHAINS: &[(&str, &str, &str)] = &[
    ("SELECT 1", "+1", ""),
    ("SELECT * FROM t WHERE id=0", " OR id=1", ""),
    ("SELECT 1", " UNION ALL SELECT 1", ""),
    ("SELECT 1, 2", " EXCEPT SELECT 1, 2", ""),
    ("SELECT 1", "::int", ""),
    ("SELECT 1", " IS NULL", ""),
    ("SELECT 1", " NOTNULL", ""),
    ("SELECT 'x'", "||'x'", ""),
    ("SELECT a", "[1]", ""),
    ("SELECT a", " AT TIME ZONE 'UTC'", ""),
    ("SELECT a", " COLLATE c", ""),
    ("SELECT a", " IN (1, 2)", ""),
    ("SELECT a", " BETWEEN 1 AND 2", ""),
    ("SELECT a", "::int[]", "[]"),
    ("SELECT CAST(a AS int", "[]", ")"),
    ("SELECT ", "- ", "1"),
    ("SELECT ", "NOT ", "a"),
    ("SELECT * FROM a", " NATURAL JOIN a", ""),
    ("SELECT * FROM ", "a JOIN ", "b"),
    ("", "EXPLAIN ", "SELECT 1"),
    ("SELECT CASE", " WHEN a THEN b", " END"),
];

/// All that reads a statement reads it, from a thread with a small stack: it ends well, or the
/// whole process ends. True if it is opaque.
fn read(text: String) -> bool {
    let read = move || {
        let _ = (statements(&text), in_words(&text), whole_loss(&text));
        classify(&text).effects == [Effect::Opaque].into()
    };
    std::thread::Builder::new().stack_size(256 << 10).spawn(read).unwrap().join().unwrap()
}

#[test]
fn a_chain_of_any_length_leaves_the_stack_whole() {
    for (begin, link, end) in CHAINS {
        let chain = |links: usize| format!("{begin}{}{end}", link.repeat(links));
        assert!(read(chain(20_000)), "{link}");
        // As deep as the parser goes by itself.
        for links in [20, 60] {
            read(chain(links));
        }
        // The longest that are parsed.
        for share in [2, 4, 52] {
            read(chain(super::DEEPEST / share - 5));
        }
    }
}

#[test]
fn chains_in_brackets_under_chains_count_together() {
    let chain = |inner: &str| format!("({inner}{})", "+1".repeat(4000));
    let nested = (0..20).fold("1".to_owned(), |inner, _| chain(&inner));
    assert!(read(format!("SELECT {nested}")));
    // Side by side they are no deeper than one.
    let beside = vec![chain("1"); 20].join(", ");
    assert!(!read(format!("SELECT {beside}")));
}

#[test]
fn a_long_list_is_not_deep() {
    let rows = vec!["(-1, 'a' || 'b', 3::int, now())"; 20_000].join(", ");
    assert!(!read(format!("INSERT INTO t VALUES {rows}")));
    assert!(!read(format!("SELECT * FROM t WHERE id IN ({})", vec!["1"; 20_000].join(","))));
    assert!(!read(format!("SELECT 1 WHERE a = 1{}", " OR a = 1".repeat(2000))));
}
