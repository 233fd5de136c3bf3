//! Tests of `runner::turn_log::files`.

use serde_json::json;

use super::*;

fn line(seq: i64, part: usize, text: &str) -> TurnLogLine {
    TurnLogLine {
        event: "decision",
        at: String::new(),
        conversation: 1,
        turn: TurnId(5),
        seq,
        part,
        step: None,
        call: None,
        body: json!({ "text": text }),
        words: String::new(),
    }
}

fn marks(folder: &Path) -> Vec<(i64, usize)> {
    let text = fs::read_to_string(folder.join("turn-5.jsonl")).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).map(|Mark { seq, part }| (seq, part)).collect()
}

#[test]
fn whatever_a_crash_left_of_the_lines_each_is_there_once_afterwards() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("logs");
    // A line longer than one piece.
    let long = "x".repeat(200_000);
    let event = |seq| vec![line(seq, 1, "short"), line(seq, 2, &long), line(seq, 3, "short")];
    let mut folder = LogFolder::open(&path, DateTime::UNIX_EPOCH, false).unwrap();
    folder.append(event(1), false, DateTime::UNIX_EPOCH).unwrap();
    folder.append(event(2), false, DateTime::UNIX_EPOCH).unwrap();
    let whole = fs::read(path.join("turn-5.jsonl")).unwrap();
    let wanted: Vec<_> = [1, 2].iter().flat_map(|seq| [1, 2, 3].map(|part| (*seq, part))).collect();
    assert_eq!(marks(&path), wanted);
    for cut in (0..600).chain([100_000, 200_200, 200_300, whole.len() / 2 + 1, whole.len() - 2, whole.len() - 1, whole.len()]) {
        fs::write(path.join("turn-5.jsonl"), &whole[..cut]).unwrap();
        let mut folder = LogFolder::open(&path, DateTime::UNIX_EPOCH, false).unwrap();
        folder.append(event(1), false, DateTime::UNIX_EPOCH).unwrap();
        folder.append(event(2), true, DateTime::UNIX_EPOCH).unwrap();
        assert_eq!(fs::read(path.join("turn-5.jsonl")).unwrap(), whole, "cut at {cut}");
    }
}

#[test]
fn positions_survive_a_crash_and_do_not_grow_without_end() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("logs");
    let mut folder = LogFolder::open(&path, DateTime::UNIX_EPOCH, false).unwrap();
    for seq in 1..=100 {
        folder.pass(ConversationId(1), seq).unwrap();
    }
    folder.pass(ConversationId(2), 7).unwrap();
    folder.journal.write_all(br#"{"conversation":1,"se"#).unwrap();
    let again = LogFolder::open(&path, DateTime::UNIX_EPOCH, false).unwrap();
    assert_eq!([1, 2, 3].map(|id| again.position(ConversationId(id))), [100, 7, 0]);
    assert_eq!(fs::read_to_string(path.join("positions.jsonl")).unwrap().lines().count(), 2);
}
