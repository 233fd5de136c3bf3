//! The names of the logins, which follow from that of the database.

use super::error::{LONGEST_NAME, LoginError, quote};

/// The names of one database's logins.
pub(super) struct Names {
    pub(super) database: String,
    /// The program.
    pub(super) app: String,
    /// The role whose rights all logins of the agent share: the views and functions of `shared`. It
    /// owned everything once, and cannot log in.
    pub(super) agent: String,
    pub(super) reader: String,
    pub(super) writer: String,
    pub(super) tables: String,
    /// Owns what was approved to be called, and may do nothing else. It cannot log in.
    pub(super) code: String,
    pub(super) full: String,
}

impl Names {
    pub(super) fn of(database: &str) -> Result<Self, LoginError> {
        let name = |which: &str| format!("{database}{which}");
        let names = Self {
            database: database.into(),
            app: name("_app"),
            agent: name("_agent"),
            reader: name("_agent_reader"),
            writer: name("_agent_writer"),
            tables: name("_agent_tables"),
            code: name("_agent_code"),
            full: name("_agent_full"),
        };
        let longest = names.all().iter().map(|name| name.len()).max().unwrap_or_default();
        let fits = !database.is_empty() && !database.contains('\0') && longest <= LONGEST_NAME;
        if fits { Ok(names) } else { Err(LoginError::Name { database: database.escape_debug().to_string() }) }
    }

    /// The logins that statements of the agent run on.
    pub(super) fn logins(&self) -> [&str; 4] {
        [&self.reader, &self.writer, &self.tables, &self.full]
    }

    /// Everything whose rights are the fence around the agent.
    pub(super) fn agents(&self) -> [&str; 6] {
        [&self.agent, &self.reader, &self.writer, &self.tables, &self.code, &self.full]
    }

    pub(super) fn all(&self) -> [&str; 7] {
        [&self.app, &self.agent, &self.reader, &self.writer, &self.tables, &self.code, &self.full]
    }

    /// A text with the names in the places for them, fit for SQL: `{app}`, `{reader}` …
    pub(super) fn fill(&self, sql: &str) -> String {
        let Self { database, app, agent, reader, writer, tables, code, full } = self;
        // In one pass: a name may hold what looks like a place.
        let mut filled = String::new();
        for (number, piece) in sql.split(['{', '}']).enumerate() {
            let name = match piece {
                _ if number % 2 == 0 => {
                    filled += piece;
                    continue;
                }
                "database" => database,
                "app" => app,
                "agent" => agent,
                "reader" => reader,
                "writer" => writer,
                "tables" => tables,
                "code" => code,
                "full" => full,
                other => unreachable!("no login is called {other}"),
            };
            filled += &quote(name);
        }
        filled
    }
}
