//! The program is [`level3::program`]; nothing else stands here, because this crate would compile
//! it a second time.

use std::process::ExitCode;

fn main() -> ExitCode {
    level3::program::main()
}
