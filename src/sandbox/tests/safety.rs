//! Code that means harm, or does it by mistake: it fails its own call and nothing else.

use super::*;

async fn limited(sandbox: &Sandbox, source: &str, words: &str) {
    let error = failure(sandbox, source).await;
    assert_eq!(error["error"], "limit_exceeded", "{source}: {error}");
    assert!(error["message"].as_str().unwrap().contains(words), "{source}: {error}");
}

#[tokio::test]
async fn code_that_never_ends_is_stopped() {
    for source in [
        "export default () => { for (;;) {} }",
        "export default async () => { for (;;) await null }",
        "export default () => /^(a+)+$/.test('a'.repeat(40) + 'b')",
        "export default () => new Promise((resolve) => setTimeout(resolve, 1000))", // the clock stands still
        "export default () => { setInterval(() => {}, 0); return new Promise(() => {}) }",
        "export default () => { try { for (;;) {} } catch { return 1 } finally { for (;;) {} } }",
    ] {
        limited(impatient(), source, "did not finish in time").await;
    }
}

#[tokio::test]
async fn a_promise_that_can_never_settle_is_an_error_at_once() {
    let error = failure(sandbox(), "export default () => new Promise(() => {})").await;
    assert!(error["message"].as_str().unwrap().contains("can never settle"), "{error}");
}

#[tokio::test]
async fn memory_has_a_limit() {
    for source in [
        "export default () => { const a = []; for (;;) a.push(new Array(1000).fill('x')) }",
        "export default () => { const a = []; for (let s = 'x';; s = s + 'y') a.push(s + s) }",
        "export default () => { const a = []; for (;;) a.push(new Uint8Array(1 << 20)) }",
    ] {
        limited(sandbox(), source, "more than 64 MiB of memory").await;
    }
    let caught =
        "export default () => { try { const a = []; for (;;) a.push(new Uint8Array(1 << 20)) } catch (e) { return e.message } }";
    assert_eq!(result(caught, json!({})).await, "out of memory");
}

#[tokio::test]
async fn recursion_without_end_is_an_error_that_code_can_catch() {
    for body in [
        "const f = () => { f() }; f()",
        "const o = new Proxy({}, { get: (t, k, r) => r[k + 'x'] }); o.a",
        "const f = () => { [3, 1, 2].sort(() => { [1].map(f); return 0 }) }; f()",
        "const o = { toJSON() { return JSON.parse(JSON.stringify(o)) } }; JSON.stringify(o)",
        "class A { constructor(...a) { new A(...a, 1) } }; new A()",
        "const f = () => 'a'.replace(/a/g, f); f()",
        "const f = () => { Reflect.apply(f.bind(null), null, []) }; f()",
        "function* g() { yield* g() }; [...g()]",
    ] {
        let source = format!("export default () => {{ try {{ {body} }} catch (e) {{ return e.name + ': ' + e.message }} }}");
        let said = result(&source, json!({})).await;
        // the arguments of the constructor grow with the depth, so there memory may end first
        assert!(["call stack", "stack overflow", "out of memory"].iter().any(|end| said.contains(end)), "{body}: {said}");
    }
    let error = failure(sandbox(), "export default function f(n) { return f(n) + 1 }").await;
    assert_eq!(error["name"], "RangeError", "{error}");
}

#[tokio::test]
async fn nesting_without_end_fails_only_its_call() {
    let source = "export default () => { const s = '['.repeat(200000) + ']'.repeat(200000); try { return JSON.parse(s).length } catch (e) { return e.name } }";
    let outcome = call(sandbox(), source, json!({})).await;
    assert!(!outcome.ok || outcome.result.contains("Error"), "{}", outcome.result);
    let error = refused(&draft(&format!("export default () => {}1{}", "(".repeat(90_000), ")".repeat(90_000)))).await;
    assert!(error.to_string().contains("stack"), "{error}");
    assert_eq!(result("export default () => 1", json!({})).await, "1");
}

#[tokio::test]
async fn a_flood_of_logs_is_cut() {
    let outcome = call(
        sandbox(),
        "export default () => { for (let i = 0; i < 20000; i++) console.log('x'.repeat(100)); return 1 }",
        json!({}),
    )
    .await;
    assert!(outcome.ok, "{}", outcome.result);
    assert!(outcome.logs.iter().map(String::len).sum::<usize>() < (16 << 10) + 200);
    assert!(outcome.logs.last().unwrap().starts_with("[log cut at 16384 bytes: the last 198"), "{:?}", outcome.logs.last());
}

#[tokio::test]
async fn a_result_has_a_limit() {
    limited(sandbox(), "export default () => 'x'.repeat(300000)", "the result has 300000 bytes and may have 262144").await;
}

#[tokio::test]
async fn an_error_has_a_limit() {
    let error = failure(sandbox(), "export default () => { throw new Error('x'.repeat(1e6)) }").await;
    assert!(error["message"].as_str().unwrap().ends_with("… (1000000 bytes in all)"));
}

#[tokio::test]
async fn clobbered_globals_harm_nothing_but_the_code_itself() {
    let source = "JSON.parse = JSON.stringify = () => { throw 1 }; Object.prototype.x = 1; Array.prototype.map = null; Promise.resolve = null;
        export default async (p) => { console.log({ a: 1 }); return { got: p.n } }";
    let outcome = call(sandbox(), source, json!({"n": 5})).await;
    assert_eq!(outcome.result, r#"{"got":5}"#);
}

#[tokio::test]
async fn modules_cannot_be_fetched_while_running() {
    let error = failure(sandbox(), "export default async () => (await import('https://a.example/y.js')).x").await;
    assert!(error["message"].as_str().unwrap().contains("cannot import 'https://a.example/y.js'"), "{error}");
}

#[tokio::test]
async fn a_result_without_json_is_an_error() {
    let error = failure(sandbox(), "export default () => ({ a: 10n })").await;
    assert_eq!(error["name"], "TypeError");
    assert!(error["message"].as_str().unwrap().contains("BigInt"), "{error}");
    let error = failure(sandbox(), "export default () => { const a = {}; a.a = a; return a }").await;
    assert!(error["message"].as_str().unwrap().contains("circular"), "{error}");
}

#[tokio::test]
async fn hostile_errors_are_reported_as_well_as_can_be() {
    for thrown in [
        "{ get message() { throw 1 } }",
        "Object.assign(new Error('x'), { name: {}, stack: 7 })",
        "new Proxy({}, { get() { throw 1 }, ownKeys() { throw 2 } })",
        "Symbol('x')",
        "null",
    ] {
        let error = failure(sandbox(), &format!("export default () => {{ throw {thrown} }}")).await;
        assert_eq!(error["error"], "capability_failed", "{thrown}: {error}");
    }
}

/// On one thread, so that the spinner has to give way by itself.
#[tokio::test]
async fn a_call_beside_a_spinner_goes_on() {
    let spinner = built(sandbox(), &draft("export default () => { for (;;) {} }")).await;
    let small = built(sandbox(), &draft("export default () => 1")).await;
    let (first, second, params) = (permit(), permit(), json!({}));
    let mut spinning = std::pin::pin!(sandbox().call(&first, &spinner, &params, nothing()));
    for _ in 0..3 {
        tokio::select! {
            biased;
            outcome = &mut spinning => panic!("the spinner ended first: {}", outcome.result),
            outcome = sandbox().call(&second, &small, &params, nothing()) => assert_eq!(outcome.result, "1"),
        }
    }
}

#[tokio::test]
async fn more_calls_than_slots_wait_their_turn() {
    let sandbox = open(SandboxLimits { concurrent: 2, ..SandboxLimits::default() });
    let capability =
        built(&sandbox, &draft("export default (p) => { let s = 0; for (let i = 0; i < 100000; i++) s += i; return p.n }")).await;
    let calls = (0..20).map(|n| {
        let (sandbox, capability) = (&sandbox, &capability);
        async move { sandbox.call(&permit(), capability, &json!({ "n": n }), nothing()).await.result }
    });
    let results = futures::future::join_all(calls).await;
    assert_eq!(results, (0..20).map(|n: i32| n.to_string()).collect::<Vec<_>>());
}

#[tokio::test]
async fn a_call_that_is_dropped_frees_its_slot() {
    let sandbox = open(SandboxLimits { concurrent: 1, ..SandboxLimits::default() });
    let waiting = built(&sandbox, &draft("export default () => new Promise((resolve) => setTimeout(resolve, 1e6))")).await;
    let quick = built(&sandbox, &draft("export default () => 1")).await;
    for _ in 0..50 {
        let (permit, params) = (permit(), json!({}));
        let call = std::pin::pin!(sandbox.call(&permit, &waiting, &params, nothing()));
        assert!(futures::poll!(call).is_pending());
    }
    assert_eq!(sandbox.call(&permit(), &quick, &json!({}), nothing()).await.result, "1");
}
