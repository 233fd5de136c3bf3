//! Tests of `tools::screen`.

use super::*;

#[test]
fn a_machine_without_a_screen_is_told_how_to_have_one() {
    let why = DesktopScreen::of(&BTreeMap::new()).missing().unwrap();
    assert!(why.contains("DISPLAY") && why.contains("level3 operator"), "{why}");
    let named = BTreeMap::from([("DISPLAY".to_owned(), ":9".to_owned())]);
    assert_eq!(DesktopScreen::of(&named).missing(), None);
}

/// So many bytes that cannot be compressed.
fn noise(many: u32) -> Vec<u8> {
    let mut seed = 7_u32;
    let mut next = || {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (seed >> 24) as u8
    };
    (0..many).map(|_| next()).collect()
}

/// A picture that another program made, of these samples.
fn made(color: ColorType, width: u32, height: u32, samples: &[u8]) -> Vec<u8> {
    let mut picture = Vec::new();
    let mut encoder = Encoder::new(&mut picture, width, height);
    encoder.set_color(color);
    encoder.set_depth(BitDepth::Eight);
    let mut writer = encoder.write_header().unwrap();
    writer.write_image_data(samples).unwrap();
    writer.finish().unwrap();
    picture
}

/// Its size, and its samples, three a pixel.
fn shown(picture: &[u8]) -> (u32, u32, Vec<u8>) {
    let mut reader = Decoder::new(io::Cursor::new(picture)).read_info().unwrap();
    let mut samples = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut samples).unwrap();
    assert_eq!(info.color_type, ColorType::Rgb);
    (info.width, info.height, samples)
}

#[test]
fn a_picture_that_is_too_large_is_scaled_down() {
    let (width, height) = (2_000_u32, 1_000_u32);
    let rgb = noise(width * height * 3);
    let picture = small_enough(Pixels { width, height, rgb }).unwrap();
    assert!(picture.len() <= MOST_PICTURE, "{}", picture.len());
    let reader = Decoder::new(io::Cursor::new(&picture)).read_info().unwrap();
    assert_eq!((reader.info().width, reader.info().height), (1_000, 500));
}

#[test]
fn a_large_grey_picture_of_a_program_stays_grey_at_half_its_size() {
    let (width, height) = (2_200_u32, 2_000_u32);
    let grey = noise(width * height);
    let picture = made(ColorType::Grayscale, width, height, &grey);
    assert!(picture.len() > MOST_PICTURE, "{}", picture.len());
    let fitted = fitting(picture).unwrap();
    assert!(fitted.len() <= MOST_PICTURE, "{}", fitted.len());
    let (wide, high, samples) = shown(&fitted);
    assert_eq!((wide, high), (1_100, 1_000));
    let below = width as usize;
    let four = [grey[0], grey[1], grey[below], grey[below + 1]].map(u16::from);
    assert_eq!(u16::from(samples[0]), four.iter().sum::<u16>() / 4);
    assert!(samples.chunks_exact(3).all(|pixel| pixel[0] == pixel[1] && pixel[1] == pixel[2]));
}

#[test]
fn a_large_picture_with_an_alpha_channel_keeps_its_colours_without_it() {
    let (width, height) = (1_200_u32, 1_000_u32);
    let rgba = noise(width * height * 4);
    let picture = made(ColorType::Rgba, width, height, &rgba);
    assert!(picture.len() > MOST_PICTURE, "{}", picture.len());
    let (wide, high, samples) = shown(&fitting(picture).unwrap());
    assert_eq!((wide, high), (width, height));
    let colours: Vec<u8> = rgba.chunks_exact(4).flat_map(|pixel| [pixel[0], pixel[1], pixel[2]]).collect();
    assert!(samples == colours);
}

#[test]
fn a_picture_of_a_program_that_is_small_enough_stays_as_it_is() {
    let picture = made(ColorType::Grayscale, 2, 2, &[1, 2, 3, 4]);
    assert_eq!(fitting(picture.clone()).unwrap(), picture);
}

#[cfg(not(target_os = "macos"))]
#[tokio::test]
async fn without_grim_another_program_takes_the_picture_and_without_both_an_error_names_them() {
    use std::os::unix::fs::PermissionsExt;

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().display().to_string();
    let wayland = [("WAYLAND_DISPLAY".to_owned(), "wayland-9".to_owned()), ("PATH".to_owned(), path.clone())];
    let screen = DesktopScreen::of(&BTreeMap::from(wayland));
    let told = screen.picture().await.unwrap_err().to_string();
    for part in ["grim:", "gnome-screenshot:", "install grim or gnome-screenshot"] {
        assert!(told.contains(part), "{part} in {told}");
    }
    let pixel = made(ColorType::Grayscale, 1, 1, &[7]);
    std::fs::write(folder.path().join("pixel.png"), &pixel).unwrap();
    let program = folder.path().join("gnome-screenshot");
    std::fs::write(&program, format!("#!/bin/sh\n[ \"$1\" = -f ] && exec /bin/cp '{path}/pixel.png' \"$2\"\n")).unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o700)).unwrap();
    assert_eq!(screen.picture().await.unwrap(), pixel);
}
