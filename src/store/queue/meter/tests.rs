//! Tests of `store::queue::meter`.

use super::*;
use crate::domain::Origin;

fn tokens(broken: &[BrokenAnswer]) -> Vec<(u64, u64, bool)> {
    broken.iter().map(|answer| (answer.usage.input, answer.usage.output, answer.counted)).collect()
}

#[test]
fn what_is_not_completed_counts_as_the_provider_said_or_by_its_bytes() {
    let meter = Meter::default();
    let cut = meter.begin("m", 401, None);
    cut.received(10, None);
    cut.received(90, None);
    drop(cut);
    let counted = meter.begin("m", 400, None);
    counted.received(9, Some(Usage { input: 7, output: 3 }));
    meter.begin("m", 400, None).complete();
    assert_eq!(tokens(&meter.take()), [(101, 23, false), (7, 3, true)]);
    counted.received(90, None);
    assert_eq!(meter.take(), [], "what was counted once is not counted again");
}

#[test]
fn a_stop_finds_the_meter_of_the_turn_it_stops_and_no_other() {
    let meters = Meters::default();
    let lease = |fence| Lease {
        turn: TurnId(1),
        conversation: ConversationId(1),
        profile: String::new(),
        fence,
        origin: Origin::Message,
        takes: 1,
    };
    let old = meters.begin(&lease(1));
    let new = meters.begin(&lease(2));
    drop(old);
    let _open = new.meter.begin("m", 4, None);
    assert_eq!(meters.take(TurnId(1), 1), []);
    assert_eq!(tokens(&meters.take(TurnId(1), 2)), [(1, 0, false)]);
    drop(new);
    assert_eq!(meters.take(TurnId(1), 2), []);
}
