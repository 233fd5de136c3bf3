//! `/api`: a person looks at things and decides here, by the page or the command line. `wire::api`
//! has the words, `docs/api.md` describes it. No model and no capability can reach it. A handler
//! takes `Visitor` if it is for every user, `Owner` if it is not.

mod activity;
mod approvals;
mod assistant;
mod attachments;
mod campaigns;
mod capabilities;
mod conversations;
mod export;
mod folder;
mod install;
mod law;
mod mcp;
mod me;
mod operator;
mod relay;
mod replay;
pub(super) mod reply;
mod secrets;
mod site;
mod speech;
mod tasks;
mod turns;
mod undo;
mod users;
mod voice;

use axum::extract::DefaultBodyLimit;
use axum::http::StatusCode;
use axum::routing::{delete, get, patch, post, put};
use axum::{Router, middleware};

use super::visitor::Closed;
use crate::faces::voice::MOST_SPEECH;
use reply::ApiRefusal;

/// The largest body, in bytes. The largest thing to send is a capability in base64.
const MAX_BODY_BYTES: usize = 4 << 20;

/// Every route of the interface.
pub(super) fn routes() -> Router<Closed> {
    Router::new()
        .route("/conversations", get(conversations::list).post(conversations::create))
        .route("/conversations/{id}", get(conversations::show).patch(conversations::change).delete(conversations::delete))
        .route("/conversations/{id}/frames", get(conversations::frames))
        .route("/conversations/{id}/export", get(export::export))
        .route("/search", get(conversations::search))
        .route("/events", get(activity::events))
        .route("/heartbeat", get(activity::heartbeat))
        .route("/settings", get(site::settings).put(site::change))
        .route("/models", get(site::models))
        .route("/models/test", post(site::test_model))
        .route("/backup", post(site::backup))
        .route("/tasks", get(tasks::list).post(tasks::create))
        .route("/tasks/{id}", patch(tasks::change).delete(tasks::delete))
        .route("/assistant", get(assistant::show))
        .route("/assistant/chat", get(assistant::chat).delete(assistant::begin_anew))
        .route("/assistant/functions/{name}", post(assistant::call))
        .route("/tiers", get(assistant::tiers))
        .route("/tiers/{tier}", put(assistant::set_tier))
        .route("/turns/{id}", get(turns::show))
        .route("/kept", get(undo::list))
        .route("/calls/{call}/undo", post(undo::undo))
        .route("/attachments/{id}", get(attachments::show))
        .route("/approvals", get(approvals::list))
        .route("/approvals/{id}", get(approvals::show))
        .route("/approvals/{id}/approve", post(approvals::approve))
        .route("/approvals/{id}/deny", post(approvals::deny))
        .route("/secrets", get(secrets::list))
        .route("/secrets/{name}", put(secrets::set).delete(secrets::remove))
        .route("/capabilities", get(capabilities::list))
        .route("/capabilities/import", post(install::import))
        .route("/capabilities/{name}", get(capabilities::show))
        .route("/capabilities/{name}/diff", get(capabilities::diff))
        .route("/capabilities/{name}/export", get(capabilities::export))
        .route("/capabilities/{name}/call", post(capabilities::call))
        .route("/capabilities/{name}/test", post(capabilities::test))
        .route("/capabilities/{name}/rollback", post(capabilities::roll_back))
        .route("/capabilities/{name}/disable", post(capabilities::disable))
        .route("/capabilities/{name}/enable", post(capabilities::enable))
        .route("/shipped", get(install::shipped))
        .route("/shipped/{name}/install", post(install::install))
        .route("/mcp", get(mcp::list))
        .route("/mcp/{name}", put(mcp::add).delete(mcp::remove))
        .route("/mcp/{name}/tools", get(mcp::tools).post(mcp::list_tools))
        .route("/policy/{profile}", get(law::policy).put(law::set_policy))
        .route("/policy/{profile}/rules/{tool}", put(law::set_rule))
        .route("/rates", get(law::rates))
        .route("/rates/{model}", put(law::set_rate))
        .route("/usage", get(law::usage))
        .route("/replay/check", get(replay::check))
        .route("/replay/turns/{id}", get(replay::turn))
        .route("/operator", get(operator::show))
        .route("/operator/tasks", get(operator::tasks))
        .route("/operator/tasks/{id}/recordings", get(operator::recordings))
        .route("/operator/tasks/{id}/recordings/{call}/{when}", get(operator::picture))
        .route("/operator/context", get(operator::context).put(operator::set_context))
        .route("/operator/media/{name}", get(operator::media))
        .nest("/relay", relay::routes())
        .route("/campaigns", get(campaigns::list).post(campaigns::create))
        .nest("/campaigns", campaigns::routes())
        .route("/voice", get(voice::line))
        .route("/voice/calls", post(voice::begin))
        .route("/voice/calls/{id}", delete(voice::end))
        .route("/voice/calls/{id}/beat", post(voice::beat))
        .route("/voice/speech", post(speech::speech))
        .route("/voice/trial", post(speech::trial))
        .merge(people())
        .fallback(async || ApiRefusal::unknown("there is nothing here; docs/api.md lists what there is"))
        .method_not_allowed_fallback(async || ApiRefusal::new(StatusCode::METHOD_NOT_ALLOWED, "this address has no such method"))
        .layer(DefaultBodyLimit::max(MAX_BODY_BYTES))
        .layer(middleware::from_fn(reply::json_only))
        // Sound is no JSON. No form of another page's has its type either.
        .route("/voice/transcriptions", post(speech::transcribe).layer(DefaultBodyLimit::max(MOST_SPEECH)))
}

/// Oneself, and the other users.
fn people() -> Router<Closed> {
    Router::new()
        .route("/me", get(me::show).patch(me::change))
        .route("/me/password", put(me::set_password))
        .route("/me/sessions", get(me::sessions))
        .route("/me/sessions/{id}", delete(me::end_session))
        .route("/me/sign-out", post(me::sign_out))
        .route("/users", get(users::list).post(users::add))
        .route("/users/{name}", patch(users::change).delete(users::remove))
        .route("/users/{name}/invitation", post(users::invite))
        .route("/users/{name}/password", put(users::set_password))
        .route("/users/{name}/tokens", post(users::make_token).delete(users::revoke_tokens))
}
