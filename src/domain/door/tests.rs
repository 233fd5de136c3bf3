//! Tests of `domain::door`.

use super::*;

#[test]
fn an_id_of_one_door_is_none_of_another_nor_of_a_client() {
    for door in MessageDoor::ALL {
        let id = door.id("loopback/+491701234567/m1");
        assert_eq!((MessageDoor::of(&id), door.own(&id)), (Some(door), Some("loopback/+491701234567/m1")));
        assert!(!MessageDoor::ALL.into_iter().any(|other| other != door && other.own(&id).is_some()), "{id}");
    }
    for client in ["m1", "", "operator", "9c1e8a64-0d3c-4b53-8b0f-0b3f6f1e7d11", "v1", "my operator/x"] {
        assert_eq!(MessageDoor::of(client), None, "{client}");
    }
}
