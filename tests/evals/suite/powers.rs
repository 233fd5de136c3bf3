//! Capabilities that reach outside their sandbox, and need a person for it.

use serde_json::{Value, json};

use super::writing::written;
use super::{Check, Task};
use crate::support::{Peer, call, text as says};

fn granted(name: &str, code: &str, parameters: &[(&str, &str)], grants: Value) -> Value {
    let mut written = written(name, code, parameters);
    written["grants"] = grants;
    written
}

pub fn http_get(peer: &Peer) -> Task {
    let host = peer.host();
    let code = format!(
        "export default async function echo_path(params) {{ const r = await fetch('{host}/echo/' + params.word); return (await r.json()).path; }}"
    );
    Task::new(
        "http_get",
        format!(
            "Build a capability `echo_path` with one string parameter `word`. It sends a GET request to {host}/echo/WORD (WORD is the \
             parameter), which answers with JSON, and returns the field `path` of that JSON. Then call it with the word \"hello\"."
        ),
    )
    .called("echo_path")
    .check(Check::Arrived("GET", "/echo/hello", ""))
    .check(Check::Gives("echo_path", json!({"word": "again"}), json!("/echo/again")))
    .sql("SELECT count(*) > 0 FROM approvals WHERE state = 'approved' AND used_at IS NOT NULL", "true")
    .right([
        call("write_capability", granted("echo_path", &code, &[("word", "string")], json!({"http": {"hosts": [host]}}))),
        call("echo_path", json!({"word": "hello"})),
        says("It answered /echo/hello."),
    ])
}

pub fn http_post(peer: &Peer) -> Task {
    let host = peer.host();
    let code = format!(
        "export default async function notify(params) {{ const r = await fetch('{host}/messages', {{ method: 'POST',
            headers: {{ 'content-type': 'application/json' }}, body: JSON.stringify({{ text: params.text }}) }}); return r.status; }}"
    );
    Task::new(
        "http_post",
        format!(
            "Build a capability `notify` with one string parameter `text` that sends a POST request with the JSON body {{\"text\": TEXT}} to \
             {host}/messages and returns the status. Then send the text \"the kettle is on\" with it."
        ),
    )
    .called("notify")
    .check(Check::Arrived("POST", "/messages", "the kettle is on"))
    .right([
        call("write_capability", granted("notify", &code, &[("text", "string")], json!({"http": {"hosts": [host]}}))),
        call("notify", json!({"text": "the kettle is on"})),
        says("I have sent it."),
    ])
}

pub fn kv_memory(_: &Peer) -> Task {
    let code = "export default async function visits() { const n = (await host.kv.get('n') ?? 0) + 1; await host.kv.set('n', n); return n; }";
    Task::new(
        "kv_memory",
        "Build a capability `visits` without parameters that counts its calls: the first call returns the number 1, the second 2, and so \
         on. It has to remember the count between calls, in its kv. Then call it twice.",
    )
    // The model calls it twice; the third call is the check's.
    .sql(format!("SELECT count(*) FROM ({}) AS made WHERE name = 'visits' AND state = 'done'", super::task::BY_THE_MODEL), "2")
    .check(Check::Gives("visits", json!({}), json!(3)))
    .right([
        call("write_capability", granted("visits", code, &[], json!({"kv": {}}))),
        call("visits", json!({})),
        call("visits", json!({})),
        says("It counts: 2 by now."),
    ])
}

pub fn secret(peer: &Peer) -> Task {
    let host = peer.host();
    let code = format!(
        "export default async function balance() {{ const r = await fetch('{host}/balance',
            {{ headers: {{ authorization: 'Bearer ' + host.secret('BANK_KEY') }} }}); return r.status; }}"
    );
    let grants = json!({"http": {"hosts": [host]}, "secrets": {"BANK_KEY": [peer.host()]}});
    let mut task = Task::new(
        "secret",
        format!(
            "I have set the secret BANK_KEY. Build a capability `balance` without parameters that sends a GET request to \
             {host}/balance with the header `authorization: Bearer BANK_KEY`, where BANK_KEY is the value of that secret, and returns the \
             status of the answer. Then call it."
        ),
    )
    .called("balance")
    .check(Check::Arrived("GET", "/balance", "Bearer the-bank-knows-6172"))
    .sql("SELECT count(*) FROM messages WHERE content LIKE '%the-bank-knows-6172%'", "0")
    .right([
        call("write_capability", granted("balance", &code, &[], grants)),
        call("balance", json!({})),
        says("The bank answered with status 200."),
    ]);
    task.secrets.push(("BANK_KEY", "the-bank-knows-6172"));
    task
}

pub fn compose(_: &Peer) -> Task {
    // Each use leaves a trace, which a capability that computes the value itself would not.
    let double = "export default async function double_it(params) { await host.kv.set('last', params.n); return params.n * 2; }";
    let code = "export default async function quadruple(params) {
        return await host.call('double_it', { n: await host.call('double_it', { n: params.n }) }); }";
    Task::new(
        "compose",
        "You have the capability `double_it`. Build a capability `quadruple` with one number parameter `n` that does not compute itself: \
         it calls `double_it`, and `double_it` again with the result, and returns what that gives. Then call it with 21.",
    )
    .before("write_capability", granted("double_it", double, &[("n", "number")], json!({"kv": {}})))
    .called("quadruple")
    .check(Check::Gives("quadruple", json!({"n": 5}), json!(20)))
    .sql(
        "SELECT count(*) >= 4 FROM operations JOIN tool_calls USING (tool_call_id) WHERE name = 'quadruple' AND kind = 'kv'",
        "true",
    )
    .right([
        call("write_capability", granted("quadruple", code, &[("n", "number")], json!({"tools": {"names": ["double_it"]}}))),
        call("quadruple", json!({"n": 21})),
        says("It gives 84."),
    ])
}
