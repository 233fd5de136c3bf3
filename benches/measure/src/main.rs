//! Measures the server end to end and writes docs/performance.md: `just bench`.

mod bench;

use bench::{Settings, run};

fn main() {
    run(&Settings::read());
}
