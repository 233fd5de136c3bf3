//! The walk: a member asks for everything there is with the owner's numbers, by every route and
//! every frame, and looks at every view. A route, a frame or a view that the walk does not know
//! makes it fail.

use std::collections::BTreeSet;

use level3::domain::{ApprovalId, CampaignId, ConversationId, UserId};
use level3::wire::ClientFrame;
use reqwest::Method;
use serde_json::{Value, json};

use crate::attacks::written;
use crate::support::people::{Person, two_people};
use crate::support::{Client, TestApp, call, text};

/// The answer that a member gets at a route with the owner's numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Gets {
    /// 403, with words.
    Forbidden,
    /// The same as with a number that nobody has.
    Nothing,
    /// Their own.
    Own,
    /// Something for anybody, and nobody's.
    Public,
    /// A socket; the frames are walked by themselves.
    Socket,
}
use Gets::{Forbidden, Nothing, Own, Public, Socket};

/// Every route, in the order of the sources.
const ROUTES: &[(&str, &str, Gets)] = &[
    ("GET", "/chat", Socket),
    ("ANY", "/mcp", Forbidden),
    ("GET", "/healthz", Public),
    ("GET", "/readyz", Public),
    ("GET", "/metrics", Forbidden),
    // They ask for secrets of a call, and for nobody's session.
    ("POST", "/voice/vapi/{call}/chat/completions", Public),
    ("POST", "/voice/vapi/{call}/chat/completions/chat/completions", Public),
    ("POST", "/voice/vapi/{call}/events", Public),
    ("GET", "/sign-in/", Public),
    ("POST", "/sign-in/", Public),
    ("POST", "/sign-in/password", Public),
    ("POST", "/v1/chat/completions", Forbidden),
    ("GET", "/v1/models", Forbidden),
    ("GET", "/v1/models/{id}", Forbidden),
    ("GET", "/api/conversations", Own),
    ("POST", "/api/conversations", Own),
    ("GET", "/api/conversations/{id}", Nothing),
    ("PATCH", "/api/conversations/{id}", Nothing),
    ("DELETE", "/api/conversations/{id}", Nothing),
    ("GET", "/api/conversations/{id}/frames", Nothing),
    ("GET", "/api/conversations/{id}/export", Nothing),
    ("GET", "/api/search", Own),
    ("GET", "/api/events", Own),
    ("GET", "/api/heartbeat", Own),
    ("GET", "/api/settings", Forbidden),
    ("PUT", "/api/settings", Forbidden),
    ("GET", "/api/models", Forbidden),
    ("POST", "/api/models/test", Forbidden),
    ("POST", "/api/backup", Forbidden),
    ("GET", "/api/tasks", Own),
    ("POST", "/api/tasks", Own),
    ("PATCH", "/api/tasks/{id}", Nothing),
    ("DELETE", "/api/tasks/{id}", Nothing),
    ("GET", "/api/assistant", Own),
    ("GET", "/api/assistant/chat", Own),
    ("DELETE", "/api/assistant/chat", Own),
    ("POST", "/api/assistant/functions/{name}", Own),
    ("GET", "/api/tiers", Forbidden),
    ("PUT", "/api/tiers/{tier}", Forbidden),
    ("GET", "/api/turns/{id}", Nothing),
    ("GET", "/api/kept", Forbidden),
    ("POST", "/api/calls/{call}/undo", Forbidden),
    ("GET", "/api/attachments/{id}", Nothing),
    ("GET", "/api/approvals", Own),
    ("GET", "/api/approvals/{id}", Nothing),
    ("POST", "/api/approvals/{id}/approve", Nothing),
    ("POST", "/api/approvals/{id}/deny", Nothing),
    ("GET", "/api/secrets", Forbidden),
    ("PUT", "/api/secrets/{name}", Forbidden),
    ("DELETE", "/api/secrets/{name}", Forbidden),
    ("GET", "/api/capabilities", Forbidden),
    ("POST", "/api/capabilities/import", Forbidden),
    ("GET", "/api/capabilities/{name}", Forbidden),
    ("GET", "/api/capabilities/{name}/diff", Forbidden),
    ("GET", "/api/capabilities/{name}/export", Forbidden),
    ("POST", "/api/capabilities/{name}/call", Forbidden),
    ("POST", "/api/capabilities/{name}/test", Forbidden),
    ("POST", "/api/capabilities/{name}/rollback", Forbidden),
    ("POST", "/api/capabilities/{name}/disable", Forbidden),
    ("POST", "/api/capabilities/{name}/enable", Forbidden),
    ("GET", "/api/shipped", Forbidden),
    ("POST", "/api/shipped/{name}/install", Forbidden),
    ("GET", "/api/mcp", Forbidden),
    ("PUT", "/api/mcp/{name}", Forbidden),
    ("DELETE", "/api/mcp/{name}", Forbidden),
    ("GET", "/api/mcp/{name}/tools", Forbidden),
    ("POST", "/api/mcp/{name}/tools", Forbidden),
    ("GET", "/api/policy/{profile}", Forbidden),
    ("PUT", "/api/policy/{profile}", Forbidden),
    ("PUT", "/api/policy/{profile}/rules/{tool}", Forbidden),
    ("GET", "/api/rates", Forbidden),
    ("PUT", "/api/rates/{model}", Forbidden),
    ("GET", "/api/usage", Own),
    ("GET", "/api/replay/check", Forbidden),
    ("GET", "/api/replay/turns/{id}", Forbidden),
    ("GET", "/api/campaigns", Forbidden),
    ("POST", "/api/campaigns", Forbidden),
    ("GET", "/api/voice", Own),
    ("POST", "/api/voice/calls", Own),
    ("DELETE", "/api/voice/calls/{id}", Nothing),
    ("POST", "/api/voice/calls/{id}/beat", Nothing),
    ("POST", "/api/voice/speech", Own),
    ("POST", "/api/voice/trial", Forbidden),
    ("POST", "/api/voice/transcriptions", Own),
    ("GET", "/api/me", Own),
    ("PATCH", "/api/me", Own),
    ("PUT", "/api/me/password", Own),
    ("GET", "/api/me/sessions", Own),
    ("DELETE", "/api/me/sessions/{id}", Nothing),
    // It is walked last, since nothing can be asked after it.
    ("POST", "/api/me/sign-out", Own),
    ("GET", "/api/users", Forbidden),
    ("POST", "/api/users", Forbidden),
    ("PATCH", "/api/users/{name}", Forbidden),
    ("DELETE", "/api/users/{name}", Forbidden),
    ("POST", "/api/users/{name}/invitation", Forbidden),
    ("PUT", "/api/users/{name}/password", Forbidden),
    ("POST", "/api/users/{name}/tokens", Forbidden),
    ("DELETE", "/api/users/{name}/tokens", Forbidden),
    ("GET", "/api/relay/instances", Forbidden),
    ("POST", "/api/relay/instances", Forbidden),
    ("GET", "/api/relay/instances/{id}", Forbidden),
    ("GET", "/api/relay/instances/{id}/transcript", Forbidden),
    ("POST", "/api/relay/instances/{id}/pause", Forbidden),
    ("POST", "/api/relay/instances/{id}/resume", Forbidden),
    ("POST", "/api/relay/instances/{id}/cancel", Forbidden),
    ("POST", "/api/relay/instances/{id}/send", Forbidden),
    ("POST", "/api/relay/messages/{id}/resend", Forbidden),
    ("POST", "/api/relay/messages/{id}/settle", Forbidden),
    ("GET", "/api/relay/unknown", Forbidden),
    ("GET", "/api/relay/export", Forbidden),
    ("GET", "/api/relay/status", Forbidden),
    ("GET", "/api/relay/channels", Forbidden),
    ("POST", "/api/relay/channels/{name}/logout", Forbidden),
    ("POST", "/api/relay/channels/{name}/unlock", Forbidden),
    ("GET", "/api/relay/pace", Forbidden),
    ("GET", "/api/relay/webhooks", Forbidden),
    ("POST", "/api/relay/webhooks", Forbidden),
    ("DELETE", "/api/relay/webhooks/{id}", Forbidden),
    ("POST", "/api/relay/webhooks/{id}/test", Forbidden),
    ("GET", "/api/operator", Forbidden),
    ("GET", "/api/operator/tasks", Forbidden),
    ("GET", "/api/operator/tasks/{id}/recordings", Forbidden),
    ("GET", "/api/operator/tasks/{id}/recordings/{call}/{when}", Forbidden),
    ("GET", "/api/operator/context", Forbidden),
    ("PUT", "/api/operator/context", Forbidden),
    ("GET", "/api/operator/media/{name}", Forbidden),
    ("GET", "/api/relay/loopback", Forbidden),
    ("POST", "/api/relay/loopback", Forbidden),
    ("GET", "/api/campaigns/vocabulary", Forbidden),
    ("GET", "/api/campaigns/{id}", Forbidden),
    ("GET", "/api/campaigns/{id}/state", Forbidden),
    ("GET", "/api/campaigns/{id}/export", Forbidden),
    ("POST", "/api/campaigns/{id}/start", Forbidden),
    ("POST", "/api/campaigns/{id}/pause", Forbidden),
    ("POST", "/api/campaigns/{id}/resume", Forbidden),
    ("POST", "/api/campaigns/{id}/cycle", Forbidden),
    ("POST", "/api/campaigns/{id}/copy", Forbidden),
    ("POST", "/api/campaigns/{id}/present", Forbidden),
    ("POST", "/api/campaigns/{id}/verify", Forbidden),
    ("POST", "/api/campaigns/{id}/forget-chat", Forbidden),
    ("POST", "/api/campaigns/{id}/tasks", Forbidden),
    ("POST", "/api/campaigns/{id}/tasks/{task}", Forbidden),
    ("POST", "/api/campaigns/{id}/answer", Forbidden),
    ("POST", "/api/campaigns/{id}/artifacts", Forbidden),
    ("GET", "/api/campaigns/{id}/artifacts/{kind}/{key}", Forbidden),
    ("GET", "/api/campaigns/{id}/leads", Forbidden),
    ("POST", "/api/campaigns/{id}/leads", Forbidden),
    ("POST", "/api/campaigns/{id}/leads/status", Forbidden),
    ("POST", "/api/campaigns/{id}/contexts", Forbidden),
    ("DELETE", "/api/campaigns/{id}/contexts/{context}", Forbidden),
    ("GET", "/api/campaigns/{id}/log", Forbidden),
    ("GET", "/api/campaigns/{id}/log/kinds", Forbidden),
];

/// The routes that the sources mount: each file with the folder under which it is nested.
pub fn mounted() -> Vec<(String, String)> {
    let files = [
        ("", include_str!("../../src/http/mod.rs")),
        ("/voice/vapi", include_str!("../../src/http/vapi/mod.rs")),
        ("/sign-in", include_str!("../../src/http/sign_in.rs")),
        ("/v1", include_str!("../../src/http/v1/mod.rs")),
        ("/api", include_str!("../../src/http/api/mod.rs")),
        ("/api/relay", include_str!("../../src/http/api/relay/mod.rs")),
        ("/api/campaigns", include_str!("../../src/http/api/campaigns.rs")),
    ];
    let nested: usize = files.iter().map(|(_, source)| source.matches(".nest(").count()).sum();
    assert_eq!(nested, files.len() - 1, "a router is nested that the walk does not read");
    files.iter().flat_map(|(under, source)| routes_in(under, source)).collect()
}

fn routes_in(under: &str, source: &str) -> Vec<(String, String)> {
    let mut routes = Vec::new();
    for rest in source.split(".route(\"").skip(1) {
        let (path, rest) = rest.split_once('"').unwrap();
        let mut depth = 1;
        let end = rest.find(|letter: char| {
            depth += match letter {
                '(' => 1,
                ')' => -1,
                _ => 0,
            };
            depth == 0
        });
        let mounts = &rest[..end.unwrap()];
        let methods: Vec<_> = ["get", "post", "put", "patch", "delete"]
            .into_iter()
            .filter(|method| mounts.contains(&format!(" {method}(")) || mounts.contains(&format!(".{method}(")))
            .collect();
        // A service takes the methods that it likes.
        let methods = if methods.is_empty() { vec!["any"] } else { methods };
        routes.extend(methods.into_iter().map(|method| (method.to_uppercase(), format!("{under}{path}"))));
    }
    routes
}

#[test]
fn the_walk_knows_every_route() {
    let mounted: BTreeSet<_> = mounted().into_iter().collect();
    let known: BTreeSet<_> = ROUTES.iter().map(|(method, path, _)| ((*method).to_owned(), (*path).to_owned())).collect();
    assert!(mounted.len() > 60, "hardly any route was read: {mounted:?}");
    assert_eq!(mounted, known);
}

/// Words that only the owner has.
const MARK: &str = "quincemarmalade";

/// The owner's numbers.
struct Owners {
    conversation: i64,
    turn: i64,
    approval: i64,
    task: i64,
    session: i64,
    image: String,
    voice: i64,
}

const NOBODYS: i64 = 987_654;
const IMAGE: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

/// The owner has a task, an image, an approval that waits, words, and an answer.
async fn owners(app: &TestApp, owner: &Person) -> Owners {
    let mut client = owner.connect().await;
    app.script([call("manage_tasks", json!({"action": "create", "title": MARK, "due_at": "2026-12-24T08:00:00Z"})), text(MARK)]);
    let image = json!([{"media_type": "image/png", "data": IMAGE}]);
    client.send(json!({"type": "message", "content": format!("keep {MARK}"), "images": image})).await;
    client.turn().await;
    app.script([call("write_capability", written(MARK, "return 1", json!({"http": {"hosts": ["a.example"]}})))]);
    client.say(&format!("build {MARK}")).await;
    let approval = client.asked().await["id"].as_i64().unwrap();
    let voice =
        owner.ask(Method::POST, "/api/voice/calls", Some(json!({"adapter": "browser"}))).await.1["call"].as_i64().unwrap();
    let image = sqlx::query_scalar("SELECT sha256 FROM attachments").fetch_one(&mut app.behind().await).await.unwrap();
    Owners {
        conversation: client.hello["conversation"].as_i64().unwrap(),
        turn: app.count("SELECT max(turn_id) FROM turns").await,
        approval,
        task: app.count("SELECT task_id FROM tasks").await,
        session: app.count("SELECT min(session_id) FROM sessions").await,
        image,
        voice,
    }
}

/// A route with these numbers.
fn at(path: &str, of: &Owners) -> String {
    let id = match path.split('/').nth(2) {
        Some("conversations") => of.conversation.to_string(),
        Some("turns" | "replay") => of.turn.to_string(),
        Some("approvals") => of.approval.to_string(),
        Some("tasks") => of.task.to_string(),
        Some("me") => of.session.to_string(),
        Some("attachments") => of.image.clone(),
        Some("voice") => of.voice.to_string(),
        _ => "1".to_owned(),
    };
    let path = path.replace("{id}", &id).replace("{call}", "1").replace("{name}", MARK).replace("{profile}", "builder");
    let path = path.replace("{tool}", "execute_sql").replace("{model}", "m").replace("{tier}", "free");
    match path.as_str() {
        "/api/search" => format!("/api/search?q={MARK}"),
        "/sign-in/" => "/sign-in".to_owned(),
        _ => path,
    }
}

/// A body that would be taken, if the route takes one.
fn body(method: &str, path: &str) -> Option<Value> {
    let body = match (method, path) {
        ("GET" | "DELETE", _) => return None,
        (_, "/api/tasks") => json!({"title": "hers"}),
        (_, "/api/tasks/{id}") => json!({"status": "done"}),
        (_, "/api/conversations/{id}") => json!({"title": "hers now"}),
        (_, "/api/me") => json!({"display_name": "Ana"}),
        (_, "/api/me/password") => json!({"password": "another one of hers", "current": "not hers"}),
        (_, "/sign-in/") => json!({"name": "owner", "password": "not his password"}),
        (_, "/sign-in/password") => json!({"secret": "00", "password": "not his password"}),
        _ => json!({}),
    };
    Some(body)
}

#[tokio::test]
async fn a_member_with_the_owners_numbers_gets_nothing_by_any_route() {
    let (app, owner, ana) = two_people().await;
    let owners = owners(&app, &owner).await;
    let nobodys = Owners {
        conversation: NOBODYS,
        turn: NOBODYS,
        approval: NOBODYS,
        task: NOBODYS,
        session: NOBODYS,
        image: "0".repeat(64),
        voice: NOBODYS,
    };
    // The tour of the routes changes nothing of the owner's.
    let state = "SELECT (SELECT count(*) FROM events WHERE conversation_id IN (SELECT conversation_id FROM conversations WHERE user_id = 1))
                 + (SELECT count(*) FROM approvals WHERE state = 'pending') + (SELECT count(*) FROM conversations WHERE title IS NOT NULL) * 1000
                 + (SELECT count(*) FROM conversations WHERE deleted_at IS NOT NULL) * 1000
                 + (SELECT count(*) FROM sessions WHERE user_id = 1) * 100000";
    let before = app.count(state).await;
    for (method, path, gets) in ROUTES.iter().copied().filter(|(_, path, _)| *path != "/api/me/sign-out") {
        let ask = async |of: &Owners| {
            let method = if method == "ANY" { "POST" } else { method };
            ana.said(method.parse::<Method>().unwrap(), &at(path, of), body(method, path)).await
        };
        let (status, said) = ask(&owners).await;
        let what = format!("{method} {path}: {status} {said}");
        match gets {
            Forbidden => assert!(status == 403 && said.contains("You don't have permission to do that"), "{what}"),
            Nothing => {
                let (_, none) = ask(&nobodys).await;
                let plain = |text: &str, of: &Owners| {
                    let ids = [of.conversation, of.turn, of.approval, of.task, of.session, of.voice];
                    ids.iter().fold(text.to_owned(), |text, id| text.replace(&format!(" {id}"), " N"))
                };
                assert_eq!((status, plain(&said, &owners)), (404, plain(&none, &nobodys)), "{what}");
            }
            Own | Public | Socket => assert!(status < 500, "{what}"),
        }
        // A word that she sent herself may come back.
        let sent = at(path, &owners).contains(MARK) && status != 200;
        assert!(sent || !said.contains(MARK), "{what}");
    }
    assert_eq!(app.count(state).await, before);
    assert_eq!(ana.said(Method::POST, "/api/me/sign-out", Some(json!({}))).await.0, 200);
    app.script([text("not built")]);
    owner.ask(Method::POST, &format!("/api/approvals/{}/deny", owners.approval), Some(json!({}))).await;
    app.run_until_idle().await;
}

/// The frames that a member sends with these numbers. A new kind of frame has to be added here, or
/// this does not compile.
fn frames(conversation: ConversationId, approval: ApprovalId) -> Vec<ClientFrame> {
    let message = |steer, profile: Option<&str>, conversation| ClientFrame::Message {
        content: "hello".to_owned(),
        id: None,
        conversation,
        profile: profile.map(str::to_owned),
        steer,
        images: Vec::new(),
        call: None,
    };
    let frames = vec![
        message(false, None, Some(conversation)),
        message(true, None, Some(conversation)),
        message(false, Some("builder"), None),
        message(false, Some("lea"), Some(conversation)),
        ClientFrame::Stop { conversation: Some(conversation) },
        ClientFrame::Approve { approval, always: false },
        ClientFrame::Approve { approval, always: true },
        ClientFrame::Deny { approval, reason: None },
        ClientFrame::Resume { after: 0, conversation: Some(conversation) },
        ClientFrame::Present { campaign: CampaignId(1) },
    ];
    let known = |frame: &ClientFrame| match frame {
        ClientFrame::Message { .. } => 0,
        ClientFrame::Stop { .. } => 1,
        ClientFrame::Approve { .. } => 2,
        ClientFrame::Deny { .. } => 3,
        ClientFrame::Resume { .. } => 4,
        ClientFrame::Present { .. } => 5,
    };
    assert_eq!(frames.iter().map(known).collect::<BTreeSet<_>>().len(), 6);
    frames
}

/// The answers of a socket to these frames, each followed by one that is always refused.
async fn answers(client: &mut Client, frames: Vec<ClientFrame>) -> Vec<String> {
    let mut answers = Vec::new();
    for (place, frame) in frames.into_iter().enumerate() {
        client.send(json!(frame)).await;
        let end = format!("end {place}");
        client.send(json!({"type": "message", "content": "", "id": end})).await;
        let told = client.until(|told| told["id"] == end.as_str()).await;
        answers.extend(told.iter().filter(|told| told["id"] != end.as_str()).map(Value::to_string));
    }
    answers
}

#[tokio::test]
async fn a_member_with_the_owners_numbers_gets_nothing_by_any_frame() {
    let (app, owner, ana) = two_people().await;
    let owners = owners(&app, &owner).await;
    let state = "SELECT (SELECT count(*) FROM events WHERE conversation_id IN (SELECT conversation_id FROM conversations WHERE user_id = 1))
                 + (SELECT count(*) FROM turns WHERE state = 'awaiting_approval') * 1000";
    let before = app.count(state).await;
    let mut socket = ana.connect().await;
    let conversation = socket.hello["conversation"].as_i64().unwrap();
    assert_ne!(conversation, owners.conversation);
    assert_eq!(socket.hello["conversations"], json!({"lea": conversation}));
    let told = answers(&mut socket, frames(ConversationId(owners.conversation), ApprovalId(owners.approval))).await;
    let none = answers(&mut socket, frames(ConversationId(NOBODYS), ApprovalId(NOBODYS))).await;
    let plain = |told: &[String], numbers: [i64; 2]| {
        told.iter()
            .map(|told| numbers.iter().fold(told.clone(), |told, id| told.replace(&format!(" {id}"), " N")))
            .collect::<Vec<_>>()
    };
    assert_eq!(plain(&told, [owners.conversation, owners.approval]), plain(&none, [NOBODYS, NOBODYS]));
    assert!(told.iter().all(|told| !told.contains(MARK)), "{told:?}");
    assert_eq!(app.count(state).await, before);
    // Events at the owner's are not even told as a change of a list.
    app.script([call("manage_tasks", json!({"action": "create", "title": MARK})), text("made")]);
    let mut his = owner.connect().await;
    let aside = owner.ask(Method::POST, "/api/conversations", Some(json!({}))).await.1["conversation"].clone();
    his.send(json!({"type": "message", "content": "one more", "conversation": aside})).await;
    his.turn().await;
    let told = answers(&mut socket, Vec::from([ClientFrame::Stop { conversation: None }])).await;
    assert_eq!(told, Vec::<String>::new());
    app.script([text("not built")]);
    owner.ask(Method::POST, &format!("/api/approvals/{}/deny", owners.approval), Some(json!({}))).await;
    app.run_until_idle().await;
}

#[tokio::test]
async fn the_owners_agent_sees_no_row_of_a_member_in_any_view() {
    let (app, owner, ana) = two_people().await;
    let mut hers = ana.connect().await;
    app.script([call("manage_tasks", json!({"action": "create", "title": MARK})), text(MARK)]);
    hers.ask(MARK).await;
    let views: Vec<String> = sqlx::query_scalar("SELECT viewname::text FROM pg_views WHERE schemaname = 'shared' ORDER BY 1")
        .fetch_all(&mut app.behind().await)
        .await
        .unwrap();
    assert_eq!(
        views,
        ["audit_entries", "audit_log", "capabilities", "conversations", "event_log", "messages", "relay_transcripts", "tasks"],
        "a view that the walk does not know"
    );
    let mut his = owner.connect().await;
    // A function of the agent's own that looks at each row it is asked about.
    let peek = "CREATE FUNCTION agent.peek(t TEXT) RETURNS BOOLEAN LANGUAGE plpgsql COST 0.0000001 AS $$ BEGIN RAISE NOTICE '%', t; \
                IF t LIKE '%quince%' THEN RAISE EXCEPTION 'seen: %', t; END IF; RETURN TRUE; END $$";
    app.script([call("execute_sql", json!({"query": peek})), text("made")]);
    his.allow("make it").await;
    for view in &views {
        let query = format!("SELECT to_jsonb(v)::text FROM shared.{view} v WHERE agent.peek(to_jsonb(v)::text)");
        app.script([call("execute_sql", json!({"query": query})), text("looked")]);
        let told = crate::support::results(&his.allow("look").await);
        assert!(told[0].0 && !told[0].1.contains(MARK), "{view}: {told:?}");
    }
    let of_ana = "SELECT count(*) FROM shared.messages WHERE conversation_id IN (SELECT conversation_id FROM level3.conversations WHERE user_id <> 1)";
    assert_eq!(app.count(of_ana).await, 0);
    assert_eq!(app.store().of(UserId(2)).tasks(10).await.unwrap().len(), 1);
}
