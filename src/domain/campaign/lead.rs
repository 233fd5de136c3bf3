//! Leads, and their import from a CSV file, whole or not at all.

use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::domain::turn::text_enum;
use crate::domain::{CampaignId, LeadId, shortened, unmarked};

/// The most rows of a file.
pub const MOST_ROWS: usize = 10_000;
/// The most bytes of a field.
const MOST_FIELD: usize = 2_000;
/// The most bytes of a name, or of an address, in a line for a person.
pub const MOST_NAME: usize = 80;

text_enum! {
    /// How far a lead is.
    LeadStatus {
        /// Nothing was done yet.
        New = "new",
        /// It fits.
        Qualified = "qualified",
        /// Somebody wrote to them.
        Contacted = "contacted",
        /// They answered.
        Replied = "replied",
        /// They said yes.
        Won = "won",
        /// They said no, or do not fit.
        Rejected = "rejected",
    }
}

/// A lead.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lead {
    /// Its number.
    pub id: LeadId,
    /// Its campaign.
    pub campaign_id: CampaignId,
    /// The person's name.
    pub full_name: String,
    /// The address of their profile, one lead each.
    pub profile_url: String,
    /// The score; 0 before there is a config.
    pub weight_score: i64,
    /// How far it is.
    pub status: LeadStatus,
    /// The other facts.
    pub attributes: BTreeMap<String, String>,
    /// The config that scored it, and how.
    pub scored: Option<ScoreBreakdown>,
    /// The number of the event that last changed it.
    #[serde(default)]
    pub sequence: i64,
    /// When it came in.
    pub created_at: DateTime<Utc>,
    /// When it last changed.
    pub updated_at: DateTime<Utc>,
}

/// How a score came about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScoreBreakdown {
    /// The key of the config; `None` in a score from before it was recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// The version of the config.
    pub version: i32,
    /// The rules that applied, by their places, with their points.
    pub points: Vec<RulePoints>,
    /// The sum before it was held between the least and the largest.
    pub sum: i64,
}

impl ScoreBreakdown {
    /// True if a score came about like another one. One from before keys were recorded may be of
    /// the same config.
    pub fn is_like(&self, other: &Self) -> bool {
        let same_config = self.key.as_ref().zip(other.key.as_ref()).is_none_or(|(key, other)| key == other);
        same_config && (self.version, &self.points, self.sum) == (other.version, &other.points, other.sum)
    }
}

/// The points that a rule of the config gave.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RulePoints {
    /// The place of the rule in the config, from 0.
    pub rule: usize,
    /// Its weight.
    pub weight: i64,
}

/// A row of an import.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImportedLead {
    /// The person's name.
    pub full_name: String,
    /// The address of their profile.
    pub profile_url: String,
    /// The other columns.
    pub attributes: BTreeMap<String, String>,
}

/// A row of an import that changes something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeadImport {
    /// The lead that it changes; `None` if it brings one in.
    pub lead: Option<Lead>,
    /// The row. That of a lead has all attributes that the lead has then.
    pub row: ImportedLead,
}

/// The rows that change something, in their order. A row with the `profile_url` of a lead changes
/// that lead.
pub fn imports(leads: Vec<Lead>, rows: Vec<ImportedLead>) -> Vec<LeadImport> {
    let mut by_url: BTreeMap<_, _> = leads.into_iter().map(|lead| (lead.profile_url.clone(), lead)).collect();
    let changes = rows.into_iter().filter_map(|row| {
        let Some(lead) = by_url.remove(&row.profile_url) else { return Some(LeadImport { lead: None, row }) };
        // A column that the file does not have leaves what is there.
        let mut attributes = lead.attributes.clone();
        attributes.extend(row.attributes);
        let row = ImportedLead { attributes, ..row };
        let same = (&lead.full_name, &lead.attributes) == (&row.full_name, &row.attributes);
        (!same).then_some(LeadImport { lead: Some(lead), row })
    });
    changes.collect()
}

/// Text of others in a line for a person: a line break in it would be a line that nobody computed.
pub fn on_a_line(text: &str, most: usize) -> String {
    shortened(&text.replace(char::is_control, " "), most).into_owned()
}

/// Reads a CSV file (RFC 4180, UTF-8) with a header that has `full_name` and `profile_url`; other
/// columns are attributes. Each column has a name of its own.
///
/// # Errors
/// Each bad row by its line; then nothing is imported.
pub fn read_csv(text: &str) -> Result<Vec<ImportedLead>, Vec<String>> {
    let mut rows = rows(unmarked(text)).map_err(|why| vec![why])?.into_iter();
    let Some((line, header)) = rows.next() else { return Err(vec!["line 1: the file is empty; it needs a header".to_owned()]) };
    let header = columns(line, &header)?;
    let place = |name: &str| header.iter().position(|column| *column == name);
    let (Some(name), Some(url)) = (place("full_name"), place("profile_url")) else {
        return Err(vec![format!("line {line}: the header needs full_name and profile_url; it has {}", header.join(", "))]);
    };
    let (mut leads, mut bad, mut seen) = (Vec::new(), Vec::new(), BTreeSet::new());
    for (line, row) in rows {
        if leads.len() == MOST_ROWS {
            bad.push(format!("line {line}: a file has at most {MOST_ROWS} rows; import the others by another file"));
            break;
        }
        if row.len() != header.len() {
            bad.push(format!("line {line}: has {} fields, the header has {}", row.len(), header.len()));
            continue;
        }
        let (full_name, profile_url) = (row[name].trim().to_owned(), with_small_scheme(row[url].trim()));
        if full_name.is_empty() {
            bad.push(format!("line {line}: full_name is empty"));
        } else if !["http://", "https://"].iter().any(|scheme| profile_url.starts_with(scheme)) {
            bad.push(format!("line {line}: profile_url is `{profile_url}`; it begins with https:// or http://"));
        } else if row.iter().any(|field| field.len() > MOST_FIELD) {
            bad.push(format!("line {line}: a field has more than {MOST_FIELD} bytes"));
        } else if !seen.insert(profile_url.clone()) {
            bad.push(format!("line {line}: {profile_url} stands in the file twice"));
        } else {
            let others = header.iter().zip(&row).enumerate().filter(|(n, _)| *n != name && *n != url);
            let attributes = others.map(|(_, (column, value))| ((*column).to_owned(), value.trim().to_owned())).collect();
            leads.push(ImportedLead { full_name, profile_url, attributes });
        }
    }
    if bad.is_empty() { Ok(leads) } else { Err(bad) }
}

/// The names of the columns; each is another, since an attribute has one value.
fn columns(line: usize, header: &[String]) -> Result<Vec<&str>, Vec<String>> {
    let names: Vec<_> = header.iter().map(|name| name.trim()).collect();
    let mut seen = BTreeSet::new();
    let wrong = names.iter().enumerate().filter_map(|(n, name)| match *name {
        "" => Some(format!("line {line}: column {} of the header has no name; name it, or remove the column", n + 1)),
        name if seen.insert(name) => None,
        name => Some(format!("line {line}: column {} of the header is {name}, as one before it; give it another name", n + 1)),
    });
    let wrong: Vec<_> = wrong.collect();
    if wrong.is_empty() { Ok(names) } else { Err(wrong) }
}

/// The address with its scheme in lower case: `HTTPS://a.example` and `https://a.example` are one
/// profile.
fn with_small_scheme(address: &str) -> String {
    match address.split_once("://") {
        Some((scheme, rest)) => format!("{}://{rest}", scheme.to_ascii_lowercase()),
        None => address.to_owned(),
    }
}

/// The rows of a CSV text, with the lines on which they begin; empty lines are passed over.
fn rows(text: &str) -> Result<Vec<(usize, Vec<String>)>, String> {
    let (mut rows, mut row, mut field) = (Vec::new(), Vec::new(), String::new());
    let (mut line, mut begun, mut quoted, mut was_quoted) = (1, 1, false, false);
    let mut chars = text.chars().peekable();
    let mut end = |row: &mut Vec<String>, field: &mut String, begun: usize| {
        row.push(std::mem::take(field));
        let done = std::mem::take(row);
        if done.len() > 1 || !done[0].is_empty() {
            rows.push((begun, done));
        }
    };
    while let Some(c) = chars.next() {
        match c {
            '"' if quoted && chars.peek() == Some(&'"') => {
                chars.next();
                field.push('"');
            }
            '"' if quoted => quoted = false,
            '"' if field.is_empty() && !was_quoted => (quoted, was_quoted) = (true, true),
            '"' => {
                return Err(format!(
                    "line {line}: a quotation mark stands in the middle of a field; double it and quote the field"
                ));
            }
            ',' if !quoted => {
                row.push(std::mem::take(&mut field));
                was_quoted = false;
            }
            // The LF behind it ends the line.
            '\r' if !quoted && chars.peek() == Some(&'\n') => {}
            '\r' if chars.peek() == Some(&'\n') => field.push(c),
            '\r' | '\n' => {
                line += 1;
                if quoted {
                    field.push(c);
                } else {
                    end(&mut row, &mut field, begun);
                    (begun, was_quoted) = (line, false);
                }
            }
            c if was_quoted && !quoted => {
                return Err(format!("line {line}: `{c}` stands behind the end of a quoted field; a comma is expected"));
            }
            c => field.push(c),
        }
    }
    if quoted {
        return Err(format!("line {begun}: a quotation mark is never closed"));
    }
    end(&mut row, &mut field, begun);
    Ok(rows)
}
