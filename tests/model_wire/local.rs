//! Finding a model on this machine, and the choice between what was set, what was found, and the
//! tour.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, TimeDelta};
use level3::clock::{Clock, ManualClock, Random, SeededRandom};
use level3::config::{Config, ModelSettings};
use level3::model::ModelErrorKind;
use level3::model::choice::ModelSource;
use level3::model::client::ModelLimits;
use level3::model::detect::{ModelPlace, look};

use crate::patience::{PATIENCE, in_time};
use crate::ports::reserved_port;
use crate::server::{Do, Reply, Server, good, response};
use crate::{ask, limits, request};

fn models(names: &[&str]) -> Reply {
    let models: Vec<_> = names.iter().map(|name| serde_json::json!({ "id": name })).collect();
    let body = serde_json::json!({ "object": "list", "data": models }).to_string();
    vec![Do::Send(response("200 OK", "content-type: application/json\r\n", body))]
}

fn place(provider: &'static str, base_url: String) -> ModelPlace {
    ModelPlace { provider, base_url }
}

async fn found(places: &[ModelPlace], limits: ModelLimits) -> Option<(String, String)> {
    let clock: Arc<dyn Clock> = Arc::new(ManualClock::at(DateTime::UNIX_EPOCH));
    let random: Arc<dyn Random> = Arc::new(SeededRandom::new(1));
    let info = look(places, limits, &clock, &random).await?.info();
    assert_eq!(info.kind, "local");
    Some((info.provider, info.name))
}

#[tokio::test]
async fn the_first_place_that_lists_a_model_to_talk_to_is_taken() {
    let embedding = Server::playing(vec![models(&["nomic-embed-text"])]).await;
    let chat = Server::playing(vec![models(&["text-embedding-3", "qwen2.5:7b"])]).await;
    let (_nobody, nowhere) = reserved_port();
    let places = [
        place("none", format!("http://{nowhere}/v1")),
        place("ollama", embedding.base_url()),
        place("lmstudio", chat.base_url()),
    ];
    assert_eq!(found(&places, limits()).await, Some(("lmstudio".into(), "qwen2.5:7b".into())));
}

#[tokio::test]
async fn servers_that_hang_talk_nonsense_or_have_no_model_are_passed_over() {
    let hanging = Server::playing(vec![vec![Do::Hang]]).await;
    let nonsense = Server::playing(vec![vec![Do::Send(response("200 OK", "", "<html>"))]]).await;
    let refusing = Server::playing(vec![vec![Do::Send(response("404 Not Found", "", "{}"))]]).await;
    let empty = Server::playing(vec![models(&[])]).await;
    let endless = Server::playing(vec![vec![Do::Send(response("200 OK", "", vec![b' '; 2 << 20]))]]).await;
    let places = [&hanging, &nonsense, &refusing, &empty, &endless].map(|server| place("x", server.base_url()));
    let limits = ModelLimits { look: Duration::from_millis(300), ..limits() };
    assert_eq!(found(&places, limits).await, None);
}

#[tokio::test]
async fn a_model_started_later_replaces_the_tour_within_ten_seconds_and_stays() {
    let clock = ManualClock::at(DateTime::UNIX_EPOCH);
    // Nothing at first; then a model, which is asked.
    let server = Server::playing(vec![models(&[]), models(&["llama3"]), good("hello")]).await;
    let places = vec![place("ollama", server.base_url())];
    let source = ModelSource::searching(places, limits(), Arc::new(clock.clone()), Arc::new(SeededRandom::new(1)));
    assert_eq!(source.info().kind, "tour");
    assert_eq!(source.current().await.info().kind, "tour");
    clock.advance(TimeDelta::seconds(9));
    assert_eq!(source.current().await.info().kind, "tour");
    assert_eq!(server.requests(), 1, "it looked again too soon");
    clock.advance(TimeDelta::seconds(1));
    let model = source.current().await;
    assert_eq!((model.info().provider.as_str(), model.info().name.as_str()), ("ollama", "llama3"));
    assert_eq!(ask(&*model, request()).await.0.unwrap().content, "hello");
    clock.advance(TimeDelta::seconds(60));
    assert_eq!(source.current().await.info().name, "llama3");
    assert_eq!((server.requests(), source.info().kind.as_str()), (3, "local"));
}

#[tokio::test]
async fn a_model_that_was_set_is_used_and_its_name_is_asked_for_where_it_was_not() {
    let server = Server::playing(vec![models(&["embed", "phi4"]), good("a"), good("b")]).await;
    let settings = HashMap::from([("LLM_BASE_URL".to_owned(), server.base_url())]);
    let settings = Config::read(&settings).unwrap().model;
    let clock = Arc::new(ManualClock::at(DateTime::UNIX_EPOCH));
    let source = ModelSource::new(&settings, limits(), clock, Arc::new(SeededRandom::new(1))).unwrap();
    for said in ["a", "b"] {
        assert_eq!(ask(&*source.current().await, request()).await.0.unwrap().content, said);
    }
    let info = source.info();
    assert_eq!((info.kind.as_str(), info.provider.as_str(), info.name.as_str()), ("configured", "custom", "phi4"));
    assert_eq!(server.requests(), 3);
    assert!(server.asked.lock().unwrap()[1].contains(r#""model":"phi4""#));
}

#[tokio::test]
async fn a_server_without_models_is_told_with_what_to_do() {
    let server = Server::playing(vec![models(&["bge-m3"])]).await;
    let settings = ModelSettings { base_url: Some(server.base_url()), ..ModelSettings::default() };
    let clock = Arc::new(ManualClock::at(DateTime::UNIX_EPOCH));
    let source = ModelSource::new(&settings, limits(), clock, Arc::new(SeededRandom::new(1))).unwrap();
    let error = ask(&*source.current().await, request()).await.0.unwrap_err();
    assert_eq!(error.kind, ModelErrorKind::Refused);
    assert!(error.message.contains("LLM_MODEL"), "{error}");
}

#[tokio::test]
async fn a_server_that_never_lists_its_models_is_told_after_all_tries() {
    let server = Server::playing(vec![vec![Do::Hang]]).await;
    let settings = ModelSettings { base_url: Some(server.base_url()), ..ModelSettings::default() };
    let clock = Arc::new(ManualClock::at(DateTime::UNIX_EPOCH));
    let limits = ModelLimits { connect: Duration::from_millis(500), ..limits() };
    let source = ModelSource::new(&settings, limits, clock, Arc::new(SeededRandom::new(1))).unwrap();
    let error = ask(&*source.chosen(None, &[]).await, request()).await.0.unwrap_err();
    // Once to see how much the model can take, and four times to ask it.
    assert_eq!((error.kind, server.requests()), (ModelErrorKind::Timeout, 5));
    assert!(error.message.contains("LLM_BASE_URL") && error.message.contains("LLM_MODEL"), "{error}");
}

#[tokio::test]
async fn a_wrong_setting_is_refused_at_the_start() {
    let settings = ModelSettings { provider: Some("openai".into()), ..ModelSettings::default() };
    let clock = Arc::new(ManualClock::at(DateTime::UNIX_EPOCH));
    let error = ModelSource::new(&settings, limits(), clock, Arc::new(SeededRandom::new(1))).err().expect("refused");
    assert_eq!(error.to_string(), "LLM_PROVIDER is `openai`, which needs a key: set OPENAI_API_KEY.");
}

#[tokio::test]
async fn looking_around_does_not_take_long() {
    let hanging = Server::playing(vec![vec![Do::Hang]]).await;
    let places = [place("a", hanging.base_url()), place("b", hanging.base_url())];
    // No other limit ends the look at a server that hangs.
    let never = PATIENCE * 2;
    let limits = ModelLimits { connect: never, first_token: never, silence: never, ..ModelLimits::default() };
    assert_eq!(in_time("a look around", found(&places, limits)).await, None);
}
