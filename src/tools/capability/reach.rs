//! The reach of a capability's call outside its sandbox, under the permit of the call. Every
//! operation is in the ledger before it can have an effect, so a call that is run again after a
//! crash does nothing twice.

mod http;
mod nested;
mod recorded;

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use futures::FutureExt;
use futures::future::BoxFuture;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use recorded::whole;

use super::super::kit::Kit;
use super::super::recorder::Recording;
use super::super::tool::{Doing, Registry};
use crate::domain::{CapabilityVersion, EffectClass, Grants, HttpGrant, OperationKind, Outcome, SqlAccess, ToolCallId};
use crate::egress::Placeholders;
use crate::governor::{Permit, Policy, sql};
use crate::sandbox::{KvRequest, Operation, OperationRefused, OperationRequest, Reach, RefusedOperation};
use crate::store::{AgentLogin, Earlier, KvOp, Lease, NewOperation, StoreError};

/// A call at work, of a capability or a script. Clones share everything.
#[derive(Clone)]
struct Reaching(Arc<Inner>);

struct Inner {
    tools: Registry,
    lease: Lease,
    policy: Arc<Policy>,
    permit: Arc<Permit>,
    /// The name under which it keeps values.
    name: String,
    grants: Grants,
    secrets: Secrets,
    /// The error for which this call, or one nested in it, could not write the ledger. Then the
    /// whole call has no outcome and is run again.
    broken: Arc<Mutex<Option<StoreError>>>,
    /// True once an operation was begun.
    begun: AtomicBool,
    /// The recording of the call, if its risk is high.
    recording: Option<Recording>,
    /// The number of the operation that this call is within the outer call; 0 for the agent's own
    /// call.
    parent: i32,
    depth: usize,
}

/// The secrets that a capability may use, as placeholders.
#[derive(Default)]
struct Secrets {
    placeholders: Placeholders,
    /// Name and placeholder.
    names: Vec<(String, String)>,
}

/// An operation with its place in the ledger.
struct LedgerEntry {
    ordinal: i32,
    kind: OperationKind,
    class: EffectClass,
    /// The request without secrets.
    request: Value,
    sha256: [u8; 32],
}

impl LedgerEntry {
    fn new(ordinal: i32, kind: OperationKind, class: EffectClass, request: Value) -> Self {
        let sha256 = Sha256::digest(request.to_string()).into();
        Self { ordinal, kind, class, request, sha256 }
    }

    fn of<'a>(&'a self, permit: &'a Permit) -> NewOperation<'a> {
        let Self { ordinal, kind, class, request, sha256 } = self;
        NewOperation { permit, ordinal: *ordinal, kind: *kind, class: *class, request, request_sha256: *sha256 }
    }
}

/// The reason why an operation has no answer: words for the capability, or an error of the store,
/// which decides about the whole call.
enum OperationError {
    Refused(String),
    Store(StoreError),
}

impl From<StoreError> for OperationError {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

const ANOTHER_WAY: &str = "This call was interrupted and run again, and took another way than before: what it had done until then is in \
     the list of its operations, and nothing was repeated. Look at what happened before you call it again.";

/// Calls a capability with all its grants.
pub(super) async fn call(doing: Doing<'_>, capability: &CapabilityVersion, arguments: &Value) -> Result<Outcome, StoreError> {
    let secrets = secrets_of(doing.kit(), capability, doing.permit.call()).await;
    let reaching = Reaching::of(doing, capability.name.clone(), capability.grants.clone(), secrets);
    let outcome = reaching.call(capability, arguments).await;
    reaching.ended(outcome).await
}

/// The reach of a campaign's script: the hosts that its approval grants, and nothing else.
pub struct ScriptReach(Reaching);

impl ScriptReach {
    /// The reach of a script that may be run.
    pub fn new(doing: Doing<'_>, hosts: BTreeSet<HttpGrant>) -> Self {
        let grants = Grants { http: hosts, ..Grants::none() };
        Self(Reaching::of(doing, "script".to_owned(), grants, Secrets::default()))
    }

    /// The reach itself.
    pub fn reach(&self) -> Arc<dyn Reach> {
        Arc::new(self.0.clone())
    }

    /// The outcome of the script, with a word on the part of it that is uncertain.
    ///
    /// # Errors
    /// If the ledger could not be written: then the script is run again.
    pub async fn ended(self, outcome: Outcome) -> Result<Outcome, StoreError> {
        self.0.ended(outcome).await
    }
}

/// Placeholders for the secrets that a capability may use. They are the same if the call is run
/// again, and nobody can guess them.
async fn secrets_of(kit: &Kit, capability: &CapabilityVersion, call: ToolCallId) -> Secrets {
    let mut secrets = Secrets::default();
    for (name, hosts) in &capability.grants.secrets {
        match kit.hands.vault.get(name).await {
            Ok(Some(value)) => {
                let key = kit.store.derived_key(&format!("placeholder:{call}:{name}"));
                let placeholder = format!("secret_{}", hex::encode(&key[..16]));
                secrets.placeholders.insert(placeholder.clone(), name.clone(), value, hosts.clone());
                secrets.names.push((name.clone(), placeholder));
            }
            Ok(None) => {}
            Err(error) => tracing::warn!(secret = name, %error, "a secret cannot be used"),
        }
    }
    secrets
}

impl Reaching {
    fn of(doing: Doing<'_>, name: String, grants: Grants, secrets: Secrets) -> Self {
        let Doing { tools, policy, lease, permit, recording, .. } = doing;
        Self(Arc::new(Inner {
            tools: tools.clone(),
            lease: lease.clone(),
            policy: Arc::clone(policy),
            secrets,
            permit: Arc::clone(permit),
            name,
            grants,
            broken: Arc::default(),
            begun: AtomicBool::new(false),
            recording: recording.cloned(),
            parent: 0,
            depth: 0,
        }))
    }

    /// The end of a call of the agent's own, with a word on what it leaves behind.
    async fn ended(self, outcome: Outcome) -> Result<Outcome, StoreError> {
        let Inner { tools, lease, permit, begun, .. } = &*self.0;
        let broken = self.0.broken.lock().unwrap_or_else(PoisonError::into_inner).take();
        match broken {
            Some(error) => Err(error),
            // Neither this run nor an earlier one can have done anything.
            None if lease.fence == 1 && !begun.load(Ordering::Relaxed) => Ok(outcome),
            None => {
                let outcome = if outcome.ok { outcome } else { tools.kit.with_done(permit.call(), outcome).await? };
                tools.kit.with_uncertain(permit.call(), outcome).await
            }
        }
    }

    async fn call(&self, capability: &CapabilityVersion, arguments: &Value) -> Outcome {
        let Inner { tools, permit, .. } = &*self.0;
        tools.kit.hands.sandbox.call(permit, capability, arguments, Arc::new(self.clone())).await
    }

    /// The place of an operation in the ledger of the whole call: the number of its parent, then
    /// its own, as two digits of base 129. So it is the same if the call is run again, whatever the
    /// timing of nested calls; three levels fit into 32 bits.
    fn ordinal(&self, own: u32) -> i32 {
        const BASE: i32 = 129; // the sandbox ends a call at its 129th operation
        let own = i32::try_from(own).unwrap_or(BASE - 1).min(BASE - 1);
        self.0.parent.saturating_mul(BASE).saturating_add(own)
    }

    async fn done(&self, ordinal: i32, request: OperationRequest) -> Result<String, OperationError> {
        match request {
            OperationRequest::Http(request) => self.http(ordinal, request).await,
            OperationRequest::Sql { text, params } => {
                let most = match self.0.grants.sql {
                    Some(SqlAccess::Write) => AgentLogin::Tables,
                    Some(SqlAccess::Read) | None => AgentLogin::Reader,
                };
                self.sql(ordinal, &text, &params, most).await
            }
            OperationRequest::Kv(request) => self.kv(ordinal, request).await,
            OperationRequest::Tool { name, params } => self.nested(ordinal, name, params).await,
        }
    }

    /// Runs a statement on the login that it needs, and on none that may do more than `most`.
    async fn sql(&self, ordinal: i32, text: &str, params: &[Value], most: AgentLogin) -> Result<String, OperationError> {
        let entry =
            LedgerEntry::new(ordinal, OperationKind::Sql, EffectClass::Transactional, json!({ "sql": text, "params": params }));
        // A statement that only reads needs no place in the ledger.
        let login = AgentLogin::of(&sql::classify(text).effects).min(most);
        if login != AgentLogin::Reader
            && let Some(answer) = self.earlier(&entry).await?
        {
            return answer;
        }
        let Inner { tools, lease, permit, .. } = &*self.0;
        let (operation, now) = (entry.of(permit), tools.kit.clock.now());
        tools.kit.store.run_operation_sql(lease, operation, text, params, login, now).await?.map_err(OperationError::Refused)
    }

    async fn kv(&self, ordinal: i32, request: KvRequest) -> Result<String, OperationError> {
        let shown = match &request {
            // A value may be long; its fingerprint is enough to recognise it.
            KvRequest::Set { key, value } => {
                json!({ "set": key, "sha256": hex::encode(Sha256::digest(value.to_string())) })
            }
            other => json!(other),
        };
        let entry = LedgerEntry::new(ordinal, OperationKind::Kv, EffectClass::Transactional, shown);
        let request = match request {
            KvRequest::Get { key } => KvOp::Get(key),
            KvRequest::Set { key, value } => KvOp::Set(key, value),
            KvRequest::Delete { key } => KvOp::Delete(key),
            KvRequest::List { prefix } => KvOp::List(prefix),
        };
        if matches!(request, KvOp::Set(..) | KvOp::Delete(_))
            && let Some(answer) = self.earlier(&entry).await?
        {
            return answer;
        }
        let Inner { tools, lease, permit, name, .. } = &*self.0;
        let (operation, now) = (entry.of(permit), tools.kit.clock.now());
        tools.kit.store.run_kv(lease, operation, name, request, now).await?.map_err(OperationError::Refused)
    }

    /// The answer that this operation got when the call was run before; `None` if it was not done
    /// then. Only for operations of class T, which are done or not, and nothing between.
    async fn earlier(&self, entry: &LedgerEntry) -> Result<Option<Result<String, OperationError>>, OperationError> {
        let operation = entry.of(&self.0.permit);
        Ok(match self.0.tools.kit.store.earlier_operation(&operation).await? {
            Earlier::New | Earlier::Intended => None,
            Earlier::Done(answer) => Some(answer.map_err(OperationError::Refused)),
            Earlier::Different => Some(Err(OperationError::Refused(ANOTHER_WAY.to_owned()))),
        })
    }
}

impl Reach for Reaching {
    fn perform(&self, operation: Operation) -> BoxFuture<'static, Result<String, OperationRefused>> {
        let (reaching, ordinal) = (self.clone(), self.ordinal(operation.ordinal));
        self.0.begun.store(true, Ordering::Relaxed);
        async move {
            let recorded = reaching.0.recording.is_some().then(|| whole(&operation.request));
            let ended = match reaching.done(ordinal, operation.request).await {
                Ok(answer) => Ok(answer),
                Err(OperationError::Refused(why)) => Err(OperationRefused::new(why)),
                Err(OperationError::Store(error)) => {
                    let mut broken = reaching.0.broken.lock().unwrap_or_else(PoisonError::into_inner);
                    broken.get_or_insert(error);
                    Err(OperationRefused::new("the server could not do this just now"))
                }
            };
            if let Some(request) = recorded {
                reaching.record(ordinal, request, &ended).await;
            }
            ended
        }
        .boxed()
    }

    fn refused(&self, RefusedOperation { ordinal, request, why }: RefusedOperation) -> BoxFuture<'static, ()> {
        let (reaching, ordinal) = (self.clone(), self.ordinal(ordinal));
        async move {
            let request = serde_json::from_str(&request).unwrap_or(Value::String(request));
            reaching.record(ordinal, request, &Err(OperationRefused::new(why))).await;
        }
        .boxed()
    }

    fn secret(&self, name: &str) -> Result<String, OperationRefused> {
        let found = self.0.secrets.names.iter().find(|(known, _)| known == name);
        found.map(|(_, placeholder)| placeholder.clone()).ok_or_else(|| {
            OperationRefused::new(format!(
                "the secret {name} is not set; the user can set it in the page, or with: level3 secret set {name}"
            ))
        })
    }

    fn depth(&self) -> usize {
        self.0.depth
    }
}
