//! The database as one file, with Postgres' own `pg_dump`, and back.
//!
//! On the way back the tables and functions of the program come from its migrations and never from
//! the file: only their rows do. A login of the agent's makes again what the agent made. So no file
//! can bring in a function that runs with the program's rights, and owners and rights come out as
//! the place it is restored to wants them, whatever the database was called before.

use std::fs::File;
use std::io;
use std::path::Path;
use std::process::Stdio;

use sqlx::postgres::{PgConnectOptions, PgConnection};
use sqlx::{AssertSqlSafe, ConnectOptions, Connection};
use tokio::io::AsyncWriteExt;
use tokio::process::{Child, Command};

use super::embedded::programs::{self, Programs};
use super::logins::{self, LoginError, Logins};
use super::{Database, DatabaseError, migrations};

/// The origin of a dump: a server and the state of its database.
#[derive(Clone, Debug)]
pub struct Dumped {
    /// The server's version, like `15.18`.
    pub server: String,
    /// Its major version.
    pub major: u32,
    /// The newest migration it has.
    pub migration: i64,
}

/// An empty database with its logins, and the programs that can fill it.
pub struct RoomForDump {
    programs: Programs,
    logins: Logins,
}

/// Why a database cannot be dumped or restored; each says what to do.
#[derive(Debug, thiserror::Error)]
pub enum DumpError {
    /// `pg_dump` and `pg_restore` are missing.
    #[error(
        "this needs pg_dump and pg_restore of Postgres {0} or newer; install its client programs (Debian: postgresql-client), or set \
         LEVEL3_POSTGRES_BIN to their folder"
    )]
    NoPrograms(u32),
    /// One of them failed; what it said.
    #[error("{program} failed: {said}")]
    Failed {
        /// Which.
        program: &'static str,
        /// The program's own words.
        said: String,
    },
    /// One of them cannot be run.
    #[error("{program} cannot be run")]
    Run {
        /// Which.
        program: &'static str,
        /// Why.
        source: std::io::Error,
    },
    /// There is nothing of ours in the database.
    #[error("the database holds no level3; start the server once, or look where DATABASE_URL and LEVEL3_DATA_DIR lead")]
    Nothing,
    /// There is something in the database.
    #[error("the database is not empty; a backup is restored only into an empty one, so that nothing is lost")]
    NotEmpty,
    /// The backup comes from a newer server.
    #[error("the backup was made from Postgres {backup}, and this is Postgres {here}; restore it into {backup} or newer")]
    OlderServer {
        /// The backup's major version.
        backup: u32,
        /// The major version here.
        here: u32,
    },
    /// The backup comes from a newer program.
    #[error("the backup was made by a newer level3 (it has migration {0}); restore it with that version")]
    Newer(i64),
    /// The logins cannot be made.
    #[error("the logins of the server and of the agent cannot be prepared")]
    Logins(#[from] LoginError),
    /// The database cannot be used.
    #[error(transparent)]
    Database(#[from] DatabaseError),
    /// The tables cannot be made.
    #[error("the tables cannot be made")]
    Migration(#[from] sqlx::migrate::MigrateError),
    /// A statement failed.
    #[error("the database did not do what was asked")]
    Query(#[from] sqlx::Error),
}

impl Database {
    /// Writes everything of the program and of the agent to a file, as it was at one moment; a
    /// server may run meanwhile. `bin` is the folder in which to look for `pg_dump`, if one is set.
    ///
    /// # Errors
    /// [`DumpError`]; the file may be filled in part.
    pub async fn dump(&self, bin: Option<&Path>, to: File) -> Result<Dumped, DumpError> {
        let from = self.admin.clone().database(&self.name);
        let mut connection = match from.connect().await {
            Err(error) if error.as_database_error().and_then(|error| error.code()).as_deref() == Some("3D000") => {
                return Err(DumpError::Nothing);
            }
            connected => connected?,
        };
        if !has_tables(&mut connection).await? {
            return Err(DumpError::Nothing);
        }
        let (server, major) = version(&mut connection).await?;
        let newest = "SELECT coalesce(max(version), 0) FROM level3._sqlx_migrations";
        let migration: i64 = sqlx::query_scalar(newest).fetch_one(&mut connection).await?;
        drop(connection.close().await);
        let programs = programs::find(bin, major).ok_or(DumpError::NoPrograms(major))?;
        let mut command = command(&programs, "pg_dump", &from);
        command.args(["--format=custom", "--schema=level3", "--schema=shared", "--schema=agent"]).stdout(to);
        ended("pg_dump", command.spawn()).await?;
        Ok(Dumped { server, major, migration })
    }

    /// When the server began that takes connections here, in its own time; none if neither it nor
    /// the program that runs it is ready, or one of them is about to end.
    pub async fn began(&self) -> Option<String> {
        let mut connection = self.admin.connect().await.ok()?;
        let began = sqlx::query_scalar("SELECT pg_postmaster_start_time()::text").fetch_one(&mut connection).await.ok();
        drop(connection.close().await);
        began
    }

    /// Makes the database ready for such a dump: empty, with its logins.
    ///
    /// # Errors
    /// [`DumpError`]. Nothing is in the database that was not there before, and the logins can be
    /// made again.
    pub async fn make_room(&self, bin: Option<&Path>, dumped: &Dumped) -> Result<RoomForDump, DumpError> {
        if !migrations().version_exists(dumped.migration) {
            return Err(DumpError::Newer(dumped.migration));
        }
        let mut admin = self.admin.connect().await?;
        let (_, here) = version(&mut admin).await?;
        drop(admin.close().await);
        if here < dumped.major {
            return Err(DumpError::OlderServer { backup: dumped.major, here });
        }
        let programs = programs::find(bin, here).ok_or(DumpError::NoPrograms(here))?;
        // A database that is not made yet is empty.
        if let Ok(mut there) = self.admin.clone().database(&self.name).connect().await {
            let filled = has_tables(&mut there).await?;
            drop(there.close().await);
            if filled {
                return Err(DumpError::NotEmpty);
            }
        }
        let logins = logins::prepare(&self.admin, &self.name, self.create).await?;
        Ok(RoomForDump { programs, logins })
    }

    /// Fills the room from such a file. Returns the agent's things that Postgres does not take
    /// back, as its programs name them: all else is there.
    ///
    /// # Errors
    /// [`DumpError`]; the database may be filled in part.
    pub async fn restore(&self, room: RoomForDump, from: &Path, dumped: &Dumped) -> Result<Vec<String>, DumpError> {
        let RoomForDump { programs, logins: Logins { app, full, .. } } = room;
        let all = migrations();
        let mut connection = app.clone().disable_statement_logging().connect().await?;
        all.run_to(dumped.migration, &mut connection).await?;
        let links = open_tables(&mut connection).await?;
        let restoring = Restoring { programs: &programs, app: &app, database: &self.name, role: full.get_username(), from };
        let mut rows = restoring.command(&AT_ONCE);
        rows.args(["--data-only", "--schema=level3"]).arg(from);
        ended("pg_restore", rows.spawn()).await?;
        close_tables(&mut connection, &links).await?;
        let mut list = Command::new(programs.folder.join("pg_restore"));
        list.args(["--list", "--schema=agent"]).arg(from).env_clear().kill_on_drop(true);
        let list = without_our_triggers(&output("pg_restore", list, "").await?);
        let lost = restoring.things_of_agent(&mut connection, &list).await?;
        adopt(&mut connection, full.get_username(), dumped.migration).await?;
        drop(connection.close().await);
        Ok(lost)
    }
}

/// Of all that is restored, either everything or nothing is there.
const AT_ONCE: [&str; 2] = ["--exit-on-error", "--single-transaction"];

/// Without this, an error does not say at which thing it happened.
const NAMED: &str = "--verbose";

/// A file on its way back into a database.
struct Restoring<'a> {
    programs: &'a Programs,
    app: &'a PgConnectOptions,
    database: &'a str,
    /// The login that makes the agent's things.
    role: &'a str,
    from: &'a Path,
}

impl Restoring<'_> {
    fn command(&self, how: &[&str]) -> Command {
        let mut command = command(self.programs, "pg_restore", self.app);
        command.args(how).args(["--no-owner", "--no-privileges", "--dbname", self.database]);
        command
    }

    /// Makes the things of the `list` again, at once; if one of them cannot be made, all others.
    async fn things_of_agent(&self, connection: &mut PgConnection, list: &str) -> Result<Vec<String>, DumpError> {
        match self.part(&AT_ONCE, list).await {
            Ok(lost) if lost.is_empty() => Ok(lost),
            Ok(_) | Err(DumpError::Failed { .. }) => self.things_one_by_one(connection, list).await,
            Err(error) => Err(error),
        }
    }

    /// Makes the things that can be made. A condition of a table may have been true of its rows
    /// only when they were written, so it is put on behind them.
    async fn things_one_by_one(&self, connection: &mut PgConnection, list: &str) -> Result<Vec<String>, DumpError> {
        let mut lost = self.part(&["--section=pre-data", NAMED], list).await?;
        let checks = checks_of_agent(connection).await?;
        let mut freed = format!("SET ROLE \"{}\";", self.role);
        for AgentCheck { owner, name, .. } in &checks {
            freed += &format!("ALTER {owner} DROP CONSTRAINT {name};");
        }
        sqlx::raw_sql(AssertSqlSafe(freed)).execute(&mut *connection).await?;
        lost.extend(self.part(&["--section=data", NAMED], list).await?);
        // A table's own condition is put on before the same one of the table that it inherits from,
        // which becomes one with it.
        for AgentCheck { owner, name, definition } in checks.iter().rev() {
            let again = format!("ALTER {owner} ADD CONSTRAINT {name} {definition} NOT VALID");
            if let Err(error) = sqlx::raw_sql(AssertSqlSafe(again)).execute(&mut *connection).await {
                tracing::warn!(%error, "a condition of the agent's could not be put on again");
                lost.push(format!("CONSTRAINT {name} of {owner}"));
                continue;
            }
            // One that does not hold of all rows by now still holds of those to come.
            let validated = format!("ALTER {owner} VALIDATE CONSTRAINT {name}");
            drop(sqlx::raw_sql(AssertSqlSafe(validated)).execute(&mut *connection).await);
        }
        sqlx::raw_sql("RESET ROLE").execute(&mut *connection).await?;
        lost.extend(self.part(&["--section=post-data", NAMED], list).await?);
        Ok(lost)
    }

    /// Restores a part of the agent's things. Returns those at which Postgres failed.
    async fn part(&self, how: &[&str], list: &str) -> Result<Vec<String>, DumpError> {
        let mut made = self.command(how);
        made.args(["--role", self.role, "--use-list=/dev/stdin"]).arg(self.from);
        match output("pg_restore", made, list).await {
            Ok(_) => Ok(Vec::new()),
            Err(DumpError::Failed { program, said }) => {
                let lost = named_in(&said);
                tracing::warn!(?lost, "pg_restore could not make everything of the agent's");
                if lost.is_empty() { Err(DumpError::Failed { program, said }) } else { Ok(lost) }
            }
            Err(error) => Err(error),
        }
    }
}

/// A condition of one of the agent's tables or domains: how it is made.
struct AgentCheck {
    owner: String,
    name: String,
    definition: String,
}

/// The conditions in schema `agent` that tables and domains have of their own, in an order in which
/// each can be dropped: one that is inherited besides comes behind that of the other table. Those
/// that are only inherited come and go with it.
async fn checks_of_agent(connection: &mut PgConnection) -> Result<Vec<AgentCheck>, sqlx::Error> {
    let checks: Vec<(String, String, String)> = sqlx::query_as(
        "WITH RECURSIVE heirs AS (
             SELECT inhrelid AS heir, 1 AS depth FROM pg_inherits
             UNION SELECT further.inhrelid, depth + 1 FROM heirs JOIN pg_inherits further ON further.inhparent = heir)
         SELECT CASE conrelid WHEN 0 THEN 'DOMAIN ' || contypid::regtype::text ELSE 'TABLE ' || conrelid::regclass::text END,
                quote_ident(conname), pg_get_constraintdef(oid)
         FROM pg_constraint
         WHERE contype = 'c' AND connamespace = to_regnamespace('agent') AND conislocal AND convalidated
         ORDER BY (SELECT coalesce(max(depth), 0) FROM heirs WHERE heir = conrelid), 1, 2",
    )
    .fetch_all(connection)
    .await?;
    Ok(checks.into_iter().map(|(owner, name, definition)| AgentCheck { owner, name, definition }).collect())
}

/// The things that `pg_restore` names as those at which it failed, once each: their kind, schema
/// and name.
fn named_in(said: &str) -> Vec<String> {
    let mut named = Vec::new();
    let entry = |line: &str| Some(line.split_once("from TOC entry ")?.1.split_once("; ")?.1.to_owned());
    for entry in said.lines().filter_map(entry) {
        // Two numbers of the catalogue stand before it, and the owner behind it.
        let mut words: Vec<_> = entry.split(' ').skip(2).collect();
        words.pop();
        let name = words.join(" ");
        if !named.contains(&name) {
            named.push(name);
        }
    }
    named
}

/// Hands on what the agent had made. A backup does not say which functions a person approved: in
/// older ones, none was.
async fn adopt(connection: &mut PgConnection, from: &str, migration: i64) -> Result<(), sqlx::Error> {
    const FENCED: i64 = 20_261_122_070_000;
    let adopt = sqlx::query("SELECT level3.adopt($1, $2)").bind(from).bind(migration >= FENCED);
    adopt.execute(connection).await.map(drop)
}

/// Something a table is tied to others with: how it is made.
struct Link {
    table: String,
    name: String,
    definition: String,
}

/// True if the schema of the program, or that of the agent, has anything in it.
async fn has_tables(connection: &mut PgConnection) -> Result<bool, sqlx::Error> {
    let found =
        "SELECT EXISTS (SELECT FROM pg_class WHERE relnamespace IN (to_regnamespace('level3'), to_regnamespace('agent')))";
    sqlx::query_scalar(found).fetch_one(connection).await
}

async fn version(connection: &mut PgConnection) -> Result<(String, u32), sqlx::Error> {
    let query = "SELECT current_setting('server_version'), current_setting('server_version_num')::int / 10000";
    let (text, major): (String, i32) = sqlx::query_as(query).fetch_one(connection).await?;
    let short = text.split_whitespace().next().unwrap_or_default().to_owned();
    Ok((short, major.cast_unsigned()))
}

/// Makes the tables ready for rows in any order: emptied, untied, without triggers. Returns what
/// ties them.
async fn open_tables(connection: &mut PgConnection) -> Result<Vec<Link>, sqlx::Error> {
    let links: Vec<(String, String, String)> = sqlx::query_as(
        "SELECT conrelid::regclass::text, quote_ident(conname), pg_get_constraintdef(oid) FROM pg_constraint
         WHERE contype = 'f' AND connamespace = 'level3'::regnamespace ORDER BY 1, 2",
    )
    .fetch_all(&mut *connection)
    .await?;
    let links: Vec<_> = links.into_iter().map(|(table, name, definition)| Link { table, name, definition }).collect();
    let mut statements: String =
        links.iter().map(|Link { table, name, .. }| format!("ALTER TABLE {table} DROP CONSTRAINT {name};")).collect();
    for table in tables(connection).await? {
        statements += &format!("ALTER TABLE {table} DISABLE TRIGGER USER; TRUNCATE {table};");
    }
    sqlx::raw_sql(AssertSqlSafe(statements)).execute(connection).await?;
    Ok(links)
}

/// Ties the tables together again; rows that do not fit together are noticed here.
async fn close_tables(connection: &mut PgConnection, links: &[Link]) -> Result<(), sqlx::Error> {
    let tie = |Link { table, name, definition }: &Link| format!("ALTER TABLE {table} ADD CONSTRAINT {name} {definition};");
    let mut statements: String = links.iter().map(tie).collect();
    for table in tables(connection).await? {
        statements += &format!("ALTER TABLE {table} ENABLE TRIGGER USER;");
    }
    sqlx::raw_sql(AssertSqlSafe(statements)).execute(&mut *connection).await?;
    sqlx::raw_sql("ANALYZE").execute(connection).await?;
    Ok(())
}

async fn tables(connection: &mut PgConnection) -> Result<Vec<String>, sqlx::Error> {
    let query = "SELECT oid::regclass::text FROM pg_class WHERE relnamespace = 'level3'::regnamespace AND relkind IN ('r', 'p')";
    sqlx::query_scalar(query).fetch_all(connection).await
}

/// A program that finds the database in its environment: a password on the command line could be
/// read by everybody here.
fn command(programs: &Programs, name: &'static str, to: &PgConnectOptions) -> Command {
    let mut command = Command::new(programs.folder.join(name));
    let path = ["/usr/bin", "/bin"].join(":");
    command.env_clear().env("PATH", path).env("PGUSER", to.get_username()).env("PGPORT", to.get_port().to_string());
    match to.get_socket() {
        Some(socket) => command.env("PGHOST", socket),
        None => command.env("PGHOST", to.get_host()),
    };
    if let Some(database) = to.get_database() {
        command.env("PGDATABASE", database);
    }
    if let Some(password) = logins::plain_password(to) {
        command.env("PGPASSWORD", password);
    }
    let url = to.to_url_lossy();
    for (setting, variable) in
        [("sslmode", "PGSSLMODE"), ("sslrootcert", "PGSSLROOTCERT"), ("sslcert", "PGSSLCERT"), ("sslkey", "PGSSLKEY")]
    {
        if let Some((_, value)) = url.query_pairs().find(|(name, _)| name.replace('-', "") == setting) {
            command.env(variable, &*value);
        }
    }
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).kill_on_drop(true);
    command
}

/// The contents of a backup without the triggers that keep what the agent deletes: they are not the
/// agent's to make, and the server puts them on when it starts.
fn without_our_triggers(list: &str) -> String {
    let ours = |line: &&str| line.contains(" TRIGGER agent ") && line.contains(" 0_level3_keep ");
    list.lines().filter(|line| !ours(line)).flat_map(|line| [line, "\n"]).collect()
}

/// Runs a program with this as its input. Returns what it prints.
async fn output(program: &'static str, mut command: Command, input: &str) -> Result<String, DumpError> {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut started = command.spawn();
    if let Some(mut stdin) = started.as_mut().ok().and_then(|child| child.stdin.take()) {
        // A program that ends without having read its input says why on its own.
        let _ = stdin.write_all(input.as_bytes()).await;
    }
    ended(program, started).await
}

/// Waits for the end of a program. Returns what it prints, if that comes to us.
async fn ended(program: &'static str, started: io::Result<Child>) -> Result<String, DumpError> {
    let failed = |source| DumpError::Run { program, source };
    let output = started.map_err(failed)?.wait_with_output().await.map_err(failed)?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    Err(DumpError::Failed { program, said: String::from_utf8_lossy(&output.stderr).trim().to_owned() })
}

#[cfg(test)]
mod tests;
