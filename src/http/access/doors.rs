//! The doors that Vapi finds under the public name.

/// The folder of the doors.
const DOORS: &str = "/voice/vapi";

/// True for the path of a door.
pub(super) fn is_door(path: &str) -> bool {
    let Some(rest) = path.strip_prefix(DOORS).and_then(|rest| rest.strip_prefix('/')) else { return false };
    let Some((call, door)) = rest.split_once('/') else { return false };
    let is_number = !call.is_empty() && call.len() < 20 && call.bytes().all(|byte| byte.is_ascii_digit());
    is_number && ["events", "chat/completions", "chat/completions/chat/completions"].contains(&door)
}

#[cfg(test)]
mod tests;
