//! The real store under a sequence: its steps as calls, some of which are dropped in the middle as
//! a dying process drops them.

use std::future::Future;
use std::pin::pin;
use std::task::Poll;

use chrono::{DateTime, TimeDelta, Utc};
use level3::clock::SeededRandom;
use level3::domain::relay::{ContactAddress, Pace, RelaySettings};
use level3::domain::{Failure, InstanceId, RelayMessageId, ToolCallId};
use level3::postgres::Database;
use level3::store::{Came, Lease, NewIncoming, NewInstance, NewStep, OutboxLook, RelayError, SendEnd, Store, StoreError};
use sqlx::{PgConnection, Row};

use super::Move;
use super::reference::{End, Reference};
use crate::support::{TestApp, permit};

/// The server's own name as a sender, which stays the same after its restart.
const SENDER: &str = "server";

pub struct World {
    pub store: Store,
    database: Database,
    behind: PgConnection,
    pub channel: String,
    now: DateTime<Utc>,
    /// The lives of the process so far: each has its own name.
    life: u32,
    /// The first life of this sequence.
    born: u32,
    /// The turns in hand: instance, the reference's number of the turn, lease.
    pub hands: Vec<(usize, u32, Lease)>,
    /// The message that is being sent.
    pub sending: Option<usize>,
    /// The numbers of instances, their conversations, and of messages.
    talks: Vec<(i64, i64)>,
    notes: Vec<i64>,
}

/// Runs a future until it has been polled so often, and drops it then.
async fn cut<T>(future: impl Future<Output = T>, polls: Option<usize>) -> Option<T> {
    let (mut future, mut left) = (pin!(future), polls);
    std::future::poll_fn(move |context| {
        if left == Some(0) {
            return Poll::Ready(None);
        }
        left = left.map(|left| left - 1);
        future.as_mut().poll(context).map(Some)
    })
    .await
}

fn ordered<T>(result: Result<T, RelayError>) -> &'static str {
    match result {
        Ok(_) => "done",
        Err(RelayError::Refused(_)) => "refused",
        Err(error) => panic!("{error}"),
    }
}

fn contact(number: usize) -> ContactAddress {
    ContactAddress::read(&format!("+4917012345{number:02}")).unwrap()
}

impl World {
    pub async fn open(app: &TestApp) -> Self {
        let (database, (channel, life, born)) = (app.database_behind(), (String::new(), 0, 0));
        let store = opened(&database).await;
        let (hands, sending, talks, notes) = (Vec::new(), None, Vec::new(), Vec::new());
        Self { store, database, behind: app.behind().await, channel, now: app.now(), life, born, hands, sending, talks, notes }
    }

    /// The process is gone, with all that it had begun: what it was about to ask of the database is
    /// never asked.
    pub async fn gone(&mut self) {
        self.store.close().await;
        self.store = opened(&self.database).await;
    }

    /// Ends the turns that are left; their instances are over.
    pub async fn finish(&mut self) {
        let gone: Vec<String> = (self.born..self.life).map(|life| format!("life-{life}")).collect();
        let last = || NewStep { number: 1, model: "m", last: true, ..NewStep::default() };
        for (_, _, lease) in std::mem::take(&mut self.hands) {
            // A stopped turn is lost to its hand.
            drop(self.store.store_step(&lease, last(), self.now).await);
        }
        while let Some(lease) = self.store.claim(&self.name(), &gone, self.now).await.unwrap() {
            self.store.store_step(&lease, last(), self.now).await.unwrap();
        }
    }

    /// A new sequence, with a channel of its own.
    pub fn begin(&mut self, sequence: u64) {
        self.channel = format!("sequence-{sequence}");
        (self.talks, self.notes, self.sending) = (Vec::new(), Vec::new(), None);
        self.hands.clear();
        self.born = self.life;
    }

    pub fn seconds(&self) -> i64 {
        self.now.timestamp()
    }

    fn name(&self) -> String {
        format!("life-{}", self.life)
    }

    /// The process is gone, and another one begins.
    pub async fn die(&mut self) {
        self.life += 1;
        self.hands.clear();
        self.sending = None;
        self.store.give_up_attempts(&self.channel, SENDER, true, self.now).await.unwrap();
    }

    /// Makes a step. `None`: it was dropped in the middle.
    pub async fn act(&mut self, step: Move, model: &mut Reference, polls: Option<usize>) -> Option<&'static str> {
        if let Move::Tick { seconds } = step {
            self.now += TimeDelta::seconds(seconds);
        }
        let (store, now, channel) = (self.store.clone(), self.now, self.channel.clone());
        let talk = |talk: usize| InstanceId(self.talks[talk].0);
        let note = |note: usize| RelayMessageId(self.notes[note]);
        match step {
            Move::Order { contact: who, most } => {
                let new = NewInstance {
                    channel,
                    contact: contact(who),
                    objective: "o".into(),
                    todos: vec!["t".into()],
                    heartbeat_seconds: 1_800,
                    max_follow_ups: most,
                    time_zone: None,
                    key: None,
                };
                cut(store.make_instance(new, now), polls).await.map(|made| made.map(|_| "done").unwrap())
            }
            Move::Pause(it) => cut(store.pause_instance(talk(it), now), polls).await.map(ordered),
            Move::Resume(it) => cut(store.resume_instance(talk(it), now), polls).await.map(ordered),
            Move::Cancel(it) => cut(store.cancel_instance(talk(it), now), polls).await.map(ordered),
            Move::Send(it) => cut(store.say_as_agent(talk(it), "Hello", None, now), polls).await.map(ordered),
            Move::Reply { contact: who, id } => {
                let (from, id) = (contact(who), id.to_string());
                let new = NewIncoming { channel: &channel, from: &from, peer_id: &id, text: "Yes", media: None };
                let came = cut(store.take_from_contact(new, now), polls).await?.unwrap();
                Some(match came {
                    Came::Kept(_) => "kept",
                    Came::Again(_) => "again",
                    Came::Stranger => "stranger",
                    Came::Ordered => panic!("nobody here gives orders"),
                })
            }
            Move::Tick { .. } => {
                let online = [(&*channel, DateTime::UNIX_EPOCH)].into();
                cut(store.follow_up_due(&online, now), polls).await.map(|due| due.map(|_| "done").unwrap())
            }
            Move::TakeUp => self.take_up(model, polls).await,
            Move::Claim => self.claim(polls).await,
            Move::Attempt(state) => {
                let message = note(self.sending?);
                self.sending = None;
                cut(store.record_delivery(message, &end(state), now), polls).await.map(took)
            }
            Move::Late(it, state) => cut(store.record_delivery(note(it), &end(state), now), polls).await.map(took),
            Move::Decide(it, "queued") => cut(store.resend_message(note(it), now), polls).await.map(ordered),
            Move::Decide(it, state) => cut(store.settle_message(note(it), state == "sent", now), polls).await.map(ordered),
            Move::Die => Some("done"),
            Move::Write(agent)
            | Move::Complete(agent)
            | Move::HandOver(agent)
            | Move::Wish(agent, _)
            | Move::EndTurn(agent, _) => {
                let lease = self.hands[agent].2.clone();
                let done = cut(deed(&store, &lease, step, now), polls).await?;
                let over = matches!(step, Move::EndTurn(..)) || matches!(done, Err(StoreError::LostLease));
                if over {
                    self.hands.remove(agent);
                }
                Some(match done {
                    Ok(told) => told,
                    Err(StoreError::LostLease) => "lost",
                    Err(error) => panic!("{error}"),
                })
            }
        }
    }

    /// Takes up a turn, if there is one, and shows it what there is.
    async fn take_up(&mut self, model: &mut Reference, polls: Option<usize>) -> Option<&'static str> {
        self.settle().await;
        let gone: Vec<String> = (self.born..self.life).map(|life| format!("life-{life}")).collect();
        let (store, name, now) = (self.store.clone(), self.name(), self.now);
        let mut got = None;
        let idle = model.talks.iter().enumerate().all(|(number, talk)| {
            talk.turns.front().is_none_or(|turn| self.hands.iter().any(|(of, held, _)| (*of, held) == (number, turn)))
        });
        let done = cut(
            async {
                got = store.claim(&name, &gone, now).await.unwrap();
                if let Some(lease) = &got {
                    store.brief_contact_turn(lease, true, now).await.unwrap();
                }
            },
            polls,
        )
        .await;
        let Some(lease) = got else {
            assert!(done.is_none() || idle, "the reference has a turn to take up: {model:#?}");
            return done.map(|()| "done");
        };
        let talk = self.talks.iter().position(|(_, conversation)| *conversation == lease.conversation.0).expect("it is ours");
        let turn = *model.talks[talk].turns.front().expect("the reference has such a turn");
        model.take_up(talk);
        self.hands.push((talk, turn, lease));
        done.map(|()| "done")
    }

    async fn claim(&mut self, polls: Option<usize>) -> Option<&'static str> {
        let (store, channel, now) = (self.store.clone(), self.channel.clone(), self.now);
        let claimed = cut(
            async {
                let OutboxLook::Next(message) = store.look_at_outbox(&channel, SENDER, now).await.unwrap() else { return None };
                store.claim_message(message.id, SENDER, now).await.unwrap().map(|claimed| claimed.id())
            },
            polls,
        );
        let Some(message) = claimed.await? else { return Some("nothing") };
        self.sending = self.notes.iter().position(|note| *note == message.0);
        Some("done")
    }

    /// Waits for transactions that are about to end, such as that of a refused order: a claim
    /// passes over the turns that they hold.
    async fn settle(&mut self) {
        let wait = "BEGIN; LOCK TABLE relay_instances, relay_messages, turns IN EXCLUSIVE MODE; COMMIT";
        sqlx::raw_sql(wait).execute(&mut self.behind).await.unwrap();
    }

    /// The content of the database, in the lines of the reference. `settled`: a transaction may be
    /// about to end, and is waited for.
    pub async fn lines(&mut self, settled: bool) -> Vec<String> {
        if settled {
            self.settle().await;
        }
        let talks = sqlx::query(
            "SELECT instance_id, conversation_id, right(contact, 2)::int::text || ' ' || state || ' ' || coalesce(paused_from, '-')
                 || ' follow-ups ' || follow_ups || ' heartbeat ' || coalesce(extract(epoch FROM heartbeat_at)::bigint::text, '-')
                 || ' wish ' || coalesce(delay_seconds::text, '-') || ' turns ' || (SELECT count(*) FROM turns t WHERE t.conversation_id = i.conversation_id AND t.ended_at IS NULL) AS line
             FROM relay_instances i WHERE channel = $1 ORDER BY instance_id",
        );
        let talks = talks.bind(&self.channel).fetch_all(&mut self.behind).await.unwrap();
        let notes = sqlx::query(
            "SELECT message_id, instance_id, ' by ' || said_by || ' ' || coalesce(state, '-')
                 || CASE WHEN turn_id IS NULL THEN ' none' ELSE ' turn' END AS line
             FROM relay_messages WHERE channel = $1 ORDER BY message_id",
        );
        let notes = notes.bind(&self.channel).fetch_all(&mut self.behind).await.unwrap();
        self.talks = talks.iter().map(|row| (row.get("instance_id"), row.get("conversation_id"))).collect();
        self.notes = notes.iter().map(|row| row.get("message_id")).collect();
        let place = |id: i64| self.talks.iter().position(|(talk, _)| *talk == id).unwrap();
        let mut lines: Vec<String> = talks.iter().map(|row| row.get("line")).collect();
        lines.extend(notes.iter().map(|row| {
            let (talk, line): (i64, String) = (row.get("instance_id"), row.get("line"));
            format!("message of {}{line}", place(talk))
        }));
        lines
    }
}

/// The store with a pace that holds nothing back: the order of messages is tried here, not their
/// times.
async fn opened(database: &Database) -> Store {
    let store = Store::open(database, &SeededRandom::new(7)).await.unwrap();
    let (most, same) = (u32::MAX, "08:00".to_owned().try_into().unwrap());
    let pace = Pace {
        contact_gap_seconds: 0,
        contact_per_10_minutes: most,
        channel_per_minute: most,
        channel_per_day: most,
        first_contacts_per_day: most,
        quiet_from: same,
        quiet_until: same,
        i_know: true,
    };
    store.relaying(RelaySettings { pace, ..RelaySettings::default() })
}

/// A deed of the agent.
async fn deed(store: &Store, lease: &Lease, step: Move, now: DateTime<Utc>) -> Result<&'static str, StoreError> {
    if let Move::EndTurn(_, how) = step {
        match how {
            End::Answered => {
                store.store_step(lease, NewStep { number: 1, model: "m", last: true, ..NewStep::default() }, now).await?;
            }
            End::Unanswered => store.fail_turn(lease, Failure::Model, "no model answers", now).await?,
            End::Broken => store.fail_turn(lease, Failure::Server, "it broke", now).await?,
        }
        return Ok("done");
    }
    let permit = permit(ToolCallId(1));
    let mut unit = store.begin(now).await?;
    let done = match step {
        Move::Write(_) => unit.write_to_contact(&permit, lease, "Hello").await?,
        Move::Complete(_) => unit.end_with_contact(&permit, lease, "agreed").await?,
        Move::HandOver(_) => unit.ask_for_person(&permit, lease, "a discount").await?,
        Move::Wish(_, seconds) => unit.plan_heartbeat(&permit, lease, i32::try_from(seconds).unwrap()).await?,
        other => unreachable!("{other:?} is no deed"),
    };
    unit.commit().await?;
    Ok(if done.is_ok() { "done" } else { "refused" })
}

fn took(recorded: Result<bool, StoreError>) -> &'static str {
    if recorded.unwrap() { "done" } else { "refused" }
}

fn end(state: &str) -> SendEnd {
    match state {
        "sent" => SendEnd::Sent("peer".into()),
        "queued" => SendEnd::NotSent("offline".into()),
        "failed" => SendEnd::Refused("479".into(), "no".into()),
        "unknown" => SendEnd::Unknown("no answer".into()),
        "delivered" => SendEnd::Delivered,
        _ => SendEnd::Read,
    }
}
