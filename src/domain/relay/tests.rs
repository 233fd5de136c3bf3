//! Tests of what an instance and a message become.

use super::*;

fn now() -> DateTime<Utc> {
    DateTime::UNIX_EPOCH
}

fn active() -> InstanceProgress {
    InstanceProgress::new(InstanceState::Active, Vec::new(), now())
}

#[test]
fn pausing_twice_keeps_the_state_that_was_first() {
    let mut progress = active();
    progress.take(InstanceInput::Pause, now()).unwrap();
    progress.take(InstanceInput::Pause, now()).unwrap();
    assert_eq!((progress.state, progress.paused_from), (InstanceState::Paused, Some(InstanceState::Active)));
    progress.take(InstanceInput::ResumeActive, now()).unwrap();
    assert_eq!((progress.state, progress.paused_from), (InstanceState::Active, None));
}

#[test]
fn an_end_has_a_time_and_nothing_leads_out_of_it() {
    let mut progress = active();
    progress.take(InstanceInput::Complete, now()).unwrap();
    assert_eq!(progress.ended_at, Some(now()));
    let refused = progress.take(InstanceInput::Pause, now()).unwrap_err();
    assert_eq!(refused.to_string(), "relay_instances: what is COMPLETED does not take `pause`");
}

#[test]
fn a_refusal_after_the_acknowledgement_makes_a_message_fail() {
    let mut delivery = Delivery { state: Some(DeliveryState::Queued), ..Delivery::default() };
    for input in [DeliveryInput::Claim, DeliveryInput::Acknowledge, DeliveryInput::Refuse] {
        delivery.take(input, now()).unwrap();
    }
    assert_eq!((delivery.state, delivery.sent_at), (Some(DeliveryState::Failed), Some(now())));
    assert!(delivery.take(DeliveryInput::Deliver, now()).is_err());
}

#[test]
fn what_nobody_knows_is_sent_again_only_by_a_persons_word() {
    let mut delivery = Delivery { state: Some(DeliveryState::Sending), ..Delivery::default() };
    delivery.take(DeliveryInput::Lose, now()).unwrap();
    assert!(delivery.clone().take(DeliveryInput::Claim, now()).is_err());
    delivery.take(DeliveryInput::Resend, now()).unwrap();
    assert_eq!(delivery.state, Some(DeliveryState::Queued));
}

#[test]
fn a_contacts_message_takes_no_input() {
    assert!(Delivery::default().take(DeliveryInput::Claim, now()).is_err());
}

#[test]
fn what_hides_or_turns_text_is_left_out() {
    assert_eq!(plain_text("a\u{202E}b\u{200B}c\u{FEFF}\nd\te\u{7}\u{E0041}"), "abc\nd\te");
    assert_eq!(plain_text("مرحبا 👋"), "مرحبا 👋");
}
