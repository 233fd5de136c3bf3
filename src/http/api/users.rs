//! The users of the server, for its owner: names, tiers and numbers. All that they say and keep is
//! theirs.

use axum::Json;
use axum::http::StatusCode;
use serde::Deserialize;

use super::reply::{ApiRefusal, At, Body, QueryString, Reply};
use crate::domain::{UserId, user_key, valid_password, valid_user_name};
use crate::http::Doors;
use crate::http::access::{CameBy, SIGN_IN};
use crate::http::visitor::{Owner, Visitor};
use crate::store::DoorSecret;
use crate::wire::api::{AddUser, ChangeUser, Invited, MadeToken, RemovedUser, RevokedTokens, SetPassword, UserInfo, Users};

/// The most users: each may have a conversation open, and a list of them is shown whole.
const MOST_USERS: usize = 1000;

pub(super) async fn list(Owner(doors): Owner) -> Reply<Users> {
    Ok(Json(Users { users: doors.store.users(doors.clock.now()).await? }))
}

pub(super) async fn add(Owner(doors): Owner, Body(new): Body<AddUser>) -> Result<(StatusCode, Json<Invited>), ApiRefusal> {
    valid_user_name(&new.name).map_err(|why| ApiRefusal::bad(format!("`name`: {why}")).at("name", &why))?;
    if doors.store.users(doors.clock.now()).await?.len() >= MOST_USERS {
        return Err(ApiRefusal::conflict(format!("there are {MOST_USERS} users, which is the most")));
    }
    if !doors.access.has_token() && !doors.store.owner_has_password().await? {
        let told = "with a second user everybody has to sign in: set your own password first (level3 user password owner), else you could not";
        return Err(ApiRefusal::conflict(told));
    }
    let user = doors.store.add_user(&new, doors.clock.now()).await?;
    tracing::info!(user = %user.id, "a user was added");
    Ok((StatusCode::CREATED, Json(invited(&doors, user).await?)))
}

/// A link for a user who has lost theirs, or their password.
pub(super) async fn invite(Owner(doors): Owner, At(name): At<String>) -> Result<(StatusCode, Json<Invited>), ApiRefusal> {
    let user = doors.store.user_named(&name).await?;
    Ok((StatusCode::CREATED, Json(invited(&doors, user).await?)))
}

async fn invited(doors: &Doors, user: UserInfo) -> Result<Invited, ApiRefusal> {
    let secret = DoorSecret::new(&*doors.access.random);
    let expires_at = doors.store.invite(user.id, &secret, doors.clock.now()).await?;
    // Behind the `#`, so that no server, proxy or log sees it.
    Ok(Invited { user, link: format!("{SIGN_IN}#{}", secret.shown()), expires_at })
}

pub(super) async fn change(Owner(doors): Owner, At(name): At<String>, Body(change): Body<ChangeUser>) -> Reply<UserInfo> {
    let user = doors.store.user_named(&name).await?.id;
    doors.store.change_user(user, &change, doors.clock.now()).await?;
    Ok(Json(doors.store.user_named(&name).await?))
}

pub(super) async fn set_password(
    Owner(doors): Owner,
    visitor: Visitor,
    At(name): At<String>,
    Body(SetPassword { password, .. }): Body<SetPassword>,
) -> Reply<UserInfo> {
    valid_password(&password).map_err(ApiRefusal::bad)?;
    let user = doors.store.user_named(&name).await?;
    if user.id == UserId::OWNER && user.password && *visitor.entered() != CameBy::HouseToken {
        return Err(ApiRefusal::conflict(
            "the owner changes their password at /api/me/password, which asks for the one until now",
        ));
    }
    let hash = visitor.passwords().hash(password).await;
    doors.store.set_password(user.id, &hash, None).await?;
    tracing::info!(user = %user.id, "a password was set");
    Ok(Json(doors.store.user_named(&name).await?))
}

pub(super) async fn make_token(Owner(doors): Owner, At(name): At<String>) -> Result<(StatusCode, Json<MadeToken>), ApiRefusal> {
    let user = doors.store.user_named(&name).await?.id;
    let secret = DoorSecret::new(&*doors.access.random);
    doors.store.keep_token(user, &secret, doors.clock.now()).await?;
    tracing::info!(%user, "a token was made");
    Ok((StatusCode::CREATED, Json(MadeToken { token: secret.shown() })))
}

pub(super) async fn revoke_tokens(Owner(doors): Owner, At(name): At<String>) -> Reply<RevokedTokens> {
    let user = doors.store.user_named(&name).await?.id;
    Ok(Json(RevokedTokens { revoked: doors.store.revoke_tokens(user).await? }))
}

#[derive(Deserialize)]
pub(super) struct Named {
    /// The name again: a person who removes a user says twice whom.
    confirm: Option<String>,
}

pub(super) async fn remove(
    Owner(doors): Owner,
    At(name): At<String>,
    QueryString(Named { confirm }): QueryString<Named>,
) -> Reply<RemovedUser> {
    let user = doors.store.user_named(&name).await?;
    if confirm.is_none_or(|confirm| user_key(&confirm) != user_key(&name)) {
        let told = format!(
            "Remove {} with all conversations, tasks and messages that are theirs? It cannot be undone. Give this name again: after --confirm in a \
             command, after `?confirm=` in a request.",
            user.name
        );
        return Err(ApiRefusal::conflict(told));
    }
    let conversations = doors.store.remove_user(user.id).await?;
    tracing::info!(user = %user.id, conversations, "a user was removed");
    Ok(Json(RemovedUser { conversations, removed: user.name }))
}
