//! Lost rows are kept through a crash, and in a backup.

use reqwest::Method;
use serde_json::json;

use crate::support::api::{ask_at, level3_with};
use crate::support::{Client, ModelServer, Server, administrator, asks_for};

#[tokio::test(flavor = "multi_thread")]
async fn what_was_lost_in_the_moment_of_a_crash_is_put_back_also_from_a_backup() {
    let steps = [
        asks_for("execute_sql", &json!({"query": "CREATE TABLE t (id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, body text)"})),
        asks_for("execute_sql", &json!({"query": "INSERT INTO t (body) SELECT 'b' || n FROM generate_series(1, 5) n"})),
        asks_for("execute_sql", &json!({"query": "DELETE FROM t WHERE id < 3"})),
        json!({"role": "assistant", "content": "gone"}),
    ];
    let model = ModelServer::start(move |_, body| {
        let results = body["messages"].as_array().unwrap().iter().filter(|message| message["role"] == "tool").count();
        steps[results.min(3)].clone()
    })
    .await;
    let place = tempfile::tempdir().unwrap();
    let [data, fresh] = ["data", "fresh"].map(|name| place.path().join(name));
    let file = place.path().join("one.l3");
    let base_url = model.base_url();
    let settings = [("LLM_BASE_URL", base_url.as_str()), ("LLM_MODEL", "scripted")];
    let crashing = [settings[0], settings[1], ("LEVEL3_FAILPOINT", "after-statement:abort:3")];

    let mut server = Server::start(&data, &crashing).await;
    Client::connect(server.address).await.say("delete them").await;
    server.exit_code().await;
    let server = Server::start(&data, &settings).await;
    let mut client = Client::connect(server.address).await;
    client.resume(0).await;
    let frames = client.turn().await;
    let lost = frames.iter().rfind(|frame| frame["type"] == "tool_result").unwrap().clone();
    assert_eq!((&lost["ok"], &lost["kept"]), (&json!(true), &json!(2)), "{lost}");
    let run = async |data: &std::path::Path, order: &str| {
        let settings = [("LEVEL3_DATA_DIR", data.to_str().unwrap())];
        let ran = level3_with(&settings, &[order, file.to_str().unwrap()], "").await;
        assert_eq!(ran.code, 0, "{ran:?}");
    };
    run(&data, "backup").await;
    let path = format!("api/calls/{}/undo", lost["call"]);
    let put_back = async |server: &Server, data: &std::path::Path| {
        let (status, undone) = ask_at(&format!("http://{}/{path}", server.address), Method::POST, Some(json!({}))).await;
        assert_eq!((status, &undone["rows"]), (200, &json!(2)), "{undone}");
        let mut behind = sqlx::ConnectOptions::connect(&administrator(data, "level3")).await.unwrap();
        let rows = "SELECT string_agg(id || body, ' ' ORDER BY id) FROM agent.t";
        assert_eq!(sqlx::query_scalar::<_, String>(rows).fetch_one(&mut behind).await.unwrap(), "1b1 2b2 3b3 4b4 5b5");
        let (_, checked) = ask_at(&format!("http://{}/api/replay/check", server.address), Method::GET, None).await;
        assert_eq!(checked["clean"], true, "{checked}");
    };
    put_back(&server, &data).await;
    assert_eq!(server.terminate().await, Some(0));

    run(&fresh, "restore").await;
    let server = Server::start(&fresh, &settings).await;
    put_back(&server, &fresh).await;
    let behind = &mut sqlx::ConnectOptions::connect(&administrator(&fresh, "level3")).await.unwrap();
    let triggers = "SELECT count(*) FROM pg_trigger WHERE tgrelid = 'agent.t'::regclass AND tgenabled = 'O'";
    assert_eq!(sqlx::query_scalar::<_, i64>(triggers).fetch_one(behind).await.unwrap(), 1, "and what comes is kept");
    assert_eq!(server.terminate().await, Some(0));
}
