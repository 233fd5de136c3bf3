//! The JSON of `/api/users`, `/api/me` and `/sign-in`: who has an account here, and what opens its
//! door.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use super::law::Requests;
use crate::domain::{Tier, UserId, UserRole};

/// A user.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct UserInfo {
    /// Their number.
    pub id: UserId,
    /// The name with which they sign in.
    pub name: String,
    /// The name by which they are called.
    pub display_name: String,
    /// Their role.
    pub role: UserRole,
    /// How much they may use.
    pub tier: Tier,
    /// Their time zone, by its name of the IANA.
    pub time_zone: String,
    /// True if they have a password.
    pub password: bool,
    /// The time from which on they may not come in; `None`: they may.
    pub disabled_at: Option<DateTime<Utc>>,
    /// When they were added.
    pub created_at: DateTime<Utc>,
}

/// `GET /api/users`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Users {
    /// The oldest first.
    pub users: Vec<ListedUser>,
}

/// A user, as the owner sees them: numbers, and nothing that they said.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ListedUser {
    /// The user.
    #[serde(flatten)]
    pub user: UserInfo,
    /// Their conversations.
    pub conversations: i64,
    /// Their tasks that are not over.
    pub open_tasks: i64,
    /// Their tokens.
    pub tokens: i64,
    /// The requests to models that were made for them in the last 30 days.
    pub used: Requests,
}

/// The body of `POST /api/users`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AddUser {
    /// The name with which they will sign in.
    pub name: String,
    /// The name by which they are called; without it, the same.
    pub display_name: Option<String>,
    /// How much they may use; without it, `free`.
    pub tier: Option<Tier>,
    /// Their time zone; without it, UTC.
    pub time_zone: Option<String>,
}

/// The answer: the secret of a link that works once, shown once.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Invited {
    /// The user.
    pub user: UserInfo,
    /// The address of the link, without the server's own.
    pub link: String,
    /// The end of the link.
    pub expires_at: DateTime<Utc>,
}

/// The body of `PATCH /api/users/{name}`; what is left out stays.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChangeUser {
    /// The name by which they are called.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub display_name: Option<String>,
    /// Their role.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<UserRole>,
    /// How much they may use.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tier: Option<Tier>,
    /// Their time zone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_zone: Option<String>,
    /// True if they may not come in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disabled: Option<bool>,
}

/// The body of `PATCH /api/me`; what is left out stays.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChangeMe {
    /// The name by which one is called.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub display_name: Option<String>,
    /// One's time zone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_zone: Option<String>,
}

/// The body of `PUT /api/users/{name}/password` and of `PUT /api/me/password`. Nothing prints it.
#[derive(Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SetPassword {
    /// The new one.
    pub password: String,
    /// The one until now; wanted of a person who has one and sets their own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub current: Option<String>,
}

/// The body of `POST /sign-in`. Nothing prints it.
#[derive(Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SignIn {
    /// The user's name.
    pub name: String,
    /// Their password.
    pub password: String,
}

/// The body of `POST /sign-in/password`. Nothing prints it.
#[derive(Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FirstPassword {
    /// The secret of the link.
    pub secret: String,
    /// The password.
    pub password: String,
}

/// The answer to `POST /api/users/{name}/tokens`: a token, shown once.
#[derive(Clone, Serialize, Deserialize)]
pub struct MadeToken {
    /// The token.
    pub token: String,
}

/// `DELETE /api/users/{name}/tokens`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RevokedTokens {
    /// How many there were.
    pub revoked: u64,
}

/// `DELETE /api/users/{name}`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RemovedUser {
    /// How many conversations went with them.
    pub conversations: i64,
    /// Their name.
    pub removed: String,
}

/// `GET /api/me`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Me {
    /// The user who asks.
    #[serde(flatten)]
    pub user: UserInfo,
    /// True if they signed in, and can sign out.
    pub signed_in: bool,
}

/// `GET /api/me/sessions`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OpenSessions {
    /// The newest first.
    pub sessions: Vec<OpenSession>,
}

/// A browser in which one is signed in.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OpenSession {
    /// Its number.
    pub id: i64,
    /// The browser, in its own words.
    pub client: String,
    /// When one signed in.
    pub created_at: DateTime<Utc>,
    /// When it was last used, to the hour.
    pub used_at: DateTime<Utc>,
    /// When it ends if it is not used.
    pub expires_at: DateTime<Utc>,
    /// True if this request came in by it.
    pub current: bool,
}

/// The answer to `PUT /api/me/password`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PasswordSet {
    /// True.
    pub set: bool,
}

/// `DELETE /api/me/sessions/{id}`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EndedSession {
    /// Its number.
    pub ended: i64,
}

/// The answer to `POST /sign-in`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SignedIn {
    /// True.
    pub signed_in: bool,
}

/// The answer to a request that ends the session by which it came in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SignedOut {
    /// True.
    pub signed_out: bool,
}
