//! The server itself: its settings, the models there are, and a backup.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::Json;
use axum::http::StatusCode;
use tokio::time::Instant;

use super::reply::{ApiRefusal, Body, Reply};
use crate::http::visitor::Owner;
use crate::model::checks::{Check, CheckState, Examined, ProviderEntry};
use crate::model::choice::ModelSource;
use crate::model::client::ModelLimits;
use crate::model::{Entry, Request};
use crate::wire::api::{FoundModels, MadeBackup, ModelCheck, ModelProvider, ModelTested, ModelToTest, SettingStates};

const HOLDS: &str = "A change is kept in the data folder and holds from the next start of the server.";

pub(super) async fn settings(Owner(doors): Owner) -> Reply<SettingStates> {
    let settings = doors.site.sources.states(&doors.site.folder)?;
    Ok(Json(SettingStates { settings, said: HOLDS.to_owned() }))
}

pub(super) async fn change(Owner(doors): Owner, Body(changes): Body<BTreeMap<String, Option<String>>>) -> Reply<SettingStates> {
    let site = &doors.site;
    {
        let _one = site.one.lock().await;
        let next = site.sources.changed(&site.folder, changes)?;
        // The same look at the names of models as at a start. Nothing is sent.
        let (clock, random) = (Arc::clone(&doors.clock), Arc::clone(&site.looking.random));
        ModelSource::new(&next.config.model, ModelLimits::default(), clock, random)
            .map_err(|error| ApiRefusal::bad(error.to_string()))?;
        next.keep(&site.folder)?;
    }
    settings(Owner(doors)).await
}

pub(super) async fn models(Owner(doors): Owner) -> Reply<FoundModels> {
    let current = doors.models.current().await;
    let (providers, problem) = match doors.site.looking.list().await {
        Ok(providers) => (providers.into_iter().map(provider).collect(), None),
        Err(problem) => (Vec::new(), Some(problem)),
    };
    let abilities = current.abilities();
    let (images, context_tokens) = (abilities.images, abilities.context_tokens);
    Ok(Json(FoundModels { current: current.info(), images, context_tokens, providers, problem }))
}

/// Tries a model. The request belongs to no turn, and counts in no budget.
pub(super) async fn test_model(Owner(doors): Owner, Body(ModelToTest { model }): Body<ModelToTest>) -> Reply<ModelTested> {
    let begun = Instant::now();
    let ms = || i64::try_from(begun.elapsed().as_millis()).unwrap_or(i64::MAX);
    if let Some(model) = model {
        let Examined { model, checks, .. } = doors.site.looking.examine_one(&model).await.map_err(ApiRefusal::bad)?;
        let failed = checks.iter().find(|check| check.state == CheckState::Failed);
        let said = failed.map_or_else(|| "It answers and calls tools.".to_owned(), |check| check.said.clone());
        let ok = failed.is_none();
        return Ok(Json(ModelTested { model, ok, said, ms: ms(), checks: checks.into_iter().map(checked).collect() }));
    }
    let current = doors.models.current().await;
    let info = current.info();
    if info.kind == "tour" {
        return Err(ApiRefusal::conflict(
            "no model is set and none runs on this machine, so the tour answers; name a model to test",
        ));
    }
    let entries = vec![Entry::User("Answer with the one word: ready".to_owned())];
    let asked = Request { entries, answer_tokens: Some(256), ..Request::default() };
    let (ok, said) = match current.answer(asked, &|_| {}).await {
        Ok(_) => (true, "It answers.".to_owned()),
        Err(error) => (false, error.message),
    };
    Ok(Json(ModelTested { model: format!("{}/{}", info.provider, info.name), ok, said, ms: ms(), checks: Vec::new() }))
}

/// A backup that was begun is made, also if the client goes away.
pub(super) async fn backup(Owner(doors): Owner) -> Result<(StatusCode, Json<MadeBackup>), ApiRefusal> {
    let site = Arc::clone(&doors.site);
    let making = tokio::spawn(async move {
        let _one = site.one.lock().await;
        (site.backup)().await
    });
    let made = making.await.map_err(|_panicked| ApiRefusal::conflict("the backup failed; there is no file"))?;
    Ok((StatusCode::CREATED, Json(made.map_err(ApiRefusal::conflict)?)))
}

fn provider(entry: ProviderEntry) -> ModelProvider {
    let ProviderEntry { provider, state, address, why, models, in_use, fallbacks } = entry;
    ModelProvider { provider: provider.to_owned(), state: state.to_owned(), address, why, models, in_use, fallbacks }
}

fn checked(Check { what, state, said }: Check) -> ModelCheck {
    let state = match state {
        CheckState::Ok => "ok",
        CheckState::Failed => "failed",
        CheckState::Skipped => "skipped",
    };
    ModelCheck { what: what.to_owned(), state: state.to_owned(), said }
}
