//! A user is removed with all that is theirs: see the migration `remove_users`.

use sqlx::query_scalar;

use super::UserError;
use crate::domain::UserId;
use crate::store::Store;

impl Store {
    /// Removes a member with everything that is theirs; gives how many conversations that were.
    /// Work on their turns ends: it finds them gone.
    ///
    /// # Errors
    /// [`UserError`].
    pub async fn remove_user(&self, user: UserId) -> Result<i64, UserError> {
        if user == UserId::OWNER {
            return Err(UserError::Owner("the owner cannot be removed"));
        }
        let removed = query_scalar!(r#"SELECT remove_user($1) AS "conversations!""#, user.0).fetch_one(&self.pool).await?;
        self.users_of.forget(user);
        // Turns behind those that are gone may begin.
        self.signals.queue().notify_one();
        self.signals.users_changed();
        Ok(removed)
    }
}
