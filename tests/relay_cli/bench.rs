//! A folder of Relay, and the command run on it.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use tempfile::TempDir;

/// How long anything here may take before the test fails instead of hanging.
pub const PATIENCE: Duration = Duration::from_secs(300);
/// A server that becomes ready, and ends in good order when it is asked to.
pub const STEADY: &str = "trap 'exit 0' TERM\necho \"$LEVEL3_LISTEN\" >\"$LEVEL3_READY_FILE\"\nwhile :; do sleep 0.05; done";

/// A folder of Relay with a stand-in for the server.
pub struct Bench {
    pub place: TempDir,
    pub program: Option<PathBuf>,
    /// The command itself, if it is not where it was built.
    pub relay: Option<PathBuf>,
    /// The folder of all tools, if it is not what PATH says.
    pub search: Option<PathBuf>,
}

impl Bench {
    /// A folder whose server is a script with this body. `$n` counts its starts, from 1.
    pub fn with(body: &str) -> Self {
        let place = TempDir::new().unwrap();
        let (program, count) = (place.path().join("server"), place.path().join("count"));
        let count = count.display();
        let counted = format!("n=$(( $(cat '{count}' 2>/dev/null || echo 0) + 1 ))\necho $n >'{count}'");
        fs::write(&program, format!("#!/usr/bin/env bash\n{counted}\n{body}\n")).unwrap();
        fs::set_permissions(&program, PermissionsExt::from_mode(0o755)).unwrap();
        let bench = Self { place, program: Some(program), relay: None, search: None };
        // Nobody listens there, so a daemon of the person who runs the tests is not met.
        bench.done(&["init", "--listen", "127.0.0.1:1"]);
        bench
    }

    /// A folder whose commands ask this address.
    pub fn at(address: &str) -> Self {
        let bench = Self { place: TempDir::new().unwrap(), program: None, relay: None, search: None };
        bench.done(&["init", "--listen", address]);
        bench
    }

    /// The same, with a daemon that runs. Its server is a script, so the answers come from whatever
    /// listens at the address.
    pub fn asking(address: &str) -> Self {
        let bench = Self::with(STEADY);
        bench.done(&["init", "--listen", address]);
        bench.done(&["start"]);
        bench
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.place.path().join("home").join(name)
    }

    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(self.relay.as_deref().unwrap_or(Path::new(env!("CARGO_BIN_EXE_relay"))));
        #[expect(clippy::disallowed_methods, reason = "a program needs PATH")]
        let path = std::env::var("PATH").unwrap_or_default();
        let path = self.search.as_ref().map_or(path, |search| search.display().to_string());
        command.args(arguments).env_clear().env("PATH", path).env("RELAY_HOME", self.path(""));
        command.envs(self.program.as_ref().map(|program| ("LEVEL3_BIN", program)));
        command.current_dir(self.place.path()).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    pub fn run(&self, arguments: &[&str]) -> Ran {
        self.command(arguments).output().unwrap().into()
    }

    /// The output of a command that does it.
    pub fn done(&self, arguments: &[&str]) -> String {
        let ran = self.run(arguments);
        assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{arguments:?}: {ran:?}");
        ran.out
    }

    /// The words of a command that ends with this code.
    pub fn refused(&self, code: i32, arguments: &[&str]) -> String {
        let ran = self.run(arguments);
        assert_eq!((ran.code, ran.out.as_str()), (code, ""), "{arguments:?}: {ran:?}");
        ran.err
    }

    pub fn starts(&self) -> u32 {
        fs::read_to_string(self.place.path().join("count")).ok().and_then(|count| count.trim().parse().ok()).unwrap_or(0)
    }

    pub fn log(&self) -> String {
        fs::read_to_string(self.path("daemon.log")).unwrap_or_default()
    }
}

impl Drop for Bench {
    fn drop(&mut self) {
        if self.path("daemon.pid").exists() {
            drop(self.command(&["stop"]).output());
        }
    }
}

/// The output of a command, and its exit code.
#[derive(Debug)]
pub struct Ran {
    pub code: i32,
    pub out: String,
    pub err: String,
}

impl From<Output> for Ran {
    fn from(output: Output) -> Self {
        let text = |bytes| String::from_utf8(bytes).unwrap();
        Self { code: output.status.code().unwrap(), out: text(output.stdout), err: text(output.stderr) }
    }
}

#[expect(clippy::disallowed_methods, reason = "nothing tells of files of other processes")]
pub fn until(what: &str, is: impl Fn() -> bool) {
    let begun = Instant::now();
    while !is() {
        assert!(begun.elapsed() < PATIENCE, "in vain waited for {what}");
        thread::sleep(Duration::from_millis(10));
    }
}

pub fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}
