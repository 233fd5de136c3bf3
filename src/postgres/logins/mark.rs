//! A mark that says what the last run of the set-up left: a sum of what it does and of what it
//! made. While both are the same, a start makes nothing anew: one statement looks at all of it, and
//! more than a hundred need not run.
//!
//! The mark is a comment on the program's role. No login of the agent, and not the program's, may
//! write one there, and what it stands for is looked at and not believed. Everybody may read it, so
//! nothing of a password is in it: with one, and for an administrator who may not see the logins'
//! own, each start makes everything anew.

use sha2::{Digest as _, Sha256};
use sqlx::AssertSqlSafe;
use sqlx::postgres::PgConnection;

use super::error::quote;
use super::setup::{DATABASE, FAR_FUNCTIONS, MEMBERS, SCHEMAS, Setup};

/// Everything that a run makes, checks or depends on, as text. A row holds the rights in it with
/// the names of who has them.
const STATE: &str = "SELECT concat_ws(E'\\n', version(), current_user,
        (SELECT string_agg(a::text, ' ' ORDER BY a.oid) FROM pg_authid a WHERE rolname = ANY ($1)),
        (SELECT string_agg(m::text, ' ' ORDER BY m::text) FROM pg_auth_members m
         WHERE m.roleid IN (SELECT oid FROM ours) OR m.member IN (SELECT oid FROM ours)),
        (SELECT string_agg(s::text, ' ' ORDER BY s.setdatabase, s.setrole) FROM pg_db_role_setting s
         WHERE s.setrole IN (SELECT oid FROM ours)),
        (SELECT concat_ws(':', d.oid, d.datdba, d.datacl) FROM pg_database d WHERE d.datname = current_database()),
        (SELECT string_agg(n::text, ' ' ORDER BY n.oid) FROM pg_namespace n WHERE nspname IN ('level3', 'shared', 'agent', 'public')),
        (SELECT string_agg(d::text, ' ' ORDER BY d.oid) FROM pg_default_acl d),
        (SELECT string_agg(p::text, ' ' ORDER BY p.oid) FROM pg_proc p
         WHERE proname IN ('adopt', 'adopt_approved')
           AND pronamespace IN (SELECT oid FROM pg_namespace WHERE nspname IN ('level3', 'shared'))),
        (SELECT string_agg(concat_ws(':', f.oid, f.proacl), ' ' ORDER BY f.oid) FROM ({FAR}) f),
        (SELECT count(*) FROM pg_shdepend WHERE refclassid = 'pg_authid'::regclass AND deptype = 'o'
           AND refobjid IN (SELECT oid FROM ours WHERE rolname = $2)))";

impl Setup<'_> {
    /// True if the last run left a mark, and all is as it was then. If that cannot be seen, a new
    /// run says why.
    pub(super) async fn is_as_left(&self, connection: &mut PgConnection) -> bool {
        let superuser = sqlx::query_scalar("SELECT current_setting('is_superuser')::boolean");
        if self.secret.is_some() || !superuser.fetch_one(&mut *connection).await.unwrap_or(false) {
            return false;
        }
        let question = format!("{}, (SELECT shobj_description(oid, 'pg_authid') FROM ours WHERE rolname = $3)", Self::state());
        let seen: Result<(String, Option<String>), _> = sqlx::query_as(AssertSqlSafe(question))
            .bind(self.names.all())
            .bind(&self.names.agent)
            .bind(&self.names.app)
            .fetch_one(connection)
            .await;
        seen.is_ok_and(|(state, mark)| mark == Some(self.mark(&state)))
    }

    /// Notes what was made.
    pub(super) async fn leave_mark(&self, connection: &mut PgConnection) -> Result<(), sqlx::Error> {
        let state: String = sqlx::query_scalar(AssertSqlSafe(Self::state()))
            .bind(self.names.all())
            .bind(&self.names.agent)
            .fetch_one(&mut *connection)
            .await?;
        let statement = format!("COMMENT ON ROLE {} IS '{}'", quote(&self.names.app), self.mark(&state));
        sqlx::raw_sql(AssertSqlSafe(statement)).execute(connection).await.map(drop)
    }

    fn state() -> String {
        let ours = "WITH ours AS MATERIALIZED (SELECT oid, rolname FROM pg_roles WHERE rolname = ANY ($1))";
        format!("{ours} {}", STATE.replace("{FAR}", FAR_FUNCTIONS))
    }

    /// The sum of the statements that this program would run, and of the state they left.
    fn mark(&self, state: &str) -> String {
        let (adoption, settings) = (self.adoption(), self.settings(true));
        let mut sum = Sha256::new();
        for part in [STATE, MEMBERS, DATABASE, SCHEMAS, FAR_FUNCTIONS, &adoption, &settings, state] {
            sum.update(part.len().to_le_bytes());
            sum.update(part);
        }
        format!("set up by level3: {}", hex::encode(sum.finalize()))
    }
}
