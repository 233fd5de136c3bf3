//! Tests of `tools::screen`.

use super::*;

#[test]
fn a_machine_without_a_screen_is_told_how_to_have_one() {
    let why = DesktopScreen::of(&BTreeMap::new()).missing().unwrap();
    assert!(why.contains("DISPLAY") && why.contains("level3 operator"), "{why}");
    let named = BTreeMap::from([("DISPLAY".to_owned(), ":9".to_owned())]);
    assert_eq!(DesktopScreen::of(&named).missing(), None);
}

#[test]
fn a_picture_that_is_too_large_is_scaled_down() {
    // Noise cannot be compressed.
    let (width, height) = (2_000_u32, 1_000_u32);
    let mut seed = 7_u32;
    let mut noise = || {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (seed >> 24) as u8
    };
    let rgb = (0..width * height * 3).map(|_| noise()).collect();
    let picture = small_enough(Pixels { width, height, rgb }).unwrap();
    assert!(picture.len() <= MOST_PICTURE, "{}", picture.len());
    let reader = Decoder::new(io::Cursor::new(&picture)).read_info().unwrap();
    assert_eq!((reader.info().width, reader.info().height), (1_000, 500));
}
