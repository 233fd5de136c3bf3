//! The ledger of a capability's operations, and its kept values: nothing happens twice.

use std::time::Duration;

use chrono::TimeDelta;
use level3::clock::SystemRandom;
use level3::domain::{CallRequest, EffectClass, Failure, OperationKind, OperationState, ToolCallId};
use level3::facts::{Event, EventRecord};
use level3::governor::Permit;
use level3::store::{Earlier, KvOp, Lease, NewOperation, NewStep, Store, StoreError};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use sqlx::Executor;

use crate::support::{TestApp, permit};

/// A turn in hand with one call that has no outcome, on a store of its own; the server behind is
/// stopped.
pub struct Held {
    pub app: TestApp,
    pub store: Store,
    pub lease: Lease,
    pub call: ToolCallId,
    pub permit: Permit,
}

impl Held {
    pub async fn start() -> Self {
        let mut app = TestApp::start().await;
        app.stop().await;
        app.leaves("no server works on its turn");
        let store = Store::open(&app.database_behind(), &SystemRandom).await.unwrap();
        let now = app.now();
        let main = store.owners().main_conversation(now).await.unwrap();
        store.owners().accept_message(main, None, "work", now).await.unwrap();
        let lease = store.claim("one", &[], now).await.unwrap().expect("a turn");
        let calls = [CallRequest { id: "a".into(), name: "mine".into(), arguments: "{}".into() }];
        let step = NewStep { number: 1, model: "m", finish_reason: "tool_calls", calls: &calls, ..NewStep::default() };
        let call = store.store_step(&lease, step, now).await.unwrap().calls[0].call;
        Self { app, store, lease, call, permit: permit(call) }
    }

    pub fn operation<'a>(&'a self, ordinal: i32, kind: OperationKind, request: &'a Value) -> NewOperation<'a> {
        let class = EffectClass::Transactional;
        let request_sha256 = Sha256::digest(request.to_string()).into();
        NewOperation { permit: &self.permit, ordinal, kind, class, request, request_sha256 }
    }

    async fn kv(&self, ordinal: i32, capability: &str, request: KvOp) -> Result<Result<String, String>, StoreError> {
        let shown = json!(format!("{request:?}"));
        self.store
            .run_kv(&self.lease, self.operation(ordinal, OperationKind::Kv, &shown), capability, request, self.app.now())
            .await
    }

    /// Lets another server take the turn.
    pub async fn lose_lease(&self) {
        // Postgres may still roll the refused write back, and a claim skips a locked turn: wait for
        // the row.
        let free = "SELECT FROM turns FOR UPDATE";
        self.app.behind().await.execute(free).await.unwrap();
        self.store.claim("two", &["one".into()], self.app.now()).await.unwrap().expect("who had it is gone");
    }

    pub async fn end(self) {
        self.store.close().await;
    }
}

#[tokio::test]
async fn a_transaction_that_is_dropped_as_it_begins_takes_in_no_statement_of_others() {
    let held = Held::start().await;
    let now = held.app.now();
    held.store.policy("builder").await.unwrap();
    // The connection is at hand, so this stands within BEGIN.
    let mut begins = Box::pin(held.store.begin(now));
    assert!(futures::poll!(&mut begins).is_pending());
    drop(begins);
    let open = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND state LIKE 'idle in %'";
    for _ in 0..50 {
        tokio::time::sleep(Duration::from_millis(10)).await;
        held.store.policy("builder").await.unwrap();
    }
    assert_eq!(held.app.count(open).await, 0);
    held.end().await;
}

#[tokio::test]
async fn the_ledger_knows_what_was_begun_and_what_came_of_it() {
    let held = Held::start().await;
    let (store, lease, now) = (&held.store, &held.lease, held.app.now());
    let (request, other) = (json!({"url": "https://a.example/\0"}), json!({"url": "https://b.example/"}));
    let one = held.operation(1, OperationKind::Http, &request);
    assert_eq!(store.earlier_operation(&one).await.unwrap(), Earlier::New);

    let mut events = store.signals().events();
    store.intend_operation(lease, &one, now).await.unwrap();
    assert_eq!(store.earlier_operation(&one).await.unwrap(), Earlier::Intended);
    assert_eq!(store.earlier_operation(&held.operation(1, OperationKind::Http, &other)).await.unwrap(), Earlier::Different);
    assert_eq!(store.earlier_operation(&held.operation(1, OperationKind::Kv, &request)).await.unwrap(), Earlier::Different);
    let again = store.intend_operation(lease, &one, now).await;
    assert!(matches!(again, Err(StoreError::LostLease)), "{again:?}");
    let replaced =
        store.end_operation(lease, &held.operation(1, OperationKind::Http, &other), OperationState::Done, Some("x"), now).await;
    assert!(matches!(replaced, Err(StoreError::LostLease)), "{replaced:?}");

    store.end_operation(lease, &one, OperationState::Done, Some("200"), now).await.unwrap();
    assert_eq!(store.earlier_operation(&one).await.unwrap(), Earlier::Done(Ok("200".into())));
    let twice = store.end_operation(lease, &one, OperationState::Done, Some("201"), now).await;
    assert!(matches!(twice, Err(StoreError::LostLease)), "{twice:?}");

    let two = held.operation(2, OperationKind::Http, &other);
    store.end_operation(lease, &two, OperationState::Failed, Some("refused"), now).await.unwrap();
    assert_eq!(store.earlier_operation(&two).await.unwrap(), Earlier::Done(Err("refused".into())));
    let three = held.operation(3, OperationKind::Http, &other);
    store.intend_operation(lease, &three, now).await.unwrap();
    store.end_operation(lease, &three, OperationState::Unknown, None, now).await.unwrap();
    assert_eq!(store.earlier_operation(&three).await.unwrap(), Earlier::Intended);

    let announced: Vec<_> = std::iter::from_fn(|| events.try_recv().ok()).map(|event| EventRecord::clone(&event)).collect();
    let stored = store.owners().events_after(lease.conversation, 0, 100).await.unwrap();
    assert_eq!(announced, stored[stored.len() - 5..], "what is announced is what is stored");
    let states = announced.iter().map(|record| match &record.event {
        Event::OperationRecorded(operation) => (operation.ordinal, operation.state),
        other => panic!("{other:?}"),
    });
    use OperationState::{Done, Failed, Intended, Unknown};
    assert_eq!(states.collect::<Vec<_>>(), [(1, Intended), (1, Done), (2, Failed), (3, Intended), (3, Unknown)]);

    held.lose_lease().await;
    let four = held.operation(4, OperationKind::Http, &other);
    for lost in [
        store.intend_operation(lease, &four, now).await,
        store.end_operation(lease, &four, OperationState::Done, None, now).await,
    ] {
        assert!(matches!(lost, Err(StoreError::LostLease)), "{lost:?}");
    }
    assert_eq!(store.earlier_operation(&four).await.unwrap(), Earlier::New);
    held.end().await;
}

#[tokio::test]
async fn values_are_kept_for_each_capability_alone() {
    let held = Held::start().await;
    let set = |key: &str, value: Value| KvOp::Set(key.into(), value);
    assert_eq!(held.kv(1, "mine", KvOp::Get("a".into())).await.unwrap().unwrap(), "null");
    assert_eq!(held.kv(1, "mine", set("a", json!({"n": [1, "\0"]}))).await.unwrap().unwrap(), "true");
    assert_eq!(held.kv(2, "mine", set("b", json!(2))).await.unwrap().unwrap(), "true");
    assert_eq!(held.kv(3, "mine", set("b", json!(3))).await.unwrap().unwrap(), "true");
    assert_eq!(held.kv(4, "mine", KvOp::Get("b".into())).await.unwrap().unwrap(), "3");
    assert_eq!(held.kv(4, "mine", KvOp::Get("a".into())).await.unwrap().unwrap(), "{\"n\":[1,\"\u{FFFD}\"]}");
    assert_eq!(held.kv(4, "other", KvOp::Get("a".into())).await.unwrap().unwrap(), "null");
    assert_eq!(held.kv(4, "mine", KvOp::List(String::new())).await.unwrap().unwrap(), r#"["a","b"]"#);
    assert_eq!(held.kv(4, "mine", KvOp::List("b".into())).await.unwrap().unwrap(), r#"["b"]"#);
    assert_eq!(held.kv(4, "other", KvOp::Delete("a".into())).await.unwrap().unwrap(), "false");
    assert_eq!(held.kv(5, "mine", KvOp::Delete("a".into())).await.unwrap().unwrap(), "true");
    assert_eq!(held.kv(6, "mine", KvOp::Get("a".into())).await.unwrap().unwrap(), "null");
    assert_eq!(held.app.count("SELECT count(*) FROM operations WHERE kind = 'kv' AND state = 'done'").await, 5, "changes only");

    let twice = held.kv(5, "mine", set("a", json!(1))).await;
    assert!(matches!(twice, Err(StoreError::LostLease)), "{twice:?}");
    held.lose_lease().await;
    for lost in [held.kv(6, "mine", set("a", json!(1))).await, held.kv(6, "mine", KvOp::Get("b".into())).await] {
        assert!(matches!(lost, Err(StoreError::LostLease)), "{lost:?}");
    }
    assert_eq!(held.app.count("SELECT count(*) FROM kv_entries").await, 1);
    held.end().await;
}

#[tokio::test]
async fn values_have_limits_that_are_said() {
    let held = Held::start().await;
    let fill = "INSERT INTO kv_entries SELECT 'mine', 'k' || to_char(n, 'FM00000'), '0', now() FROM generate_series(1, 9999) n";
    held.app.behind().await.execute(fill).await.unwrap();
    let long = "k".repeat(257);
    for request in [KvOp::Get(long.clone()), KvOp::Set(long.clone(), json!(1)), KvOp::Delete(long.clone()), KvOp::List(long)] {
        let refused = held.kv(1, "mine", request).await.unwrap().unwrap_err();
        assert!(refused.contains("257 bytes; at most 256"), "{refused}");
    }
    let zero = held.kv(1, "mine", KvOp::Get("a\0".into())).await.unwrap().unwrap_err();
    assert!(zero.contains("zero character"), "{zero}");
    let large = held.kv(1, "mine", KvOp::Set("a".into(), json!("x".repeat(64 * 1024)))).await.unwrap().unwrap_err();
    assert!(large.contains("at most 65536"), "{large}");
    held.kv(2, "mine", KvOp::Set("a".into(), json!("x".repeat(64 * 1024 - 2)))).await.unwrap().unwrap();
    let full = held.kv(3, "mine", KvOp::Set("b".into(), json!(1))).await.unwrap().unwrap_err();
    assert!(full.contains("10000 keys"), "{full}");
    held.kv(4, "mine", KvOp::Set("a".into(), json!(1))).await.unwrap().unwrap();
    held.kv(5, "other", KvOp::Set("b".into(), json!(1))).await.unwrap().unwrap();

    let listed: Value = serde_json::from_str(&held.kv(6, "mine", KvOp::List("k".into())).await.unwrap().unwrap()).unwrap();
    assert_eq!((listed["keys"].as_array().unwrap().len(), &listed["keys"][0]), (1000, &json!("k00001")));
    assert!(listed["cut"].as_str().unwrap().contains("longer prefix"), "{listed}");
    let some: Value = serde_json::from_str(&held.kv(6, "mine", KvOp::List("k012".into())).await.unwrap().unwrap()).unwrap();
    assert_eq!(some.as_array().unwrap().len(), 100);
    held.end().await;
}

#[tokio::test]
async fn a_cut_call_uses_up_an_approval_only_if_something_happened_after_it() {
    for (given, used, word) in [(-1, 1, "ask"), (1, 0, "allow")] {
        let held = Held::start().await;
        held.app.rewrites("nobody was asked for the approval");
        let (store, lease, now) = (&held.store, &held.lease, held.app.now());
        let request = json!({"url": "https://a.example/"});
        store.intend_operation(lease, &held.operation(1, OperationKind::Http, &request), now).await.unwrap();
        let approved = sqlx::query(
            "INSERT INTO approvals (turn_id, tool_call_id, conversation_id, proposal_sha256, shown, state, expires_at, created_at, decided_at)
             SELECT turn_id, tool_call_id, $1, '', '{}', 'approved', $2, $2, $2 FROM tool_calls",
        );
        let approved = approved.bind(lease.conversation.0).bind(now + TimeDelta::seconds(given));
        approved.execute(&mut held.app.behind().await).await.unwrap();
        store.fail_turn(lease, Failure::Server, "It was given up.", now).await.unwrap();
        assert_eq!(held.app.count("SELECT count(*) FROM approvals WHERE used_at IS NOT NULL").await, used);
        let verdict = sqlx::query_scalar::<_, String>("SELECT verdict FROM audit_entries");
        assert_eq!(verdict.fetch_one(&mut held.app.behind().await).await.unwrap(), word);
        held.end().await;
    }
}
