//! Several operations of a call: side by side, beside timers, up to their limits, and to their end.

use super::scripted::{Scripted, Shared, Silent, json_of, message_of, reaching, reaching_from};
use super::*;
use crate::clock::Clock;
use crate::sandbox::{Operation, OperationRefused, OperationRequest};
use chrono::TimeDelta;

fn short(reaching_deadline: u64) -> SandboxLimits {
    SandboxLimits { reaching_deadline: Duration::from_millis(reaching_deadline), ..SandboxLimits::default() }
}

#[tokio::test]
async fn operations_run_side_by_side() {
    // The script answers none before the code has asked for all three.
    let reach = Scripted::together(3, |_| Ok("1".into()));
    let source = "export default async () => {
        const all = await Promise.all([host.kv.get('a'), host.sql('b'), host.call('other')]);
        return all.reduce((sum, one) => sum + one);
    }";
    assert_eq!(json_of(&reaching(source, &reach).await), 3);
    assert_eq!(reach.operations().iter().map(|operation| operation.ordinal).collect::<Vec<_>>(), [1, 2, 3]);
}

#[tokio::test]
async fn no_more_than_a_few_are_under_way_at_once_and_the_others_wait() {
    let source = "export default async () => (await Promise.all(Array.from({ length: 9 }, (_, n) => host.kv.get(n)))).length";
    let reach = Scripted::together(8, |_| Ok("1".into()));
    assert_eq!(json_of(&reaching(source, &reach).await), 9);
    assert_eq!(reach.most_at_once(), 8);
    // The ninth starts only after one of the eight is finished.
    let (reach, sandbox) = (Scripted::together(9, |_| Ok("1".into())), open(short(200)));
    let outcome = reaching_from(&sandbox, source, Arc::new(Shared(Arc::clone(&reach)))).await;
    assert!(message_of(&outcome).contains("did not finish in time"), "{}", outcome.result);
    assert_eq!(reach.operations().len(), 8);
}

#[tokio::test]
async fn the_sixty_fifth_operation_is_refused() {
    let reach = Scripted::answering(json!(1));
    let source = "export default async () => {
        const ends = await Promise.allSettled(Array.from({ length: 65 }, (_, n) => host.kv.get(n)));
        return [ends.filter((end) => end.status === 'fulfilled').length, ends[64].reason.message];
    }";
    let expected = json!([64, "a call may start 64 operations, and this is one more; do less per call"]);
    assert_eq!(json_of(&reaching(source, &reach).await), expected);
    assert_eq!(reach.operations().len(), 64);
    let flood = "export default () => { for (;;) host.kv.get('x') }";
    assert_eq!(message_of(&reaching(flood, &reach).await), "stopped: it started more than 64 operations");
}

#[tokio::test]
async fn requests_and_answers_have_a_size() {
    let reach = Scripted::new(|request| match request {
        OperationRequest::Sql { text, .. } => Ok(format!("[\"{}\"]", "x".repeat(text.parse().unwrap()))),
        _ => Ok("1".into()),
    });
    let source = |code: &str| format!("export default async () => (await {code})");
    let outcome = reaching(&source("host.kv.set('k', 'x'.repeat(300000))"), &reach).await;
    assert!(message_of(&outcome).contains("bytes and may have 262144; send less at once"), "{}", outcome.result);
    assert_eq!(reach.requests(), []);
    assert_eq!(json_of(&reaching(&source("host.kv.set('k', 'x'.repeat(262000))"), &reach).await), 1);
    let outcome = reaching(&source(&format!("host.sql('{}')", 1 << 20)), &reach).await;
    assert!(message_of(&outcome).contains("the answer has 1048580 bytes and may have 1048576"), "{}", outcome.result);
    assert_eq!(json_of(&reaching(&format!("{}[0].length", source("host.sql('1048572')")), &reach).await), 1_048_572);
}

#[tokio::test]
async fn a_request_that_is_nested_too_deep_is_told_in_words_of_the_source() {
    let reach = Scripted::answering(Value::Null);
    let source = "export default async () => {
        let deep = 1;
        for (let n = 0; n < 200; n++) deep = [deep];
        await host.kv.set('k', deep);
    }";
    let told = message_of(&reaching(source, &reach).await);
    assert!(told.contains("nested more than 120 deep") && told.contains("JSON.stringify"), "{told}");
}

#[tokio::test]
async fn what_was_started_is_done_although_the_code_has_ended() {
    // The script answers only after all three were asked for, when the code has ended.
    for end in ["return 'ended'", "throw new Error('thrown')"] {
        let reach = Scripted::together(3, |_| Ok("1".into()));
        let source = format!("export default async () => {{ for (let n = 0; n < 3; n++) host.kv.set(n, n); {end} }}");
        let outcome = reaching(&source, &reach).await;
        assert_eq!(outcome.ok, end.starts_with("return"), "{}", outcome.result);
        assert!(outcome.result.contains("ended") || outcome.result.contains("thrown"), "{}", outcome.result);
        assert_eq!(reach.operations().len(), 3);
    }
    let reach = Scripted::answering(json!(1));
    let source = "export default () => { for (let n = 0; n < 20; n++) host.kv.set(n, n) }";
    assert_eq!(json_of(&reaching(source, &reach).await), Value::Null);
    assert_eq!(reach.operations().len(), 20);
}

#[tokio::test]
async fn a_failure_that_nobody_awaited_is_logged() {
    let reach = Scripted::new(|_| Err(OperationRefused::new("the table is full")));
    let outcome = reaching("export default () => { host.kv.set('k', 1); return 'ended' }", &reach).await;
    assert_eq!(json_of(&outcome), "ended");
    assert_eq!(outcome.logs, ["warning: an operation that was not awaited failed: the table is full"]);
}

#[tokio::test]
async fn a_promise_that_was_rejected_and_that_nobody_handled_is_logged() {
    let reach = Scripted::new(|request| match request {
        OperationRequest::Sql { .. } => Err(OperationRefused::new("no table")),
        _ => Ok("1".into()),
    });
    let source = "export default async () => {
        host.sql('SELECT 1');
        Promise.reject({ toString() { throw 1 } });
        const late = host.sql('SELECT 2'), caught = host.sql('SELECT 3').catch(() => 'caught');
        await host.kv.get('k');
        try { await late } catch { return caught }
    }";
    let outcome = reaching(source, &reach).await;
    assert_eq!(json_of(&outcome), "caught");
    assert_eq!(outcome.logs, ["warning: a promise was rejected and nothing handled it: Error: no table"]);
    let draft = draft("export default () => { fetch('https://c.example/'); return 1 }");
    let outcome = sandbox().call(&permit(), &built(sandbox(), &draft).await, &json!({}), nothing()).await;
    assert!(outcome.ok && outcome.logs[0].contains("TypeError: this capability was not granted `http`"), "{:?}", outcome.logs);
}

#[tokio::test]
async fn a_call_that_waits_too_long_is_stopped_and_says_for_what() {
    let sandbox = open(short(200));
    let outcome = reaching_from(&sandbox, "export default async () => await host.kv.get('x')", Arc::new(Silent)).await;
    let message = message_of(&outcome);
    assert!(message.starts_with("stopped after 200ms: it did not finish in time"), "{message}");
    let outcome = reaching_from(&sandbox, "export default async () => { host.kv.get('x'); return 1 }", Arc::new(Silent)).await;
    let message = message_of(&outcome);
    assert!(message.contains("it had ended, but an operation it had started was still under way"), "{message}");
}

/// A timer is no operation, and the code that awaits it has not ended.
#[tokio::test]
async fn a_timer_that_is_awaited_too_long_is_no_operation_that_was_left() {
    let sandbox = open(short(200));
    for before in ["", "host.kv.get('x'); "] {
        let waits = "await new Promise((resolve) => setTimeout(resolve, 35000))";
        let source = format!("export default async () => {{ {before}{waits} }}");
        let message = message_of(&reaching_from(&sandbox, &source, Arc::new(Silent)).await);
        assert!(message.starts_with("stopped after 200ms: it did not finish in time"), "{message}");
    }
}

#[tokio::test]
async fn code_without_end_is_stopped_beside_its_operations() {
    let outcome =
        reaching_from(&open(short(200)), "export default () => { host.kv.get('x'); for (;;) {} }", Arc::new(Silent)).await;
    assert!(message_of(&outcome).contains("did not finish in time"), "{}", outcome.result);
}

/// The code spins until it sees the answer's effect outside; so the operation must go on while the
/// code computes.
#[tokio::test]
async fn operations_go_on_while_the_code_computes() {
    let clock = clock();
    let turned = clock.clone();
    let reach = Scripted::new(move |_| {
        turned.advance(TimeDelta::hours(1));
        Ok("1".into())
    });
    let sandbox = Sandbox::open(&cache(), Arc::new(clock), Arc::new(SeededRandom::new(1)), short(5_000)).unwrap();
    let source = "export default async () => {
        const start = Date.now(), answer = host.kv.get('x');
        while (Date.now() === start) {}
        return await answer;
    }";
    assert_eq!(json_of(&reaching_from(&sandbox, source, Arc::new(Shared(reach))).await), 1);
}

#[tokio::test]
async fn timers_fire_while_operations_are_under_way() {
    let clock = clock();
    let reach = Scripted::together(2, |_| Ok("1".into()));
    let sandbox = Sandbox::open(&cache(), Arc::new(clock.clone()), Arc::new(SeededRandom::new(1)), short(5_000)).unwrap();
    // The first operation ends only when the timer has started the second.
    let source = "export default async () => {
        const seen = [], start = Date.now();
        setTimeout(async () => { seen.push('timer'); await host.kv.get('b'); seen.push('b'); }, 1000);
        const late = new Promise((resolve) => setTimeout(resolve, 5000));
        await host.kv.get('a');
        seen.push('a');
        await late;
        return seen.join(' ');
    }";
    let mut call = std::pin::pin!(reaching_from(&sandbox, source, Arc::new(Shared(reach))));
    let outcome = loop {
        tokio::select! {
            biased;
            outcome = &mut call => break outcome,
            () = tokio::task::yield_now() => clock.advance(TimeDelta::milliseconds(100)),
        }
    };
    assert_eq!(json_of(&outcome), "timer a b");
    assert!(clock.now() >= super::clock().now() + TimeDelta::milliseconds(5000));
}

#[tokio::test]
async fn a_promise_that_nothing_can_settle_is_an_error_after_the_last_operation() {
    let reach = Scripted::answering(json!(1));
    let source = "export default async () => { await host.kv.get('x'); await new Promise(() => {}) }";
    assert!(message_of(&reaching(source, &reach).await).contains("can never settle"));
}

#[tokio::test]
async fn calls_within_calls_have_room_of_their_own_and_a_depth() {
    /// Calls the sandbox again for every call of a tool, one deeper.
    struct Deeper(Sandbox, CapabilityVersion, usize);
    impl Reach for Deeper {
        fn perform(&self, _: Operation) -> futures::future::BoxFuture<'static, Result<String, OperationRefused>> {
            let Self(sandbox, capability, depth) = self;
            let (sandbox, capability, depth) = (sandbox.clone(), capability.clone(), depth + 1);
            Box::pin(async move {
                let deeper = Arc::new(Self(sandbox.clone(), capability.clone(), depth));
                let outcome = sandbox.call(&permit(), &capability, &json!({}), deeper).await;
                if outcome.ok { Ok(outcome.result) } else { Err(OperationRefused::new(outcome.result)) }
            })
        }
        fn secret(&self, name: &str) -> Result<String, OperationRefused> {
            Ok(name.to_owned())
        }
        fn depth(&self) -> usize {
            self.2
        }
    }
    // One slot for each depth: were they shared, the second call would wait for the first.
    let sandbox = open(SandboxLimits { concurrent: 1, ..short(10_000) });
    let source =
        "export default async () => { try { return 1 + await host.call('other') } catch (error) { return error.message } }";
    let capability = built(&sandbox, &Draft { grants: scripted::all_grants(), ..draft(source) }).await;
    let reach = Arc::new(Deeper(sandbox.clone(), capability.clone(), 0));
    let outcome = sandbox.call(&permit(), &capability, &json!({}), reach).await;
    assert_eq!(outcome.result, "11not called: calls within calls may be 3 deep, and this is one more");
}
