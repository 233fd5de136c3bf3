//! Data by the million: turns that the server recorded, copied in the database. The program's own
//! replay checks the result.

use serde_json::json;

use super::door::ask;
use super::house::House;
use super::postgres::Postgres;

/// Turns copied in one transaction. Each of them changes the conversation's row several times, and
/// old versions of a row go only behind a commit.
const AT_ONCE: i64 = 20;
const COPY: &str = "SELECT pg_temp.copy_turn($1, $2, $3)";
const NEWEST: &str = "SELECT max(turn_id) FROM turns WHERE conversation_id = $1";

/// The means to fill a house's database.
pub struct Fill {
    postgres: Postgres,
    like: i64,
    simple: i64,
    task: i64,
}

/// How much there is.
pub struct Amounts {
    pub messages: i64,
    pub events: i64,
    pub capabilities: i64,
    pub tasks: i64,
    pub conversations: i64,
}

impl Fill {
    /// Lets the server record the turns that are copied.
    pub fn prepare(house: &House) -> Self {
        let mut postgres = Postgres::open(&house.data, "level3");
        postgres.run("SET synchronous_commit = off");
        postgres.run(include_str!("fill.sql"));
        let (mut client, like) = (house.client(), house.conversation());
        client.turn(like, "simple");
        let simple = postgres.number(NEWEST, &[like]);
        client.turn(like, "tools");
        let task = postgres.number(NEWEST, &[like]);
        Self { postgres, like, simple, task }
    }

    /// So many simple turns more in a conversation.
    pub fn turns(&mut self, conversation: i64, mut count: i64) {
        while count > 0 {
            self.postgres.number(COPY, &[self.simple, conversation, count.min(AT_ONCE)]);
            count -= AT_ONCE;
        }
    }

    /// So many conversations more, each of so many simple turns, and one that made a task.
    pub fn conversations(&mut self, count: i64, turns: i64) {
        for _ in 0..count {
            let conversation = self.postgres.number("SELECT pg_temp.conversation_like($1)", &[self.like]);
            self.postgres.number(COPY, &[self.task, conversation, 1]);
            self.turns(conversation, turns);
        }
    }

    /// As a database is that was not filled a moment ago.
    pub fn rest(&mut self) {
        self.postgres.run("VACUUM ANALYZE");
        self.postgres.run("CHECKPOINT");
    }
}

/// Counts what there is, with the messages of one conversation.
pub fn amounts(house: &House, conversation: i64) -> Amounts {
    let mut postgres = Postgres::open(&house.data, "level3");
    let mut count = |statement| postgres.number(statement, &[]);
    Amounts {
        events: count("SELECT count(*) FROM events"),
        capabilities: count("SELECT count(*) FROM capabilities"),
        tasks: count("SELECT count(*) FROM tasks WHERE status IN ('pending', 'in_progress')"),
        conversations: count("SELECT count(*) FROM conversations"),
        messages: postgres.number("SELECT count(*) FROM messages WHERE conversation_id = $1", &[conversation]),
    }
}

/// So many capabilities in all, each written through the door.
pub fn capabilities(house: &House, wanted: i64) {
    let (mut client, conversation) = (house.client(), house.conversation());
    for _ in amounts(house, conversation).capabilities..wanted {
        client.turn(conversation, &format!("make {}", house.number()));
    }
}

/// Fails if the program does not accept what was filled in.
pub fn check(house: &House) {
    let (status, found) = ask(house.address(), "GET /api/replay/check", None);
    assert!(status == 200 && found["clean"] == json!(true), "what was filled in is not what events say: {status} {found:#}");
}
