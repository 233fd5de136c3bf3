//! Models in an order, against real peers: which one answers while another is down, and whose key
//! goes where.

use std::collections::HashMap;
use std::sync::Arc;

use chrono::{DateTime, TimeDelta};
use level3::clock::{ManualClock, SeededRandom, SystemClock};
use level3::config::Config;
use level3::model::ModelErrorKind;
use level3::model::checks::{CheckState, Looking};
use level3::model::choice::ModelSource;
use level3::model::client::ModelLimits;
use serde_json::json;

use crate::ports::reserved_port;
use crate::server::{Do, Reply, Server, events, finish, good, piece, response};
use crate::{ask, limits, request};

fn source(settings: &[(&str, &str)], clock: &ManualClock) -> Result<ModelSource, String> {
    let settings: HashMap<_, _> = settings.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    let settings = Config::read(&settings).unwrap().model;
    ModelSource::new(&settings, limits(), Arc::new(clock.clone()), Arc::new(SeededRandom::new(1)))
        .map_err(|error| error.to_string())
}

fn broken(status: &str) -> Reply {
    vec![Do::Send(response(status, "", r#"{"error":{"message":"out of order"}}"#))]
}

async fn says(source: &ModelSource, task: Option<&str>, profile: &[&str]) -> Result<String, (ModelErrorKind, String)> {
    let profile: Vec<_> = profile.iter().map(|model| (*model).to_owned()).collect();
    let model = source.chosen(task, &profile).await;
    ask(&*model, request()).await.0.map(|answer| answer.content).map_err(|error| (error.kind, error.message))
}

#[tokio::test]
async fn a_fallback_answers_while_the_first_is_down_and_the_first_is_asked_again_later() {
    let clock = ManualClock::at(DateTime::UNIX_EPOCH);
    let first =
        Server::playing(vec![broken("503 Service Unavailable"), broken("503 Service Unavailable"), good("the first")]).await;
    let second = Server::playing(vec![good("the second")]).await;
    let settings = [
        ("LLM_BASE_URL", first.base_url()),
        ("LLM_MODEL", "m".into()),
        ("OLLAMA_BASE_URL", second.base_url()),
        ("LLM_FALLBACK", "ollama/n".into()),
    ];
    let source = source(&settings.each_ref().map(|(name, value)| (*name, value.as_str())), &clock).unwrap();
    assert_eq!(source.info().name, "m");
    assert_eq!(says(&source, None, &[]).await, Ok("the second".into()));
    assert_eq!((first.requests(), second.requests()), (2, 1), "once more, and no oftener, where another one is waiting");
    assert_eq!(says(&source, None, &[]).await, Ok("the second".into()));
    assert_eq!((first.requests(), source.info().name.as_str()), (2, "n"), "it was passed over");
    clock.advance(TimeDelta::seconds(30));
    assert_eq!(says(&source, None, &[]).await, Ok("the first".into()));
    assert!(second.asked.lock().unwrap()[0].contains("\"model\":\"n\""));
}

#[tokio::test]
async fn an_answer_that_began_is_not_begun_again_by_another_model() {
    let clock = ManualClock::at(DateTime::UNIX_EPOCH);
    let overloaded = "data: {\"error\":{\"type\":\"overloaded_error\",\"message\":\"overloaded\"}}\n\n";
    let first = Server::playing(vec![vec![Do::Send(events(piece("half") + overloaded))]]).await;
    let second = Server::playing(vec![good("the second")]).await;
    let profile = ["llamacpp/m", "ollama/n"];
    let source = source(&[("LLAMACPP_BASE_URL", &first.base_url()), ("OLLAMA_BASE_URL", &second.base_url())], &clock).unwrap();
    let (kind, told) = says(&source, None, &profile).await.unwrap_err();
    assert_eq!((kind, second.requests()), (ModelErrorKind::Server, 0));
    assert!(told.contains("llamacpp/m: ") && told.contains("overloaded"), "{told}");
    // The same, before anything was said.
    let first = Server::playing(vec![vec![Do::Send(events(overloaded))]]).await;
    let source =
        self::source(&[("LLAMACPP_BASE_URL", &first.base_url()), ("OLLAMA_BASE_URL", &second.base_url())], &clock).unwrap();
    assert_eq!(says(&source, None, &profile).await, Ok("the second".into()));
}

#[tokio::test]
async fn the_failure_of_all_names_each_with_its_own_sentence() {
    let clock = ManualClock::at(DateTime::UNIX_EPOCH);
    let first = Server::playing(vec![broken("401 Unauthorized")]).await;
    let second = Server::playing(vec![broken("402 Payment Required")]).await;
    let settings = [("LLAMACPP_BASE_URL", first.base_url()), ("OLLAMA_BASE_URL", second.base_url())];
    let source = source(&settings.each_ref().map(|(name, value)| (*name, value.as_str())), &clock).unwrap();
    let (_, told) = says(&source, None, &["llamacpp/m", "ollama/n", "mistral"]).await.unwrap_err();
    assert!(told.starts_with("No model answered. llamacpp/m: "), "{told}");
    for part in [
        "(401)",
        "ollama/n: ",
        "out of money",
        "mistral/mistral-medium-latest: The provider `mistral` needs a key: set MISTRAL_API_KEY.",
    ] {
        assert!(told.contains(part), "{part}: {told}");
    }
}

#[tokio::test]
async fn a_task_has_its_own_model_then_the_profiles_then_the_one_set_for_all() {
    let clock = ManualClock::at(DateTime::UNIX_EPOCH);
    let (set, of_profile, of_task) = (
        Server::playing(vec![good("set")]).await,
        Server::playing(vec![good("profile")]).await,
        Server::playing(vec![good("task"), broken("500 x")]).await,
    );
    let settings = [
        ("LLM_PROVIDER", "lmstudio".to_owned()),
        ("LLM_MODEL", "s".into()),
        ("LLM_BASE_URL", set.base_url()),
        ("OLLAMA_BASE_URL", of_profile.base_url()),
        ("LLAMACPP_BASE_URL", of_task.base_url()),
    ];
    let source = source(&settings.each_ref().map(|(name, value)| (*name, value.as_str())), &clock).unwrap();
    assert_eq!(says(&source, Some("llamacpp/t"), &["ollama/p"]).await, Ok("task".into()));
    assert_eq!(says(&source, Some("llamacpp/t"), &["ollama/p"]).await, Ok("profile".into()), "the task's is down");
    assert_eq!(says(&source, None, &["ollama/p"]).await, Ok("profile".into()));
    assert_eq!(says(&source, Some("llamacpp/t"), &[]).await, Ok("set".into()));
    assert_eq!(says(&source, None, &[]).await, Ok("set".into()));
    assert_eq!(
        says(&source, Some("no such thing"), &["nonsense"]).await,
        Ok("set".into()),
        "what was stored long ago stops nobody"
    );
}

#[tokio::test]
async fn a_key_goes_to_its_own_provider_and_to_no_fallback() {
    let clock = ManualClock::at(DateTime::UNIX_EPOCH);
    let first = Server::playing(vec![broken("401 Unauthorized")]).await;
    let second = Server::playing(vec![good("the second")]).await;
    let settings = [
        ("LLM_PROVIDER", "groq".to_owned()),
        ("LLM_MODEL", "m".into()),
        ("LLM_BASE_URL", first.base_url()),
        ("LLM_API_KEY", crate::KEY.into()),
        ("OLLAMA_BASE_URL", second.base_url()),
        ("LLM_FALLBACK", "ollama/n".into()),
    ];
    let source = source(&settings.each_ref().map(|(name, value)| (*name, value.as_str())), &clock).unwrap();
    assert_eq!(says(&source, None, &[]).await, Ok("the second".into()));
    assert!(first.asked.lock().unwrap()[0].contains(crate::KEY));
    assert!(!second.asked.lock().unwrap()[0].to_lowercase().contains("authorization"), "a fallback saw a key");
}

#[tokio::test]
async fn a_wrong_fallback_is_refused_at_the_start() {
    let clock = ManualClock::at(DateTime::UNIX_EPOCH);
    let refused = |settings: &[(&str, &str)]| source(settings, &clock).err().expect("refused");
    let first = [("LLM_PROVIDER", "ollama")];
    assert!(refused(&[first[0], ("LLM_FALLBACK", "gpt-4")]).starts_with("LLM_FALLBACK cannot be used: `gpt-4` names no model"));
    assert_eq!(refused(&[first[0], ("LLM_FALLBACK", "groq")]), "The provider `groq` needs a key: set GROQ_API_KEY.");
    assert!(refused(&[("LLM_FALLBACK", "ollama")]).contains("LLM_PROVIDER"));
    let source = source(&first, &clock).unwrap();
    assert_eq!(source.check("llama.cpp/x").unwrap(), "llamacpp/x");
    assert!(source.check("groq/x").unwrap_err().to_string().contains("GROQ_API_KEY"));
}

fn looking(settings: &[(&str, &str)]) -> Looking {
    let settings: HashMap<_, _> = settings.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    let settings = Config::read(&settings).unwrap().model;
    let limits = ModelLimits { connect: std::time::Duration::from_secs(60), ..Looking::limits() };
    Looking { settings, clock: Arc::new(SystemClock), random: Arc::new(SeededRandom::new(1)), limits }
}

fn list(names: &[&str]) -> Reply {
    let models: Vec<_> = names.iter().map(|name| json!({ "id": name })).collect();
    vec![Do::Send(response("200 OK", "", json!({ "data": models }).to_string()))]
}

#[tokio::test]
async fn a_close_look_finds_what_is_well_and_says_what_to_mend() {
    let call = r#"data: {"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"ping","arguments":"{\"word\":\"hello\"}"}}]},"finish_reason":"tool_calls"}]}"#;
    let well = Server::playing(vec![
        list(&["m"]),
        vec![Do::Send(events(piece("one ") + &piece("two") + &finish()))],
        vec![Do::Send(events(format!("{call}\n\n")))],
    ])
    .await;
    let talks = Server::playing(vec![list(&["n"]), good("one"), good("I would call ping.")]).await;
    let (_nobody, nobody) = reserved_port();
    let settings = [
        ("LLM_PROVIDER", "custom".to_owned()),
        ("LLM_MODEL", "m".into()),
        ("LLM_BASE_URL", well.base_url()),
        ("OLLAMA_BASE_URL", talks.base_url()),
        ("LMSTUDIO_BASE_URL", format!("http://{nobody}/v1")),
        ("LLM_FALLBACK", "ollama/n,lmstudio/x,groq/y".into()),
    ];
    let seen = looking(&settings.each_ref().map(|(name, value)| (*name, value.as_str()))).examine().await.unwrap();
    let states = |place: usize| seen[place].checks.iter().map(|check| (check.what, check.state)).collect::<Vec<_>>();
    use CheckState::{Failed, Ok, Skipped};
    assert_eq!(states(0), [("key", Ok), ("reachable", Ok), ("models", Ok), ("streaming", Ok), ("tool calls", Ok)], "{seen:?}");
    assert_eq!((seen[0].role, seen[1].role), ("in use", "fallback"));
    assert_eq!(states(1), [("key", Ok), ("reachable", Ok), ("models", Ok), ("streaming", Ok), ("tool calls", Failed)]);
    assert!(seen[1].checks[4].said.contains("LLM_MODEL"), "{seen:?}");
    assert_eq!(
        states(2),
        [("key", Ok), ("reachable", Failed), ("models", Skipped), ("streaming", Skipped), ("tool calls", Skipped)]
    );
    assert!(seen[2].checks[1].said.contains("LMSTUDIO_BASE_URL"), "{seen:?}");
    assert_eq!(states(3)[0], ("key", Failed));
    assert!(seen[3].checks[0].said.contains("GROQ_API_KEY"), "{seen:?}");
    // The tiny requests are bounded.
    assert!(well.asked.lock().unwrap()[1].contains("\"max_tokens\":512"));
}

#[tokio::test]
async fn every_provider_is_listed_with_what_it_has_or_why_it_has_nothing() {
    let server = Server::playing(vec![list(&["a", "b"])]).await;
    let wrong_key = Server::playing(vec![broken("401 Unauthorized")]).await;
    let (_nobody, nobody) = reserved_port();
    let settings = [
        ("LLM_PROVIDER", "openai".to_owned()),
        ("LLM_MODEL", "a".into()),
        ("LLM_BASE_URL", server.base_url()),
        ("OLLAMA_BASE_URL", wrong_key.base_url()),
        ("LMSTUDIO_BASE_URL", format!("http://{nobody}/v1")),
        ("LLAMACPP_BASE_URL", format!("http://{nobody}/v1")),
        ("LLM_FALLBACK", "ollama/n".into()),
    ];
    let listed = looking(&settings.each_ref().map(|(name, value)| (*name, value.as_str()))).list().await.unwrap();
    let of = |name: &str| listed.iter().find(|one| one.provider == name).unwrap();
    assert_eq!(
        (listed.len(), of("openai").state, of("openai").models.as_slice()),
        (10, "ready", ["a".to_owned(), "b".to_owned()].as_slice())
    );
    assert_eq!(
        (of("openai").in_use.as_slice(), of("ollama").fallbacks.as_slice()),
        (["openai/a".to_owned()].as_slice(), ["ollama/n".to_owned()].as_slice())
    );
    assert_eq!((of("ollama").state, of("lmstudio").state, of("groq").state), ("refused", "unreachable", "not configured"));
    assert!(of("groq").why.contains("GROQ_API_KEY") && of("custom").why.contains("LLM_BASE_URL"), "{listed:?}");
}
