//! The paths of the doors, and others.

use super::*;

#[test]
fn two_doors_and_nothing_beside_them() {
    for door in ["/voice/vapi/7/events", "/voice/vapi/7/chat/completions", "/voice/vapi/70/chat/completions/chat/completions"] {
        assert!(is_door(door), "{door}");
    }
    for other in [
        "/",
        "/voice/vapi",
        "/voice/vapi/",
        "/voice/vapi/7",
        "/voice/vapi/7/",
        "/voice/vapi/x/events",
        "/voice/vapi//events",
        "/voice/vapi/7/events/",
        "/voice/vapi/-7/events",
        "/voice/vapi/7/../events",
        "/api/voice",
        "/voice/vapix/7/events",
        "/voice/vapi/99999999999999999999/events",
        "//voice/vapi/7/events",
    ] {
        assert!(!is_door(other), "{other}");
    }
}
