//! Calls without effects: tests with answers of their own, tests run again, and trial calls.

use super::scripted::{all_grants, grants, json_of};
use super::*;
use crate::domain::RefusalCode;
use crate::sandbox::TestResult;
use crate::wire::api::TestedCase;

const WEATHER: &str = "export default async (p) => {
    const response = await fetch(`https://a.example/${p.city}`, { headers: { key: host.secret('KEY') } });
    if (!response.ok) throw new Error(`weather: ${response.status} ${await response.text()}`);
    await host.kv.set('last', p.city);
    return `${(await response.json()).degrees} degrees, ${response.headers.get('x-a')}`;
}";

fn weather(tests: Value) -> Draft {
    Draft { grants: all_grants(), tests: serde_json::from_value(tests).unwrap(), ..draft(WEATHER) }
}

#[tokio::test]
async fn a_test_brings_the_answers_of_its_operations() {
    let draft = weather(json!([
        {"params": {"city": "rome"}, "expect": "31 degrees, b",
         "answers": [{"ok": {"status": 200, "headers": {"X-A": "b"}, "body": {"degrees": 31}}}, {"ok": null}]},
        {"params": {"city": "oslo"}, "expect": "-3 degrees, c",
         "answers": [{"ok": {"status": 200, "headers": [["x-a", "c"]], "body": "{\"degrees\":-3}"}}, {"ok": null}]},
    ]));
    let checked = sandbox().check(&draft).await.unwrap();
    assert!(checked.tests.iter().all(|test| test.ok) && checked.tests.len() == 2);
}

#[tokio::test]
async fn a_test_without_the_answers_it_needs_says_how_to_give_them() {
    let ok = json!({"ok": {"status": 200, "body": {"degrees": 31}}});
    for (answers, words) in [
        (json!([]), r#"operation 1 (GET https://a.example/rome) has no answer left; give the test "answers": [{"ok": <what"#),
        (json!([ok]), "operation 2 (a use of host.kv) has no answer left"),
        (json!([{"error": "a.example is down"}]), "probe({\"city\":\"rome\"}) failed: Error: a.example is down"),
        (json!([{"ok": {"status": 500, "body": "broken"}}]), "weather: 500 broken"),
        (json!([{"ok": {"degrees": 31}}]), r#"what a test answers to fetch is {"ok": {"status": 200"#),
        (json!([{"degrees": 31}]), r#"operation 1 (GET https://a.example/rome) must be {"ok""#),
        (json!([{"error": 5}]), r#"must be {"ok""#),
    ] {
        let error = refused(&weather(json!([{"params": {"city": "rome"}, "answers": answers}]))).await;
        assert_eq!(error.kind, RefusalCode::TestFailed);
        assert!(error.message.contains(words), "{words}: {error}");
    }
}

#[tokio::test]
async fn a_test_has_values_of_its_own_and_finds_what_the_tests_before_it_kept() {
    const COUNT: &str = "export default async (p) => {
        if (p.forget) return await host.kv.delete('n');
        const n = (await host.kv.get('n') || 0) + 1;
        await host.kv.set('n', n);
        return [n, await host.kv.list()];
    }";
    let tests = json!([
        {"params": {}, "expect": [1, ["n"]]},
        {"params": {}, "expect": [2, ["n"]]},
        {"params": {"forget": true}, "expect": true},
        {"params": {"forget": true}, "expect": false},
        {"params": {}, "expect": [1, ["n"]]},
        {"params": {}, "expect": [8, []], "answers": [{"ok": 7}, {"ok": null}, {"ok": []}]},
    ]);
    let draft = Draft { grants: grants(json!({"kv": {}})), tests: serde_json::from_value(tests).unwrap(), ..draft(COUNT) };
    let capability = built(sandbox(), &draft).await;
    // Nothing is left for the next run.
    let results = sandbox().run_tests(&capability).await.unwrap();
    assert!(results.iter().all(|test| test.ok) && results.len() == 6, "{results:?}");
}

#[tokio::test]
async fn what_tests_may_keep_is_bounded() {
    const HOARD: &str = "export default async (p) => { await host.kv.set(p.key, 'x'.repeat(200 * 1024)); }";
    let tests: Value = ["a", "a", "b", "c", "d", "e", "f"].iter().map(|key| json!({"params": {"key": key}})).collect();
    let draft = Draft { grants: grants(json!({"kv": {}})), tests: serde_json::from_value(tests).unwrap(), ..draft(HOARD) };
    let error = refused(&draft).await;
    assert!(error.message.contains("test 7 of 7") && error.message.contains("can keep 1048576 bytes together"), "{error}");
}

#[tokio::test]
async fn tests_can_be_run_again_and_say_what_came() {
    let answers = json!([{"ok": {"status": 200, "body": {"degrees": 31}}}, {"ok": null}]);
    let mut capability = built(sandbox(), &weather(json!([]))).await;
    capability.tests = serde_json::from_value(json!([
        {"params": {"city": "rome"}, "expect": "31 degrees, null", "answers": answers},
        {"params": {"city": "rome"}, "expect": "32 degrees, null", "answers": answers},
        {"params": {"city": "rome"}},
    ]))
    .unwrap();
    let tested = |results: Vec<TestResult>| json!(results.into_iter().map(TestedCase::from).collect::<Vec<_>>());
    let results = tested(sandbox().run_tests(&capability).await.unwrap());
    assert_eq!(
        results[0],
        json!({"params": {"city": "rome"}, "expected": "31 degrees, null", "result": "31 degrees, null", "ok": true})
    );
    assert_eq!((&results[1]["ok"], &results[1]["result"]), (&json!(false), &json!("31 degrees, null")));
    assert_eq!((&results[2]["ok"], &results[2]["error"]["error"]), (&json!(false), &json!("capability_failed")));
    assert_eq!(results[2]["error"]["line"], 2, "{results}");
    capability.parameters = json!({"type": "object", "required": ["country"]});
    assert_eq!(tested(sandbox().run_tests(&capability).await.unwrap())[0]["error"]["error"], "invalid_arguments");
    let damaged = CapabilityVersion { sha256: "0".repeat(64), ..capability };
    assert!(sandbox().run_tests(&damaged).await.unwrap_err().to_string().contains("damaged"));
}

#[tokio::test]
async fn a_call_that_is_only_tried_reaches_nothing() {
    let capability = built(sandbox(), &weather(json!([]))).await;
    assert_eq!(sandbox().try_call(&capability, &json!({"city": "rome"})).await, None);
    let source = "export default async () => { try { return host.secret('K') } catch (error) { return error.message } }";
    let caught = Draft { grants: grants(json!({"secrets": {"K": ["a.example"]}})), ..draft(source) };
    assert_eq!(sandbox().try_call(&built(sandbox(), &caught).await, &json!({})).await, None);
    let plain = built(sandbox(), &draft("export default (p) => p.n + 1")).await;
    assert_eq!(json_of(&sandbox().try_call(&plain, &json!({"n": 1})).await.unwrap()), 2);
}

#[tokio::test]
async fn nothing_is_reached_while_a_draft_is_loaded() {
    let source = "const key = await host.kv.get('x');\nexport default () => key";
    let error = refused(&Draft { grants: grants(json!({"kv": {}})), ..draft(source) }).await;
    assert_eq!(error.kind, RefusalCode::ImportError);
    assert!(error.message.contains("fails while loading: Error: nothing outside the sandbox is reached here"), "{error}");
    assert_eq!(error.place.map(|place| place.line), Some(1));
}

#[tokio::test]
async fn kept_tests_without_answers_are_still_read() {
    let old: TestCase = serde_json::from_value(json!({"params": {}, "expect": 1})).unwrap();
    assert_eq!(old, test(json!({}), json!(1)));
    assert_eq!(json!(old), json!({"params": {}, "expect": 1}));
}

#[tokio::test]
async fn null_is_a_result_that_can_be_expected() {
    let tests: Vec<TestCase> = serde_json::from_value(json!([{"params": {}, "expect": null}])).unwrap();
    // It is kept as it was given.
    assert_eq!(json!(tests), json!([{"params": {}, "expect": null}]));
    let error = refused(&Draft { tests: tests.clone(), ..draft("export default () => 5") }).await;
    assert!(error.message.contains("gave 5, but null was expected"), "{error}");
    assert_eq!(error.refusal().to_json().get("expected"), Some(&json!(null)));
    for source in ["export default () => null", "export default () => {}"] {
        let checked = sandbox().check(&Draft { tests: tests.clone(), ..draft(source) }).await.unwrap();
        assert!(checked.tests[0].ok && checked.tests[0].expected == Some(json!(null)), "{source}");
    }
}
