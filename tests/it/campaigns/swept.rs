//! A process that dies after the first commit of a cycle, another after the second, and so on to
//! the last: each campaign ends completed, with its effect once.

use chrono::TimeDelta;
use level3::model::{Entry, Request};
use reqwest::Method;
use serde_json::json;
use sqlx::{AssertSqlSafe, Executor, PgConnection, query_as, query_scalar, raw_sql};

use super::Desk;
use crate::support::proposer::eligible;
use crate::support::{Reply, TestApp, api, call, in_time, text};

/// Counts the transactions that record something, and lets all fail that come after so many: a
/// sequence is no part of a transaction. The dead process records nothing any more.
const COUNTS: &str = "CREATE SCHEMA swept;
    CREATE SEQUENCE swept.commits;
    CREATE FUNCTION swept.commits_end() RETURNS TRIGGER LANGUAGE plpgsql SECURITY DEFINER SET search_path = level3, pg_temp AS $$
    BEGIN
        IF coalesce(current_setting('swept.counted', TRUE), '') = '' THEN
            PERFORM set_config('swept.counted', 'yes', TRUE);
            IF nextval('swept.commits') > TG_ARGV[0]::bigint THEN
                RAISE EXCEPTION 'the process is dead';
            END IF;
        END IF;
        RETURN NULL;
    END $$";
const COUNTS_NO_MORE: &str = "DROP TRIGGER commits_end ON level3.events; ALTER SEQUENCE swept.commits RESTART";
/// The most commits of a cycle.
const MOST: i64 = 30;
/// The most times that the person looks after a death.
const LOOKS: usize = 20;
/// The answers of the model that all of them may use up.
const ANSWERS: usize = 1_000;

/// The model, by what the snapshot shows alone.
fn answer(request: &Request) -> Reply {
    let words = request.entries.iter().rev().find_map(|entry| if let Entry::User(words) = entry { Some(words) } else { None });
    let Some((task, _)) = eligible(words.expect("a snapshot")).into_iter().next() else { return text("ready") };
    call("persist_artifact", json!({"task": task, "type": "heuristic", "key": "note", "content": "Be brief"}))
}

/// Makes a campaign with one task, and starts it. With a word nobody is asked.
async fn make(desk: &Desk, id: i64, word: bool) {
    let requires = json!([{"kind": "artifact_exists", "type": "heuristic", "key": "note"}]);
    let tasks = json!([{"description": "Keep a note", "requires": requires}]);
    let (status, made) = desk.ask(Method::POST, "", Some(json!({"name": format!("Sweep {id}"), "tasks": tasks}))).await;
    assert_eq!((status, made["id"].as_i64()), (200, Some(id)), "{made}");
    assert_eq!(desk.ask(Method::POST, &format!("/{id}/start"), None).await.0, 200);
    if word {
        let until = (desk.app.now() + TimeDelta::hours(1)).to_rfc3339();
        let allow = json!({"kind": "persist", "count": 1, "until": until});
        assert_eq!(desk.ask(Method::POST, &format!("/{id}/contexts"), Some(allow)).await.0, 200);
    }
}

/// Approves all that waits. The server may be dead to its database.
async fn approve(desk: &Desk) {
    let (_, found) = api::ask(&desk.app, Method::GET, "/api/approvals?state=pending", None).await;
    for approval in found["approvals"].as_array().into_iter().flatten() {
        api::ask(&desk.app, Method::POST, &format!("/api/approvals/{}/approve", approval["id"]), None).await;
    }
}

/// Watches over a campaign until a commit was one too many, or it is completed. True if the
/// process is dead.
async fn dies(desk: &Desk, id: i64, commits: i64, behind: &mut PgConnection) -> bool {
    desk.ask(Method::POST, &format!("/{id}/present"), None).await;
    let ends = async {
        loop {
            let over = is_over(id, behind).await;
            let counted = "SELECT is_called AND last_value > $1 FROM swept.commits";
            let dead: bool = query_scalar(counted).bind(commits).fetch_one(&mut *behind).await.unwrap();
            if dead || over {
                return dead;
            }
            approve(desk).await;
            tokio::task::yield_now().await;
        }
    };
    in_time("the end of the campaign, or of its process", ends).await
}

/// Watches over a campaign until it is completed.
async fn finish(desk: &Desk, id: i64, behind: &mut PgConnection) {
    let idle = "SELECT count(*) FROM turns WHERE state IN ('queued', 'running')";
    for _ in 0..LOOKS {
        // The turn of a dead process is taken up after a while, and a campaign may wait after a
        // cycle that brought nothing.
        desk.app.advance(60);
        assert_eq!(desk.ask(Method::POST, &format!("/{id}/present"), None).await.0, 200);
        desk.app.until(idle, 0).await;
        approve(desk).await;
        desk.app.until(idle, 0).await;
        if is_over(id, behind).await {
            return;
        }
    }
    panic!("campaign {id} has not ended: {}", desk.get(&format!("/{id}")).await);
}

/// True if a campaign is completed, and its last turn has ended.
async fn is_over(id: i64, behind: &mut PgConnection) -> bool {
    let over = "SELECT EXISTS (SELECT FROM campaigns c WHERE id = $1 AND status = 'completed' AND NOT EXISTS (
        SELECT FROM turns t WHERE t.conversation_id = c.conversation_id AND t.ended_at IS NULL))";
    query_scalar(over).bind(id).fetch_one(behind).await.unwrap()
}

/// Counts the effects of a campaign, and makes its state and its cycles again.
async fn judge(desk: &Desk, id: i64, word: bool, behind: &mut PgConnection) {
    let kept: Vec<(String, i32, bool)> =
        query_as("SELECT artifact_key, version, approval_id IS NULL FROM artifacts WHERE campaign_id = $1")
            .bind(id)
            .fetch_all(&mut *behind)
            .await
            .unwrap();
    assert_eq!(kept, [("note".to_owned(), 1, word)], "campaign {id}");
    let done = "SELECT count(*) FROM events JOIN campaigns c USING (conversation_id)
        WHERE c.id = $1 AND kind = 'campaign_task_changed' AND payload #>> '{task,status}' = 'done'";
    let done: i64 = query_scalar(done).bind(id).fetch_one(&mut *behind).await.unwrap();
    let left = "SELECT sum(uses_left)::bigint FROM campaign_contexts WHERE campaign_id = $1";
    let left: Option<i64> = query_scalar(left).bind(id).fetch_one(behind).await.unwrap();
    assert_eq!((done, left), (1, word.then_some(0)), "campaign {id}: done once, and a word is used up with its effect");
    let path = |from: &str| format!("/{id}/export?from={from}");
    let [tables, events] = [desk.get(&path("tables")).await, desk.get(&path("events")).await];
    assert_eq!(tables.to_string(), events.to_string());
    let (_, verified) = desk.ask(Method::POST, &format!("/{id}/verify"), None).await;
    assert_eq!(verified["clean"], true, "{verified}");
}

#[tokio::test]
async fn campaign_whose_process_dies_after_each_commit_of_a_cycle_ends_completed_with_its_effect_once() {
    let mut desk = Desk { app: TestApp::start().await };
    desk.app.script((0..ANSWERS).map(|_| Reply::By(answer)));
    let mut behind = desk.app.behind().await;
    raw_sql(COUNTS).execute(&mut behind).await.unwrap();
    let mut id = 0;
    for word in [true, false] {
        let mut commits = 0;
        loop {
            id += 1;
            make(&desk, id, word).await;
            let armed = format!(
                "CREATE CONSTRAINT TRIGGER commits_end AFTER INSERT ON level3.events DEFERRABLE INITIALLY DEFERRED
                 FOR EACH ROW EXECUTE FUNCTION swept.commits_end({commits})"
            );
            behind.execute(AssertSqlSafe(armed)).await.unwrap();
            let dead = dies(&desk, id, commits, &mut behind).await;
            if dead {
                desk.app.crash().await;
            }
            raw_sql(COUNTS_NO_MORE).execute(&mut behind).await.unwrap();
            if dead {
                desk.app.start_again().await;
                finish(&desk, id, &mut behind).await;
            }
            judge(&desk, id, word, &mut behind).await;
            if !dead {
                break;
            }
            commits += 1;
            assert!(commits < MOST, "a cycle has no end");
        }
        // At least: the cycle begins, asks, is answered, brings its effect and ends; with a person,
        // it asks and is decided as well.
        assert!(commits >= if word { 4 } else { 6 }, "the cycle had only {commits} commits");
    }
    desk.app.script.forget();
    raw_sql("DROP SCHEMA swept CASCADE").execute(&mut behind).await.unwrap();
    desk.check().await;
}
