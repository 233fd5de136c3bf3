//! Postgres' text of a row, as its output function writes it: `(1,"a ""word""",,"")`.

/// The fields of a row, `None` for NULL; `None` for a text that is no row.
pub(crate) fn fields(row: &str) -> Option<Vec<Option<String>>> {
    let mut rest = row.strip_prefix('(')?.strip_suffix(')')?.chars().peekable();
    if rest.peek().is_none() {
        // A single NULL field looks like no field at all; a table without columns has nothing to
        // lose.
        return Some(vec![None]);
    }
    let mut fields = Vec::new();
    loop {
        let mut field: Option<String> = None;
        let mut quoted = false;
        loop {
            match rest.peek().copied() {
                None => break,
                Some(',') if !quoted => break,
                Some(character) => {
                    rest.next();
                    let text = field.get_or_insert_default();
                    match character {
                        '"' if quoted && rest.peek() == Some(&'"') => text.extend(rest.next()),
                        '"' => quoted = !quoted,
                        '\\' => text.push(rest.next()?),
                        other => text.push(other),
                    }
                }
            }
        }
        if quoted {
            return None;
        }
        fields.push(field);
        if rest.next().is_none() {
            return Some(fields);
        }
    }
}

/// The fields of a row as they are written in it, with their quotes.
fn written(row: &str) -> Option<Vec<&str>> {
    let fields = row.strip_prefix('(')?.strip_suffix(')')?;
    let mut quoted = false;
    // A quote inside quotes is doubled.
    let ends = |character: char| {
        quoted ^= character == '"';
        character == ',' && !quoted
    };
    Some(fields.split(ends).collect())
}

/// The row `new` with the fields at these places as `old` has them; `None` if that is the same row.
pub(crate) fn followed(old: &str, new: &str, places: &[usize]) -> Option<String> {
    let (old, mut fields) = (written(old)?, written(new)?);
    for place in places {
        if let (Some(field), Some(&was)) = (fields.get_mut(*place), old.get(*place)) {
            *field = was;
        }
    }
    let followed = format!("({})", fields.join(","));
    (followed != new).then_some(followed)
}

/// True if the second row lost something of the first one: a value that has changed or is gone.
pub(crate) fn loses(old: &str, new: &str) -> bool {
    let (Some(old), Some(new)) = (fields(old), fields(new)) else { return true };
    old.len() > new.len() || old.iter().zip(&new).any(|(old, new)| old.is_some() && old != new)
}

#[cfg(test)]
mod tests;
