//! The limits of a person's list: titles, and how many things there may be.

use crate::domain::seen_name;

/// The most characters of a title.
pub const LONGEST_TITLE: usize = 200;
/// The most subtasks of a task.
pub const MOST_SUBTASKS: usize = 50;
/// The most open tasks of a person. The function `change_todos` of the database knows it, too.
pub const MOST_OPEN_TASKS: usize = 1_000;

/// The reason for which a text is no title.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TitleRefusal {
    /// Nothing that can be seen.
    #[error("A title needs at least one character.")]
    Empty,
    /// More than [`LONGEST_TITLE`].
    #[error("That title has {0} characters, and {LONGEST_TITLE} is the most.")]
    TooLong(usize),
    /// A line break, or another character that writes nothing.
    #[error("A title stands on one line.")]
    NotOneLine,
}

/// True for the signs that turn the direction of what stands behind them, also behind the title.
pub(super) fn turns(c: char) -> bool {
    matches!(c, '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}')
}

/// The title that a text is, without blanks around it and without signs that would turn the words
/// beside it.
///
/// # Errors
/// If it is empty, too long, or more than one line.
pub fn valid_title(text: &str) -> Result<String, TitleRefusal> {
    let straight: String = text.chars().filter(|c| !turns(*c)).collect();
    let title = seen_name(&straight);
    let breaks = |c: char| c.is_control() || matches!(c, '\u{2028}' | '\u{2029}');
    match title.chars().count() {
        0 => Err(TitleRefusal::Empty),
        _ if title.contains(breaks) => Err(TitleRefusal::NotOneLine),
        length if length > LONGEST_TITLE => Err(TitleRefusal::TooLong(length)),
        _ => Ok(title.to_owned()),
    }
}

/// The list is full.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TooMany {
    /// The person has so many open tasks already.
    #[error("You have {0} open tasks, and {MOST_OPEN_TASKS} is the most. Complete or delete some first.")]
    Tasks(usize),
    /// The task has [`MOST_SUBTASKS`] subtasks.
    #[error("That task has {MOST_SUBTASKS} subtasks, and that is the most. Remove one first.")]
    Subtasks,
}

/// Allows a person with so many open tasks one more.
///
/// # Errors
/// If the person may not.
pub fn room_for_task(open: usize) -> Result<(), TooMany> {
    if open < MOST_OPEN_TASKS { Ok(()) } else { Err(TooMany::Tasks(open)) }
}

/// Allows a task with so many subtasks one more.
///
/// # Errors
/// If it may not.
pub fn room_for_subtask(subtasks: usize) -> Result<(), TooMany> {
    if subtasks < MOST_SUBTASKS { Ok(()) } else { Err(TooMany::Subtasks) }
}

#[cfg(test)]
mod tests;
