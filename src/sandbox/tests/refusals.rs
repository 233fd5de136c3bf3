//! Powers that were not granted: the refusal says which grant to ask for, and nothing gets around
//! it.

use super::scripted::{Scripted, Shared, all_grants, grants, message_of, reaching};
use super::*;
use crate::domain::RefusalCode;
use crate::sandbox::{OperationRequest, template};

#[tokio::test]
async fn a_power_that_was_not_granted_is_named_with_the_grant_to_ask_for() {
    for (code, said) in [
        (
            "fetch('https://api.example.com/x')",
            r#"`http`; to reach api.example.com, write it again with grants {"http":{"hosts":["api.example.com"]}}"#,
        ),
        (
            "fetch('http://127.0.0.1:9000/x')",
            r#"`http`; to reach 127.0.0.1:9000, write it again with grants {"http":{"hosts":["http://127.0.0.1:9000"]}}"#,
        ),
        ("fetch('nonsense')", r#"`http`; to reach a host, write it again with grants {"http":{"hosts":["api.example.com"]}}"#),
        ("host.sql('SELECT 1')", r#"`sql`; to run SQL, write it again with grants {"sql":{"access":"read"}}"#),
        ("host.kv.get('k')", r#"`kv`; to keep values between calls, write it again with grants {"kv":{}}"#),
        (
            "host.secret('API_KEY')",
            r#"`secrets`; to use API_KEY, write it again with grants {"secrets":{"API_KEY":["api.example.com"]}}"#,
        ),
        (
            "host.call('manage_tasks', {})",
            r#"`tools`; to call manage_tasks, write it again with grants {"tools":{"names":["manage_tasks"]}}"#,
        ),
    ] {
        for grants in [Grants::harmless(), Grants::none()] {
            let draft = Draft { grants, ..draft(&format!("export default async () => {code}")) };
            let outcome = sandbox().call(&permit(), &built(sandbox(), &draft).await, &json!({}), nothing()).await;
            assert_eq!(message_of(&outcome), format!("this capability was not granted {said}"));
        }
        // The refusal can be read as grants.
        let written = said.split_once("with grants ").unwrap().1;
        assert!(grants(serde_json::from_str(written).unwrap()).need_approval(), "{written}");
    }
    let draft = Draft { grants: grants(json!({"kv": {}})), ..draft("export default () => host.sql('SELECT 1')") };
    let outcome = sandbox().call(&permit(), &built(sandbox(), &draft).await, &json!({}), nothing()).await;
    assert!(message_of(&outcome).ends_with(r#"{"sql":{"access":"read"}} beside those it has"#), "{}", outcome.result);
}

#[tokio::test]
async fn what_lies_outside_a_grant_is_refused_with_the_wider_grant() {
    let reach = Scripted::answering(json!(1));
    for (code, said) in [
        (
            "fetch('https://c.example/x?key=1')",
            "not granted GET https://c.example/x; it may: Send any request to https://a.example. Send GET requests to https://b.example/v1/. To reach c.example so",
        ),
        ("fetch('https://b.example/v1/x', { method: 'post' })", "not granted POST https://b.example/v1/x"),
        ("fetch('https://b.example/v1/../v2')", "not granted GET https://b.example/v2"),
        ("fetch('http://a.example/')", "not granted GET http://a.example/"),
        ("fetch('https://a.example:8443/')", "not granted GET https://a.example:8443/"),
        ("fetch('https://name:word@c.example/')", "not granted GET https://c.example/;"),
        ("fetch('file:///etc/passwd')", "only https and http addresses can be granted"),
        ("host.call('execute_sql', {})", "not granted the tool `execute_sql`; it may call: other, roman. To call execute_sql"),
        ("(async () => host.secret('OTHER'))()", "not granted the secret OTHER; to use it"),
        ("(async () => host.secret('x-y'))()", "no secret has such a name"),
    ] {
        let message = message_of(&reaching(&format!("export default async () => {{ await {code} }}"), &reach).await);
        assert!(message.contains(said), "{code}: {message}");
        if let Some((_, written)) = message.split_once("with grants ") {
            let written = written.split_once(", where").map_or(written, |(written, _)| written);
            let wider = grants(serde_json::from_str(written).unwrap());
            assert!(wider.cover(&all_grants()) && !all_grants().cover(&wider), "{written}");
            assert!(wider.harmless == all_grants().harmless, "{written}");
        }
    }
    assert_eq!(reach.requests(), []);
}

/// The bits of the denied powers are in the component, so a forger of components can write others.
#[tokio::test]
async fn forged_bits_end_in_a_trap() {
    let source = "export default async () => [await host.kv.get('x'), await fetch('https://c.example/')]";
    let draft = Draft { grants: grants(json!({"http": {"hosts": ["a.example"]}})), ..draft(source) };
    let honest = built(sandbox(), &draft).await;
    let mut component = honest.component.clone();
    let segment = template::segment(&honest.source);
    let place = component.windows(segment.len()).position(|window| window == segment).unwrap();
    assert_eq!(component[place - 3], 0b1111_0111);
    component[place - 3] = 0;
    let forged = CapabilityVersion { sha256: crate::sandbox::component::sha256(&component), component, ..honest };
    let reach = Scripted::answering(json!(1));
    let outcome = sandbox().call(&permit(), &forged, &json!({}), Arc::new(Shared(Arc::clone(&reach)))).await;
    assert!(message_of(&outcome).contains("broke down"), "{}", outcome.result);
    assert_eq!(reach.requests(), []);
}

const ECHO: &str = include_str!("../../../capabilities/examples/echo/source.wat");
const START: &str = r#"(instance (export "start" (func (param "request" string) (result u32)))))"#;

#[tokio::test]
async fn a_component_that_imports_a_power_it_was_not_granted_cannot_even_be_loaded() {
    for power in ["http", "sql", "kv", "tools"] {
        let import = format!(r#"(component (import "level3:capability/{power}@0.1.0" {START}"#);
        let draft = Draft { language: SourceLanguage::Wat, ..draft(&ECHO.replacen("(component", &import, 1)) };
        let error = refused(&draft).await;
        assert_eq!(error.kind, RefusalCode::ImportError);
        assert!(error.message.contains(&format!("imports level3:capability/{power}@0.1.0, which it was not granted")), "{error}");
        built(sandbox(), &Draft { grants: all_grants(), ..draft }).await;
    }
    let wait = r#"(component (import "level3:capability/operations@0.1.0" (instance))"#;
    let draft = Draft {
        language: SourceLanguage::Wat,
        grants: grants(json!({"secrets": {"K": ["a.example"]}})),
        ..draft(&ECHO.replacen("(component", wait, 1))
    };
    assert!(refused(&draft).await.message.contains("imports level3:capability/operations@0.1.0"));
}

/// A component that the test writes: it starts an operation with its parameters as the request, and
/// answers with the result of `wait`.
fn hand_made(power: &str) -> Draft {
    let source = include_str!("hand_made.wat").replace("POWER", power);
    Draft { language: SourceLanguage::Wat, grants: all_grants(), ..draft(&source) }
}

#[tokio::test]
async fn components_of_other_languages_reach_what_they_were_granted_and_no_more() {
    let reach = Scripted::new(|request| match request {
        OperationRequest::Kv(_) => Ok("\"kept\"".into()),
        OperationRequest::Tool { .. } => Ok("\"told\"".into()),
        _ => Ok("{}".into()),
    });
    for (power, params, said) in [
        ("kv", json!({"do": "get", "key": "x"}), Ok("kept")),
        ("kv", json!({"do": "burn", "key": "x"}), Err("this is no request: unknown variant `burn`")),
        ("tools", json!({"name": "roman"}), Ok("told")),
        ("tools", json!({"name": "restart"}), Err("not granted the tool `restart`")),
        ("http", json!({"url": "https://a.example/", "method": "get"}), Ok("{}")),
        ("http", json!({"url": "https://c.example/"}), Err("not granted GET https://c.example/")),
        ("http", json!({"url": "https://a.example/", "method": "POST", "body": "a", "body_base64": "YQ=="}), Err("not both")),
        ("http", json!({"url": "https://a.example/", "method": "POST", "body_base64": "?"}), Err("no base64")),
        ("sql", json!({"params": []}), Err("missing field `text`")),
    ] {
        let capability = built(sandbox(), &hand_made(power)).await;
        let outcome = sandbox().call(&permit(), &capability, &params, Arc::new(Shared(Arc::clone(&reach)))).await;
        match said {
            Ok(result) => assert_eq!((outcome.ok, outcome.result.as_str()), (true, result), "{params}"),
            Err(words) => assert!(message_of(&outcome).contains(words), "{params}: {}", outcome.result),
        }
    }
    assert_eq!(reach.requests().len(), 3);
}
