//! Half a character, as code makes it that cuts a text: it leaves a capability as U+FFFD, whatever
//! the door, and never ends a call.

use super::scripted::{Scripted, json_of, reaching};
use super::*;
use crate::sandbox::{KvRequest, OperationRequest};

#[tokio::test]
async fn half_a_character_is_marked_in_the_log_and_in_results() {
    let source = "export default (p) => {
        const half = '😀'.slice(0, 1), other = '😀'.slice(1);
        console.log(`a${half}`, [other], '😀 í\\ud7ff');
        console.error(half + other + half);
        Promise.reject(new Error(half));
        return p.whole ? `say \"${half}\"\\n` : { [half]: [other, '\\\\ud83d'] };
    }";
    let outcome = call(sandbox(), source, json!({"whole": true})).await;
    assert_eq!((outcome.ok, outcome.result.as_str()), (true, "say \"\u{fffd}\"\n"));
    assert_eq!(outcome.logs[..2], ["a\u{fffd} [\"\\ude00\"] 😀 í\u{d7ff}", "error: 😀\u{fffd}"]);
    assert!(outcome.logs[2].ends_with("nothing handled it: Error: \u{fffd}"), "{:?}", outcome.logs);
    assert_eq!(result(source, json!({})).await, r#"{"\ufffd":["\ufffd","\\ud83d"]}"#);
    assert_eq!(
        result("export default () => [...new TextEncoder().encode('é\\ud83d!')]", json!({})).await,
        "[195,169,239,191,189,33]"
    );
}

#[tokio::test]
async fn an_error_with_half_a_character_keeps_its_name_and_place() {
    for thrown in ["new RangeError('bad ' + '😀'.slice(0, 1))", "'bad ' + '😀'.slice(0, 1)"] {
        let error = failure(sandbox(), &format!("export default () => {{\n  throw {thrown};\n}}")).await;
        assert_eq!(error["message"], "bad \u{fffd}");
        assert_eq!(error.get("line"), thrown.starts_with("new").then_some(&json!(2)), "{error}");
    }
}

#[tokio::test]
async fn half_a_character_is_marked_in_requests() {
    let reach = Scripted::answering(Value::Null);
    let source = "export default async () => {
        const half = '😀'.slice(0, 1);
        await host.kv.set(half, [half]);
        await host.sql('SELECT $1', [half]);
        try { return host.secret(half) } catch (error) { return error.message }
    }";
    let told = json_of(&reaching(source, &reach).await);
    assert!(told.as_str().unwrap().starts_with("no secret has such a name"), "{told}");
    let half = "\u{fffd}";
    let kept = OperationRequest::Kv(KvRequest::Set { key: half.into(), value: json!([half]) });
    assert_eq!(reach.requests(), [kept, OperationRequest::Sql { text: "SELECT $1".into(), params: vec![json!(half)] }]);
}
