//! One run of the set-up of the logins: roles, schemas, rights, defaults, and a look at what the
//! server made of it.

use sqlx::postgres::PgConnection;
use sqlx::{AssertSqlSafe, Connection as _};

use super::FLOOR;
use super::error::{LoginError, quote};
use super::names::Names;
use super::password::{password, verifier};
use super::session::{FENCES, SETTINGS};

/// One at a time: role and database rows changed by two at once end in "tuple concurrently
/// updated". Any login that can call the function can hold such a lock, so it is waited for, and
/// not for ever. The last setting silences "already exists".
const LOCK: &str = "DO $$ BEGIN
        SET LOCAL lock_timeout = '10s';
        PERFORM pg_advisory_xact_lock(hashtext('level3 logins'));
    EXCEPTION WHEN lock_not_available THEN NULL;
    END $$;
    SET LOCAL lock_timeout = 0;
    SET LOCAL client_min_messages = warning";

/// Functions with which the agent could reach out of its schema: locks that lie in no schema and
/// that this program and its migrations take; signals to other connections of its own login;
/// objects that lie in no schema; words into the server's write-ahead log. The program itself keeps
/// them. They are found by name first: asking for the rights to all 3,000 functions would take a
/// tenth of a start.
pub(super) const FAR_FUNCTIONS: &str = "SELECT oid, proname, proacl FROM pg_proc
    WHERE pronamespace = 'pg_catalog'::regnamespace
      AND (proname ~ '^(pg_(try_)?advisory_|lo_|loread$|lowrite$|pg_logical_emit_message$)'
           OR proname IN ('pg_terminate_backend', 'pg_cancel_backend', 'pg_export_snapshot'))";

/// The members of each role. The program may cancel what the agent runs, and hand on what it made:
/// both need membership.
pub(super) const MEMBERS: &str = "GRANT {agent} TO {reader}, {writer}, {tables}, {full};
    GRANT {tables}, {code} TO {full};
    GRANT {agent}, {reader}, {writer}, {tables}, {code}, {full} TO {app};";

/// CREATE SCHEMA … AUTHORIZATION and default rights need membership, and from 16 on making a role
/// is not enough.
const ADMIN_IS_MEMBER: &str = "GRANT {app}, {agent}, {reader}, {writer}, {tables}, {code}, {full} TO CURRENT_USER;";

pub(super) const DATABASE: &str =
    "REVOKE ALL ON DATABASE {database} FROM PUBLIC, {agent}, {reader}, {writer}, {tables}, {code}, {full};
    GRANT CONNECT, CREATE ON DATABASE {database} TO {app};
    GRANT CONNECT ON DATABASE {database} TO {reader}, {writer}, {tables}, {full};";

/// `tables` and `full` make things, `code` is given some; what they make is at once as far open to
/// the others as it is to be.
pub(super) const SCHEMAS: &str = "CREATE SCHEMA IF NOT EXISTS level3 AUTHORIZATION {app};
    CREATE SCHEMA IF NOT EXISTS shared AUTHORIZATION {app};
    CREATE SCHEMA IF NOT EXISTS agent AUTHORIZATION {app};
    REVOKE CREATE ON SCHEMA agent FROM {agent}, {reader}, {writer};
    GRANT USAGE ON SCHEMA agent TO {agent}, {code};
    GRANT CREATE ON SCHEMA agent TO {tables}, {code}, {full};
    GRANT USAGE ON SCHEMA shared TO {agent};
    ALTER DEFAULT PRIVILEGES FOR ROLE {app}, {tables}, {code}, {full} REVOKE EXECUTE ON FUNCTIONS FROM PUBLIC;
    ALTER DEFAULT PRIVILEGES FOR ROLE {tables} REVOKE EXECUTE ON FUNCTIONS FROM {tables};
    ALTER DEFAULT PRIVILEGES FOR ROLE {tables} REVOKE TRUNCATE, TRIGGER ON TABLES FROM {tables};
    ALTER DEFAULT PRIVILEGES FOR ROLE {tables} IN SCHEMA agent GRANT SELECT ON TABLES TO {reader};
    ALTER DEFAULT PRIVILEGES FOR ROLE {tables} IN SCHEMA agent GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO {writer};
    ALTER DEFAULT PRIVILEGES FOR ROLE {tables} IN SCHEMA agent GRANT TRUNCATE, TRIGGER ON TABLES TO {full};
    ALTER DEFAULT PRIVILEGES FOR ROLE {tables} IN SCHEMA agent GRANT SELECT, TRIGGER ON TABLES TO {app};
    ALTER DEFAULT PRIVILEGES FOR ROLE {tables} IN SCHEMA agent GRANT SELECT ON SEQUENCES TO {reader}, {app};
    ALTER DEFAULT PRIVILEGES FOR ROLE {tables} IN SCHEMA agent GRANT USAGE, SELECT ON SEQUENCES TO {writer};
    DO $$ BEGIN
        IF to_regnamespace('public') IS NOT NULL THEN REVOKE CREATE ON SCHEMA public FROM PUBLIC; END IF;
    END $$;";

/// Functions that know the logins by name, and the program's own.
const FUNCTIONS: &str = include_str!("fence.sql");

/// One run of the set-up, in one transaction.
pub(super) struct Setup<'a> {
    pub(super) names: &'a Names,
    pub(super) admin: &'a str,
    pub(super) secret: Option<&'a str>,
}

impl Setup<'_> {
    /// Makes the logins; true if all was as the last run left it, so that nothing had to be made.
    pub(super) async fn run(&self, connection: &mut PgConnection) -> Result<bool, LoginError> {
        if self.is_as_left(connection).await {
            return Ok(true);
        }
        self.make(connection).await.map(|()| false)
    }

    async fn make(&self, connection: &mut PgConnection) -> Result<(), LoginError> {
        let mut transaction = connection.begin().await.map_err(self.refused("begin a transaction"))?;
        sqlx::raw_sql(LOCK).execute(&mut *transaction).await.map_err(self.refused("take a lock"))?;
        let superuser = self.check_admin(&mut transaction).await?;
        for (doing, statements) in [
            ("make the logins", self.roles(&mut transaction, superuser).await?),
            ("close the database to others", self.names.fill(DATABASE)),
            ("make the schemas", self.schemas(&mut transaction).await?),
        ] {
            sqlx::raw_sql(AssertSqlSafe(statements)).execute(&mut *transaction).await.map_err(self.refused(doing))?;
        }
        self.verify_schemas(&mut transaction).await?;
        for (doing, statements) in [
            ("hand on what the agent's one login made", self.adoption()),
            ("set the logins' defaults", self.settings(superuser)),
            ("close functions to the agent", if superuser { self.functions(&mut transaction).await? } else { String::new() }),
        ] {
            sqlx::raw_sql(AssertSqlSafe(statements)).execute(&mut *transaction).await.map_err(self.refused(doing))?;
        }
        self.verify(&mut transaction).await?;
        if superuser && self.secret.is_none() {
            self.leave_mark(&mut transaction).await.map_err(self.refused("note what was made"))?;
        }
        transaction.commit().await.map_err(self.refused("commit"))
    }

    fn refused(&self, doing: &'static str) -> impl Fn(sqlx::Error) -> LoginError {
        let user = self.admin.to_owned();
        move |source| LoginError::Refused { doing, user: user.clone(), source }
    }

    /// True if the administrator is a superuser. An error if its rights are too few for what
    /// follows.
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
        let present: Vec<String> = sqlx::query_scalar("SELECT rolname::text FROM pg_roles WHERE rolname = ANY ($1)")
            .bind(self.names.all())
            .fetch_all(connection)
            .await
            .map_err(self.refused("list logins"))?;
        let mut sql = String::new();
        for role in self.names.all() {
            if !present.iter().any(|there| there == role) {
                sql += &format!("CREATE ROLE {};", quote(role));
            }
            let enters = role != self.names.agent && role != self.names.code;
            // The server, and perhaps its log, gets the verifier and not the password.
            let password = match self.secret.filter(|_| enters) {
                Some(secret) => format!("'{}'", verifier(&password(secret, role))),
                None => "NULL".to_owned(),
            };
            let login = if enters { "LOGIN" } else { "NOLOGIN" };
            sql += &format!("ALTER ROLE {} {login} INHERIT PASSWORD {password};", quote(role));
        }
        sql += &self.names.fill(MEMBERS);
        if !superuser {
            sql += &self.names.fill(ADMIN_IS_MEMBER);
        }
        Ok(sql)
    }

    async fn schemas(&self, connection: &mut PgConnection) -> Result<String, LoginError> {
        // The agent's login owned its schema once.
        let owned: bool = sqlx::query_scalar(
            "SELECT EXISTS (SELECT FROM pg_namespace WHERE nspname = 'agent' AND pg_get_userbyid(nspowner) = $1)",
        )
        .bind(&self.names.agent)
        .fetch_one(connection)
        .await
        .map_err(self.refused("list schemas"))?;
        let take = if owned { "ALTER SCHEMA agent OWNER TO {app};" } else { "" };
        Ok(self.names.fill(&format!("{take}{SCHEMAS}")))
    }

    /// Hands over the things that the one login of earlier versions made. Its functions were never
    /// shown to a person: only what one approves may call them.
    pub(super) fn adoption(&self) -> String {
        let Names { app, agent, .. } = self.names;
        let agent = agent.replace('\'', "''");
        format!("SET LOCAL ROLE {}; {FUNCTIONS} RESET ROLE; SELECT level3.adopt('{agent}', FALSE);", quote(app))
    }

    pub(super) fn settings(&self, superuser: bool) -> String {
        let mut sql = "ALTER ROLE {app} IN DATABASE {database} SET search_path = level3;
             -- A server that was frozen in a transaction must not keep its locks from the others.
             ALTER ROLE {app} IN DATABASE {database} SET idle_in_transaction_session_timeout = '30s';"
            .to_owned();
        for role in ["{agent}", "{reader}", "{writer}", "{tables}", "{code}", "{full}"] {
            // RESET first: a login may change its own defaults, so the agent's may have been
            // changed by the agent.
            sql += &format!("ALTER ROLE {role} RESET ALL; ALTER ROLE {role} IN DATABASE {{database}} RESET ALL;");
        }
        for role in ["{reader}", "{writer}", "{tables}", "{full}"] {
            // Only a superuser can set the fences.
            let fences = FENCES.iter().filter(|_| superuser);
            for (setting, value, _) in SETTINGS.iter().chain(fences) {
                sql += &format!("ALTER ROLE {role} IN DATABASE {{database}} SET {setting} = {value};");
            }
        }
        self.names.fill(&sql)
    }

    async fn functions(&self, connection: &mut PgConnection) -> Result<String, LoginError> {
        let question = AssertSqlSafe(format!(
            "WITH far AS MATERIALIZED ({FAR_FUNCTIONS})
             SELECT format('pg_catalog.%I(%s)', proname, pg_get_function_identity_arguments(oid)) FROM far
             WHERE has_function_privilege('public', oid, 'EXECUTE')"
        ));
        let open: Vec<String> =
            sqlx::query_scalar(question).fetch_all(connection).await.map_err(self.refused("list functions"))?;
        let app = quote(&self.names.app);
        let close = |f: &String| format!("REVOKE EXECUTE ON FUNCTION {f} FROM PUBLIC; GRANT EXECUTE ON FUNCTION {f} TO {app};");
        Ok(open.iter().map(close).collect())
    }

    /// A schema of that name may have been there before, and belong to somebody else.
    async fn verify_schemas(&self, connection: &mut PgConnection) -> Result<(), LoginError> {
        let taken: Option<(String, String)> = sqlx::query_as(
            "SELECT nspname::text, pg_get_userbyid(nspowner)::text FROM pg_namespace
             JOIN (VALUES ('level3', $1), ('shared', $1), ('agent', $1)) AS wanted (name, owner) ON nspname = name
             WHERE pg_get_userbyid(nspowner) <> owner LIMIT 1",
        )
        .bind(&self.names.app)
        .fetch_optional(&mut *connection)
        .await
        .map_err(self.refused("list schemas"))?;
        if let Some((schema, owner)) = taken {
            return Err(LoginError::SchemaTaken { schema, owner, database: self.names.database.clone() });
        }
        Ok(())
    }

    /// Asks the server what it has made of it: REVOKE by someone who may not is only a warning, and
    /// roles may have had a life before.
    async fn verify(&self, connection: &mut PgConnection) -> Result<(), LoginError> {
        let Names { agent, tables, code, full, .. } = self.names;
        let makers = [tables.as_str(), code, full];
        let excess: Option<(String, String)> = sqlx::query_as(
            "SELECT rolname::text, what FROM pg_roles AS role CROSS JOIN LATERAL (VALUES
                 ('has a role attribute', rolsuper OR rolcreaterole OR rolcreatedb OR rolbypassrls OR rolreplication),
                 ('is a member of another role', EXISTS (
                     SELECT FROM pg_auth_members JOIN pg_roles AS other ON other.oid = roleid
                     WHERE member = role.oid AND NOT (other.rolname = $2 AND role.rolname <> $2)
                       AND NOT (role.rolname = $3 AND other.rolname = ANY ($4)))),
                 ('may make schemas', has_database_privilege(role.oid, current_database(), 'CREATE')),
                 ('may make temporary tables', has_database_privilege(role.oid, current_database(), 'TEMP')),
                 ('may use the schema level3', has_schema_privilege(role.oid, 'level3', 'USAGE, CREATE')),
                 ('may make things in the schema shared', has_schema_privilege(role.oid, 'shared', 'CREATE')),
                 ('may make things in the schema agent',
                  NOT rolname = ANY ($4) AND has_schema_privilege(role.oid, 'agent', 'CREATE')),
                 ('may make things in the schema public',
                  COALESCE(has_schema_privilege(role.oid, to_regnamespace('public')::oid, 'CREATE'), false))
             ) AS fence (what, broken)
             WHERE rolname = ANY ($1) AND broken LIMIT 1",
        )
        .bind(self.names.agents())
        .bind(agent)
        .bind(full)
        .bind(makers)
        .fetch_optional(connection)
        .await
        .map_err(self.refused("check the agent's rights"))?;
        excess.map_or(Ok(()), |(role, excess)| Err(LoginError::Excess { role, excess }))
    }
}
