//! The program's own two logins, and what each may do. GRANTs are the fence around the agent's SQL; session settings are only
//! comfort, since any session can change its own.
//!
//! | login | owns | may |
//! |---|---|---|
//! | `<database>_app` | schemas `level3`, `shared`, `agent` | everything the program does; signal the agent's connections |
//! | `<database>_agent` | what it makes in the schema `agent` | use `shared`, as far as migrations grant it; nothing else |
//!
//! The agent's login does not own the schema it works in: an owner could drop it and not make it again.

mod error;
mod password;
mod setup;

use sqlx::postgres::PgConnectOptions;
use sqlx::{AssertSqlSafe, ConnectOptions as _, Connection as _};

pub use error::LoginError;

use error::{LONGEST_NAME, quote};
pub(super) use password::plain_password;
use password::{admin_password, password};
use setup::Setup;

/// The oldest server that will do, as `server_version_num` counts.
const FLOOR: i32 = 150_000;

/// What a connection of the agent begins with. Said when it is opened: the agent can give its login other defaults, among them some with
/// which no connection can be opened, and these come before those defaults. They are comfort; a statement can change them for itself.
const AGENT_SETTINGS: [(&str, &str); 15] = [
    ("search_path", "agent, shared"),
    ("statement_timeout", "15s"),
    ("lock_timeout", "5s"),
    ("idle_in_transaction_session_timeout", "30s"),
    ("idle_session_timeout", "0"),
    ("default_transaction_read_only", "off"),
    ("default_transaction_deferrable", "off"),
    ("default_transaction_isolation", "read committed"),
    ("standard_conforming_strings", "on"),
    ("row_security", "on"),
    ("local_preload_libraries", ""),
    ("default_tablespace", ""),
    ("temp_tablespaces", ""),
    ("bytea_output", "hex"),
    ("intervalstyle", "postgres"),
];

/// How to connect as each of the two logins.
#[derive(Clone, Debug)]
pub struct Logins {
    /// The program itself.
    pub app: PgConnectOptions,
    /// The SQL the agent writes.
    pub agent: PgConnectOptions,
}

/// Makes the two logins with their schemas and rights in `database`, and the database itself when it is missing and `create` says so.
/// Does nothing new the second time; two servers may do it at once.
///
/// No state is kept: each password is derived from the administrator's, so every server with the same `DATABASE_URL` knows them.
/// When the administrator has no password, the logins get none either: then only a server that trusts the connection lets them in.
///
/// # Errors
/// [`LoginError`], which says what to do.
pub async fn prepare(admin: &PgConnectOptions, database: &str, create: bool) -> Result<Logins, LoginError> {
    let names = Names::of(database)?;
    let target = admin.clone().database(database);
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
    setup.run(&mut connection).await?;
    drop(connection.close().await);
    let login = |role: &str| {
        let login = target.clone().username(role).application_name(role);
        secret.iter().fold(login, |login, secret| login.password(&password(secret, role)))
    };
    let logins = Logins { app: login(&names.app), agent: login(&names.agent).options(AGENT_SETTINGS) };
    if !create {
        // Someone else's server: its pg_hba.conf decides who gets in, and a pool would only say that it timed out.
        for login in [&logins.app, &logins.agent] {
            let entered = login.connect().await.map_err(|source| LoginError::LockedOut {
                user: login.get_username().to_owned(),
                place: place(login),
                password: if secret.is_some() { "a SCRAM-SHA-256 password" } else { "no password" },
                source,
            })?;
            drop(entered.close().await);
        }
    }
    Ok(logins)
}

/// Removes a database, ending its connections, and its two logins. For tests.
///
/// # Errors
/// The server refuses.
pub async fn drop_database(admin: &PgConnectOptions, database: &str) -> Result<(), LoginError> {
    let names = Names::of(database)?;
    let mut connection = admin.connect().await.map_err(|source| cannot_connect(admin, source))?;
    for statement in [
        format!("DROP DATABASE IF EXISTS {} WITH (FORCE)", quote(database)),
        format!("DROP ROLE IF EXISTS {}, {}", quote(&names.app), quote(&names.agent)),
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

struct Names {
    database: String,
    app: String,
    agent: String,
}

impl Names {
    fn of(database: &str) -> Result<Self, LoginError> {
        let names = Self { database: database.into(), app: format!("{database}_app"), agent: format!("{database}_agent") };
        let fits = !database.is_empty() && !database.contains('\0') && names.agent.len() <= LONGEST_NAME;
        if fits { Ok(names) } else { Err(LoginError::Name { database: database.escape_debug().to_string() }) }
    }
}

async fn create_database(admin: &PgConnectOptions, database: &str) -> Result<(), LoginError> {
    let mut connection = admin.connect().await.map_err(|source| cannot_connect(admin, source))?;
    // template0: nobody may be connected to it, so a neighbour's connection cannot be in the way.
    let statement = format!("CREATE DATABASE {} TEMPLATE template0 ENCODING 'UTF8'", quote(database));
    let made = sqlx::raw_sql(AssertSqlSafe(statement)).execute(&mut connection).await;
    drop(connection.close().await);
    match made.map_err(|source| (code(&source).unwrap_or_default(), source)) {
        Ok(_) => Ok(()),
        // Another server was faster: seen as a duplicate database, or on the index when both were in the middle of it.
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

fn cannot_connect(options: &PgConnectOptions, source: sqlx::Error) -> LoginError {
    LoginError::Connect {
        user: options.get_username().to_owned(),
        place: place(options),
        database: options.get_database().unwrap_or_default().to_owned(),
        source,
    }
}
