//! The table of attacks in `docs/security.md`: long enough, of every kind, and with tests that
//! exist.

use super::files::{Finding, Source};

/// The fewest rows there may be.
const FEWEST: usize = 60;

/// The beginnings of the headings, one for each kind of attack.
const KINDS: [&str; 6] = ["Guest", "SQL", "Egress", "Localhost", "Approval", "Secrets"];

/// The faults of the table: too few rows, a kind without one, a row without a test, a test that is
/// not there.
pub fn check(document: &Source, project: &[Source]) -> Vec<Finding> {
    let mut findings = Vec::new();
    let (mut kind, mut rows, mut of_kind) = ("", 0, [0; KINDS.len()]);
    for (number, line) in document.text.lines().enumerate().map(|(at, line)| (at + 1, line)) {
        if let Some(heading) = line.strip_prefix("### ") {
            kind = heading;
        }
        let Some(cells) = row(line) else { continue };
        rows += 1;
        if let Some(at) = KINDS.iter().position(|known| kind.starts_with(known)) {
            of_kind[at] += 1;
        }
        let tests: Vec<_> = cells[2].split('`').skip(1).step_by(2).collect();
        if tests.is_empty() {
            findings.push(document.finding(number, format!("no test runs this attack: {}", cells[0])));
        }
        let missing = tests.into_iter().filter(|test| !exists(test, project));
        findings.extend(missing.map(|test| document.finding(number, format!("there is no test `{test}`"))));
    }
    if rows < FEWEST {
        findings.push(document.finding(1, format!("{rows} attacks, and there should be {FEWEST} at least")));
    }
    let without = KINDS.iter().zip(of_kind).filter(|(_, rows)| *rows == 0);
    findings.extend(without.map(|(kind, _)| document.finding(1, format!("no attack of the kind {kind}"))));
    findings
}

/// The three cells of a row that is neither the head nor the line below it.
fn row(line: &str) -> Option<[&str; 3]> {
    let cells: Vec<_> = line.strip_prefix('|')?.strip_suffix('|')?.split(" | ").map(str::trim).collect();
    let cells: [&str; 3] = cells.try_into().ok()?;
    (cells[0] != "attack").then_some(cells)
}

/// True when the file is there and holds a test of that name.
fn exists(test: &str, project: &[Source]) -> bool {
    let Some((path, name)) = test.split_once("::") else { return false };
    let Some(file) = project.iter().find(|file| file.path == path) else { return false };
    if !file.is_rust() {
        return file.text.contains(&format!("test(\"{name}\""));
    }
    let Some(at) = file.text.find(&format!("fn {name}(")) else { return false };
    let attributes = file.text[..at].rsplit("\n\n").next().unwrap_or_default();
    attributes.contains("#[test]") || attributes.contains("#[tokio::test")
}

#[test]
fn a_table_that_claims_too_much_is_found_out() {
    let tests = Source::sample("tests/it/a.rs", "#[tokio::test]\nasync fn real() {}\n\nfn helper() {}\n");
    let page = Source::sample("tests/page/a.test.mjs", "test(\"shown\", () => {});");
    let document = |cell: &str| {
        let mut text = String::new();
        for kind in KINDS {
            text += &format!("### {kind}: words\n| attack | what stops it | tests |\n|---|---|---|\n");
            text += &format!("| an attack | a wall | {cell} |\n").repeat(FEWEST / KINDS.len());
        }
        Source::sample("docs/security.md", &text)
    };
    let project = [tests, page];
    for good in ["`tests/it/a.rs::real`", "`tests/it/a.rs::real`, `tests/page/a.test.mjs::shown`"] {
        assert_eq!(check(&document(good), &project), [], "{good}");
    }
    for bad in [
        "",
        "by reading",
        "`tests/it/a.rs::gone`",
        "`tests/it/a.rs::rea`",
        "`tests/it/a.rs::helper`",
        "`tests/it/b.rs::real`",
        "`tests/it/a.rs::real`, `tests/it/a.rs::gone`",
        "`tests/page/a.test.mjs::hidden`",
    ] {
        assert_eq!(check(&document(bad), &project).len(), FEWEST, "{bad}");
    }
    let short = Source::sample("docs/security.md", "### SQL\n| an attack | a wall | `tests/it/a.rs::real` |\n");
    assert_eq!(check(&short, &project).len(), 1 + 5, "too few, and five kinds without any");
}
