//! Random sequences of orders, replies, ticks of the clock, ends of attempts and deaths of the
//! process, against the real store, each compared with the small reference after every step.
//! `RELAY_SEQUENCES` says how many (30), `RELAY_SEED` (1) with which chance.

mod reference;
mod world;

use reference::{End, Reference};
use world::World;

use crate::support::{Chance, TestApp};

/// A step of a sequence. Instances, messages and contacts are meant by their place.
#[derive(Clone, Copy, Debug)]
enum Move {
    Order { contact: usize, most: i32 },
    Pause(usize),
    Resume(usize),
    Cancel(usize),
    Send(usize),
    Reply { contact: usize, id: u32 },
    Tick { seconds: i64 },
    TakeUp,
    Write(usize),
    Complete(usize),
    HandOver(usize),
    Wish(usize, i64),
    EndTurn(usize, End),
    Claim,
    Attempt(&'static str),
    Late(usize, &'static str),
    Decide(usize, &'static str),
    Die,
}

/// The contacts of a sequence.
const CONTACTS: usize = 2;

/// The next step, of those that make sense now and some that do not.
fn choose(chance: &mut Chance, model: &Reference, world: &World) -> Move {
    let (talks, hands) = (model.talks.len(), world.hands.len());
    if talks == 0 {
        return Move::Order { contact: 0, most: 2 };
    }
    // The newest are met more often: those before them are over one day.
    let talk = if chance.below(3) == 0 { chance.below(talks) } else { talks - 1 - chance.below(talks.min(3)) };
    let note = (!model.notes.is_empty()).then(|| model.notes.len() - 1 - chance.below(model.notes.len().min(4)));
    let agent = chance.below(hands.max(1));
    match chance.below(26) {
        0 if talks < 7 => Move::Order { contact: chance.below(CONTACTS), most: chance.one(&[0, 1, 2]) },
        1 => Move::Pause(talk),
        2 | 3 => Move::Resume(talk),
        4 if chance.below(3) == 0 => Move::Cancel(talk),
        5 => Move::Send(talk),
        6..=8 => Move::Reply { contact: chance.below(CONTACTS), id: u32::try_from(chance.below(40)).unwrap() },
        9..=11 => Move::Tick { seconds: chance.one(&[1, 6, 61, 300, 1_799, 1_800, 4_000]) },
        12..=14 if hands == 0 || chance.below(3) == 0 => Move::TakeUp,
        12..=15 if hands > 0 => Move::Write(agent),
        16 if hands > 0 && chance.below(2) == 0 => Move::Complete(agent),
        17 if hands > 0 && chance.below(3) == 0 => Move::HandOver(agent),
        18 if hands > 0 => Move::Wish(agent, chance.one(&[60, 900, 7_200])),
        19 | 20 if hands > 0 => Move::EndTurn(agent, End::Answered),
        21 if hands > 0 && chance.below(4) == 0 => Move::EndTurn(agent, chance.one(&[End::Unanswered, End::Broken])),
        22 | 23 if world.sending.is_none() => Move::Claim,
        22 | 23 => Move::Attempt(chance.one(&["sent", "sent", "sent", "failed", "unknown", "queued", "delivered"])),
        24 if note.is_some() => match chance.below(2) {
            0 => Move::Late(note.unwrap(), chance.one(&["delivered", "read", "failed"])),
            _ => Move::Decide(note.unwrap(), chance.one(&["queued", "sent", "failed"])),
        },
        25 if chance.below(3) == 0 => Move::Die,
        _ => Move::TakeUp,
    }
}

/// The word of the reference: each course that a death in the middle may take, the last of them to
/// the end, and what is told then.
fn expected(model: &Reference, step: Move, world: &World) -> (Vec<Reference>, &'static str) {
    let mut after = model.clone();
    let mut courses = vec![model.clone()];
    let hand = |agent: usize| {
        let (talk, turn, _) = world.hands[agent];
        (talk, model.talks[talk].turns.front() == Some(&turn))
    };
    let told = match step {
        Move::Order { contact, most } => after.order(contact, most, 1_800),
        Move::Pause(talk) => after.pause(talk),
        Move::Resume(talk) => after.resume(talk),
        Move::Cancel(talk) => after.cancel(talk),
        Move::Send(talk) => after.send(talk),
        Move::Reply { contact, id } => after.reply(contact, id),
        Move::Tick { seconds } => {
            after.now += seconds;
            // Time has passed in each course.
            courses = vec![after.clone()];
            for talk in after.due() {
                after.silence(talk);
                courses.push(after.clone());
            }
            "done"
        }
        // The world says which turn it got.
        Move::TakeUp => "done",
        Move::Write(agent) | Move::Complete(agent) | Move::HandOver(agent) | Move::Wish(agent, _) | Move::EndTurn(agent, _)
            if !hand(agent).1 =>
        {
            "lost"
        }
        Move::Write(agent) => after.write(hand(agent).0),
        Move::Complete(agent) => after.complete(hand(agent).0),
        Move::HandOver(agent) => after.hand_over(hand(agent).0),
        Move::Wish(agent, seconds) => after.wish(hand(agent).0, seconds),
        Move::EndTurn(agent, end) => {
            after.end_turn(hand(agent).0, end);
            "done"
        }
        Move::Claim => match after.next_to_send() {
            Some(note) => {
                after.claim(note);
                "done"
            }
            None => "nothing",
        },
        Move::Attempt(state) => after.hears(world.sending.expect("one is being sent"), state),
        Move::Late(note, state) => after.hears(note, state),
        Move::Decide(note, state) => after.decide(note, state),
        Move::Die => "done",
    };
    courses.push(after);
    (courses, told)
}

async fn sequence(world: &mut World, chance: &mut Chance) {
    let mut model = Reference::at(world.seconds());
    let mut trace = Vec::new();
    for _ in 0..40 + chance.below(30) {
        let step = choose(chance, &model, world);
        // One in twelve steps is the last of its process, which dies in the middle of it.
        let cut = (chance.below(12) == 0).then(|| 1 + chance.below(22));
        trace.push(format!("{step:?}{}", cut.map_or_else(String::new, |polls| format!(" dies after {polls}"))));
        tracing::info!("{}", trace[trace.len() - 1]); // printed if the world itself finds a fault
        let (courses, told) = expected(&model, step, world);
        let before = model.clone();
        model = courses.last().unwrap().clone();
        let said = world.act(step, &mut model, cut).await;
        if cut.is_some() {
            world.gone().await;
        }
        let there = world.lines(cut.is_some()).await;
        match said {
            Some(said) => assert_eq!(said, told, "{:#?}\n{before:#?}\n{trace:#?}", world.channel),
            None => {
                let found = courses.iter().chain([&model]).find(|course| course.lines() == there).cloned();
                model = found.unwrap_or_else(|| panic!("no course leads to {there:#?}\n{courses:#?}\n{trace:#?}"));
            }
        }
        assert_eq!(there, model.lines(), "after {trace:#?}\n{before:#?}");
        assert!((0..CONTACTS).all(|contact| model.places(contact) <= 1), "{model:#?}");
        if cut.is_some() || matches!(step, Move::Die) {
            world.die().await;
            model.die();
            assert_eq!(world.lines(false).await, model.lines(), "after the death in {trace:#?}");
        }
    }
    // Nothing is left over for the next sequence.
    for talk in 0..model.talks.len() {
        world.act(Move::Cancel(talk), &mut model, None).await;
        model.cancel(talk);
    }
    assert_eq!(world.lines(false).await, model.lines(), "at the end of {trace:#?}");
    world.finish().await;
}

#[tokio::test]
async fn random_sequences_end_where_a_small_reference_says() {
    let number = |name: &str, usual: u64| std::env::var(name).map_or(usual, |value| value.parse().expect("a number"));
    let mut app = TestApp::start().await;
    app.stop().await;
    let (count, seed) = (number("RELAY_SEQUENCES", 30), number("RELAY_SEED", 1));
    let mut world = World::open(&app).await;
    for sequence_number in 0..count {
        world.begin(sequence_number);
        sequence(&mut world, &mut Chance(seed.wrapping_mul(1_000_003).wrapping_add(sequence_number))).await;
    }
    world.store.close().await;
    // The end of the story looks whether all of it follows from events.
}
