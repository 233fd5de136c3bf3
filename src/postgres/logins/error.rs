//! The failures of the logins, and what to do about each.

use crate::lasting::Lasting;

/// The longest name Postgres keeps, in bytes; it cuts longer ones, and cut names may collide.
pub(super) const LONGEST_NAME: usize = 63;

/// Why the logins could not be made.
#[derive(Debug, thiserror::Error)]
pub enum LoginError {
    /// The name leaves no room for those of the logins, or is no name.
    #[error("the database name `{database}` will not do: it must have 1 to {} bytes; check DATABASE_URL", LONGEST_NAME - "_agent_reader".len())]
    Name {
        /// The name.
        database: String,
    },
    /// No connection.
    #[error(
        "cannot connect to Postgres at {place}, database `{database}`, as `{user}`; check DATABASE_URL and that the server runs"
    )]
    Connect {
        /// The login that was tried.
        user: String,
        /// Host and port, or the socket's folder.
        place: String,
        /// The database.
        database: String,
        /// The driver's error.
        source: sqlx::Error,
    },
    /// The server lets the administrator in but not a login just made.
    #[error(
        "Postgres at {place} does not let the new login `{user}` in. It has {password}; allow that in pg_hba.conf, or give the \
         login in DATABASE_URL a password"
    )]
    LockedOut {
        /// The login.
        user: String,
        /// Host and port, or the socket's folder.
        place: String,
        /// Which kind of password it was given.
        password: &'static str,
        /// The driver's error.
        source: sqlx::Error,
    },
    /// The server is too old.
    #[error("the Postgres server is too old ({version}); level3 needs 15 or newer")]
    TooOld {
        /// Its `server_version`.
        version: String,
    },
    /// The administrator may not make logins.
    #[error(
        "`{user}` may not make the logins level3 needs: it needs CREATEROLE. Run `ALTER ROLE {} CREATEROLE;` as a superuser, or \
         put a login that has it into DATABASE_URL",
        quote(user)
    )]
    NeedsCreateRole {
        /// The administrator.
        user: String,
    },
    /// The administrator may not make the database.
    #[error(
        "`{user}` may not make the database `{database}`. Make it as a superuser: `CREATE DATABASE {} OWNER {};`",
        quote(database),
        quote(user)
    )]
    NeedsCreateDatabase {
        /// The administrator.
        user: String,
        /// The database.
        database: String,
        /// The server's words.
        source: sqlx::Error,
    },
    /// The administrator does not own the database, so it cannot close it.
    #[error(
        "`{user}` does not own the database `{database}`. Run `ALTER DATABASE {} OWNER TO {};` as a superuser",
        quote(database),
        quote(user)
    )]
    NotOwner {
        /// The administrator.
        user: String,
        /// The database.
        database: String,
    },
    /// A schema of that name belongs to someone else.
    #[error(
        "the schema `{schema}` in database `{database}` belongs to `{owner}`; level3 needs that name: give it a database of its own"
    )]
    SchemaTaken {
        /// The schema.
        schema: String,
        /// The database.
        database: String,
        /// The login that owns it.
        owner: String,
    },
    /// After all was set up the agent's login can still do what it must not.
    #[error(
        "the login `{role}` {excess}, which the agent must not have; take it away as a superuser, or give level3 a database of its own"
    )]
    Excess {
        /// The agent's login.
        role: String,
        /// The right it has too much, as a clause of the sentence.
        excess: String,
    },
    /// Something stands between us and the server.
    #[error(
        "a session of `{user}` at {place} is not what it must be: {strange}. A pooler that hands out sessions of others, or changes their \
         settings, cannot stand between level3 and its database; put the address of the server itself into DATABASE_URL"
    )]
    Pooler {
        /// The login that was asked for.
        user: String,
        /// Host and port, or the socket's folder.
        place: String,
        /// The difference from what a session must be.
        strange: String,
    },
    /// Anything else the server refused.
    #[error(
        "Postgres refused to {doing}. If the logins of this database were made by another account than `{user}`, use that account \
         in DATABASE_URL"
    )]
    Refused {
        /// The act that was refused, as a verb.
        doing: &'static str,
        /// The administrator.
        user: String,
        /// The server's words.
        source: sqlx::Error,
    },
}

/// Each says what a person has to do; if the server said something of its own, that decides.
impl Lasting for LoginError {
    fn lasts(&self) -> bool {
        match self {
            Self::Connect { source, .. }
            | Self::LockedOut { source, .. }
            | Self::NeedsCreateDatabase { source, .. }
            | Self::Refused { source, .. } => source.lasts(),
            _ => true,
        }
    }
}

/// A name as SQL wants it.
pub(super) fn quote(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}
