//! Checks a session of the agent when it begins: its login, its settings, and that the agent gave
//! itself no default.
//!
//! The settings belong to the logins. A login may change its own defaults, and a pooler may serve a
//! session of somebody else: so this is looked at, and not believed.

/// The settings of the agent's logins: name, as SQL writes the value, as the server shows it.
pub(super) const SETTINGS: [(&str, &str, &str); 12] = [
    ("search_path", "agent, shared", "agent, shared"),
    ("statement_timeout", "'15s'", "15s"),
    ("lock_timeout", "'5s'", "5s"),
    ("idle_in_transaction_session_timeout", "'30s'", "30s"),
    ("idle_session_timeout", "0", "0"),
    ("default_transaction_read_only", "off", "off"),
    ("default_transaction_deferrable", "off", "off"),
    ("default_transaction_isolation", "'read committed'", "read committed"),
    ("standard_conforming_strings", "on", "on"),
    ("row_security", "on", "on"),
    ("bytea_output", "hex", "hex"),
    ("IntervalStyle", "postgres", "postgres"),
];

/// Fences that only a superuser can set: sorts that fill the disk, and words of the agent's that
/// fill the server's log.
pub(super) const FENCES: [(&str, &str, &str); 3] = [
    ("temp_file_limit", "'256MB'", "256MB"),
    ("log_min_messages", "fatal", "fatal"),
    ("log_min_error_statement", "panic", "panic"),
];

/// Asks a session what it is like: two columns for [`strange`]. Every name is qualified, for its
/// search path may be anything.
pub fn look() -> String {
    let settings: Vec<_> = SETTINGS.iter().map(|(name, ..)| format!("pg_catalog.current_setting('{name}')")).collect();
    format!(
        "pg_catalog.concat_ws(E'\\n', SESSION_USER, CURRENT_USER, {}),
         pg_catalog.array_to_string(ARRAY(
             SELECT pg_catalog.unnest(s.setconfig) FROM pg_catalog.pg_db_role_setting s
             JOIN pg_catalog.pg_roles r ON r.oid OPERATOR(pg_catalog.=) s.setrole
             WHERE r.rolname OPERATOR(pg_catalog.=) SESSION_USER
               AND s.setdatabase OPERATOR(pg_catalog.=) ANY (ARRAY[0::pg_catalog.oid, (SELECT d.oid FROM pg_catalog.pg_database d
                   WHERE d.datname OPERATOR(pg_catalog.=) pg_catalog.current_database())])), E'\\n')",
        settings.join(", ")
    )
}

/// The first difference of a session of `login` from what it must be; `None`: all is well.
pub fn strange(login: &str, session: &str, defaults: &str) -> Option<String> {
    let mut lines = session.split('\n');
    if lines.next() != Some(login) || lines.next() != Some(login) {
        return Some("it is a session of another login".to_owned());
    }
    for (name, _, expected) in SETTINGS {
        let found = lines.next().unwrap_or_default();
        if found != expected {
            return Some(format!("`{name}` is `{found}` and not `{expected}`"));
        }
    }
    let ours = |line: &str| SETTINGS.iter().chain(&FENCES).any(|(name, _, shown)| line == format!("{name}={shown}"));
    let other = defaults.split('\n').find(|line| !line.is_empty() && !ours(line));
    other.map(|line| format!("the login has the default `{line}`, which nobody gave it"))
}

#[cfg(test)]
mod tests;
