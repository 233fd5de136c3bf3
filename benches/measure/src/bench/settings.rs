//! The parts that are to be measured, and of which program.

use std::path::{Path, PathBuf};
use std::time::Duration;

/// Everything that the environment says.
pub struct Settings {
    /// The program that is measured: `LEVEL3_BIN`, else the one beside this one.
    pub program: PathBuf,
    /// The folder for its data: `BENCH_DIR`, else one beside the folder of this program. It has to
    /// be on a disk, since fsync counts.
    pub folder: PathBuf,
    /// The parts that are wanted, `BENCH_ONLY`; `None`: all.
    pub only: Option<Vec<String>>,
    /// A few repetitions of everything, to try whether it works: `BENCH_QUICK`.
    pub quick: bool,
    /// The document that is written: `BENCH_OUT`, and for a whole run docs/performance.md.
    pub out: Option<PathBuf>,
}

impl Settings {
    /// As the environment says.
    pub fn read() -> Self {
        let set = |name: &str| std::env::var(name).ok().filter(|value| !value.trim().is_empty());
        let here = std::env::current_exe().expect("a program has a place");
        let beside = here.parent().expect("a folder");
        let only: Option<Vec<String>> =
            set("BENCH_ONLY").map(|only| only.split(',').map(|name| name.trim().to_owned()).collect());
        let quick = set("BENCH_QUICK").is_some_and(|value| value != "0");
        let whole = only.is_none() && !quick;
        Self {
            program: set("LEVEL3_BIN").map_or_else(|| beside.join("level3"), PathBuf::from),
            folder: set("BENCH_DIR").map_or_else(|| beside.with_file_name("bench-data"), PathBuf::from),
            out: set("BENCH_OUT").map(PathBuf::from).or_else(|| whole.then(|| Path::new("docs/performance.md").to_owned())),
            only,
            quick,
        }
    }

    /// True if a part is to be measured.
    pub fn wants(&self, part: &str) -> bool {
        self.only.as_ref().is_none_or(|only| only.iter().any(|name| name == part))
    }

    /// How often something is done.
    pub fn times(&self, count: usize) -> usize {
        if self.quick { count.min(2) } else { count }
    }

    /// How long something is done.
    pub fn lasting(&self, seconds: u64) -> Duration {
        if self.quick { Duration::from_millis(200) } else { Duration::from_secs(seconds) }
    }

    /// Waits until what was begun is over: buffers given back, statistics written.
    pub fn settle(&self, seconds: u64) {
        std::thread::sleep(self.lasting(seconds));
    }
}
