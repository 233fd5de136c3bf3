//! Each power as a capability sees it.

use super::scripted::{Scripted, json_of, message_of, reaching};
use super::*;
use crate::domain::{HttpRequest, HttpResponse};
use crate::sandbox::{KvRequest, OperationRefused, OperationRequest};

fn http(request: &OperationRequest) -> &HttpRequest {
    match request {
        OperationRequest::Http(request) => request,
        other => panic!("{other:?}"),
    }
}

fn answer(body: &[u8]) -> String {
    let headers = [("content-type", "text/plain"), ("x-a", "1"), ("x-a", "2"), ("set-cookie", "a=1"), ("set-cookie", "b=2")];
    let headers = headers.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec();
    let (status_text, url) = ("OK".to_owned(), "https://a.example/there".to_owned());
    HttpResponse { status: 200, status_text, url, headers, body: body.to_vec() }.to_json()
}

#[tokio::test]
async fn fetch_gives_a_response_as_elsewhere() {
    let reach = Scripted::new(|_| Ok(answer(r#"{"grün":[1,2]}"#.as_bytes())));
    let source = r#"export default async () => {
        const response = await fetch('https://a.example/x?y=1#part');
        const names = [];
        response.headers.forEach((value, name) => names.push(name));
        const { ok, status, statusText, url, headers } = response;
        return {
            ok, status, statusText, url, type: headers.get('Content-Type'), joined: headers.get('x-a'), has: [headers.has('X-A'), headers.has('x')],
            missing: headers.get('x'), cookies: headers.getSetCookie(), names, entries: [...headers.entries()].length, spread: [...headers][1],
            text: await response.text(), json: (await response.json())['grün'], bytes: (await response.bytes()).length,
            buffer: (await response.arrayBuffer()).byteLength, response: response instanceof Response && headers instanceof Headers,
        };
    }"#;
    assert_eq!(
        json_of(&reaching(source, &reach).await),
        json!({
            "ok": true, "status": 200, "statusText": "OK", "url": "https://a.example/there", "type": "text/plain", "joined": "1, 2",
            "has": [true, false], "missing": null, "cookies": ["a=1", "b=2"], "names": ["content-type", "x-a", "set-cookie"],
            "entries": 3, "spread": ["x-a", "1, 2"], "text": "{\"grün\":[1,2]}", "json": [1, 2], "bytes": 15, "buffer": 15,
            "response": true,
        })
    );
    let request = HttpRequest { method: "GET".into(), url: "https://a.example/x?y=1".into(), ..HttpRequest::default() };
    assert_eq!(reach.requests(), [OperationRequest::Http(request)]);
    assert_eq!(reach.operations()[0].ordinal, 1);
}

#[tokio::test]
async fn a_status_is_no_error_and_a_body_may_be_any_bytes() {
    let reach = Scripted::new(|_| Ok(HttpResponse { status: 404, body: vec![0, 255, 7], ..HttpResponse::default() }.to_json()));
    let source = "export default async () => {
        const r = await fetch(new URL('/x', 'https://a.example'));
        return [r.ok, r.status, [...await r.bytes()], [...new Uint8Array(await r.arrayBuffer())], await r.text()];
    }";
    assert_eq!(json_of(&reaching(source, &reach).await), json!([false, 404, [0, 255, 7], [0, 255, 7], "\u{0}\u{fffd}\u{7}"]));
}

#[tokio::test]
async fn the_mark_before_a_text_is_no_part_of_it() {
    let reach = Scripted::new(|_| Ok(answer("\u{feff}{\"a\":1}".as_bytes())));
    let source = "export default async () => {
        const r = await fetch('https://a.example/');
        return [(await r.json()).a, (await r.text())[0], (await r.bytes())[0]];
    }";
    assert_eq!(json_of(&reaching(source, &reach).await), json!([1, "{", 0xef]));
}

#[tokio::test]
async fn a_request_that_wants_no_redirects_is_refused() {
    let reach = Scripted::new(|_| Ok(answer(b"")));
    for mode in ["manual", "error"] {
        let source = format!("export default () => fetch('https://a.example/', {{ redirect: '{mode}' }})");
        let told = message_of(&reaching(&source, &reach).await);
        assert!(told.contains("are always followed here"), "{told}");
    }
    assert_eq!(reach.requests(), []);
    let source = "export default async () => (await fetch('https://a.example/', { redirect: 'follow' })).ok";
    assert_eq!(json_of(&reaching(source, &reach).await), true);
}

#[tokio::test]
async fn a_forgotten_await_is_told_at_the_first_reading_of_what_is_not_there() {
    let reach = Scripted::new(|_| Ok(answer(br#"{"rate":1.5,"items":[1]}"#)));
    let of = |code: &str| format!("export default async () => {{ const response = await fetch('https://a.example/'); {code} }}");
    let told = |call: &str, field: &str| {
        format!("{call} gives a promise, which has no {field}: write `await {call}` and read it from what that gives")
    };
    for (code, call, field) in [
        ("return response.json().rate", "response.json()", "`rate`"),
        ("const { rate } = response.json(); return rate", "response.json()", "`rate`"),
        ("const data = response.json(); return { rate: data.rate }", "response.json()", "`rate`"),
        ("return { data: response.json() }", "response.json()", "value"),
        ("return `${response.text()}!`", "response.text()", "value"),
        ("for (const item of response.json()) return item", "response.json()", "items"),
        ("return 'rate' in response.json()", "response.json()", "`rate`"),
        ("return fetch('https://a.example/').json()", "fetch(…)", "`json`"),
        ("return host.sql('SELECT 1').length", "host.sql(…)", "`length`"),
        ("return host.kv.get('k') + 1", "host.kv.get(…)", "value"),
        ("return host.call('t').name", "host.call(…)", "`name`"),
    ] {
        assert_eq!(message_of(&reaching(&of(code), &reach).await), told(call, field), "{code}");
    }
    // A promise stays one in every way in which it is used as such.
    for (code, value) in [
        ("return response.json()", json!({"rate": 1.5, "items": [1]})),
        ("return response.json().then(({ rate }) => rate).catch(() => 0).finally(() => 1)", json!(1.5)),
        ("return (await Promise.all([response.json(), response.text()])).length", json!(2)),
        (
            "return [response.json() instanceof Promise, `${Object.prototype.toString.call(response.json())}`]",
            json!([true, "[object Promise]"]),
        ),
        ("Promise.prototype.then = null; return (await response.json()).rate", json!(1.5)),
    ] {
        assert_eq!(json_of(&reaching(&of(code), &reach).await), value, "{code}");
    }
    let outcome = reaching(&of("console.log(response.json()); return 1"), &reach).await;
    assert_eq!(outcome.logs, [format!("TypeError: {}", told("response.json()", "value"))]);
}

#[tokio::test]
async fn requests_are_written_in_every_usual_way() {
    let reach = Scripted::new(|_| Ok(answer(b"")));
    let source = r#"export default async () => {
        const at = 'https://a.example/';
        await fetch(at, { method: 'post', headers: { 'X-Key': ' v ' }, body: 'grün' });
        await fetch(at, { method: 'PUT', headers: [['A', '1'], ['a', '2']], body: new Uint8Array([1, 255]) });
        await fetch(at, { method: 'PATCH', headers: new Headers({ 'content-type': 'own' }), body: new Uint8Array([9, 8, 7]).buffer });
        await fetch(at, { method: 'DELETE', headers: new Map([['b', 3]]), body: new URLSearchParams({ a: '1 2' }) });
        await fetch({ url: at });
    }"#;
    assert_eq!(json_of(&reaching(source, &reach).await), Value::Null);
    let sent: Vec<_> = reach
        .requests()
        .iter()
        .map(|request| {
            let HttpRequest { method, headers, body, .. } = http(request);
            let headers: Vec<_> = headers.iter().map(|(name, value)| format!("{name}: {value}")).collect();
            (method.clone(), headers.join("; "), body.clone().unwrap_or_default())
        })
        .collect();
    let form = "b: 3; content-type: application/x-www-form-urlencoded;charset=UTF-8";
    let expected: [(&str, &str, &[u8]); 5] = [
        ("POST", "x-key: v; content-type: text/plain;charset=UTF-8", "grün".as_bytes()),
        ("PUT", "a: 1; a: 2", &[1, 255]),
        ("PATCH", "content-type: own", &[9, 8, 7]),
        ("DELETE", form, b"a=1+2"),
        ("GET", "", b""),
    ];
    assert_eq!(sent, expected.map(|(method, headers, body)| (method.to_owned(), headers.to_owned(), body.to_vec())));
}

#[tokio::test]
async fn requests_that_cannot_be_meant_are_refused_before_they_leave() {
    let reach = Scripted::answering(json!(null));
    for (code, words) in [
        ("fetch('https://a.example/', { method: 'POST', body: { a: 1 } })", "give an object as JSON.stringify(object)"),
        ("fetch('https://a.example/', { body: 'x' })", "a request with GET has no body"),
        ("fetch('/relative')", "`/relative` is no address; write it whole"),
        ("fetch('https://a.example/', { headers: 'x' })", "headers are an object"),
        ("host.sql('SELECT $1', 5)", "params is an array"),
    ] {
        let outcome = reaching(&format!("export default async () => {{ await {code} }}"), &reach).await;
        assert!(message_of(&outcome).contains(words), "{code}: {}", outcome.result);
    }
    assert_eq!(reach.requests(), []);
}

#[tokio::test]
async fn sql_has_its_parameters_apart_from_its_text() {
    let reach = Scripted::new(|request| match request {
        OperationRequest::Sql { text, .. } if text.starts_with("SELECT") => {
            Ok(r#"[{"n":1,"name":"é"},{"n":2,"name":null}]"#.into())
        }
        OperationRequest::Sql { .. } => Ok(r#"{"row_count":3}"#.into()),
        other => panic!("{other:?}"),
    });
    let source = "export default async () => {
        const rows = await host.sql('SELECT * FROM agent.t WHERE a = $1 AND b = $2', ['x', { deep: [1] }]);
        const done = await host.sql('DELETE FROM agent.t');
        return [rows[1].n, rows[0].name, done.row_count];
    }";
    assert_eq!(json_of(&reaching(source, &reach).await), json!([2, "é", 3]));
    let sql = |text: &str, params| OperationRequest::Sql { text: text.into(), params };
    assert_eq!(
        reach.requests(),
        [
            sql("SELECT * FROM agent.t WHERE a = $1 AND b = $2", vec![json!("x"), json!({"deep": [1]})]),
            sql("DELETE FROM agent.t", vec![])
        ]
    );
}

#[tokio::test]
async fn values_are_kept_by_key() {
    let reach = Scripted::new(|request| match request {
        OperationRequest::Kv(KvRequest::Get { key }) if key == "there" => Ok(r#"{"a":[1]}"#.into()),
        OperationRequest::Kv(KvRequest::Get { .. } | KvRequest::Set { .. }) => Ok("null".into()),
        OperationRequest::Kv(KvRequest::Delete { .. }) => Ok("true".into()),
        OperationRequest::Kv(KvRequest::List { .. }) => Ok(r#"["a1","a2"]"#.into()),
        other => panic!("{other:?}"),
    });
    let source = "export default async () => [
        await host.kv.get('there'), await host.kv.get('missing'), await host.kv.set('k', { n: 1 }), await host.kv.set(7),
        await host.kv.delete('k'), await host.kv.list('a'), await host.kv.list(),
    ]";
    assert_eq!(json_of(&reaching(source, &reach).await), json!([{"a": [1]}, null, null, null, true, ["a1", "a2"], ["a1", "a2"]]));
    let kv = OperationRequest::Kv;
    assert_eq!(
        reach.requests(),
        [
            kv(KvRequest::Get { key: "there".into() }),
            kv(KvRequest::Get { key: "missing".into() }),
            kv(KvRequest::Set { key: "k".into(), value: json!({"n": 1}) }),
            kv(KvRequest::Set { key: "7".into(), value: Value::Null }),
            kv(KvRequest::Delete { key: "k".into() }),
            kv(KvRequest::List { prefix: "a".into() }),
            kv(KvRequest::List { prefix: String::new() }),
        ]
    );
}

#[tokio::test]
async fn a_tools_result_is_read_when_it_is_json_and_its_failure_is_thrown() {
    let reach = Scripted::new(|request| match request {
        OperationRequest::Tool { name, params } if name == "roman" && params["n"] == 14 => Ok("XIV".into()),
        OperationRequest::Tool { params, .. } if *params == json!({}) => Ok(r#"{"tasks":[1,2]}"#.into()),
        OperationRequest::Tool { params, .. } if params["fail"] == "json" => {
            Err(OperationRefused::new(r#"{"error":"capability_failed","message":"it broke"}"#))
        }
        _ => Err(OperationRefused::new("plainly refused")),
    });
    let source = "const caught = async (promise) => { try { return await promise } catch (error) { return `${error.name}: ${error.message}` } };
        export default async () => [
            await host.call('roman', { n: 14 }), (await host.call('other')).tasks[1],
            await caught(host.call('other', { fail: 'json' })), await caught(host.call('other', { fail: 'text' })),
        ]";
    assert_eq!(json_of(&reaching(source, &reach).await), json!(["XIV", 2, "Error: it broke", "Error: plainly refused"]));
}

#[tokio::test]
async fn a_secret_is_a_placeholder() {
    let reach = Scripted::new(|_| Ok(answer(b"")));
    let source = "export default async () => {
        await fetch('https://a.example/', { headers: { authorization: `Bearer ${host.secret('KEY')}` } });
        try { host.secret('GONE') } catch (error) { return [error instanceof Error, error.message] }
    }";
    let outcome = reaching(source, &reach).await;
    assert_eq!(json_of(&outcome), json!([true, "there is no secret GONE; set it with `level3 secret set GONE`"]));
    assert_eq!(http(&reach.requests()[0]).headers, [("authorization".to_owned(), "Bearer <<KEY>>".to_owned())]);
}

#[tokio::test]
async fn what_was_not_done_is_an_error_with_its_place() {
    let reach = Scripted::new(|_| Err(OperationRefused::new("a.example did not answer")));
    let outcome = reaching("export default async () => {\n  await 1;\n  await fetch('https://a.example/');\n}", &reach).await;
    let error: Value = serde_json::from_str(&outcome.result).unwrap();
    assert_eq!((&error["name"], &error["message"]), (&json!("Error"), &json!("a.example did not answer")));
    assert_eq!(error["line"], 3, "{error}");
    let caught = "export default async () => { try { await host.sql('x') } catch (error) { return error.message } }";
    assert_eq!(json_of(&reaching(caught, &reach).await), "a.example did not answer");
}

#[tokio::test]
async fn overwritten_globals_break_only_what_the_code_itself_does_with_them() {
    let reach = Scripted::new(|request| match request {
        OperationRequest::Http(_) => Ok(answer(b"body")),
        _ => Ok(r#"["kept"]"#.into()),
    });
    let source = r#"
        const broken = () => { throw new SyntaxError('overwritten') };
        JSON.parse = JSON.stringify = Promise.resolve = Promise.prototype.then = Map.prototype.get = broken;
        for (const name of ['push', 'shift', 'splice', 'map', 'filter', 'join', 'includes']) Array.prototype[name] = broken;
        String.prototype.toLowerCase = String.prototype.toUpperCase = String.prototype.trim = Function.prototype.call = Reflect.apply = broken;
        Uint8Array.prototype.toBase64 = Uint8Array.fromBase64 = Array.isArray = Object.keys = Object.create = ArrayBuffer.isView = broken;
        Math.max = Math.min = Math.ceil = broken;
        globalThis.Error = globalThis.TypeError = globalThis.Uint8Array = globalThis.Headers = globalThis.URL = broken;
        globalThis.Promise = globalThis.Response = globalThis.Symbol = globalThis.String = undefined;
        Array.prototype[Object.getOwnPropertySymbols(Array.prototype)[0]] = broken;
        export default async () => {
            const response = await fetch('https://a.example/', { method: 'post', headers: { A: 'b' }, body: 'x' });
            const text = await response.text(), kept = await host.kv.get('k'), rows = await host.sql('s'), told = await host.call('other');
            let refused;
            try { await fetch('https://c.example/') } catch (error) { refused = error.message }
            return { text, type: response.headers.get('X-A'), kept: kept[0], rows: rows[0], told: told[0], secret: host.secret('KEY'), refused };
        }"#;
    let result = json_of(&reaching(source, &reach).await);
    assert!(result["refused"].as_str().unwrap().contains("was not granted GET https://c.example/"), "{result}");
    let expected = json!({"text": "body", "type": "1, 2", "kept": "kept", "rows": "kept", "told": "kept", "secret": "<<KEY>>"});
    for (key, value) in expected.as_object().unwrap() {
        assert_eq!(&result[key], value, "{key}: {result}");
    }
}
