//! Tests of `sandbox::powers`.

use super::*;

#[test]
fn each_of_sixteen_powers_has_a_bit_of_its_own() {
    let alone = |place| bits((0..PLACES).map(|other| other == place));
    assert_eq!((alone(0), alone(7), alone(8), alone(15)), (1, 0x80, 0x100, 0x8000));
    assert_eq!((0..PLACES).map(alone).fold(0, |all, bit| all | bit), u16::MAX);
}
