//! Models in an order: the first answers, and while it is down the next one does.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use chrono::{DateTime, TimeDelta, Utc};
use futures::future::BoxFuture;

use super::{Abilities, Answer, Model, ModelError, ModelErrorKind, OnDelta, Request};
use crate::clock::Clock;
use crate::domain::{ModelInfo, Rate};

/// How long a model that was down is passed over.
const PASSED_OVER: TimeDelta = TimeDelta::seconds(30);

/// Remembers whether a model answers. Chains that have the same model share it.
#[derive(Default)]
pub(super) struct Health(Mutex<Option<Down>>);

#[derive(Clone)]
struct Down {
    since: DateTime<Utc>,
    why: String,
}

impl Health {
    /// The reason to pass it over now; `None` if it is to be asked.
    fn down(&self, now: DateTime<Utc>) -> Option<String> {
        let down = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // A clock that was set back does not keep a model down.
        down.as_ref().filter(|down| (down.since..down.since + PASSED_OVER).contains(&now)).map(|down| down.why.clone())
    }

    fn set(&self, down: Option<Down>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = down;
    }
}

/// One model of a chain.
pub(super) struct Member {
    /// Its reference.
    pub(super) name: String,
    pub(super) model: Arc<dyn Model>,
    pub(super) health: Arc<Health>,
}

/// Two models or more.
pub(super) struct Chain {
    members: Vec<Member>,
    clock: Arc<dyn Clock>,
}

/// True if another model may answer instead. A request that one model refuses for its content would
/// be wrong for all, and an answer that began is not begun again.
fn may_pass(kind: ModelErrorKind) -> bool {
    use ModelErrorKind as Kind;
    match kind {
        Kind::Unreachable | Kind::Server | Kind::Timeout | Kind::RateLimited | Kind::Unauthorized | Kind::Payment => true,
        Kind::ContextOverflow | Kind::Refused | Kind::Cut | Kind::Malformed => false,
    }
}

impl Chain {
    /// The models in their order.
    pub(super) fn new(members: Vec<Member>, clock: Arc<dyn Clock>) -> Self {
        Self { members, clock }
    }

    /// The one that is asked first now: the first that is not passed over, or the first of all if
    /// all are.
    fn first(&self) -> Option<&Member> {
        let now = self.clock.now();
        self.members.iter().find(|member| member.health.down(now).is_none()).or_else(|| self.members.first())
    }

    async fn ask(&self, request: Request, on_delta: OnDelta<'_>) -> Result<Answer, ModelError> {
        let now = self.clock.now();
        let all_down = self.members.iter().all(|member| member.health.down(now).is_some());
        let mut failures: Vec<(&Member, ModelError)> = Vec::new();
        for member in &self.members {
            if let Some(why) = member.health.down(now).filter(|_| !all_down) {
                let told = format!("Passed over, since a moment ago: {why}");
                failures.push((member, ModelError::new(ModelErrorKind::Unreachable, told)));
                continue;
            }
            let said = AtomicBool::new(false);
            let hears = |piece: &str| {
                said.store(true, Ordering::Relaxed);
                on_delta(piece);
            };
            // The pictures in the request were chosen for the first of them, and this one may not
            // see.
            let sees = member.model.abilities().images;
            let request = if sees { request.clone() } else { request.clone().without_images() };
            let error = match member.model.answer(request, &hears).await {
                Ok(answer) => {
                    member.health.set(None);
                    return Ok(answer);
                }
                Err(error) => error,
            };
            let passes = may_pass(error.kind) && !said.load(Ordering::Relaxed);
            if passes {
                tracing::warn!(model = member.name, kind = ?error.kind, "a model is down: {}", error.message);
                member.health.set(Some(Down { since: self.clock.now(), why: error.message.clone() }));
            }
            failures.push((member, error));
            if !passes {
                break;
            }
        }
        Err(of_all(&failures))
    }
}

/// One error for all: each model with its own sentence. Its kind is that of the last one that was
/// really asked.
fn of_all(failures: &[(&Member, ModelError)]) -> ModelError {
    let (kind, wait) = failures.last().map_or((ModelErrorKind::Unreachable, None), |(_, error)| (error.kind, error.wait));
    let told: Vec<_> = failures.iter().map(|(member, error)| format!("{}: {}", member.name, error.message)).collect();
    ModelError { kind, message: format!("No model answered. {}", told.join(" ")), wait }
}

impl Model for Chain {
    fn answer<'a>(&'a self, request: Request, on_delta: OnDelta<'a>) -> BoxFuture<'a, Result<Answer, ModelError>> {
        Box::pin(self.ask(request, on_delta))
    }

    fn info(&self) -> ModelInfo {
        self.first().map_or_else(ModelInfo::default, |member| member.model.info())
    }

    fn abilities(&self) -> Abilities {
        self.first().map_or_else(Abilities::default, |member| member.model.abilities())
    }

    fn prepare(&self) -> BoxFuture<'_, ()> {
        match self.first() {
            Some(member) => member.model.prepare(),
            None => Box::pin(std::future::ready(())),
        }
    }

    fn rate(&self, answered: &str) -> Option<Rate> {
        self.members.iter().find_map(|member| member.model.rate(answered))
    }
}

/// Stands in a chain for a model that cannot be asked as things are set.
pub(super) struct Unusable {
    pub(super) provider: String,
    pub(super) why: String,
}

impl Model for Unusable {
    fn answer<'a>(&'a self, _: Request, _: OnDelta<'a>) -> BoxFuture<'a, Result<Answer, ModelError>> {
        let error = ModelError::new(ModelErrorKind::Unauthorized, self.why.clone());
        Box::pin(std::future::ready(Err(error)))
    }

    fn info(&self) -> ModelInfo {
        ModelInfo { kind: "configured".into(), provider: self.provider.clone(), name: String::new() }
    }
}

#[cfg(test)]
mod tests;
