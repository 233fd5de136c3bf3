//! The effect of a proposal and the end of its call are one: while the log has no room for the end,
//! the effect is not there either.

use serde_json::json;
use sqlx::raw_sql;

use super::Desk;
use crate::support::{Reply, call};

/// The log refuses the end of each call. A sequence is no part of a transaction, so it tells of it.
const FULL: &str = "CREATE SEQUENCE level3.lost;
    CREATE FUNCTION level3.lose_the_end() RETURNS TRIGGER LANGUAGE plpgsql SECURITY DEFINER SET search_path = level3, pg_temp AS $$
    BEGIN
        PERFORM nextval('lost');
        RAISE EXCEPTION 'the log is full';
    END $$;
    CREATE TRIGGER lose_the_end BEFORE INSERT ON level3.events
        FOR EACH ROW WHEN (NEW.kind = 'tool_call_ended') EXECUTE FUNCTION level3.lose_the_end()";
const ROOM: &str = "DROP TRIGGER lose_the_end ON level3.events; DROP FUNCTION level3.lose_the_end; DROP SEQUENCE level3.lost";
const LOST: &str = "SELECT is_called::int::bigint FROM level3.lost";
/// All that the proposals of a model bring about.
const EFFECTS: &str = "SELECT (SELECT count(*) FROM artifacts WHERE source = 'agent') + (SELECT count(*) FROM audit_entries)
    + (SELECT count(*) FROM campaign_tasks WHERE status <> 'pending') + (SELECT count(*) FROM campaign_contexts WHERE uses_left = 0)
    + (SELECT count(*) FROM approvals WHERE used_at IS NOT NULL)";

impl Desk {
    async fn fill_the_log(&self) {
        raw_sql(FULL).execute(&mut self.app.behind().await).await.unwrap();
    }

    /// The end of a call was lost, and its effect with it: there are as many as before. The process
    /// dies over it, and the log of the next one has room.
    async fn dies_without_a_log(&mut self, before: i64, next: Reply) {
        self.app.until(LOST, 1).await;
        assert_eq!(self.app.count(EFFECTS).await, before, "an effect whose call has no end in the log is not there");
        self.app.crash().await;
        raw_sql(ROOM).execute(&mut self.app.behind().await).await.unwrap();
        self.app.script([next]);
        // A turn that broke off rests for a while.
        self.app.advance(10);
        self.app.start_again().await;
        self.present().await;
    }

    /// The model's proposals leave nothing without a log: one that an approval context allows,
    /// whose end is one statement with its effect, and one that a person approves. The campaign is
    /// that of `two_tasks`, with a word for one heuristic; `keeps` proposes it.
    pub(super) async fn proposals_leave_nothing_without_a_log(&mut self, keeps: Reply) {
        let before = self.app.count(EFFECTS).await;
        self.fill_the_log().await;
        self.app.script([keeps]);
        self.present().await;
        let drafts = call("generate_message", json!({"task": 2, "key": "hello", "text": "Good day"}));
        self.dies_without_a_log(before, drafts).await;

        let approval = self.asked().await;
        let before = self.app.count(EFFECTS).await;
        self.fill_the_log().await;
        self.decide(&approval, "approve").await;
        let asks = call("request_user_input", json!({"task": 2, "question": "tone", "text": "Formal?"}));
        self.dies_without_a_log(before, asks).await;
        self.app.run_until_idle().await;
        let once = "SELECT count(*) FROM artifacts WHERE source = 'agent' AND version = 1";
        assert_eq!(self.app.count(once).await, 2, "with a log, each is there once");
    }
}
