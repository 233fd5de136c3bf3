//! The one at the door, and what a handler therefore gets. A handler gets at the house by one of
//! three: as [`Owner`] at all of it, as [`Visitor`] at what is one user's, as [`Stranger`] at the
//! bell. One that takes none of them gets at nothing, so nobody has to remember to look (ADR 47).

use std::convert::Infallible;
use std::sync::Arc;

use axum::extract::{FromRequestParts, OriginalUri};
use axum::http::request::Parts;
use axum::response::{IntoResponse, Response};
use chrono::{DateTime, Utc};

use super::access::{self, CameBy, Guard, Visit};
use super::{ConnectionLimits, Doors, Passwords};
use crate::clock::Clock;
use crate::domain::{Profile, UserId, UserRole};
use crate::faces::campaigns::Campaigns;
use crate::faces::voice::{KnownCall, SpeechServers, Vapi};
use crate::model::Model;
use crate::profiles::{Profiles, UnknownProfile};
use crate::store::{StoreError, Theirs};

/// The state of the routers: the house, which only this module opens.
#[derive(Clone)]
pub(super) struct Closed(Arc<House>);

struct House {
    doors: Doors,
    guard: Guard,
    passwords: Passwords,
}

impl Closed {
    pub(super) fn new(doors: Doors, guard: Guard) -> Self {
        let passwords = Passwords::new(Arc::clone(&guard.access.random));
        Self(Arc::new(House { doors, guard, passwords }))
    }

    /// The reason why the process cannot do its work, if there is one.
    pub(super) async fn unready(&self) -> Option<String> {
        let store = &self.0.doors.store;
        if let Some(full) = store.full() {
            tracing::warn!(full, "not ready");
            return Some(full);
        }
        let error = store.ping().await.err()?;
        tracing::warn!(error = &error as &dyn std::error::Error, "not ready");
        Some("the database does not answer".to_owned())
    }
}

/// The owner, for whom the whole house is open.
pub(super) struct Owner(pub(super) Doors);

impl FromRequestParts<Closed> for Owner {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, closed: &Closed) -> Result<Self, Response> {
        let visitor = Visitor::from_request_parts(parts, closed).await?;
        match visitor.role() {
            UserRole::Owner => Ok(Self(closed.0.doors.clone())),
            UserRole::Member => Err(access::forbidden(&asked_for(parts))),
        }
    }
}

/// The whole path: behind a nested router the address has lost its beginning.
fn asked_for(parts: &Parts) -> String {
    parts.extensions.get::<OriginalUri>().map_or(parts.uri.path(), |OriginalUri(uri)| uri.path()).to_owned()
}

/// A user, who gets at what is theirs. Cheap to clone.
#[derive(Clone)]
pub(super) struct Visitor {
    house: Arc<House>,
    visit: Visit,
}

impl FromRequestParts<Closed> for Visitor {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, closed: &Closed) -> Result<Self, Response> {
        match parts.extensions.get::<Visit>() {
            Some(visit) => Ok(Self { house: Arc::clone(&closed.0), visit: visit.clone() }),
            None => Err(access::unknown_visitor(&asked_for(parts))),
        }
    }
}

impl Visitor {
    /// All that is theirs.
    pub(super) fn theirs(&self) -> Theirs {
        self.house.doors.store.of(self.visit.user)
    }

    /// Their number.
    pub(super) fn user(&self) -> UserId {
        self.visit.user
    }

    /// Their role.
    pub(super) fn role(&self) -> UserRole {
        UserRole::of(self.visit.user)
    }

    /// How they came in.
    pub(super) fn entered(&self) -> &CameBy {
        &self.visit.entered
    }

    /// True if they would still come in. A socket asks when somebody may have lost their way in.
    pub(super) async fn still_opens(&self) -> Result<bool, StoreError> {
        self.house.guard.still_opens(&self.visit).await
    }

    /// Tells of each time to ask that.
    pub(super) fn changes(&self) -> tokio::sync::watch::Receiver<u64> {
        self.house.doors.store.signals().users()
    }

    /// A profile that is open to them.
    pub(super) fn profile(&self, name: &str) -> Result<Arc<Profile>, UnknownProfile> {
        self.house.doors.profiles.open_to(self.role(), name)
    }

    /// The campaigns, if they are theirs to steer.
    pub(super) fn campaigns(&self) -> Option<&Campaigns> {
        (self.role() == UserRole::Owner).then_some(&self.house.doors.campaigns)
    }

    /// Calls by Vapi.
    pub(super) fn vapi(&self) -> &Vapi {
        &self.house.doors.vapi
    }

    /// The clock.
    pub(super) fn clock(&self) -> &dyn Clock {
        &*self.house.doors.clock
    }

    /// The servers for speech.
    pub(super) fn speech(&self) -> &SpeechServers {
        &self.house.doors.speech
    }

    /// The names of the profiles with which they talk: they have a main conversation with each, and
    /// only these are in their list.
    pub(super) fn mains(&self) -> Vec<String> {
        self.house.doors.profiles.mains(self.role())
    }

    /// The names of the profiles whose messages are counted.
    pub(super) fn counted(&self) -> Vec<String> {
        self.house.doors.profiles.counted()
    }

    /// The profile of a conversation for which they name none.
    pub(super) fn default_profile(&self) -> &'static str {
        Profiles::default_of(self.role())
    }

    /// The model that would answer in a conversation of this profile now. A server that is slow to
    /// describe its model keeps nobody waiting: then the current model is given as it is known
    /// without it.
    pub(super) async fn model(&self, profile: &str) -> Result<Arc<dyn Model>, StoreError> {
        let doors = &self.house.doors;
        let policy = doors.store.policy(profile).await?;
        let chosen = doors.models.chosen(None, &policy.models);
        match tokio::time::timeout(doors.limits.description, chosen).await {
            Ok(model) => Ok(model),
            Err(_) => Ok(doors.models.current().await),
        }
    }

    /// The time.
    pub(super) fn now(&self) -> DateTime<Utc> {
        self.house.doors.clock.now()
    }

    /// How long connections may take.
    pub(super) fn limits(&self) -> &ConnectionLimits {
        &self.house.doors.limits
    }

    /// True if the start left the capabilities out.
    pub(super) fn safe_mode(&self) -> bool {
        self.house.doors.safe_mode
    }

    /// Cancelled when the process is about to end.
    pub(super) fn shutdown(&self) -> &tokio_util::sync::CancellationToken {
        &self.house.doors.shutdown
    }

    /// True if the server comes back by itself.
    pub(super) fn restarts(&self) -> bool {
        self.house.doors.restart.is_cancelled()
    }

    /// The open sockets.
    pub(super) fn sockets(&self) -> &tokio_util::task::TaskTracker {
        &self.house.doors.sockets
    }

    /// Makes and tries the hashes of passwords.
    pub(super) fn passwords(&self) -> &Passwords {
        &self.house.passwords
    }

    /// Begins sessions.
    pub(super) fn guard(&self) -> &Guard {
        &self.house.guard
    }
}

/// Somebody before the door, who may say who they are.
pub(super) struct Stranger(Arc<House>);

impl FromRequestParts<Closed> for Stranger {
    type Rejection = Infallible;

    async fn from_request_parts(_: &mut Parts, closed: &Closed) -> Result<Self, Infallible> {
        Ok(Self(Arc::clone(&closed.0)))
    }
}

impl Stranger {
    /// Knows calls by Vapi.
    pub(super) fn vapi(&self) -> &Vapi {
        &self.0.doors.vapi
    }

    /// The person of a call that has shown to be it.
    pub(super) fn visitor_in(&self, known: &KnownCall) -> Visitor {
        Visitor { house: Arc::clone(&self.0), visit: Visit::in_call(known) }
    }

    /// Begins sessions, and counts failures.
    pub(super) fn guard(&self) -> &Guard {
        &self.0.guard
    }

    /// Makes and tries the hashes of passwords.
    pub(super) fn passwords(&self) -> &Passwords {
        &self.0.passwords
    }
}

/// A place for the owner alone, if no handler of ours takes its requests.
pub(super) async fn owners_alone(_: Owner, request: axum::extract::Request, next: axum::middleware::Next) -> Response {
    next.run(request).await.into_response()
}
