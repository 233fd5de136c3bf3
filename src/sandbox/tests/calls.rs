//! The results of calls, and the global scope that the code finds.

use super::*;
use crate::clock::Clock;
use chrono::TimeDelta;

#[tokio::test]
async fn a_result_that_is_a_string_is_handed_on_as_it_is() {
    assert_eq!(result("export default (p) => `hello ${p.name}`", json!({"name": "Ann \"A\""})).await, "hello Ann \"A\"");
}

#[tokio::test]
async fn any_other_result_is_compact_json() {
    assert_eq!(
        result("export default (p) => ({ sum: p.a + p.b, list: [1, null] })", json!({"a": 1, "b": 2})).await,
        r#"{"sum":3,"list":[1,null]}"#
    );
    assert_eq!(result("export default () => undefined", json!({})).await, "null");
    assert_eq!(result("export default () => () => 1", json!({})).await, "null");
}

#[tokio::test]
async fn a_thrown_error_comes_back_with_its_place() {
    let error = failure(sandbox(), "export default async function probe(params) {\n  await 1;\n  return params.a.b.c;\n}").await;
    assert_eq!(error["error"], "capability_failed");
    assert_eq!(error["name"], "TypeError");
    assert_eq!((&error["line"], &error["offset"]), (&json!(3), &json!(10)), "{error}");
    assert!(error["message"].as_str().unwrap().contains("undefined"), "{error}");
}

#[tokio::test]
async fn anything_can_be_thrown() {
    for (thrown, message) in [
        ("{ code: 5 }", r#"{"code":5}"#),
        ("'no'", "no"),
        ("Symbol('s')", "Symbol(s)"),
        ("undefined", "undefined"),
        ("() => 1", "() => 1"),
        ("Object.assign(o, { o, n: 5n })", r#"{"o":"[as above]","n":"5n"}"#),
    ] {
        let source = format!("export default () => {{ const o = {{}}; throw {thrown} }}");
        assert_eq!(failure(sandbox(), &source).await["message"], message, "{thrown}");
    }
}

#[tokio::test]
async fn the_log_is_kept_with_the_call() {
    let source = "export default (p) => {
        console.log('a', { b: 1 }, [2], new Map([[1, 2]]));
        console.warn('careful');
        console.error(new TypeError('bad'));
        if (p.fail) throw new Error('x');
    }";
    for fail in [false, true] {
        let outcome = call(sandbox(), source, json!({ "fail": fail })).await;
        assert_eq!(outcome.ok, !fail);
        assert_eq!(outcome.logs[..2], ["a {\"b\":1} [2] [[1,2]]", "warning: careful"]);
        assert!(outcome.logs[2].starts_with("error: TypeError: bad\n    at "), "{:?}", outcome.logs);
    }
}

#[tokio::test]
async fn what_has_no_json_is_logged_all_the_same() {
    let source = "export default () => {
        const o = { a: { b: 1n } };
        o.a.o = o;
        console.log(NaN, -0, 7n, null, undefined, Symbol('s'), o, Promise.resolve(1));
        console.group('g');
        console.count(); console.count(); console.time('t'); console.timeEnd('t');
        console.groupEnd(); console.clear(); console.countReset(); console.count();
    }";
    let outcome = call(sandbox(), source, json!({})).await;
    let first = r#"NaN 0 7 null undefined Symbol(s) {"a":{"b":"1n","o":"[as above]"}} {}"#;
    assert_eq!(outcome.logs, [first, "g", "default: 1", "default: 2", "t: 0 ms", "default: 1"], "{}", outcome.result);
}

#[tokio::test]
async fn one_line_may_have_all_that_a_call_may_log() {
    let outcome = call(sandbox(), "export default () => console.log('x'.repeat(20000))", json!({})).await.bounded();
    assert_eq!(outcome.logs[0].len(), (16 << 10) - 1);
    assert_eq!(outcome.logs[1..], ["[log cut at 16384 bytes: the last 1 entries are missing or incomplete]"]);
}

#[tokio::test]
async fn the_time_is_the_clocks_time() {
    let source = "export default () => [Date.now(), new Date().toISOString(), performance.now() < 1]";
    assert_eq!(result(source, json!({})).await, format!("[{},\"{NOW}\",true]", clock().now().timestamp_millis()));
}

#[tokio::test]
async fn randomness_comes_from_the_host_and_differs_between_calls() {
    let capability = built(
        sandbox(),
        &draft("export default () => [Math.random(), crypto.randomUUID(), [...crypto.getRandomValues(new Uint8Array(9))]]"),
    )
    .await;
    let first = sandbox().call(&permit(), &capability, &json!({}), nothing()).await.result;
    let second = sandbox().call(&permit(), &capability, &json!({}), nothing()).await.result;
    assert_ne!(first, second);
    let (first, second): (Value, Value) = (serde_json::from_str(&first).unwrap(), serde_json::from_str(&second).unwrap());
    for place in 0..3 {
        assert_ne!(first[place], second[place]);
    }
}

#[tokio::test]
async fn no_state_is_left_for_the_next_call() {
    let source = "let count = 0; globalThis.seen ??= 0; export default () => [++count, ++globalThis.seen, Array.prototype.x, Array.prototype.x = 1]";
    let capability = built(sandbox(), &draft(source)).await;
    for _ in 0..2 {
        assert_eq!(sandbox().call(&permit(), &capability, &json!({}), nothing()).await.result, "[1,1,null,1]");
    }
}

#[tokio::test]
async fn timers_fire_in_the_order_of_their_moments_and_wait_on_the_clock() {
    let clock = clock();
    let sandbox =
        Sandbox::open(&cache(), Arc::new(clock.clone()), Arc::new(SeededRandom::new(1)), SandboxLimits::default()).unwrap();
    let source = "export default () => new Promise((resolve) => {
        const seen = [], start = Date.now();
        const see = (what) => seen.push(`${what}@${Date.now() - start}`);
        setTimeout(see, 2000, 'second');
        const every = setInterval(see, 900, 'tick');
        setTimeout(() => { see('first'); Promise.resolve().then(() => see('microtask')); }, 1000);
        clearTimeout(setTimeout(see, 1500, 'never'));
        setTimeout(() => { clearInterval(every); see('last'); resolve(seen.join(' ')); }, 2500);
    })";
    let capability = built(&sandbox, &draft(source)).await;
    let permit = permit();
    let params = json!({});
    let mut call = std::pin::pin!(sandbox.call(&permit, &capability, &params, nothing()));
    let outcome = loop {
        tokio::select! {
            biased;
            outcome = &mut call => break outcome,
            () = tokio::task::yield_now() => clock.advance(TimeDelta::milliseconds(100)),
        }
    };
    assert!(outcome.ok, "{}", outcome.result);
    let order: Vec<_> = outcome.result.split(' ').map(|seen| seen.split_once('@').unwrap().0).collect();
    assert_eq!(order, ["tick", "first", "microtask", "tick", "second", "last"], "{}", outcome.result);
}

#[tokio::test]
async fn an_error_in_a_timer_fails_the_call() {
    let error =
        failure(sandbox(), "export default () => new Promise(() => setTimeout(() => { throw new RangeError('in timer') }))")
            .await;
    assert_eq!(error["name"], "RangeError");
}

#[tokio::test]
async fn the_usual_functions_are_there() {
    let source = "export default () => {
        const url = new URL('https://a.example/c?d=1#e');
        url.searchParams.append('x', 'ü y');
        const shared = { a: new Date(0), m: new Map([[1, { b: 2 }]]), self: null };
        shared.self = shared;
        const copy = structuredClone(shared);
        return [
            url.href, [...new TextEncoder().encode('é€')], new TextDecoder().decode(new Uint8Array([226, 130, 172])), btoa('hi'), atob('aGk='),
            copy !== shared && copy.self === copy && copy.a.getTime() === 0 && copy.m.get(1).b === 2,
            /(?<y>\\d{4})/u.exec('in 2024').groups.y, new URLSearchParams({ a: '1' }).toString(), new Date(0).getTimezoneOffset(),
            typeof Intl, typeof require, typeof process,
        ];
    }";
    let expected = json!([
        "https://a.example/c?d=1&x=%C3%BC+y#e",
        [195, 169, 226, 130, 172],
        "€",
        "aGk=",
        "hi",
        true,
        "2024",
        "a=1",
        0,
        "undefined",
        "undefined",
        "undefined"
    ]);
    assert_eq!(serde_json::from_str::<Value>(&result(source, json!({})).await).unwrap(), expected);
}

#[tokio::test]
async fn words_of_node_are_explained_when_they_are_met() {
    let error = failure(sandbox(), "export default () => require('fs')").await;
    assert!(error["message"].as_str().unwrap().contains("not CommonJS"), "{error}");
}

#[tokio::test]
async fn what_is_thrown_and_says_nothing_is_explained() {
    let error = failure(sandbox(), "export default () => { throw {} }").await;
    assert!(error["message"].as_str().unwrap().contains("Catch it where it is thrown"), "{error}");
    let error = failure(sandbox(), "export default () => { throw new Error('{}') }").await;
    assert_eq!(error["message"], "{}");
}

#[tokio::test]
async fn an_exception_of_the_platform_is_an_error_like_others() {
    for (code, name, message) in [
        ("atob('!!')", "InvalidCharacterError", ""),
        ("btoa('€')", "InvalidCharacterError", ""),
        ("structuredClone(() => 1)", "DataCloneError", "cannot be cloned"),
        ("throw new DOMException('a', 'AbortError')", "AbortError", "a"),
    ] {
        let error = failure(sandbox(), &format!("export default () => {{\n  {code} }}")).await;
        assert_eq!((&error["name"], &error["line"]), (&json!(name), &json!(2)), "{code}: {error}");
        let told = error["message"].as_str().unwrap();
        assert!(!told.is_empty() && told.contains(message), "{code}: {error}");
    }
}

#[tokio::test]
async fn bytes_that_are_no_utf8_are_refused_if_the_code_asks_for_that() {
    let source = "export default () => {
        const read = (bytes, options) => {
            try { return new TextDecoder('utf-8', options).decode(new Uint8Array(bytes)) } catch (error) { return error.name }
        };
        const fatal = { fatal: true };
        return [read([255]), read([255], fatal), read([0xed, 0xa0, 0xbd], fatal), read([0xef, 0xbf, 0xbd], fatal),
            read([0xef, 0xbb, 0xbf, 65], fatal), read([0xef, 0xbb, 0xbf, 65], { ignoreBOM: true })];
    }";
    let read = json!(["\u{fffd}", "TypeError", "TypeError", "\u{fffd}", "A", "\u{feff}A"]);
    assert_eq!(serde_json::from_str::<Value>(&result(source, json!({})).await).unwrap(), read);
}

#[tokio::test]
async fn what_was_not_granted_says_so() {
    let uses = [
        ("log", "console.log('x')"),
        ("clock", "Date.now()"),
        ("clock", "new Date()"),
        ("clock", "Date()"),
        ("clock", "performance.now()"),
        ("clock", "setTimeout(() => 1, 1)"),
        ("random", "Math.random()"),
        ("random", "crypto.randomUUID()"),
    ];
    for (power, code) in uses {
        let draft = Draft { grants: Grants::none(), ..draft(&format!("export default () => {{ {code} }}")) };
        let capability = built(sandbox(), &draft).await;
        let outcome = sandbox().call(&permit(), &capability, &json!({}), nothing()).await;
        let error: Value = serde_json::from_str(&outcome.result).unwrap();
        assert_eq!(error["message"], format!("this capability was not granted `{power}`"), "{code}");
    }
}

#[tokio::test]
async fn dates_given_in_words_need_no_clock() {
    let draft = Draft {
        grants: Grants::none(),
        ..draft(
            "export default () => [new Date(0) instanceof Date, new Date('2020-02-28T00:00:00Z').getTime(), Date.UTC(2020, 1)]",
        )
    };
    let capability = built(sandbox(), &draft).await;
    assert_eq!(sandbox().call(&permit(), &capability, &json!({}), nothing()).await.result, "[true,1582848000000,1580515200000]");
}

#[tokio::test]
async fn wrong_arguments_are_refused_before_the_code_runs() {
    let parameters = json!({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]});
    let draft = Draft { parameters, ..draft("export default () => { throw new Error('it ran') }") };
    let capability = built(sandbox(), &draft).await;
    let outcome = sandbox().call(&permit(), &capability, &json!({"n": "seven"}), nothing()).await;
    let error: Value = serde_json::from_str(&outcome.result).unwrap();
    assert_eq!(error["error"], "invalid_arguments");
    assert!(error["message"].as_str().unwrap().starts_with("`/n`: \"seven\" is not of type \"integer\""), "{error}");
}
