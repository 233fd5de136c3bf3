//! The benchmark runs whole, with a few repetitions, on the program of these tests.

#[path = "../../benches/measure/src/bench/mod.rs"]
#[allow(dead_code, reason = "shared with the benchmark itself, which reads its settings from the environment")]
mod bench;

use std::path::PathBuf;

use bench::{Settings, run};

#[test]
fn every_place_of_the_document_gets_its_figures() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("performance.md");
    let program = PathBuf::from(env!("CARGO_BIN_EXE_level3"));
    let settings = Settings { program, folder: folder.path().to_owned(), only: None, quick: true, out: Some(out.clone()) };
    let document = run(&settings);
    assert_eq!(std::fs::read_to_string(out).unwrap(), document);
    assert!(!document.contains("not measured in this run"), "{document}");
    // Each row below has a figure.
    for row in [
        "| simple turn |",
        "| turn with three tools |",
        "| capability call, call frame to result frame |",
        "| `write_capability` alone, with a test |",
        "| write to first result, a model step between |",
        "| start to ready, warm, embedded Postgres included |",
        "| start to ready, warm, with ",
        "| an event of the chain, two in a statement, committed |",
        "| memory, idle after 2 turns |",
        "| events at 1 × of everything |",
        "| start to ready after kill -9 in the middle of a turn |",
        "| time to the first token |",
        "| idle socket |",
        "| one message told to 20 sockets: from its sending until the last one has it |",
        "| insert of one row, committed, fsync on |",
        "| memory, idle, MiB |",
        "| first request of Lea, 0 tasks |",
        "| first request of Lea, 20 tasks |",
        "| turn with one function, 20 tasks |",
        "| name among 1000 tasks, call frame to result frame |",
        "| sign-in |",
        "| `relay create`, the whole process |",
        "| `relay list`, 1,000 instances |",
        "| messages a second over loopback, each answered |",
        "| a cycle that keeps an artifact |",
        "| snapshot, 200 tasks and 100 leads |",
        "| scoring of 100 leads by a new config, with its events |",
        "| call of a script in JavaScript that returns 1: instance, run and judgement |",
    ] {
        let found = document.lines().find_map(|line| line.strip_prefix(row)).unwrap_or_else(|| panic!("{row}\n{document}"));
        assert!(found.contains(|c: char| c.is_ascii_digit()), "{row}{found}");
    }
}
