//! The event that makes a campaign says how its conversation was made, and replay compares that.

use level3::wire::api::ReplayCheck;
use serde_json::{Value, json};
use sqlx::{AssertSqlSafe, Executor, PgConnection, raw_sql};

use super::{Desk, two_tasks};

/// Lets a connection change rows past the guards, as only Postgres' administrator can.
const UNGUARDED: &str = "SET session_replication_role = replica";
const MADE: &str = "SELECT payload -> 'made' FROM events JOIN campaigns USING (conversation_id) WHERE sequence = 1";
/// The row of its conversation.
const OF_IT: &str = "conversation_id = (SELECT conversation_id FROM campaigns)";
/// Makes of the events those of a program that did not say it, chained as it would have done.
const UNSAID: &str = "DO $$
    DECLARE
        v_hash BYTEA;
        v_event events;
    BEGIN
        UPDATE events SET payload = payload - 'made' WHERE payload ->> 'made' IS NOT NULL;
        FOR v_event IN
            SELECT * FROM events WHERE conversation_id = (SELECT conversation_id FROM campaigns) ORDER BY sequence
        LOOP
            v_hash := event_hash(v_hash, v_event.conversation_id, v_event.sequence, v_event.position, v_event.kind,
                                 v_event.payload, v_event.created_at);
            UPDATE events SET hash = v_hash
            WHERE conversation_id = v_event.conversation_id AND sequence = v_event.sequence;
        END LOOP;
    END $$";

impl Desk {
    async fn unguarded(&self) -> PgConnection {
        let mut behind = self.app.behind().await;
        behind.execute(UNGUARDED).await.unwrap();
        behind
    }

    async fn replayed(&self) -> ReplayCheck {
        level3::replay::check(self.app.store()).await.unwrap()
    }

    /// Each column of how its conversation was made differs once it is changed by hand.
    async fn is_compared(&self, behind: &mut PgConnection) {
        for (column, changed, back) in [
            ("profile", "'builder'", "'campaign'"),
            ("user_id", "user_id + 1", "user_id - 1"),
            ("created_at", "created_at - interval '1 second'", "created_at + interval '1 second'"),
        ] {
            let set = |to: &str| AssertSqlSafe(format!("UPDATE conversations SET {column} = {to} WHERE {OF_IT}"));
            raw_sql(set(changed)).execute(&mut *behind).await.unwrap();
            let found = self.replayed().await;
            let differing: Vec<_> = found.differences.iter().map(|row| (&*row.table, row.column.as_deref())).collect();
            assert_eq!(differing, [("conversations", Some(column))], "{found:#?}");
            raw_sql(set(back)).execute(&mut *behind).await.unwrap();
        }
        let found = self.replayed().await;
        assert!(found.clean, "{found:#?}");
    }
}

#[tokio::test]
async fn campaign_conversation_is_made_as_the_event_says_and_replay_finds_it_changed() {
    let desk = Desk::start(two_tasks()).await;
    let mut behind = desk.unguarded().await;
    let made: Value = sqlx::query_scalar(MADE).fetch_one(&mut behind).await.unwrap();
    assert_eq!((&made["user_id"], &made["profile"]), (&json!(1), &json!("campaign")), "{made}");
    desk.is_compared(&mut behind).await;
    desk.check().await;
}

#[tokio::test]
async fn campaign_of_a_program_that_did_not_say_how_its_conversation_was_made_replays_clean() {
    let desk = Desk::start(two_tasks()).await;
    let mut behind = desk.unguarded().await;
    behind.execute(UNSAID).await.unwrap();
    let made: Option<Value> = sqlx::query_scalar(MADE).fetch_one(&mut behind).await.unwrap();
    assert_eq!(made, None);
    desk.is_compared(&mut behind).await;
    desk.check().await;
}
