//! Why a value does not fit where it stands, in words for whoever wrote it. Serde's own name types
//! of this program.

/// Serde's words, such as “expected true or false, not 1”, without the place in a text. Words that
/// are not serde's stay.
pub fn misfit(told: &str) -> String {
    let told = told.rsplit_once(" at line ").filter(|(_, place)| is_place(place)).map_or(told, |(told, _)| told);
    worded(told).unwrap_or_else(|| match told.split_once("; ") {
        Some((wrong, more)) => {
            // The words behind it name what there is.
            let unknown = wrong.strip_prefix("unknown variant ").and_then(|rest| rest.split_once(", "));
            let said = unknown.map(|(name, _)| format!("{name} is not known")).or_else(|| worded(wrong));
            format!("{}; {more}", said.unwrap_or_else(|| wrong.to_owned()))
        }
        None => told.to_owned(),
    })
}

/// True for a line and a column.
fn is_place(text: &str) -> bool {
    text.split_once(" column ").is_some_and(|(line, column)| [line, column].iter().all(|part| part.parse::<usize>().is_ok()))
}

fn worded(wrong: &str) -> Option<String> {
    let behind = |start: &str| wrong.strip_prefix(start);
    if wrong == "expected value" || wrong.starts_with("data did not match any variant") {
        return Some("a value of another kind is expected".to_owned());
    }
    if matches!(wrong, "invalid digit found in string" | "cannot parse integer from empty string") {
        return Some("a whole number is expected".to_owned());
    }
    if wrong == "provided string was not `true` or `false`" {
        return Some("true or false is expected".to_owned());
    }
    if matches!(wrong, "input contains invalid characters" | "premature end of input") {
        return Some("a time like 2026-11-20T08:00:00Z is expected".to_owned());
    }
    if let Some((name, there)) = behind("unknown field ").and_then(|rest| rest.split_once(", ")) {
        return match there {
            "there are no fields" => Some(format!("there is no field {name}, and none is expected")),
            _ => Some(format!("there is no field {name}; the fields are {}", named(there)?)),
        };
    }
    if let Some((name, there)) = behind("unknown variant ").and_then(|rest| rest.split_once(", ")) {
        return Some(format!("{name} is none of {}", named(there)?));
    }
    let (given, kind) = behind("invalid type: ").or_else(|| behind("invalid value: "))?.rsplit_once(", expected ")?;
    Some(format!("expected {}, not {}", kind_named(kind), value_named(given)))
}

/// The names in serde's list of them.
fn named(list: &str) -> Option<String> {
    let list = list.strip_prefix("expected ").filter(|list| !list.contains("; "))?;
    Some(list.strip_prefix("one of ").unwrap_or(list).replace(" or ", ", "))
}

/// The kind that serde expects.
fn kind_named(kind: &str) -> &str {
    match kind {
        "a string" | "a borrowed string" => "a text",
        "a boolean" => "true or false",
        "a sequence" => "a list",
        "a map" => "an object",
        "i8" | "i16" | "i32" | "i64" => "a whole number",
        "u8" | "u16" | "u32" | "u64" | "usize" => "a whole number that is not below zero",
        "f32" | "f64" => "a number",
        _ if kind.starts_with("struct ") || kind.contains("tagged enum ") => "an object",
        _ if kind.starts_with("enum ") || kind.starts_with("variant ") => "a text",
        _ => kind,
    }
}

/// The value that serde found.
fn value_named(given: &str) -> String {
    let bare = ["integer `", "floating point `", "boolean `"].iter().find_map(|start| given.strip_prefix(start));
    match (given, bare) {
        (_, Some(bare)) => bare.trim_end_matches('`').to_owned(),
        ("sequence", _) => "a list".to_owned(),
        ("map", _) => "an object".to_owned(),
        ("null" | "unit value", _) => "nothing".to_owned(),
        (text, _) => text.strip_prefix("string ").map_or_else(|| text.to_owned(), |text| format!("the text {text}")),
    }
}

#[cfg(test)]
mod tests;
