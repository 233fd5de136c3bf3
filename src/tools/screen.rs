//! Pictures of the screen as PNG: from an X server over its own protocol, on Wayland by `grim` or
//! `gnome-screenshot`, on macOS by `screencapture`.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::process::Stdio;

use png::{BitDepth, ColorType, Decoder, Encoder};
use x11rb::connection::Connection;
use x11rb::protocol::xproto::{ConnectionExt, ImageFormat, ImageOrder};

/// The most bytes of a picture; a larger one is scaled down.
pub const MOST_PICTURE: usize = 4 << 20;
/// The words for a machine without a screen.
const NO_SCREEN: &str = "this machine shows no screen to level3: neither DISPLAY nor WAYLAND_DISPLAY is set where it was started. Start \
     `level3 operator` in a terminal on the desktop, or with DISPLAY set, such as DISPLAY=:0";
/// How long a program may take for a picture.
const PATIENCE: std::time::Duration = std::time::Duration::from_secs(20);

/// The screen of this machine, as the program's environment names it. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct DesktopScreen {
    display: Option<String>,
    wayland: bool,
    /// The environment of the programs that take pictures.
    environment: BTreeMap<String, String>,
}

/// The reason why there is no picture.
#[derive(Debug, thiserror::Error)]
pub enum ScreenError {
    /// There is no screen.
    #[error("{NO_SCREEN}")]
    None,
    /// The X server does not give one.
    #[error("the display {0} gives no picture: {1}")]
    Display(String, String),
    /// No program there is can take one.
    #[error("no program took a picture of the screen ({0}); install grim or gnome-screenshot")]
    Programs(String),
    /// A picture cannot be read or written.
    #[error("the picture of the screen cannot be made: {0}")]
    Picture(String),
}

impl DesktopScreen {
    /// The screen that these variables name.
    pub fn of(environment: &BTreeMap<String, String>) -> Self {
        let display = environment.get("DISPLAY").cloned();
        Self { display, wayland: environment.contains_key("WAYLAND_DISPLAY"), environment: environment.clone() }
    }

    /// The words for a person, if there is no screen at all.
    pub fn missing(&self) -> Option<String> {
        let there = cfg!(target_os = "macos") || self.wayland || self.display.is_some();
        (!there).then(|| ScreenError::None.to_string())
    }

    /// Takes a picture.
    ///
    /// # Errors
    /// [`ScreenError`] says what is missing.
    pub async fn picture(&self) -> Result<Vec<u8>, ScreenError> {
        let taken = if cfg!(target_os = "macos") {
            self.by_file(&[("screencapture", &["-x", "-t", "png"])]).await?
        } else if self.wayland {
            self.by_file(&[("grim", &[]), ("gnome-screenshot", &["-f"])]).await?
        } else {
            let display = self.display.clone().ok_or(ScreenError::None)?;
            return tokio::task::spawn_blocking(move || of_display(&display)).await.map_err(broken)?;
        };
        tokio::task::spawn_blocking(move || fitting(taken)).await.map_err(broken)?
    }

    /// Has the first of these programs that can do it write a picture into a file.
    async fn by_file(&self, programs: &[(&str, &[&str])]) -> Result<Vec<u8>, ScreenError> {
        let mut failed = Vec::new();
        for (program, options) in programs {
            let folder = private_folder().map_err(broken)?;
            let file = folder.join("screen.png");
            let run = self.run(program, options, &file).await;
            let picture = std::fs::read(&file);
            drop(std::fs::remove_dir_all(&folder));
            match (run, picture) {
                (Ok(true), Ok(picture)) => return Ok(picture),
                (Ok(_), _) => failed.push(format!("{program} took none")),
                (Err(error), _) => failed.push(format!("{program}: {error}")),
            }
        }
        Err(ScreenError::Programs(failed.join(", ")))
    }

    async fn run(&self, program: &str, options: &[&str], file: &Path) -> io::Result<bool> {
        let mut command = tokio::process::Command::new(program);
        command.args(options).arg(file).env_clear().envs(&self.environment).kill_on_drop(true);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let ended = tokio::time::timeout(PATIENCE, command.status()).await;
        ended.unwrap_or_else(|_| Err(io::Error::other("it did not end within 20 seconds"))).map(|status| status.success())
    }
}

fn broken(error: impl std::fmt::Display) -> ScreenError {
    ScreenError::Picture(error.to_string())
}

/// A folder that nobody else may look into.
fn private_folder() -> io::Result<std::path::PathBuf> {
    use std::os::unix::fs::DirBuilderExt;
    for number in 0..1_000 {
        let folder = std::env::temp_dir().join(format!("level3-screen-{}-{number}", std::process::id()));
        match std::fs::DirBuilder::new().mode(0o700).create(&folder) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            made => return made.map(|()| folder),
        }
    }
    Err(io::Error::other("there is no free name for a folder"))
}

/// Pixels, three bytes each.
struct Pixels {
    width: u32,
    height: u32,
    rgb: Vec<u8>,
}

/// A picture of an X display.
fn of_display(display: &str) -> Result<Vec<u8>, ScreenError> {
    let refused = |error: &dyn std::fmt::Display| ScreenError::Display(display.to_owned(), error.to_string());
    let (connection, number) = x11rb::connect(Some(display)).map_err(|error| refused(&error))?;
    let setup = connection.setup();
    let root = setup.roots.get(number).ok_or_else(|| refused(&"it has no screen"))?;
    let (width, height) = (root.width_in_pixels, root.height_in_pixels);
    let asked = connection.get_image(ImageFormat::Z_PIXMAP, root.root, 0, 0, width, height, !0);
    let image = asked.map_err(|error| refused(&error))?.reply().map_err(|error| refused(&error))?;
    let format = setup.pixmap_formats.iter().find(|format| format.depth == image.depth);
    let bytes = format.map_or(4, |format| usize::from(format.bits_per_pixel) / 8);
    if bytes < 3 {
        return Err(refused(&format_args!("it has {} colours in depth {}; 24 is needed", bytes, image.depth)));
    }
    let (width, height) = (u32::from(width), u32::from(height));
    let line = image.data.len() / usize::try_from(height.max(1)).unwrap_or(1);
    let low_first = setup.image_byte_order == ImageOrder::LSB_FIRST;
    let mut rgb = Vec::with_capacity(image.data.len() / bytes * 3);
    for row in image.data.chunks_exact(line.max(1)) {
        for pixel in row.chunks_exact(bytes).take(usize::try_from(width).unwrap_or_default()) {
            match (low_first, bytes) {
                (true, _) => rgb.extend([pixel[2], pixel[1], pixel[0]]),
                (false, 3) => rgb.extend([pixel[0], pixel[1], pixel[2]]),
                (false, _) => rgb.extend([pixel[1], pixel[2], pixel[3]]),
            }
        }
    }
    small_enough(Pixels { width, height, rgb })
}

/// A picture that a program made, scaled down if it is too large.
fn fitting(picture: Vec<u8>) -> Result<Vec<u8>, ScreenError> {
    if picture.len() <= MOST_PICTURE {
        return Ok(picture);
    }
    let mut decoder = Decoder::new(io::Cursor::new(&picture));
    decoder.set_transformations(png::Transformations::normalize_to_color8());
    let mut reader = decoder.read_info().map_err(broken)?;
    let mut buffer = vec![0; reader.output_buffer_size().ok_or_else(|| broken("it is too large"))?];
    let info = reader.next_frame(&mut buffer).map_err(broken)?;
    let samples = info.color_type.samples();
    let pixels = buffer[..info.buffer_size()].chunks_exact(samples);
    let rgb = pixels.flat_map(|pixel| if samples < 3 { [pixel[0]; 3] } else { [pixel[0], pixel[1], pixel[2]] }).collect();
    small_enough(Pixels { width: info.width, height: info.height, rgb })
}

/// The pixels as PNG, at half the size again and again until the file is small enough.
fn small_enough(mut pixels: Pixels) -> Result<Vec<u8>, ScreenError> {
    loop {
        let picture = encoded(&pixels)?;
        if picture.len() <= MOST_PICTURE || pixels.width < 2 || pixels.height < 2 {
            return Ok(picture);
        }
        pixels = halved(&pixels);
    }
}

fn encoded(pixels: &Pixels) -> Result<Vec<u8>, ScreenError> {
    let mut picture = Vec::new();
    let mut encoder = Encoder::new(&mut picture, pixels.width, pixels.height);
    encoder.set_color(ColorType::Rgb);
    encoder.set_depth(BitDepth::Eight);
    let mut writer = encoder.write_header().map_err(broken)?;
    writer.write_image_data(&pixels.rgb).map_err(broken)?;
    writer.finish().map_err(broken)?;
    Ok(picture)
}

/// Half as wide and half as high: the mean of four pixels each.
fn halved(pixels: &Pixels) -> Pixels {
    let (width, height) = (pixels.width / 2, pixels.height / 2);
    let at = |x: u32, y: u32, part: usize| {
        let place = (u64::from(y) * u64::from(pixels.width) + u64::from(x)) * 3;
        u16::from(pixels.rgb[usize::try_from(place).unwrap_or_default() + part])
    };
    let mut rgb = Vec::with_capacity(pixels.rgb.len() / 4);
    for y in 0..height {
        for x in 0..width {
            for part in 0..3 {
                let (x, y) = (x * 2, y * 2);
                let sum = at(x, y, part) + at(x + 1, y, part) + at(x, y + 1, part) + at(x + 1, y + 1, part);
                rgb.push(u8::try_from(sum / 4).unwrap_or(u8::MAX));
            }
        }
    }
    Pixels { width, height, rgb }
}

#[cfg(test)]
mod tests;
