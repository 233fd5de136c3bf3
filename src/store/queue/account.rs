//! The account of a turn for a person: the requests that it made to models, and how long it took.

use serde::Deserialize;
use sqlx::query_scalar;

use crate::domain::{Requests, TurnId};
use crate::store::{StoreError, Unit, value};

/// The account as `turn_account` gives it.
#[derive(Deserialize)]
pub(super) struct TurnAccount {
    pub(super) usage: Requests,
    pub(super) ms: i64,
}

impl Unit {
    /// The account of a turn that ends now.
    pub(super) async fn account_of(&mut self, turn: TurnId) -> Result<TurnAccount, StoreError> {
        let account = query_scalar!(r#"SELECT turn_account($1, $2) AS "account!""#, turn.0, self.now);
        value(account.fetch_one(&mut *self.tx).await?)
    }
}
