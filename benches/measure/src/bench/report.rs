//! The document: hand-written words with places for tables, which a run fills.

use std::collections::BTreeMap;

use super::machine;
use super::settings::Settings;

const TEMPLATE: &str = include_str!("performance.template.md");

pub struct Report {
    /// Lines by the name of their place in the template.
    places: BTreeMap<&'static str, Vec<String>>,
    load: String,
}

impl Report {
    pub fn new() -> Self {
        Self { places: BTreeMap::new(), load: machine::load() }
    }

    /// A line of text.
    pub fn say(&mut self, place: &'static str, line: &str) {
        self.places.entry(place).or_default().push(line.to_owned());
    }

    /// True if anything was said there.
    pub fn has(&self, place: &str) -> bool {
        self.places.contains_key(place)
    }

    /// A row of a table.
    pub fn row(&mut self, place: &'static str, cells: &[&str]) {
        eprintln!("  {}", cells.join("  |  "));
        self.say(place, &format!("| {} |", cells.join(" | ")));
    }

    /// A row of a table, of cells that were made one by one.
    pub fn line(&mut self, place: &'static str, cells: &[String]) {
        let cells: Vec<_> = cells.iter().map(String::as_str).collect();
        self.row(place, &cells);
    }

    /// The head of a table whose columns are not known beforehand.
    pub fn head(&mut self, place: &'static str, cells: &[String]) {
        self.line(place, cells);
        self.say(place, &format!("|{}", "---|".repeat(cells.len())));
    }

    /// A row of a figure with a goal; `share` is the figure as a share of its goal.
    pub fn goal(&mut self, what: &str, figure: &str, share: f64, goal: &str, floor: &str) {
        let met = share <= 1.0;
        self.say(if met { "met" } else { "missed" }, what);
        let met = match share {
            _ if met => "met".to_owned(),
            f64::INFINITY => "**missed**".to_owned(),
            share => format!("**missed**: {} the goal", ratio(share)),
        };
        self.row("goals", &[what, figure, goal, &met, floor]);
    }

    /// A row of a figure beside them that has no goal.
    pub fn figure(&mut self, what: &str, figure: &str) {
        self.row("goals", &[what, figure, "", "", ""]);
    }

    /// How many goals were met, and which were not.
    fn summary(&self) -> String {
        let [met, missed] = ["met", "missed"].map(|place| self.places.get(place).map_or(&[][..], Vec::as_slice));
        let goals = met.len() + missed.len();
        match missed {
            [] => format!("All {goals} goals that were measured are met."),
            missed => format!("{} of {goals} goals that were measured are met. Missed: {}.", met.len(), missed.join("; ")),
        }
    }

    /// The document; it is written where the settings say.
    pub fn write(&self, settings: &Settings) -> String {
        let mut text = TEMPLATE.to_owned();
        for (name, value) in [
            ("date", chrono::Utc::now().format("%-d %B %Y").to_string()),
            ("commit", machine::commit()),
            ("machine", machine::words()),
            ("load", format!("{} before, {} after", self.load, machine::load())),
        ] {
            text = text.replace(&format!("{{{{{name}}}}}"), &value);
        }
        text = text.replace("{{summary}}", &self.summary());
        for place in
            ["goals", "floors", "crowd", "statements", "growth", "grows", "todos", "relay", "campaigns", "postgres", "processor"]
        {
            let lines =
                self.places.get(place).map_or_else(|| "| not measured in this run |".to_owned(), |lines| lines.join("\n"));
            text = text.replace(&format!("{{{{{place}}}}}"), &lines);
        }
        assert!(!text.contains("{{"), "a place of the template that nothing fills");
        match &settings.out {
            Some(path) => {
                std::fs::write(path, &text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
                eprintln!("written: {}", path.display());
            }
            None => eprintln!("\n{text}"),
        }
        text
    }
}

/// How many times.
pub fn ratio(times: f64) -> String {
    if times < 10.0 { format!("{times:.2} ×") } else { format!("{times:.0} ×") }
}
