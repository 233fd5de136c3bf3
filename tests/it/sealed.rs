//! A sealed profile, made here with two tools of its own: whatever is installed, connected or
//! granted, nothing else exists for it.

use std::path::PathBuf;
use std::sync::Arc;

use chrono::TimeDelta;
use futures::FutureExt;
use futures::future::BoxFuture;
use level3::app::named_tools;
use level3::browser::Browser;
use level3::clock::{Clock, SystemRandom};
use level3::domain::{
    AnswersTo, Audience, CallRequest, CallsPerStep, Coaching, Context, DEFAULT_PROFILE, DecidingWords, Draft, Effect,
    FailureWords, Grants, McpDefinition, McpListing, McpTransport, Outcome, Profile, RELAY, Rule, SourceLanguage, TasksShown,
    ToolSpec, Toolset, UserRole,
};
use level3::egress::{self, Egress, SystemResolver};
use level3::mcp::{self, Mcp};
use level3::model::choice::ModelSource;
use level3::model::tour::Tour;
use level3::profiles::Profiles;
use level3::sandbox::{self, Sandbox};
use level3::secrets::Vault;
use level3::store::{CheckedComponent, Lease, NewStep, OpenCall, Store, StoreError};
use level3::telemetry::Scrubber;
use level3::tools::{
    Act, AfterCall, CallCard, DesktopScreen, Doing, Executed, Hands, Kit, Marks, Prepared, Preparing, Tool, ToolError,
    ToolSettings, Tools, at_once, first,
};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::support::{TestApp, permit, share_engine};

/// A tool that says its own name, and what the law is told of it.
pub struct Says(pub &'static str, pub Effect);

impl Tool for Says {
    fn spec(&self) -> ToolSpec {
        ToolSpec { name: self.0.into(), description: "Says its name.".into(), parameters: json!({"type": "object"}) }
    }

    fn prepare<'a>(&'a self, _: Preparing<'a>) -> BoxFuture<'a, Result<Prepared, ToolError>> {
        at_once(Ok(Prepared::new(Self(self.0, self.1), self.1)))
    }

    fn for_capabilities(&self) -> bool {
        true
    }
}

impl Act for Says {
    fn card<'a>(&'a self, _: &'a Kit) -> BoxFuture<'a, Result<CallCard, StoreError>> {
        at_once(Ok(CallCard::of(vec![format!("Says {}.", self.0)])))
    }

    fn execute<'a>(self: Box<Self>, _: Doing<'a>) -> BoxFuture<'a, Result<Executed, StoreError>> {
        async move { Ok(Executed::Outcome(Outcome::ok(self.0))) }.boxed()
    }
}

/// The two tools of the profile: one looks, and the other says something to somebody, which the
/// owner is asked about.
pub fn own_tools() -> Vec<Arc<dyn Tool>> {
    vec![Arc::new(Says("look_here", Effect::Read)), Arc::new(Says("say_there", Effect::Send))]
}

/// The tools that the program brings for profiles that name them.
fn named() -> Vec<Arc<dyn Tool>> {
    let models = Arc::new(ModelSource::fixed(Arc::new(Tour)));
    named_tools(&models, DesktopScreen::default(), &Browser::new(None), PathBuf::new())
}

/// The names of all tools that the program brings.
pub fn brought() -> Vec<String> {
    let first = first().iter().map(|spec| spec.name.clone()).chain([RELAY.to_owned()]);
    first.chain(named().iter().map(|tool| tool.spec().name)).collect()
}

/// Arguments of a tool's call, with which one that got through would leave something behind.
pub fn arguments(tool: &str) -> Value {
    match tool {
        "execute_sql" => json!({"query": "CREATE TABLE t (n int)"}),
        "write_capability" => {
            let parameters = json!({"type": "object", "properties": {}});
            json!({"name": "mine", "description": "d", "code": "export default () => 1", "parameters_schema": parameters})
        }
        "manage_tasks" => json!({"action": "create", "title": "t"}),
        "restart" => json!({"mode": "full"}),
        "relay" => json!({"action": "create", "objective": "o", "contact": "+491701234567", "todos": []}),
        "createTask" => json!({"title": "t"}),
        _ => json!({}),
    }
}

fn builder() -> Arc<Profile> {
    Profiles::default().get(DEFAULT_PROFILE).unwrap()
}

pub fn profile(tools: &'static [&'static str]) -> Profile {
    Profile {
        name: "sealed",
        audience: Audience::Contact,
        open_to: UserRole::Owner,
        prompt: "",
        tools: Toolset::Only(tools),
        by_hand: Toolset::Only(tools),
        tasks: TasksShown::DueSoon,
        completes_with: None,
        operates: false,
        calls: CallsPerStep::ExactlyOne,
        answers: AnswersTo::Nowhere,
        context: Context::Conversation { history: None, summaries: false },
        coaching: Coaching::Off,
        answer_tokens: None,
        temperature: None,
        model: None,
        steps: None,
        words: DecidingWords::NONE,
        approval_expiry: None,
        counted: false,
        failures: FailureWords::Full,
        talked_over: false,
    }
}

/// A store in hand, and tools on it; the server behind is stopped.
struct House {
    app: TestApp,
    store: Store,
    tools: Tools,
    sandbox: Sandbox,
}

impl House {
    async fn start() -> Self {
        let mut app = TestApp::start().await;
        app.stop().await;
        app.leaves("no server works on its turn");
        let store = Store::open(&app.database_behind(), &SystemRandom).await.unwrap();
        let folder = app.data().to_owned();
        share_engine(&folder);
        let (clock, random): (Arc<dyn Clock>, _) = (Arc::new(app.clock.clone()), Arc::new(SystemRandom));
        let limits = sandbox::SandboxLimits::default();
        let sandbox = Sandbox::open(&folder.join("cache"), Arc::clone(&clock), random.clone(), limits).unwrap();
        let scrubber = Scrubber::default();
        let vault = Vault::open(&folder, store.clone(), random, scrubber.clone()).await.unwrap();
        let mcp = Mcp::new(vault.clone(), scrubber.clone(), Default::default(), mcp::McpLimits::default());
        let egress = Egress::new(Arc::new(SystemResolver), Default::default(), egress::EgressLimits::default(), scrubber);
        let marks = Marks::open(&folder.join("calls")).unwrap();
        let hands = Hands { sandbox: sandbox.clone(), egress, mcp, vault, marks };
        let settings = ToolSettings { approval_expiry: TimeDelta::days(1), safe_mode: false };
        let tools = Tools::new(store.clone(), hands, clock, CancellationToken::new(), settings, [named(), own_tools()].concat());
        Self { app, store, tools, sandbox }
    }

    async fn install(&self, name: &str, source: &str, grants: Value) {
        let draft = Draft {
            name: name.into(),
            description: "d".into(),
            language: SourceLanguage::JavaScript,
            source: source.into(),
            parameters: json!({"type": "object", "properties": {}}),
            grants: Grants { harmless: Grants::harmless().harmless, ..Grants::from_json(grants.as_object().unwrap()).unwrap() },
            tests: Vec::new(),
        };
        let checked = self.sandbox.check(&draft).await.unwrap();
        let now = self.app.now();
        let conversation = self.store.owners().main_conversation(now).await.unwrap();
        let mut unit = self.store.begin(now).await.unwrap();
        let built = CheckedComponent { component: &checked.component, sha256: &checked.sha256, engine: &checked.engine };
        let by = permit(level3::domain::ToolCallId(1));
        unit.install_capability(&by, conversation, &draft, built, None).await.unwrap();
        unit.commit().await.unwrap();
    }

    /// A turn in hand whose one step asks for these calls.
    async fn asked(&self, calls: &[(&str, Value)]) -> (Lease, Vec<OpenCall>) {
        let now = self.app.now();
        let main = self.store.owners().main_conversation(now).await.unwrap();
        self.store.owners().accept_message(main, None, "work", now).await.unwrap();
        let lease = self.store.claim("one", &[], now).await.unwrap().expect("a turn");
        let request = |(n, (name, arguments)): (usize, &(&str, Value))| CallRequest {
            id: n.to_string(),
            name: (*name).to_owned(),
            arguments: arguments.to_string(),
        };
        let calls: Vec<_> = calls.iter().enumerate().map(request).collect();
        let step = NewStep { number: 1, model: "m", finish_reason: "tool_calls", calls: &calls, ..NewStep::default() };
        let open = self.store.store_step(&lease, step, now).await.unwrap().calls;
        (lease, open)
    }

    /// Runs calls to their outcomes. Returns the kind of each refusal, and the words for the model.
    async fn ran(&self, profile: &Profile, calls: &[(&str, Value)]) -> Vec<(Option<String>, String)> {
        let (lease, open) = self.asked(calls).await;
        for call in &open {
            let ran = self.tools.run(&lease, profile, call, None, None).await.unwrap();
            assert!(matches!(ran, AfterCall::Ended(_)), "{ran:?}");
        }
        let mut behind = self.app.behind().await;
        let query = "SELECT c.refusal, m.content FROM tool_calls c JOIN messages m USING (tool_call_id)
                     WHERE c.turn_id = $1 ORDER BY c.position";
        sqlx::query_as(query).bind(lease.turn.0).fetch_all(&mut behind).await.unwrap()
    }
}

#[tokio::test]
async fn a_sealed_profile_is_offered_and_can_call_nothing_else() {
    let house = House::start().await;
    house.install("double", "export default async () => 2", json!({})).await;
    let tool = McpDefinition {
        tool: "far__t".into(),
        name: "t".into(),
        description: "d".into(),
        parameters: json!({"type": "object"}),
        sha256: "0".repeat(64),
    };
    let listed = McpListing { tools: vec![tool], ..Default::default() };
    let transport = McpTransport::Http { url: "https://far.example/".into(), headers: Default::default() };
    assert!(house.store.add_mcp_server("far", &transport, &listed, house.app.now()).await.unwrap());

    let sealed = profile(&["look_here", "say_there"]);
    let catalogue = house.store.catalogue(None).await.unwrap();
    assert_eq!(house.tools.offered(&sealed, &catalogue).names(), ["look_here", "say_there"]);
    let of_builder = house.tools.offered(&builder(), &catalogue);
    assert_eq!(of_builder.names(), ["double", "execute_sql", "far__t", "manage_tasks", "restart", "write_capability"]);

    let (all, own) = (house.tools.names(), ["look_here", "say_there"]);
    assert!(brought().iter().map(String::as_str).chain(own).eq(all.iter().copied()), "`brought` misses some of {all:?}");
    let others = all.into_iter().filter(|tool| !own.contains(tool)).chain(["double", "far__t"]);
    let mut attacks: Vec<_> = others.map(|tool| (tool, arguments(tool))).collect();
    let written = json!({"code": "x", "description": "d", "parameters_schema": {}});
    attacks.extend([("gone", written), ("look_here", json!({}))]);
    let mut ran = house.ran(&sealed, &attacks).await;
    assert_eq!(ran.pop(), Some((None, "look_here".to_owned())));
    for ((tool, _), (refusal, told)) in attacks.iter().zip(ran) {
        assert_eq!(refusal.as_deref(), Some("unknown_tool"), "{tool}: {told}");
        assert_eq!(told, format!("There is no tool `{tool}`. The tools are: look_here, say_there."));
    }
    for nothing in [
        "SELECT count(*) FROM tasks",
        "SELECT count(*) FROM operations",
        "SELECT count(*) FROM relay_instances",
        "SELECT count(*) - 1 FROM capability_versions",
    ] {
        assert_eq!(house.app.count(nothing).await, 0, "{nothing}");
    }
    house.store.close().await;
}

#[tokio::test]
async fn a_builder_has_no_tool_of_a_sealed_profile_and_takes_no_name_of_one() {
    let house = House::start().await;
    let written =
        |name: &str| json!({"name": name, "description": "d", "code": "export default () => 1", "parameters_schema": {}});
    let calls = [
        ("look_here", json!({})),
        ("write_capability", written("look_here")),
        // No rule allows this one yet, and its name is taken nevertheless.
        ("write_capability", written("relay")),
    ];
    let ran = house.ran(&builder(), &calls).await;
    let refusals: Vec<_> = ran.iter().map(|(refusal, _)| refusal.as_deref()).collect();
    assert_eq!(refusals, [Some("unknown_tool"), Some("invalid_name"), Some("invalid_name")], "{ran:?}");
    house.store.close().await;
}

#[tokio::test]
async fn no_rule_makes_a_tool_for_a_sealed_profile() {
    let house = House::start().await;
    let sealed = profile(&["look_here"]);
    for tool in ["relay", "restart", "say_there", "execute_sql"] {
        // The law judges by the policy of the conversation's profile, which is the builder's here.
        for profile in [DEFAULT_PROFILE, sealed.name] {
            house.store.set_tool_rule(profile, tool, Some(Rule::Always), house.app.now()).await.unwrap();
        }
    }
    let catalogue = house.store.catalogue(None).await.unwrap();
    let of_builder = house.tools.offered(&builder(), &catalogue);
    assert!(of_builder.names().contains(&"relay"), "the rule counts for whom the tool exists");
    assert_eq!(house.tools.offered(&sealed, &catalogue).names(), ["look_here"]);
    let attacks = [
        ("relay", json!({"action": "create", "objective": "o", "contact": "+491701234567", "todos": []})),
        ("restart", json!({"mode": "full"})),
        ("say_there", json!({})),
        ("execute_sql", json!({"query": "CREATE TABLE t (n int)"})),
    ];
    for (refusal, told) in house.ran(&sealed, &attacks).await {
        assert_eq!(refusal.as_deref(), Some("unknown_tool"), "{told}");
    }
    assert_eq!(house.app.count("SELECT count(*) FROM relay_instances").await, 0);
    house.store.close().await;
}

#[tokio::test]
async fn what_a_capability_was_granted_reaches_no_further_than_the_profile_that_calls_it() {
    let house = House::start().await;
    let source = "export default async () => {
        const tried = async (name, params) => { try { return await host.call(name, params) } catch (error) { return error.message } };
        return [await tried('look_here', {}), await tried('execute_sql', { query: 'CREATE TABLE t (n int)' })];
    }";
    house.install("caller", source, json!({"tools": {"names": ["look_here", "execute_sql"]}})).await;
    let ran = house.ran(&profile(&["caller", "look_here"]), &[("caller", json!({}))]).await;
    let told: Value = serde_json::from_str(&ran[0].1).unwrap();
    assert_eq!(told, json!(["look_here", "there is no tool `execute_sql`"]));
    house.store.close().await;
}

#[tokio::test]
async fn a_set_of_capabilities_has_those_and_what_they_reach_and_no_other_tool() {
    let house = House::start().await;
    let source = "export default async () => { await host.call('manage_tasks', { action: 'list' }); return 'listed'; }";
    house.install("lists", source, json!({"tools": {"names": ["manage_tasks"]}})).await;
    let served = Profile { tools: Toolset::Capabilities(&["look_here"]), ..profile(&[]) };
    let catalogue = house.store.catalogue(None).await.unwrap();
    assert_eq!(house.tools.offered(&served, &catalogue).names(), ["lists", "look_here"]);
    let calls = [("manage_tasks", json!({"action": "list"})), ("say_there", json!({})), ("lists", json!({}))];
    let ran = house.ran(&served, &calls).await;
    let refusals: Vec<_> = ran.iter().map(|(refusal, _)| refusal.as_deref()).collect();
    assert_eq!(refusals, [Some("unknown_tool"), Some("unknown_tool"), None], "{ran:?}");
    assert!(ran[2].1.contains("listed"), "{ran:?}");
    house.store.close().await;
}

#[tokio::test]
async fn a_rule_brings_a_tool_to_its_own_profile_and_to_no_other() {
    let house = House::start().await;
    let (builder, mcp) = (builder(), Profiles::default().get("mcp").unwrap());
    let has = async || {
        let catalogue = house.store.catalogue(None).await.unwrap();
        [&builder, &mcp].map(|profile| house.tools.offered(profile, &catalogue).names().contains(&"relay"))
    };
    assert_eq!(has().await, [false, false]);
    house.store.set_tool_rule(builder.name, "relay", Some(Rule::Always), house.app.now()).await.unwrap();
    assert_eq!(has().await, [true, false]);
    house.store.set_tool_rule(builder.name, "relay", Some(Rule::Never), house.app.now()).await.unwrap();
    house.store.set_tool_rule(mcp.name, "relay", Some(Rule::Ask), house.app.now()).await.unwrap();
    assert_eq!(has().await, [false, true]);
    let looks = CallRequest { id: "1".into(), name: "relay".into(), arguments: json!({"action": "list"}).to_string() };
    assert!(!house.tools.changes(&mcp, &looks) && house.tools.may_send(&mcp, &looks), "as the tool says of the call");
    house.store.close().await;
}
