//! A day of fifty contacts in five time zones, by the pace that is usual: when each message left,
//! and when each follow-up was asked for. Time is an argument, so the day goes from one moment at
//! which something is due to the next.

use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, TimeDelta, Timelike, Utc};
use level3::clock::SeededRandom;
use level3::domain::ToolCallId;
use level3::domain::relay::{ContactAddress, Pace, RelayMessage, RelaySettings};
use level3::store::{NewIncoming, NewInstance, NewStep, OutboxLook, SendEnd, Store};

use crate::support::{Chance, TestApp, permit};

const ZONES: [&str; 5] = ["Europe/Berlin", "America/New_York", "Asia/Tokyo", "UTC", "Pacific/Auckland"];
/// The most first contacts; a person who knows has set it, so that the day is full.
const FIRST_CONTACTS: u32 = 40;

/// A message that left.
struct Left {
    at: DateTime<Utc>,
    queued: DateTime<Utc>,
    contact: usize,
    first: bool,
    keeps_quiet: bool,
}

struct Day {
    store: Store,
    now: DateTime<Utc>,
    chance: Chance,
    /// Words of contacts that are to come: when, who, their number.
    words: BTreeSet<(DateTime<Utc>, usize, u32)>,
    /// How often each contact still answers.
    answers: Vec<usize>,
    left: Vec<Left>,
    /// When each follow-up was due, and when it was asked for.
    asked: Vec<(DateTime<Utc>, DateTime<Utc>)>,
}

fn address(contact: usize) -> ContactAddress {
    ContactAddress::read(&format!("+4917012345{contact:02}")).unwrap()
}

fn hour(contact: usize, at: DateTime<Utc>) -> u32 {
    let zone: chrono_tz::Tz = ZONES[contact % ZONES.len()].parse().unwrap();
    at.with_timezone(&zone).hour()
}

impl Day {
    async fn order(&self, contact: usize) {
        let new = NewInstance {
            channel: "loopback".into(),
            contact: address(contact),
            objective: "o".into(),
            todos: Vec::new(),
            heartbeat_seconds: 1_800 + i32::try_from(contact % 4).unwrap() * 1_800,
            max_follow_ups: 3,
            time_zone: Some(ZONES[contact % ZONES.len()].parse().unwrap()),
            key: None,
        };
        self.store.make_instance(new, self.now).await.unwrap();
    }

    /// The agent reads and writes one to three messages.
    async fn work(&mut self) {
        while let Some(lease) = self.store.claim("day", &[], self.now).await.unwrap() {
            self.store.brief_contact_turn(&lease, true, self.now).await.unwrap();
            for _ in 0..1 + self.chance.below(3) {
                let mut unit = self.store.begin(self.now).await.unwrap();
                unit.write_to_contact(&permit(ToolCallId(1)), &lease, "Hello").await.unwrap().unwrap();
                unit.commit().await.unwrap();
            }
            let last = NewStep { number: 1, model: "m", last: true, ..NewStep::default() };
            self.store.store_step(&lease, last, self.now).await.unwrap();
        }
    }

    /// Sends what may go now; when the next may.
    async fn send(&mut self) -> Option<DateTime<Utc>> {
        loop {
            match self.store.look_at_outbox("loopback", "day", self.now).await.unwrap() {
                OutboxLook::Empty => return None,
                OutboxLook::Later(at) => return Some(at),
                OutboxLook::Next(message) => self.leave(&message).await,
            }
        }
    }

    async fn leave(&mut self, message: &RelayMessage) {
        let claimed = self.store.claim_message(message.id, "day", self.now).await.unwrap().expect("it waits");
        self.store.record_delivery(message.id, &SendEnd::Sent(claimed.peer_id().into()), self.now).await.unwrap();
        let contact: usize = message.contact[message.contact.len() - 2..].parse().unwrap();
        let (first, keeps_quiet) = (message.first_contact, message.first_contact || message.follow_up);
        self.left.push(Left { at: self.now, queued: message.created_at, contact, first, keeps_quiet });
        if self.answers[contact] > 0 && self.chance.below(2) == 0 {
            self.answers[contact] -= 1;
            let after = TimeDelta::seconds(20 + i64::try_from(self.chance.below(5_400)).unwrap());
            self.words.insert((self.now + after, contact, u32::try_from(self.answers[contact]).unwrap()));
        }
    }

    /// Takes the words that contacts say by now.
    async fn hear(&mut self) {
        while let Some((at, contact, number)) = self.words.first().copied().filter(|(at, ..)| *at <= self.now) {
            self.words.remove(&(at, contact, number));
            let (from, id) = (address(contact), number.to_string());
            let new = NewIncoming { channel: "loopback", from: &from, peer_id: &id, text: "Yes", media: None };
            self.store.take_from_contact(new, self.now).await.unwrap();
        }
    }

    /// Follow-ups that are due by now.
    async fn follow_up(&mut self) {
        let before: BTreeMap<_, _> = self.waiting().await;
        let online = [("loopback", DateTime::UNIX_EPOCH)].into();
        self.store.follow_up_due(&online, self.now).await.unwrap();
        let after = self.waiting().await;
        self.asked.extend(before.iter().filter(|(id, _)| !after.contains_key(id)).map(|(_, due)| (*due, self.now)));
    }

    /// When the silence of each instance is over.
    async fn waiting(&self) -> BTreeMap<i64, DateTime<Utc>> {
        let filter = level3::store::InstanceFilter { limit: 100, ..Default::default() };
        let found = self.store.relay_instances(&filter).await.unwrap();
        let due = found.iter().filter_map(|one| Some((one.instance.id.0, one.instance.progress.heartbeat_at?)));
        due.collect()
    }
}

#[tokio::test]
async fn a_day_of_fifty_contacts_keeps_every_limit_and_every_time() {
    let mut app = TestApp::start().await;
    app.stop().await;
    let store = Store::open(&app.database_behind(), &SeededRandom::new(7)).await.unwrap();
    let pace = Pace { first_contacts_per_day: FIRST_CONTACTS, i_know: true, ..Pace::default() };
    let store = store.relaying(RelaySettings { pace, ..RelaySettings::default() });
    let (begins, words) = (app.now(), BTreeSet::new());
    let (left, asked, answers) = (Vec::new(), Vec::new(), (0..50).map(|contact| contact % 4).collect());
    let mut day = Day { store, now: begins, chance: Chance(7), words, answers, left, asked };
    let (ends, mut ordered, mut woken) = (begins + TimeDelta::hours(24), 0, None);
    while day.now < ends {
        // An order every ten minutes, three at once now and then.
        while ordered < 50 && begins + TimeDelta::minutes(10 * (ordered as i64 / 3 * 3)) <= day.now {
            day.order(ordered).await;
            ordered += 1;
        }
        day.hear().await;
        if woken.is_none_or(|woken| woken <= day.now) {
            day.follow_up().await;
        }
        day.work().await;
        let free = day.send().await;
        let next_order = (ordered < 50).then(|| begins + TimeDelta::minutes(10 * (ordered as i64 / 3 * 3)));
        woken = day.store.next_wake_up(day.now).await.unwrap();
        let next = [free, next_order, woken, day.words.first().map(|(at, ..)| *at)].into_iter().flatten().min();
        day.now = next.unwrap_or(ends).max(day.now + TimeDelta::milliseconds(1));
    }
    judge(&day);
    app.leaves("conversations go on the next day");
    day.store.close().await;
}

fn judge(day: &Day) {
    let within = |span: TimeDelta, of: &dyn Fn(&Left) -> bool| {
        let times: Vec<_> = day.left.iter().filter(|left| of(left)).map(|left| left.at).collect();
        times.iter().map(|end| times.iter().filter(|at| **at <= *end && **at > *end - span).count()).max().unwrap_or(0)
    };
    assert!(day.left.len() > 150, "a day with {} messages", day.left.len());
    assert!(within(TimeDelta::minutes(1), &|_| true) <= 20);
    assert!(within(TimeDelta::hours(24), &|_| true) <= 300);
    let firsts = within(TimeDelta::hours(24), &|left| left.first);
    assert!(firsts <= FIRST_CONTACTS as usize && firsts > 20, "{firsts}");
    let (mut gaps, mut at_night) = (Vec::new(), 0);
    for contact in 0..50 {
        assert!(within(TimeDelta::minutes(10), &|left| left.contact == contact) <= 10, "{contact}");
        let mine: Vec<_> = day.left.iter().filter(|left| left.contact == contact).collect();
        for pair in mine.windows(2) {
            let gap = (pair[1].at - pair[0].at).num_milliseconds();
            assert!(gap >= 2_000, "{gap} ms between two to {contact}");
            // One that waited for the gap alone.
            if pair[1].queued <= pair[0].at && gap <= 3_000 {
                gaps.push(gap);
            }
        }
        for left in mine {
            let quiet = !(8..21).contains(&hour(contact, left.at));
            assert!(!(quiet && left.keeps_quiet), "a follow-up or first message at {} of contact {contact}", left.at);
            at_night += usize::from(quiet);
        }
    }
    assert!(at_night > 0, "answers leave in quiet hours, too");
    let distinct: BTreeSet<_> = gaps.iter().collect();
    assert!(gaps.len() > 50 && distinct.len() * 10 > gaps.len() * 8, "gaps are not periodic: {gaps:?}");
    let spread = gaps.iter().max().unwrap() - gaps.iter().min().unwrap();
    assert!(spread > 800, "{spread} ms between the shortest and the longest gap");
    assert!(day.asked.len() > 40, "{} follow-ups", day.asked.len());
    for (due, asked) in &day.asked {
        assert!(*asked >= *due && *asked - *due <= TimeDelta::seconds(1), "due {due}, asked for {asked}");
    }
}
