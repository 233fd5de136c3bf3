//! The lessons about the host are true: each line of them is run here with the power it is about,
//! and with no other.

use super::scripted::{Scripted, Shared, grants, message_of};
use super::*;
use crate::domain::HttpResponse;
use crate::domain::Power;
use crate::sandbox::OperationRequest;
use crate::sandbox::teaching::{self, lines};

/// Values for the names that the taught expressions use.
const NAMES: &str = "const url = 'https://api.example.com/', method = 'POST', headers = {}, body = 'text', text = 'SELECT 1 AS a', params = [], \
     key = 'k', value = { a: 1 }, prefix = '', name = NAME, milliseconds = 0, bytes = new Uint8Array(8);";

fn taught_grants() -> Value {
    serde_json::from_str(teaching::grants()).unwrap()
}

/// The grants for one power, besides those that every capability has.
fn only(power: Power) -> Grants {
    let mut written = json!({"log": {}, "clock": {}, "random": {}});
    if !power.is_harmless() {
        written[power.as_str()] = taught_grants()[power.as_str()].clone();
    }
    grants(written)
}

fn power_of(request: &OperationRequest) -> Power {
    match request {
        OperationRequest::Http(_) => Power::Http,
        OperationRequest::Sql { .. } => Power::Sql,
        OperationRequest::Kv(_) => Power::Kv,
        OperationRequest::Tool { .. } => Power::Tools,
    }
}

async fn run(expression: &str, power: Power, granted: Grants, reach: &Arc<Scripted>) -> Outcome {
    let name = if power == Power::Secrets { "'API_KEY'" } else { "'manage_tasks'" };
    let names = NAMES.replace("NAME", name);
    let source =
        format!("export default async () => {{ {names} const result = {expression}; return {{ type: typeof result }}; }}");
    let capability = built(sandbox(), &Draft { grants: granted, ..draft(&source) }).await;
    sandbox().call(&permit(), &capability, &json!({}), Arc::new(Shared(Arc::clone(reach)))).await
}

#[tokio::test]
async fn every_line_that_is_taught_works_with_its_grant_and_is_refused_without() {
    for power in Power::ALL.iter().copied() {
        let expressions = lines::expressions(power);
        assert!(!expressions.is_empty(), "{power}: say in its .wit how it is used: `/// js: …`");
        for expression in expressions {
            let reach = Scripted::new(|request| match request {
                OperationRequest::Http(_) => Ok(HttpResponse { status: 200, ..HttpResponse::default() }.to_json()),
                _ => Ok("[]".into()),
            });
            let outcome = run(expression, power, only(power), &reach).await;
            assert!(outcome.ok, "{power}: {expression}: {}", outcome.result);
            let reaches = !power.is_harmless() && power != Power::Secrets;
            let expected: &[Power] = if reaches { &[power] } else { &[] };
            assert_eq!(reach.requests().iter().map(power_of).collect::<Vec<_>>(), expected, "{expression}");
            if !power.is_harmless() {
                let refused = message_of(&run(expression, power, Grants::harmless(), &reach).await);
                assert!(refused.contains(&format!("\"{power}\"")), "{expression}: {refused}");
            }
        }
    }
}

#[tokio::test]
async fn what_is_said_to_be_there_is_and_what_is_said_to_be_missing_is_missing() {
    for (word, there) in [("has", true), ("lacks", false)] {
        let names = lines::globals(word);
        assert!(names.len() > 5, "{names:?}");
        let checks: Vec<_> = names.iter().map(|name| format!("'{name}': typeof {name}")).collect();
        let found = result(&format!("export default () => ({{ {} }})", checks.join(", ")), json!({})).await;
        let found: Value = serde_json::from_str(&found).unwrap();
        for name in names {
            assert_eq!(found[name] != "undefined", there, "{name}: {found}");
        }
    }
    // The others are no globals that the code could look for.
    for (source, error) in
        [("import 'fs'; export default () => 1", "import_error"), ("export default (a: string) => a", "syntax_error")]
    {
        assert_eq!(refused(&draft(source)).await.refusal().to_json()["error"], error, "{source}");
    }
}

#[test]
fn every_interface_of_the_world_is_a_power_that_is_taught() {
    let mut powers: Vec<_> = Power::ALL.iter().map(|power| power.as_str()).collect();
    powers.push("operations"); // comes with others, and is never written
    powers.sort_unstable();
    let mut imports = lines::imports();
    imports.sort_unstable();
    assert_eq!(imports, powers);
    for power in Power::ALL.iter().copied() {
        assert!(lines::source(power).contains(&format!("\ninterface {power} {{")), "{power} is read from its own file");
        assert!(power.is_harmless() || teaching::text().contains(&format!("\n  {power}: ")), "{power}");
        assert!(only(power).has(power), "{power}: `/// grant: …` is how it is written");
    }
}
