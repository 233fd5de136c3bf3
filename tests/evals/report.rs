//! The table for people, and the lines for study.

use std::fs::File;
use std::io::Write;
use std::path::Path;

use serde_json::json;

use crate::suite::Outcome;

/// Prints a line past the test harness, which keeps the words of a test to itself.
pub fn tell(what: &str) {
    let _ = writeln!(std::io::stdout().lock(), "{what}");
}

/// Grows by a line with each task.
pub struct Report {
    lines: File,
    passed: usize,
    tasks: usize,
    sums: [i64; 6],
}

impl Report {
    /// Begins the table, and the file of lines anew.
    pub fn new(out: &Path) -> std::io::Result<Self> {
        let lines = File::create(out)?;
        tell(
            "| task | passed | steps | tool calls | failed | tokens in | tokens out | unproven | seconds | helped by | why not |\n|---|---|---|---|---|---|---|---|---|---|---|",
        );
        Ok(Self { lines, passed: 0, tasks: 0, sums: [0; 6] })
    }

    /// One line of the table, and one of the file.
    pub fn add(&mut self, outcome: &Outcome, run: u64, helped: &[String]) -> std::io::Result<()> {
        let Outcome { name, wrong, seconds, steps, calls, failed, tokens: (read, written), transcript } = outcome;
        let passed = wrong.is_empty();
        self.tasks += 1;
        self.passed += usize::from(passed);
        let unproven = transcript.iter().filter(|event| event["unproven"] == true).count();
        let numbers = [*steps, *calls, *failed, *read, *written, i64::try_from(unproven).unwrap_or(i64::MAX)];
        for (sum, number) in self.sums.iter_mut().zip(numbers) {
            *sum += number;
        }
        // One line, and no further column.
        let why: String =
            wrong.join("; ").replace('|', "/").split_whitespace().collect::<Vec<_>>().join(" ").chars().take(160).collect();
        let mark = if passed { "yes" } else { "no" };
        tell(&format!(
            "| {name} | {mark} | {steps} | {calls} | {failed} | {read} | {written} | {unproven} | {seconds:.0} | {} | {why} |",
            helped.join(" ")
        ));
        let line = json!({
            "task": name, "run": run, "passed": passed, "wrong": wrong, "seconds": seconds, "steps": steps, "calls": calls,
            "failed": failed, "helped": helped, "tokens": [read, written], "transcript": transcript,
        });
        writeln!(self.lines, "{line}")
    }

    /// The last line.
    pub fn total(&self, model: &str) {
        let [steps, calls, failed, read, written, unproven] = self.sums;
        let (passed, tasks) = (self.passed, self.tasks);
        tell(&format!(
            "| **{model}** | **{passed} of {tasks}** | {steps} | {calls} | {failed} | {read} | {written} | {unproven} | | | |"
        ));
    }
}
