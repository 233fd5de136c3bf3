//! A QR code in a terminal: two modules a character, dark on light whatever the terminal's colours
//! are.

use qrcodegen::{QrCode, QrCodeEcc};

/// The light border that a code needs, in modules.
const BORDER: i32 = 2;

/// The code of a text as lines. `None` if the text is too long for one.
pub(in crate::cli) fn lines(text: &str) -> Option<Vec<String>> {
    let code = QrCode::encode_text(text, QrCodeEcc::Low).ok()?;
    // Outside the code a module is light.
    let light = |x: i32, y: i32| !code.get_module(x, y);
    let end = code.size() + BORDER;
    let row = |y: i32| {
        let cells = (-BORDER..end).map(|x| match (light(x, y), y + 1 >= end || light(x, y + 1)) {
            (true, true) => '█',
            (true, false) => '▀',
            (false, true) => '▄',
            (false, false) => ' ',
        });
        cells.collect()
    };
    Some((-BORDER..end).step_by(2).map(row).collect())
}

#[cfg(test)]
mod tests;
