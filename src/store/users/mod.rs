//! Users: who has an account here, what opens its door, and how one is removed with all that is
//! theirs.

mod doors;
mod removing;
mod secret;

use std::borrow::Cow;

use chrono::{DateTime, TimeDelta, Utc};
use sqlx::{query, query_as, query_scalar};

pub use doors::{Passwordless, Recognized, WhoIs};
pub use secret::DoorSecret;

use super::{Store, StoreError, Theirs, word};
use crate::domain::todo::zone_named;
use crate::domain::{ConversationId, Requests, Tier, UserId, UserRole, seen_name, unturned, user_key, valid_display_name};
use crate::wire::api::{AddUser, ChangeUser, ListedUser, UserInfo};

/// How long the use of models is summed up for the list of users.
const USED: TimeDelta = TimeDelta::days(30);

/// The reason why nothing was done about a user. Nothing was changed.
#[derive(Debug, thiserror::Error)]
pub enum UserError {
    /// Nobody has this name.
    #[error("there is no user `{0}`")]
    Unknown(String),
    /// Somebody has it.
    #[error("there is a user `{0}` already; names are compared without regard to case")]
    Taken(String),
    /// The owner stays what they are.
    #[error("{0}")]
    Owner(&'static str),
    /// Nobody can be called so, for this reason.
    #[error("`display_name`: {0}")]
    DisplayName(String),
    /// Others know a user by the name, so nothing in it can be hidden.
    #[error("the name holds the value of a secret, which is kept nowhere in the clear; take another name")]
    HoldsSecret,
    /// There is no such zone.
    #[error("there is no time zone `{0}`; write it like Europe/Berlin, a region and a city of it")]
    Zone(String),
    /// The database did not answer.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<sqlx::Error> for UserError {
    fn from(error: sqlx::Error) -> Self {
        Self::Store(error.into())
    }
}

/// A row of `users`, as the macros read it.
struct Row {
    id: i64,
    name: String,
    display_name: String,
    role: String,
    tier: String,
    time_zone: String,
    password: bool,
    disabled_at: Option<DateTime<Utc>>,
    created_at: DateTime<Utc>,
}

impl TryFrom<Row> for UserInfo {
    type Error = StoreError;

    fn try_from(row: Row) -> Result<Self, StoreError> {
        Ok(Self {
            id: UserId(row.id),
            name: row.name,
            display_name: unturned(&row.display_name),
            role: word(&row.role)?,
            tier: word(&row.tier)?,
            time_zone: row.time_zone,
            password: row.password,
            disabled_at: row.disabled_at,
            created_at: row.created_at,
        })
    }
}

impl Store {
    /// The user of this name, whatever its case.
    ///
    /// # Errors
    /// [`UserError::Unknown`], or if the database does not answer.
    pub async fn user_named(&self, name: &str) -> Result<UserInfo, UserError> {
        let row = query_as!(
            Row,
            r#"SELECT id, name, display_name, role, tier, time_zone, password_hash IS NOT NULL AS "password!", disabled_at, created_at
               FROM users WHERE name_key = $1"#,
            user_key(name)
        );
        let row = row.fetch_optional(&self.pool).await?.ok_or_else(|| UserError::Unknown(name.to_owned()))?;
        Ok(row.try_into()?)
    }

    /// Every user with numbers about them, the oldest first.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn users(&self, now: DateTime<Utc>) -> Result<Vec<ListedUser>, StoreError> {
        let rows = query!(
            r#"SELECT id, name, display_name, role, tier, time_zone, password_hash IS NOT NULL AS "password!", disabled_at, created_at,
                      (SELECT count(*) FROM conversations c WHERE c.user_id = u.id) AS "conversations!",
                      (SELECT count(*) FROM tasks t WHERE t.user_id = u.id AND t.status IN ('pending', 'in_progress')) AS "open_tasks!",
                      (SELECT count(*) FROM user_tokens t WHERE t.user_id = u.id) AS "tokens!",
                      coalesce(used.requests, 0) AS "requests!", coalesce(used.input, 0) AS "input!", coalesce(used.output, 0) AS "output!",
                      CASE WHEN used.requests IS NULL THEN 0 ELSE used.cost END AS cost
               FROM users u LEFT JOIN (
                   SELECT c.user_id, count(*) AS requests,
                          least(coalesce(sum(r.input_tokens), 0), 9223372036854775807)::bigint AS input,
                          least(coalesce(sum(r.output_tokens), 0), 9223372036854775807)::bigint AS output,
                          CASE WHEN count(*) = count(r.cost_micros) THEN least(sum(r.cost_micros), 9223372036854775807)::bigint END AS cost
                   FROM model_requests r JOIN turns t USING (turn_id) JOIN conversations c USING (conversation_id)
                   WHERE r.model <> 'level3' AND r.created_at >= $1 GROUP BY c.user_id) used ON used.user_id = u.id
               ORDER BY id"#,
            now - USED
        );
        let count = |number: i64| u64::try_from(number).unwrap_or(0);
        let listed = rows.fetch_all(&self.pool).await?.into_iter().map(|row| {
            let (conversations, open_tasks, tokens) = (row.conversations, row.open_tasks, row.tokens);
            let used = Requests {
                requests: count(row.requests),
                input_tokens: count(row.input),
                output_tokens: count(row.output),
                cost_micros: row.cost.map(count),
            };
            let user = Row {
                id: row.id,
                name: row.name,
                display_name: row.display_name,
                role: row.role,
                tier: row.tier,
                time_zone: row.time_zone,
                password: row.password,
                disabled_at: row.disabled_at,
                created_at: row.created_at,
            };
            Ok(ListedUser { user: user.try_into()?, conversations, open_tasks, tokens, used })
        });
        listed.collect()
    }

    /// Adds a member, who has no password yet.
    ///
    /// # Errors
    /// [`UserError`].
    pub async fn add_user(&self, new: &AddUser, now: DateTime<Utc>) -> Result<UserInfo, UserError> {
        if let Some(zone) = &new.time_zone {
            self.is_time_zone(zone).await?;
        }
        if self.clean(&new.name) != new.name.as_str() {
            return Err(UserError::HoldsSecret);
        }
        let display_name = self.display_name(new.display_name.as_deref())?;
        let made = query!(
            "INSERT INTO users (name, name_key, display_name, tier, time_zone, created_at) VALUES ($1, $2, $3, $4, $5, $6)
             ON CONFLICT (name_key) DO NOTHING",
            new.name,
            user_key(&new.name),
            display_name.as_deref().unwrap_or(&new.name),
            new.tier.unwrap_or(Tier::Free).as_str(),
            new.time_zone.as_deref().unwrap_or("UTC"),
            now
        );
        if made.execute(&self.pool).await?.rows_affected() == 0 {
            return Err(UserError::Taken(new.name.clone()));
        }
        // From the second user on, requests have to say whose they are.
        self.signals.users_changed();
        self.user_named(&new.name).await
    }

    /// Changes a user. A disabled user has no open door from then on.
    ///
    /// # Errors
    /// [`UserError`].
    pub async fn change_user(&self, user: UserId, change: &ChangeUser, now: DateTime<Utc>) -> Result<(), UserError> {
        if change.role.is_some_and(|role| role != UserRole::of(user)) {
            return Err(UserError::Owner("the owner is user number 1, and there is one; every other user is a member"));
        }
        let display_name = self.display_name(change.display_name.as_deref())?;
        if user == UserId::OWNER && change.disabled == Some(true) {
            return Err(UserError::Owner("the owner cannot be disabled"));
        }
        if let Some(zone) = &change.time_zone {
            self.is_time_zone(zone).await?;
        }
        query!(
            "UPDATE users SET
                 display_name = coalesce(nullif(trim($2), ''), display_name), tier = coalesce($3, tier), time_zone = coalesce($4, time_zone),
                 disabled_at = CASE WHEN $5::boolean IS NULL THEN disabled_at WHEN $5 THEN coalesce(disabled_at, $6) END
             WHERE id = $1",
            user.0,
            display_name.as_deref(),
            change.tier.map(Tier::as_str),
            change.time_zone,
            change.disabled,
            now
        )
        .execute(&self.pool)
        .await?;
        self.signals.users_changed();
        Ok(())
    }

    /// The role of a conversation's person: how much they may do here.
    ///
    /// # Errors
    /// [`StoreError::NoConversation`], or if the database does not answer.
    pub async fn role_in(&self, conversation: ConversationId) -> Result<UserRole, StoreError> {
        let role = sqlx::query_scalar::<_, String>(
            "SELECT u.role FROM users u JOIN conversations c ON c.user_id = u.id WHERE c.conversation_id = $1",
        );
        let role = role.bind(conversation.0).fetch_optional(&self.pool).await?;
        word(&role.ok_or(StoreError::NoConversation(conversation))?)
    }

    /// A display name in the form that is kept; refused if nobody can be called by it.
    fn display_name<'n>(&self, name: Option<&'n str>) -> Result<Option<Cow<'n, str>>, UserError> {
        let name = name.map(|name| self.clean(seen_name(name)));
        name.as_deref().map_or(Ok(()), valid_display_name).map_err(UserError::DisplayName)?;
        Ok(name)
    }

    /// Refuses a name that no zone has.
    async fn is_time_zone(&self, zone: &str) -> Result<(), UserError> {
        let known = query_scalar!(r#"SELECT EXISTS (SELECT FROM pg_timezone_names WHERE name = $1) AS "known!""#, zone);
        // The database knows more names than the IANA, such as that of its own machine's clock.
        match zone_named(zone).is_ok() && known.fetch_one(&self.pool).await? {
            true => Ok(()),
            false => Err(UserError::Zone(zone.to_owned())),
        }
    }
}

impl Theirs {
    /// The user.
    ///
    /// # Errors
    /// If the database does not answer, or they are no more.
    pub async fn me(&self) -> Result<UserInfo, StoreError> {
        let row = query_as!(
            Row,
            r#"SELECT id, name, display_name, role, tier, time_zone, password_hash IS NOT NULL AS "password!", disabled_at, created_at
               FROM users WHERE id = $1"#,
            self.user.0
        );
        row.fetch_one(&self.store.pool).await?.try_into()
    }

    /// Changes what a user says of themselves.
    ///
    /// # Errors
    /// [`UserError`].
    pub async fn change_me(&self, change: ChangeUser, now: DateTime<Utc>) -> Result<(), UserError> {
        let ChangeUser { display_name, time_zone, .. } = change;
        self.store.change_user(self.user, &ChangeUser { display_name, time_zone, ..ChangeUser::default() }, now).await
    }
}
