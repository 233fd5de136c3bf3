//! The keys to a user's door: sessions of browsers, tokens of programs, links that work once, and
//! the password behind them.

use chrono::{DateTime, TimeDelta, Utc};
use sqlx::{query, query_as, query_scalar};

use super::DoorSecret;
use crate::domain::{UserId, user_key};
use crate::store::{Store, StoreError, Theirs};
use crate::wire::api::OpenSession;

/// How long a session lasts that is not used.
const SESSION: TimeDelta = TimeDelta::days(30);
/// How long a use of a session is not noted again.
const NOTED: TimeDelta = TimeDelta::hours(1);
/// How long a link works.
const INVITATION: TimeDelta = TimeDelta::hours(24);

/// The one who asks, as far as what they show says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WhoIs {
    /// True if the owner has no password and is alone: who passes the guard is the owner.
    pub open: bool,
    /// True if anybody can sign in, or will by a link.
    pub sign_in: bool,
    /// The user whose door it opens.
    pub found: Option<Recognized>,
}

/// A user whose door was opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Recognized {
    /// The user.
    pub user: UserId,
    /// The session; `None` if a token opened it.
    pub session: Option<i64>,
    /// True if the session was prolonged now, and the browser has to hear of it.
    pub prolonged: bool,
}

/// A user on their way in: the hash of the password, if they have one and may come in.
#[derive(Clone)]
pub struct Passwordless {
    /// The user.
    pub user: UserId,
    /// The hash.
    pub hash: Option<String>,
}

fn hashes(secrets: &[DoorSecret]) -> Vec<Vec<u8>> {
    secrets.iter().map(DoorSecret::sha256).collect()
}

impl Store {
    /// The user whose door one of these secrets opens. A session that is used lasts on.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn who_is(&self, sessions: &[DoorSecret], tokens: &[DoorSecret], now: DateTime<Utc>) -> Result<WhoIs, StoreError> {
        let row = query!(
            r#"SELECT NOT EXISTS (SELECT FROM users WHERE id <> 1 OR password_hash IS NOT NULL) AS "open!",
                      EXISTS (SELECT FROM users WHERE password_hash IS NOT NULL) OR EXISTS (SELECT FROM invitations) AS "sign_in!",
                      found.user_id AS "user?", found.session_id AS "session?", found.expires_at AS "expires_at?"
               FROM (SELECT) one LEFT JOIN LATERAL (
                   SELECT doors.user_id, doors.session_id, doors.expires_at
                   FROM (SELECT user_id, session_id, expires_at FROM sessions WHERE secret_sha256 = ANY($1) AND expires_at > $3
                         UNION ALL
                         SELECT user_id, NULL, NULL FROM user_tokens WHERE secret_sha256 = ANY($2)) doors
                       JOIN users u ON u.id = doors.user_id
                   WHERE u.disabled_at IS NULL LIMIT 1) found ON TRUE"#,
            &hashes(sessions),
            &hashes(tokens),
            now
        )
        .fetch_one(&self.pool)
        .await?;
        let mut found = row.user.map(|user| Recognized { user: UserId(user), session: row.session, prolonged: false });
        if let (Some(found), Some(session), Some(expires_at)) = (&mut found, row.session, row.expires_at)
            && expires_at < now + SESSION - NOTED
        {
            query!("UPDATE sessions SET used_at = $2, expires_at = $3 WHERE session_id = $1", session, now, now + SESSION)
                .execute(&self.pool)
                .await?;
            found.prolonged = true;
        }
        Ok(WhoIs { open: row.open, sign_in: row.sign_in, found })
    }

    /// True if the owner has a password.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn owner_has_password(&self) -> Result<bool, StoreError> {
        let has = query_scalar!(r#"SELECT password_hash IS NOT NULL AS "has!" FROM users WHERE id = $1"#, UserId::OWNER.0);
        Ok(has.fetch_one(&self.pool).await?)
    }

    /// The user of this name and the hash of their password; `None` if there is no such user who
    /// may come in.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn on_the_way_in(&self, name: &str) -> Result<Option<Passwordless>, StoreError> {
        let row = query!("SELECT id, password_hash FROM users WHERE name_key = $1 AND disabled_at IS NULL", user_key(name));
        let row = row.fetch_optional(&self.pool).await?;
        Ok(row.map(|row| Passwordless { user: UserId(row.id), hash: row.password_hash }))
    }

    /// Begins a session. Those that have ended are cleared away by the way.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn begin_session(
        &self,
        user: UserId,
        secret: &DoorSecret,
        client: &str,
        now: DateTime<Utc>,
    ) -> Result<i64, StoreError> {
        query!("DELETE FROM sessions WHERE user_id = $1 AND expires_at <= $2", user.0, now).execute(&self.pool).await?;
        let made = query_scalar!(
            "INSERT INTO sessions (user_id, secret_sha256, client, created_at, used_at, expires_at) VALUES ($1, $2, $3, $4, $4, $5)
             RETURNING session_id",
            user.0,
            secret.sha256(),
            client,
            now,
            now + SESSION
        );
        Ok(made.fetch_one(&self.pool).await?)
    }

    /// Sets a user's password. Every session of theirs ends but `keep`, and every link.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn set_password(&self, user: UserId, hash: &str, keep: Option<i64>) -> Result<(), StoreError> {
        let mut tx = self.pool.begin().await?;
        query!("UPDATE users SET password_hash = $2 WHERE id = $1", user.0, hash).execute(&mut *tx).await?;
        query!("DELETE FROM sessions WHERE user_id = $1 AND session_id IS DISTINCT FROM $2", user.0, keep)
            .execute(&mut *tx)
            .await?;
        query!("DELETE FROM invitations WHERE user_id = $1", user.0).execute(&mut *tx).await?;
        tx.commit().await?;
        self.signals.users_changed();
        Ok(())
    }

    /// Makes the link of a user, in the place of an earlier one; gives its end.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn invite(&self, user: UserId, secret: &DoorSecret, now: DateTime<Utc>) -> Result<DateTime<Utc>, StoreError> {
        let expires_at = now + INVITATION;
        query!(
            "INSERT INTO invitations (user_id, secret_sha256, created_at, expires_at) VALUES ($1, $2, $3, $4)
             ON CONFLICT (user_id) DO UPDATE SET secret_sha256 = $2, created_at = $3, expires_at = $4",
            user.0,
            secret.sha256(),
            now,
            expires_at
        )
        .execute(&self.pool)
        .await?;
        Ok(expires_at)
    }

    /// True if the link works.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn is_invited(&self, secret: &DoorSecret, now: DateTime<Utc>) -> Result<bool, StoreError> {
        let works = query_scalar!(
            r#"SELECT EXISTS (SELECT FROM invitations i JOIN users u ON u.id = i.user_id
                              WHERE secret_sha256 = $1 AND expires_at > $2 AND disabled_at IS NULL) AS "works!""#,
            secret.sha256(),
            now
        );
        Ok(works.fetch_one(&self.pool).await?)
    }

    /// Uses a link up: its user has this password from now on. `None` if it does not work any more.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn use_invitation(
        &self,
        secret: &DoorSecret,
        hash: &str,
        now: DateTime<Utc>,
    ) -> Result<Option<UserId>, StoreError> {
        let mut tx = self.pool.begin().await?;
        let used = query_scalar!(
            "DELETE FROM invitations i USING users u
             WHERE u.id = i.user_id AND secret_sha256 = $1 AND expires_at > $2 AND disabled_at IS NULL RETURNING u.id",
            secret.sha256(),
            now
        );
        let Some(user) = used.fetch_optional(&mut *tx).await? else { return Ok(None) };
        query!("UPDATE users SET password_hash = $2 WHERE id = $1", user, hash).execute(&mut *tx).await?;
        query!("DELETE FROM sessions WHERE user_id = $1", user).execute(&mut *tx).await?;
        tx.commit().await?;
        self.signals.users_changed();
        Ok(Some(UserId(user)))
    }

    /// Keeps a new token of a user.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn keep_token(&self, user: UserId, secret: &DoorSecret, now: DateTime<Utc>) -> Result<(), StoreError> {
        query!("INSERT INTO user_tokens (user_id, secret_sha256, created_at) VALUES ($1, $2, $3)", user.0, secret.sha256(), now)
            .execute(&self.pool)
            .await?;
        Ok(())
    }

    /// Takes all tokens of a user away; gives how many.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn revoke_tokens(&self, user: UserId) -> Result<u64, StoreError> {
        let gone = query!("DELETE FROM user_tokens WHERE user_id = $1", user.0).execute(&self.pool).await?.rows_affected();
        self.signals.users_changed();
        Ok(gone)
    }
}

impl Theirs {
    /// The hash of their password, if they have one.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn password_hash(&self) -> Result<Option<String>, StoreError> {
        let hash = query_scalar!("SELECT password_hash FROM users WHERE id = $1", self.user.0);
        Ok(hash.fetch_one(&self.store.pool).await?)
    }

    /// Sets their password. Every session of theirs ends but `keep`.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn set_password(&self, hash: &str, keep: Option<i64>) -> Result<(), StoreError> {
        self.store.set_password(self.user, hash, keep).await
    }

    /// Their sessions that have not ended, the newest first. `current` is marked.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn sessions(&self, current: Option<i64>, now: DateTime<Utc>) -> Result<Vec<OpenSession>, StoreError> {
        let rows = query_as!(
            OpenSession,
            r#"SELECT session_id AS id, client, created_at, used_at, expires_at, session_id IS NOT DISTINCT FROM $2 AS "current!"
               FROM sessions WHERE user_id = $1 AND expires_at > $3 ORDER BY session_id DESC"#,
            self.user.0,
            current,
            now
        );
        Ok(rows.fetch_all(&self.store.pool).await?)
    }

    /// Ends a session of theirs; false if they have none of this number.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn end_session(&self, session: i64) -> Result<bool, StoreError> {
        let ended = query!("DELETE FROM sessions WHERE session_id = $1 AND user_id = $2", session, self.user.0);
        let ended = ended.execute(&self.store.pool).await?.rows_affected() > 0;
        self.store.signals.users_changed();
        Ok(ended)
    }
}
