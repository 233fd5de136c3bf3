//! The program's own two logins, and what each may do. GRANTs are the fence around the agent's SQL; session settings are only
//! comfort, since any session can change its own.
//!
//! | login | owns | may |
//! |---|---|---|
//! | `<database>_app` | schemas `level3` and `shared` | everything the program does; signal the agent's connections |
//! | `<database>_agent` | schema `agent` | use `shared`, as far as migrations grant it; nothing else |

mod error;
mod password;

use sqlx::postgres::{PgConnectOptions, PgConnection};
use sqlx::{AssertSqlSafe, ConnectOptions as _, Connection as _};

pub use error::LoginError;

use error::{LONGEST_NAME, quote};
use password::{admin_password, password, verifier};

/// The oldest server that will do, as `server_version_num` counts.
const FLOOR: i32 = 150_000;

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
    let logins = Logins { app: login(&names.app), agent: login(&names.agent) };
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

/// One run of the set-up, in one transaction.
struct Setup<'a> {
    names: &'a Names,
    admin: &'a str,
    secret: Option<&'a str>,
}

impl Setup<'_> {
    async fn run(&self, connection: &mut PgConnection) -> Result<(), LoginError> {
        let mut transaction = connection.begin().await.map_err(self.refused("begin a transaction"))?;
        // One at a time: role and database rows changed by two at once end in "tuple concurrently updated".
        // The second setting silences "already exists".
        let lock = "SELECT pg_advisory_xact_lock(hashtext('level3 logins')); SET LOCAL client_min_messages = warning";
        sqlx::raw_sql(lock).execute(&mut *transaction).await.map_err(self.refused("take a lock"))?;
        let superuser = self.check_admin(&mut transaction).await?;
        for (doing, statements) in [
            ("make the logins", self.roles(&mut transaction, superuser).await?),
            ("close the database to others", self.database()),
            ("make the schemas", self.schemas()),
            ("set the logins' defaults", self.settings(superuser)),
        ] {
            sqlx::raw_sql(AssertSqlSafe(statements)).execute(&mut *transaction).await.map_err(self.refused(doing))?;
        }
        self.verify(&mut transaction).await?;
        transaction.commit().await.map_err(self.refused("commit"))
    }

    fn refused(&self, doing: &'static str) -> impl Fn(sqlx::Error) -> LoginError {
        let user = self.admin.to_owned();
        move |source| LoginError::Refused { doing, user: user.clone(), source }
    }

    /// Whether the administrator is a superuser. An error when it is too little for what follows.
    async fn check_admin(&self, connection: &mut PgConnection) -> Result<bool, LoginError> {
        let (superuser, create_role, owner, number, version): (bool, bool, bool, i32, String) = sqlx::query_as(
            "SELECT rolsuper, rolcreaterole, pg_has_role(datdba, 'USAGE'), current_setting('server_version_num')::int,
                    current_setting('server_version')
             FROM pg_roles, pg_database WHERE rolname = current_user AND datname = current_database()",
        )
        .fetch_one(connection)
        .await
        .map_err(self.refused("tell who we are"))?;
        let user = self.admin.to_owned();
        if number < FLOOR {
            return Err(LoginError::TooOld { version });
        }
        if !superuser && !create_role {
            return Err(LoginError::NeedsCreateRole { user });
        }
        if !superuser && !owner {
            return Err(LoginError::NotOwner { user, database: self.names.database.clone() });
        }
        Ok(superuser)
    }

    async fn roles(&self, connection: &mut PgConnection, superuser: bool) -> Result<String, LoginError> {
        let (app, agent) = (quote(&self.names.app), quote(&self.names.agent));
        let present: Vec<String> = sqlx::query_scalar("SELECT rolname::text FROM pg_roles WHERE rolname IN ($1, $2)")
            .bind(&self.names.app)
            .bind(&self.names.agent)
            .fetch_all(connection)
            .await
            .map_err(self.refused("list logins"))?;
        let mut sql = String::new();
        for (role, inherit) in [(&self.names.app, "INHERIT"), (&self.names.agent, "NOINHERIT")] {
            if !present.contains(role) {
                sql += &format!("CREATE ROLE {};", quote(role));
            }
            // What reaches the server, and perhaps its log, is the verifier and not the password.
            let password = self.secret.map_or("NULL".into(), |secret| format!("'{}'", verifier(&password(secret, role))));
            sql += &format!("ALTER ROLE {} LOGIN {inherit} PASSWORD {password};", quote(role));
        }
        // The program may cancel what the agent runs: signals need membership.
        sql += &format!("GRANT {agent} TO {app};");
        if !superuser {
            // CREATE SCHEMA … AUTHORIZATION needs membership, and from 16 on making a role is not enough.
            sql += &format!("GRANT {app}, {agent} TO CURRENT_USER;");
        }
        Ok(sql)
    }

    fn database(&self) -> String {
        let (database, app, agent) = self.quoted();
        format!(
            "REVOKE ALL ON DATABASE {database} FROM PUBLIC, {agent};
             GRANT CONNECT, CREATE ON DATABASE {database} TO {app};
             GRANT CONNECT ON DATABASE {database} TO {agent};"
        )
    }

    fn schemas(&self) -> String {
        let (_, app, agent) = self.quoted();
        format!(
            "CREATE SCHEMA IF NOT EXISTS level3 AUTHORIZATION {app};
             CREATE SCHEMA IF NOT EXISTS shared AUTHORIZATION {app};
             CREATE SCHEMA IF NOT EXISTS agent AUTHORIZATION {agent};
             GRANT USAGE ON SCHEMA shared TO {agent};
             ALTER DEFAULT PRIVILEGES FOR ROLE {app} REVOKE EXECUTE ON FUNCTIONS FROM PUBLIC;
             DO $$ BEGIN
                 IF to_regnamespace('public') IS NOT NULL THEN REVOKE CREATE ON SCHEMA public FROM PUBLIC; END IF;
             END $$;"
        )
    }

    fn settings(&self, superuser: bool) -> String {
        let (database, app, agent) = self.quoted();
        // RESET first: a login may change its own defaults, so the agent's may have been changed by the agent.
        let mut sql = format!("ALTER ROLE {agent} RESET ALL; ALTER ROLE {agent} IN DATABASE {database} RESET ALL;");
        sql += &format!("ALTER ROLE {app} IN DATABASE {database} SET search_path = level3;");
        for (setting, value) in [
            ("search_path", "agent, shared"),
            ("statement_timeout", "'15s'"),
            ("lock_timeout", "'5s'"),
            ("idle_in_transaction_session_timeout", "'30s'"),
        ] {
            sql += &format!("ALTER ROLE {agent} IN DATABASE {database} SET {setting} = {value};");
        }
        if superuser {
            // Only a superuser can set these fences: sorts that fill the disk, and objects that lie in no schema.
            sql += &format!("ALTER ROLE {agent} IN DATABASE {database} SET temp_file_limit = '256MB';");
            sql += "DO $$ BEGIN
                IF has_function_privilege('public', 'lo_create(oid)', 'EXECUTE') THEN
                    REVOKE EXECUTE ON FUNCTION lo_creat(integer), lo_create(oid), lo_from_bytea(oid, bytea) FROM PUBLIC;
                END IF;
            END $$;";
        }
        sql
    }

    /// Asks the server what it has made of it: REVOKE by someone who may not is only a warning, and roles may have had a life before.
    async fn verify(&self, connection: &mut PgConnection) -> Result<(), LoginError> {
        let taken: Option<(String, String)> = sqlx::query_as(
            "SELECT nspname::text, pg_get_userbyid(nspowner)::text FROM pg_namespace
             JOIN (VALUES ('level3', $1), ('shared', $1), ('agent', $2)) AS wanted (name, owner) ON nspname = name
             WHERE pg_get_userbyid(nspowner) <> owner LIMIT 1",
        )
        .bind(&self.names.app)
        .bind(&self.names.agent)
        .fetch_optional(&mut *connection)
        .await
        .map_err(self.refused("list schemas"))?;
        if let Some((schema, owner)) = taken {
            return Err(LoginError::SchemaTaken { schema, owner, database: self.names.database.clone() });
        }
        let excess: Option<String> = sqlx::query_scalar(
            "SELECT what FROM pg_roles AS role CROSS JOIN LATERAL (VALUES
                 ('has a role attribute', rolsuper OR rolcreaterole OR rolcreatedb OR rolbypassrls OR rolreplication),
                 ('is a member of another role', EXISTS (SELECT FROM pg_auth_members WHERE member = role.oid)),
                 ('may make schemas', has_database_privilege(role.oid, current_database(), 'CREATE')),
                 ('may make temporary tables', has_database_privilege(role.oid, current_database(), 'TEMP')),
                 ('may use the schema level3', has_schema_privilege(role.oid, 'level3', 'USAGE, CREATE')),
                 ('may make things in the schema shared', has_schema_privilege(role.oid, 'shared', 'CREATE')),
                 ('may make things in the schema public',
                  COALESCE(has_schema_privilege(role.oid, to_regnamespace('public')::oid, 'CREATE'), false))
             ) AS fence (what, broken)
             WHERE rolname = $1 AND broken LIMIT 1",
        )
        .bind(&self.names.agent)
        .fetch_optional(connection)
        .await
        .map_err(self.refused("check the agent's rights"))?;
        excess.map_or(Ok(()), |excess| Err(LoginError::Excess { role: self.names.agent.clone(), excess }))
    }

    /// Database, app and agent, fit for SQL.
    fn quoted(&self) -> (String, String, String) {
        (quote(&self.names.database), quote(&self.names.app), quote(&self.names.agent))
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
