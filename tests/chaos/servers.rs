//! Two servers on one database at work, while a third one joins and leaves, killed or in good
//! order. Every socket has to see every recorded frame, in order, once; and what a dead server had
//! in hand is taken up within ten seconds.

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use chrono::{DateTime, Utc};
use futures::{SinkExt, StreamExt};
use level3::postgres::embedded::Embedded;
use serde_json::{Value, json};
use tokio::sync::{Notify, watch};
use tokio::task::JoinHandle;
use tokio_tungstenite::tungstenite::Message;

use crate::count::count;
use crate::database::inside;
use crate::process::Process;
use crate::rig::Rig;
use crate::support::{PATIENCE, in_time, share_engine};
use crate::{Dice, number};

/// How soon the turns of a dead server have to be at work again, in milliseconds. The long run has
/// the machine to itself; in the short one, other tests keep the servers from looking in time.
const WITHIN: [i64; 2] = [60_000, 10_000];

/// A client that only looks, at one conversation on one server. It comes back after its server was
/// gone.
struct Onlooker {
    conversation: i64,
    /// How often it had to come back.
    again: Arc<Mutex<usize>>,
    seen: Arc<Mutex<Vec<i64>>>,
    watching: JoinHandle<()>,
}

impl Onlooker {
    fn at(mut address: watch::Receiver<Option<SocketAddr>>, conversation: i64, progress: Arc<Notify>) -> Self {
        let (again, seen) = (Arc::<Mutex<usize>>::default(), Arc::<Mutex<Vec<i64>>>::default());
        let watching = tokio::spawn({
            let (again, seen) = (Arc::clone(&again), Arc::clone(&seen));
            async move {
                loop {
                    let Ok(Some(at)) = address.wait_for(Option::is_some).await.map(|address| *address) else { return };
                    if let Ok((mut socket, _)) = tokio_tungstenite::connect_async(format!("ws://{at}/chat")).await {
                        let after = seen.lock().unwrap().last().copied().unwrap_or(0);
                        let resume = json!({"type": "resume", "after": after, "conversation": conversation});
                        let _ = socket.send(Message::text(resume.to_string())).await;
                        while let Some(Ok(message)) = socket.next().await {
                            let Message::Text(text) = message else { continue };
                            let frame: Value = serde_json::from_str(&text).expect("frames are JSON");
                            if let Some(seq) = frame["seq"].as_i64() {
                                seen.lock().unwrap().push(seq);
                                progress.notify_waiters();
                            }
                        }
                    }
                    *again.lock().unwrap() += 1;
                    // Gone, and the next one stands elsewhere; or it closed only this socket.
                    if let Ok(Err(_)) = tokio::time::timeout(Duration::from_millis(100), address.changed()).await {
                        return;
                    }
                }
            }
        });
        Self { conversation, again, seen, watching }
    }
}

/// A server beside that of the rig.
struct Beside {
    data: PathBuf,
    address: watch::Sender<Option<SocketAddr>>,
    process: Option<Process>,
}

impl Beside {
    fn new(rig: &Rig, name: &str) -> Self {
        let data = rig.folder.path().join(name);
        std::fs::create_dir(&data).unwrap();
        share_engine(&data);
        Self { data, address: watch::channel(None).0, process: None }
    }

    async fn start(&mut self, rig: &Rig) {
        let mut process = Process::spawn(&self.data, &rig.settings(&[]));
        let address = process.ready().await;
        assert!(address.is_some(), "{}", process.log());
        self.address.send_replace(address);
        self.process = Some(process);
    }

    fn id(&self) -> String {
        std::fs::read_to_string(self.data.join("server-id")).unwrap()
    }

    async fn kill(&mut self) {
        self.process.take().expect("it runs").kill().await;
        self.address.send_replace(None);
    }

    async fn stop(&mut self) {
        let mut process = self.process.take().expect("it runs");
        process.signal(libc::SIGTERM);
        assert_eq!(process.ended().await.code(), Some(0), "{}", process.log());
        self.address.send_replace(None);
    }
}

/// The moment a server died, and the turns it had in hand.
type Left = (DateTime<Utc>, Vec<i64>);

#[tokio::test(flavor = "multi_thread")]
#[expect(clippy::disallowed_methods, reason = "the instant at which a server goes is the experiment")]
async fn servers_that_come_and_go_cost_no_socket_a_frame_and_no_turn_ten_seconds() {
    let long = number("CHAOS_KILLS", 60) > 60;
    let (joins, turns) = if long { (50, 500) } else { (4, 30) };
    // A Postgres of its own: three servers have many connections.
    let folder = tempfile::tempdir().unwrap();
    let embedded = Embedded::start(&folder.path().join("data"), None).await.expect("Postgres starts");
    let mut rig = Rig::on(inside(&embedded.admin(), "servers").await).await;
    assert!(rig.start(&[]).await, "{}", rig.process().log());
    rig.set_up().await;
    let mut second = Beside::new(&rig, "second");
    second.start(&rig).await;
    let mut third = Beside::new(&rig, "third");
    let mut onlookers = Vec::new();
    for number in 0..10 {
        let mut watcher = rig.watcher(false).await;
        // Each conversation speaks with one server, and is looked at on all of them.
        if number % 2 == 1 {
            watcher.address = second.address.subscribe();
        }
        for address in [&rig.address, &second.address, &third.address] {
            onlookers.push(Onlooker::at(address.subscribe(), watcher.conversation, Arc::clone(&rig.progress)));
        }
        rig.working.push(tokio::spawn(watcher.keep_saying("work")));
    }
    let mut dice = Dice::of_this_run();
    let mut left = Vec::<Left>::new();
    for join in 0..joins {
        third.start(&rig).await;
        rig.answers((turns / joins).max(1)).await;
        tokio::time::sleep(Duration::from_millis(dice.below(400))).await; // the instant is the experiment
        if join % 2 == 0 {
            third.kill().await;
            rig.kills += 1;
            let held = sqlx::query_scalar("SELECT turn_id FROM turns WHERE state = 'running' AND lease_owner = $1");
            left.push((Utc::now(), held.bind(third.id()).fetch_all(&mut rig.behind().await).await.unwrap()));
            if join % 4 == 0 {
                // Now and then it stays away until the others have taken over what it had.
                taken_over(&rig, &third.id()).await;
            }
        } else {
            third.stop().await;
        }
    }
    third.start(&rig).await;
    rig.finish().await;
    let shown = all_is_shown(&rig, &onlookers, [&second, &third]).await;
    let taken = taken_up(&rig, &left).await;
    rig.replays().await;
    let table = count(&rig).await;
    crate::tell(&format!(
        "{joins} times a third server beside two; {shown} frames on {} sockets, {} turns of the dead taken up, the longest after {} ms\n{table}",
        onlookers.len(),
        taken.len(),
        taken.iter().max().unwrap_or(&0)
    ));
    table.check();
    assert!(rig.answered() >= if long { 500 } else { 30 });
    assert!(taken.iter().all(|millis| *millis < WITHIN[usize::from(long)]), "{taken:?}");
    for onlooker in &onlookers {
        onlooker.watching.abort();
    }
    third.stop().await;
    second.stop().await;
    rig.stop().await;
    embedded.stop().await.expect("Postgres stops");
}

/// Waits until every socket was shown everything there is, and makes sure that it was in order,
/// once. Gives how many frames that was.
async fn all_is_shown(rig: &Rig, onlookers: &[Onlooker], others: [&Beside; 2]) -> usize {
    let mut behind = rig.behind().await;
    let mut all = 0;
    for (number, onlooker) in onlookers.iter().enumerate() {
        let whole: Vec<i64> = sqlx::query_scalar("SELECT sequence FROM events WHERE conversation_id = $1 ORDER BY sequence")
            .bind(onlooker.conversation)
            .fetch_all(&mut behind)
            .await
            .unwrap();
        let shown = async {
            loop {
                let next = rig.progress.notified();
                if onlooker.seen.lock().unwrap().last() >= whole.last() {
                    return;
                }
                next.await;
            }
        };
        let came = tokio::time::timeout(PATIENCE, shown).await.is_ok();
        let seen = onlooker.seen.lock().unwrap().clone();
        let missing: BTreeSet<_> = whole.iter().filter(|seq| !seen.contains(seq)).collect();
        let again = *onlooker.again.lock().unwrap();
        let log = || {
            let process = [&rig.process, &others[0].process, &others[1].process][number % 3].as_ref().expect("it runs");
            process.log().lines().filter(|line| !line.contains(" INFO ")).map(str::to_owned).collect::<Vec<_>>()
        };
        let told = || format!("conversation {} on server {}: came back {again} times", onlooker.conversation, number % 3 + 1);
        assert!(came && seen == whole, "{}, not shown {missing:?} of {whole:?}, shown {seen:?}: {:#?}", told(), log());
        assert!(number % 3 == 2 || again == 0, "{}, cut off from a server that stayed: {:#?}", told(), log());
        all += seen.len();
    }
    all
}

/// Completes when this server holds no turn any more.
async fn taken_over(rig: &Rig, id: &str) {
    let mut behind = rig.behind().await;
    let waiting = async {
        loop {
            let next = rig.progress.notified();
            let held = sqlx::query_scalar::<_, i64>("SELECT count(*) FROM turns WHERE lease_owner = $1").bind(id);
            if held.fetch_one(&mut behind).await.unwrap() == 0 {
                return;
            }
            next.await;
        }
    };
    in_time("the others go on, and take its turns up", waiting).await;
}

/// How long it took until each turn of a dead server was at work again, in milliseconds.
async fn taken_up(rig: &Rig, left: &[Left]) -> Vec<i64> {
    let mut behind = rig.behind().await;
    let mut taken = Vec::new();
    for (died, turns) in left {
        for turn in turns {
            let again: DateTime<Utc> = sqlx::query_scalar(
                "SELECT min(created_at) FROM events WHERE kind = 'turn_started' AND created_at > $1 AND (payload ->> 'turn')::bigint = $2",
            )
            .bind(died)
            .bind(turn)
            .fetch_one(&mut behind)
            .await
            .expect("it was taken up");
            taken.push((again - *died).num_milliseconds());
        }
    }
    taken
}
