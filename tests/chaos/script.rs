//! The script of the model. The model decides by what it reads alone, so that it goes on after any
//! crash as a real one would.

use serde_json::{Value, json};

use crate::peer::Peer;
use crate::support::ModelServer;

/// The answer outside of chat: to a contact, or in a campaign.
fn answer_elsewhere(messages: &[Value]) -> Option<Value> {
    crate::relay::answer(messages).or_else(|| crate::campaigns::answer(messages)).or_else(|| crate::pages::answer(messages))
}

/// Understands `setup`, `work ID`, `ask NAME`, `due ID`, `restart ID`, and the heartbeat.
pub async fn model(peer: &Peer) -> ModelServer {
    let address = peer.address;
    ModelServer::start(move |_, body| {
        let messages = body["messages"].as_array().expect("messages");
        if let Some(answer) = answer_elsewhere(messages) {
            return answer;
        }
        let said = messages.iter().rposition(|message| message["role"] == "user").expect("a request");
        let results = messages[said..].iter().filter(|message| message["role"] == "tool").count();
        // The words come after the time at which they were said.
        let content =
            messages[said]["content"].as_str().and_then(|content| content.split_once("] ")).expect("a time, and text").1;
        let (word, rest) = content.split_once(' ').unwrap_or((content, ""));
        match (word, results) {
            ("setup", 0) => asks([
                ("execute_sql", json!({"query": "CREATE TABLE effects (id text)"})),
                ("execute_sql", json!({"query": "CREATE TABLE inner_effects (id text)"})),
                ("write_capability", act(address)),
            ]),
            ("work", 0) => asks([
                ("execute_sql", json!({"query": format!("INSERT INTO effects VALUES ('{rest}')")})),
                ("act", json!({"id": rest})),
                ("manage_tasks", json!({"action": "create", "title": rest})),
            ]),
            ("ask", 0) => asks([("write_capability", teller(rest, address))]),
            ("ask", 1) => asks([(rest, json!({}))]),
            ("due", 0) => {
                asks([("manage_tasks", json!({"action": "create", "title": rest, "due_at": chrono::Utc::now().to_rfc3339()}))])
            }
            ("restart", 0) => asks([("restart", json!({"mode": "full"}))]),
            ("[heartbeat]", 0) => asks(
                due(content)
                    .map(|title| ("execute_sql", json!({"query": format!("INSERT INTO effects VALUES ('fired {title}')")}))),
            ),
            (_, results) => {
                json!({"role": "assistant", "content": format!("{results} things are done, as far as I was told: {rest}")})
            }
        }
    })
    .await
}

/// The titles of the tasks that a heartbeat names.
fn due(content: &str) -> impl Iterator<Item = &str> {
    content.lines().filter_map(|line| line.strip_prefix("- task ")?.split_once("Z: ").map(|(_, title)| title))
}

fn asks<'a>(calls: impl IntoIterator<Item = (&'a str, Value)>) -> Value {
    let call = |(n, (name, arguments)): (usize, (&str, Value))| json!({"id": format!("call_{n}"), "type": "function", "function": {"name": name, "arguments": arguments.to_string()}});
    let calls: Vec<_> = calls.into_iter().enumerate().map(call).collect();
    json!({"role": "assistant", "content": "Let me see.", "tool_calls": calls})
}

/// A capability with an effect of every class: its own tables and values (T), a peer that honours
/// keys (K), one that does not (N).
fn act(peer: std::net::SocketAddr) -> Value {
    let code = format!(
        "export default async function act({{ id }}) {{
            await host.sql('INSERT INTO inner_effects VALUES ($1)', [id]);
            await host.kv.set(id, 1);
            const told = [];
            for (const kind of ['keyed', 'plain']) {{
                try {{ told.push((await fetch('http://{peer}/' + kind + '/' + id, {{ method: 'POST', body: id }})).status); }}
                catch (error) {{ told.push(error.message); }}
            }}
            return told;
        }}"
    );
    let host = |path: &str, keyed: bool| json!({"host": "127.0.0.1", "port": peer.port(), "scheme": "http", "path": path, "keyed": keyed});
    json!({
        "name": "act", "description": "Has an effect of every class.", "code": code,
        "parameters_schema": {"type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"]},
        "grants": {"sql": {"access": "write"}, "kv": {}, "http": {"hosts": [host("/keyed", true), host("/plain", false)]}},
    })
}

/// A capability that a person has to approve, and that tells the peer its name.
fn teller(name: &str, peer: std::net::SocketAddr) -> Value {
    let code = format!(
        "export default async function {name}() {{ return (await fetch('http://{peer}/plain/{name}', {{ method: 'POST' }})).status; }}"
    );
    json!({
        "name": name, "description": "Tells the peer.", "code": code, "parameters_schema": {"type": "object", "properties": {}},
        "grants": {"http": {"hosts": [format!("http://{peer}")]}},
    })
}
