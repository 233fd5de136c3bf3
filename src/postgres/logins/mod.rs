//! The program's own logins, and what each may do. GRANTs are the fence around the agent's SQL;
//! session settings are only comfort, since any session can change its own.
//!
//! | login | owns | may |
//! |---|---|---|
//! | `<database>_app` | schemas `level3`, `shared`, `agent` | everything the program does; signal the agent's connections |
//! | `<database>_agent` | nothing | use `shared`, as far as migrations grant it; a group, which the next four belong to |
//! | `…_agent_reader` | nothing | read what is in schema `agent` |
//! | `…_agent_writer` | nothing | read, insert, update and delete there; no `TRUNCATE`, no own function that nobody approved |
//! | `…_agent_tables` | all there is, but for functions | make and change tables, views, indexes …; no `TRUNCATE`, no such function |
//! | `…_agent_code` | functions | nothing: it cannot log in, and has no right on any table |
//! | `…_agent_full` | nothing | what `tables` and `code` may, and `TRUNCATE`: it runs what the law let pass for that |
//!
//! No login of the agent owns the schema it works in: an owner could drop it and not make it again.
//! The server hands what `full` makes to `tables` and `code` before it commits (`fence.sql`).

mod error;
mod mark;
mod names;
mod password;
pub mod session;
mod setup;

use sqlx::postgres::{PgConnectOptions, PgConnection};
use sqlx::{AssertSqlSafe, ConnectOptions as _, Connection as _};

pub use error::LoginError;

use error::quote;
use names::Names;
pub(super) use password::plain_password;
use password::{admin_password, password};
use setup::Setup;

/// The oldest server that will do, as `server_version_num` counts.
const FLOOR: i32 = 150_000;

/// How to connect as each of the logins.
#[derive(Clone, Debug)]
pub struct Logins {
    /// The program itself.
    pub app: PgConnectOptions,
    /// SQL of the agent that reads.
    pub reader: PgConnectOptions,
    /// SQL of the agent that changes rows.
    pub writer: PgConnectOptions,
    /// SQL of the agent that makes and changes tables.
    pub tables: PgConnectOptions,
    /// SQL of the agent that the law let pass although it may delete, or cannot be told.
    pub full: PgConnectOptions,
    /// True if nothing had to be made or put back: a session that began before is one that begins
    /// now.
    pub untouched: bool,
}

impl Logins {
    /// The logins that statements of the agent run on.
    pub fn agents(&self) -> [&PgConnectOptions; 4] {
        [&self.reader, &self.writer, &self.tables, &self.full]
    }
}

/// Makes the logins with their schemas and rights in `database`, and the database itself when it is
/// missing and `create` says so. Does nothing new the second time; two servers may do it at once.
///
/// No state is kept: each password is derived from the administrator's, so every server with the
/// same `DATABASE_URL` knows them. When the administrator has no password, the logins get none
/// either: then only a server that trusts the connection lets them in.
///
/// # Errors
/// [`LoginError`], which says what to do.
pub async fn prepare(admin: &PgConnectOptions, database: &str, create: bool) -> Result<Logins, LoginError> {
    let names = Names::of(database)?;
    let target = admin.clone().database(database);
    let logins = expected(admin, database)?;
    let mut connection = match target.connect().await {
        Err(error) if create && code(&error).as_deref() == Some("3D000") => {
            create_database(admin, database).await?;
            target.connect().await
        }
        result => result,
    }
    .map_err(|source| cannot_connect(&target, source))?;
    let secret = admin_password(admin);
    let setup = Setup { names: &names, admin: admin.get_username(), secret: secret.as_deref() };
    let untouched = setup.run(&mut connection).await?;
    drop(connection.close().await);
    if !create {
        // Someone else's server: its pg_hba.conf decides who gets in, and a pool would only say
        // that it timed out.
        for (number, login) in [&logins.app].into_iter().chain(logins.agents()).enumerate() {
            let mut entered = login.connect().await.map_err(|source| LoginError::LockedOut {
                user: login.get_username().to_owned(),
                place: place(login),
                password: if secret.is_some() { "a SCRAM-SHA-256 password" } else { "no password" },
                source,
            })?;
            if number > 0 {
                as_it_must_be(login, &mut entered).await?;
            }
            drop(entered.close().await);
        }
    }
    Ok(Logins { untouched, ..logins })
}

/// The logins as they will be once they are prepared. Asks nobody.
///
/// # Errors
/// The name of the database leaves no room for theirs.
pub fn expected(admin: &PgConnectOptions, database: &str) -> Result<Logins, LoginError> {
    let (names, secret) = (Names::of(database)?, admin_password(admin));
    let login = |role: &str| {
        let login = admin.clone().database(database).username(role).application_name(role);
        secret.iter().fold(login, |login, secret| login.password(&password(secret, role)))
    };
    let [reader, writer, tables, full] = names.logins().map(login);
    Ok(Logins { app: login(&names.app), reader, writer, tables, full, untouched: false })
}

/// A pooler between us and the server may hand out sessions of another login, or keep one that
/// began with other settings.
async fn as_it_must_be(login: &PgConnectOptions, session: &mut PgConnection) -> Result<(), LoginError> {
    let question = AssertSqlSafe(format!("SELECT {}", session::look()));
    let (found, defaults): (String, String) =
        sqlx::query_as(question).fetch_one(session).await.map_err(|source| cannot_connect(login, source))?;
    match session::strange(login.get_username(), &found, &defaults) {
        Some(strange) => Err(LoginError::Pooler { user: login.get_username().to_owned(), place: place(login), strange }),
        None => Ok(()),
    }
}

/// Removes a database, ending its connections, and its logins. For tests.
///
/// # Errors
/// The server refuses.
pub async fn drop_database(admin: &PgConnectOptions, database: &str) -> Result<(), LoginError> {
    let names = Names::of(database)?;
    let mut connection = admin.connect().await.map_err(|source| cannot_connect(admin, source))?;
    for statement in [
        format!("DROP DATABASE IF EXISTS {} WITH (FORCE)", quote(database)),
        format!("DROP ROLE IF EXISTS {}", names.all().map(quote).join(", ")),
    ] {
        sqlx::raw_sql(AssertSqlSafe(statement)).execute(&mut connection).await.map_err(|source| LoginError::Refused {
            doing: "drop a database and its logins",
            user: admin.get_username().to_owned(),
            source,
        })?;
    }
    drop(connection.close().await);
    Ok(())
}

async fn create_database(admin: &PgConnectOptions, database: &str) -> Result<(), LoginError> {
    let mut connection = admin.connect().await.map_err(|source| cannot_connect(admin, source))?;
    // template0: nobody may be connected to it, so a neighbour's connection cannot be in the way.
    let statement = format!("CREATE DATABASE {} TEMPLATE template0 ENCODING 'UTF8'", quote(database));
    let made = sqlx::raw_sql(AssertSqlSafe(statement)).execute(&mut connection).await;
    drop(connection.close().await);
    match made.map_err(|source| (code(&source).unwrap_or_default(), source)) {
        Ok(_) => Ok(()),
        // Another server was faster: seen as a duplicate database, or on the index when both were
        // in the middle of it.
        Err((code, _)) if code == "42P04" || code == "23505" => Ok(()),
        Err((_, source)) => {
            let (user, database) = (admin.get_username().to_owned(), database.to_owned());
            Err(LoginError::NeedsCreateDatabase { user, database, source })
        }
    }
}

fn code(error: &sqlx::Error) -> Option<String> {
    error.as_database_error()?.code().map(Into::into)
}

fn place(options: &PgConnectOptions) -> String {
    match options.get_socket() {
        Some(socket) => format!("`{}`", socket.display()),
        None => format!("`{}:{}`", options.get_host(), options.get_port()),
    }
}

/// Why `options` lead nowhere.
pub(super) fn cannot_connect(options: &PgConnectOptions, source: sqlx::Error) -> LoginError {
    LoginError::Connect {
        user: options.get_username().to_owned(),
        place: place(options),
        database: options.get_database().unwrap_or_default().to_owned(),
        source,
    }
}
