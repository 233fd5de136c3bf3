//! `run.sh` itself, driven as a person or a service manager drives it. The server is replaced by
//! small scripts, because what is tested here is the supervision: what follows which exit code and
//! which signal.

use std::io::{BufRead, BufReader};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use tempfile::TempDir;

/// The act of a server that is ready.
const READY: &str = "echo ready >\"$LEVEL3_READY_FILE\"";
/// How long anything here may take before the test fails instead of hanging.
const PATIENCE: Duration = Duration::from_secs(300);

/// A folder with the stand-in and what it writes.
struct Bench(Arc<TempDir>);

impl Bench {
    /// A stand-in with this body. `$n` counts its starts, from 1.
    fn new(body: &str) -> Self {
        let bench = Self(Arc::new(TempDir::new().unwrap()));
        let count = bench.path("count");
        let count = count.display();
        bench.script("server", &format!("n=$(( $(cat '{count}' 2>/dev/null || echo 0) + 1 ))\necho $n >'{count}'\n{body}"));
        bench
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Writes a bash script that can be run.
    fn script(&self, name: &str, body: &str) {
        let path = self.path(name);
        std::fs::write(&path, format!("#!/usr/bin/env bash\n{body}\n")).unwrap();
        std::fs::set_permissions(path, PermissionsExt::from_mode(0o755)).unwrap();
    }

    fn starts(&self) -> u32 {
        std::fs::read_to_string(self.path("count")).unwrap().trim().parse().unwrap()
    }

    fn run(&self) -> Running {
        self.run_with("0")
    }

    /// Starts `run.sh` with this first pause, in seconds.
    fn run_with(&self, pause: &str) -> Running {
        let mut running = Running::start(run_sh().env("LEVEL3_BIN", self.path("server")).env("LEVEL3_RESTART_PAUSE", pause));
        running.folder = Some(Arc::clone(&self.0));
        running
    }

    /// `run.sh` on a machine with only the programs named here, those of `fakes`, and a few
    /// harmless ones.
    fn bare(&self, fakes: &[(&str, &str)]) -> Command {
        self.bare_of("run.sh", fakes)
    }

    /// The same for another script of ours.
    fn bare_of(&self, script: &str, fakes: &[(&str, &str)]) -> Command {
        let bin = self.path("bin");
        std::fs::create_dir(&bin).unwrap();
        for tool in ["bash", "cat", "dirname", "env", "grep", "head", "mktemp", "rm", "sed", "sleep", "tail", "tr"] {
            let real = ["/usr/bin", "/bin", "/opt/homebrew/bin", "/usr/local/bin"].iter().map(|dir| Path::new(dir).join(tool));
            let real = real.into_iter().find(|path| path.exists()).unwrap_or_else(|| panic!("no {tool} on this machine"));
            symlink(real, bin.join(tool)).unwrap();
        }
        for (name, body) in fakes {
            self.script(&format!("bin/{name}"), body);
        }
        let mut command = ours(script);
        command.env_clear().env("PATH", &bin).env("HOME", self.0.path()).env("LEVEL3_POSTGRES_BIN", &bin).env("BIN", bin);
        command
    }
}

fn run_sh() -> Command {
    ours("run.sh")
}

fn ours(script: &str) -> Command {
    let mut command = Command::new(Path::new(env!("CARGO_MANIFEST_DIR")).join(script));
    command.env_remove("LEVEL3_SAFE_MODE").env_remove("LEVEL3_BIN").stdin(Stdio::null());
    // A shell cannot catch what was ignored when it began, and whoever runs the tests (nohup, a
    // shell's `&`) may ignore these.
    let heed = || {
        for signal in [libc::SIGHUP, libc::SIGINT, libc::SIGQUIT, libc::SIGTERM] {
            // SAFETY: signal may be called between fork and exec, and the default action needs no
            // handler.
            unsafe { libc::signal(signal, libc::SIG_DFL) };
        }
        Ok(())
    };
    // SAFETY: the closure calls nothing but signal.
    unsafe { command.pre_exec(heed) };
    command
}

/// `run.sh` while it runs. Dropped, it is told to stop.
struct Running {
    pid: u32,
    lines: Receiver<String>,
    seen: Vec<String>,
    exit: Receiver<Option<i32>>,
    /// Kept until the end.
    folder: Option<Arc<TempDir>>,
}

impl Running {
    fn start(command: &mut Command) -> Self {
        // One pipe for both, so that the lines come in the order they were written.
        let (reader, writer) = std::io::pipe().unwrap();
        let mut child = command.stdout(writer.try_clone().unwrap()).stderr(writer).spawn().unwrap();
        // The command keeps its ends of the pipe until they are replaced.
        command.stdout(Stdio::null()).stderr(Stdio::null());
        let (line, lines) = channel();
        std::thread::spawn(move || BufReader::new(reader).lines().map_while(Result::ok).try_for_each(|text| line.send(text)));
        let (code, exit) = channel();
        let pid = child.id();
        std::thread::spawn(move || code.send(child.wait().unwrap().code()));
        Self { pid, lines, seen: Vec::new(), exit, folder: None }
    }

    /// Waits for a line that holds `text`.
    fn line(&mut self, text: &str) -> String {
        loop {
            let Ok(line) = self.lines.recv_timeout(PATIENCE) else { panic!("no line with `{text}` in {:#?}", self.seen) };
            self.seen.push(line.clone());
            if line.contains(text) {
                return line;
            }
        }
    }

    fn signal(&self, name: &str) {
        assert!(Command::new("kill").args(["-s", name, &self.pid.to_string()]).status().unwrap().success());
    }

    /// Waits for the end; the exit code and every line that was not yet read.
    fn end(mut self) -> (i32, String) {
        let code = self.exit.recv_timeout(PATIENCE).unwrap_or_else(|_| panic!("run.sh does not end: {:#?}", self.seen));
        self.pid = 0;
        while let Ok(line) = self.lines.recv_timeout(PATIENCE) {
            self.seen.push(line);
        }
        (code.expect("run.sh exits by itself, not by a signal"), self.seen.join("\n"))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if self.pid != 0 {
            // Nothing to be done when it fails: it has ended in this moment.
            let _ = Command::new("kill").arg(self.pid.to_string()).status();
        }
    }
}

#[test]
fn exit_42_restarts_at_once_and_0_stops() {
    let bench = Bench::new("[ $n -lt 3 ] && exit 42; exit 0");
    let (code, lines) = bench.run_with("30").end();
    assert_eq!((code, bench.starts()), (0, 3), "{lines}");
    assert_eq!((lines.matches("restart asked for").count(), lines.contains(" in 30 s")), (2, false), "{lines}");
}

#[test]
fn the_server_is_started_with_serve_and_nothing_else() {
    let (code, lines) = Bench::new("echo \"arguments: $*.\"; exit 0").run().end();
    assert!(code == 0 && lines.contains("arguments: serve."), "{lines}");
}

#[test]
fn a_crash_is_followed_by_another_start() {
    let bench = Bench::new("[ $n = 1 ] && exit 1; exit 0");
    let (code, lines) = bench.run().end();
    assert_eq!((code, bench.starts()), (0, 2), "{lines}");
    assert!(lines.contains("crashed with exit code 1"), "{lines}");
}

#[test]
fn a_server_killed_by_the_system_is_a_crash() {
    let bench = Bench::new("[ $n = 1 ] && kill -9 $$; exit 0");
    let (code, lines) = bench.run().end();
    assert_eq!((code, bench.starts()), (0, 2), "{lines}");
    assert!(lines.contains("crashed with exit code 137"), "{lines}");
}

#[test]
fn the_pauses_grow() {
    let mut running = Bench::new("exit 1").run_with("1");
    for pause in ["in 1 s", "in 2 s", "in 4 s"] {
        assert!(running.line("crashed").ends_with(pause), "{:?}", running.seen);
    }
    running.signal("TERM");
    assert_eq!(running.end().0, 143);
}

#[test]
fn no_pause_is_longer_than_half_a_minute() {
    let mut running = Bench::new("exit 1").run_with("999");
    assert!(running.line("crashed").ends_with("in 30 s"));
    running.signal("TERM");
    assert_eq!(running.end().0, 143);
}

#[test]
fn three_crashes_in_a_row_start_safe_mode_and_a_restart_leaves_it() {
    let bench = Bench::new(&format!(
        "echo \"start $n safe=${{LEVEL3_SAFE_MODE:-no}}\"; {READY}
         case $n in 4) exit 42 ;; 5) exit 0 ;; *) exit 1 ;; esac"
    ));
    let (code, lines) = bench.run().end();
    assert_eq!(code, 0, "{lines}");
    for start in ["start 1 safe=no", "start 2 safe=no", "start 3 safe=no", "start 4 safe=1", "start 5 safe=no"] {
        assert!(lines.contains(start), "{start} is missing in:\n{lines}");
    }
    assert_eq!(lines.matches("safe mode, without capabilities").count(), 1, "{lines}");
}

#[test]
fn a_server_that_keeps_crashing_stays_in_safe_mode() {
    let bench = Bench::new(&format!("echo \"start $n safe=${{LEVEL3_SAFE_MODE:-no}}\"; [ $n = 6 ] && exit 0; {READY}; exit 1"));
    let (_, lines) = bench.run().end();
    assert!(lines.contains("start 5 safe=1") && lines.contains("start 6 safe=1"), "{lines}");
}

#[test]
fn a_server_that_was_never_ready_is_not_started_in_safe_mode() {
    // Ready in its first two runs only, and killed in one of the others: what it says at its end
    // does not matter.
    let body = format!(
        "echo \"start $n safe=${{LEVEL3_SAFE_MODE:-no}}\"
         case $n in 1 | 2) {READY}; exit 1 ;; 4) kill -9 $$ ;; 8) exit 0 ;; *) exit 1 ;; esac"
    );
    let (code, lines) = Bench::new(&body).run().end();
    assert!(code == 0 && lines.contains("start 8 safe=no") && !lines.contains("safe=1"), "{lines}");
    assert_eq!(lines.matches("before it was ready: starting again").count(), 5, "{lines}");
}

#[test]
fn the_file_that_tells_that_the_server_is_ready_is_empty_at_each_start_and_gone_at_the_end() {
    let bench = Bench::new(&format!(
        "[ -s \"$LEVEL3_READY_FILE\" ] && exit 9; {READY}; echo \"file $LEVEL3_READY_FILE\"; [ $n = 1 ] && exit 1; exit 0"
    ));
    let (code, lines) = bench.run().end();
    assert_eq!((code, bench.starts()), (0, 2), "{lines}");
    let file = lines.lines().find_map(|line| line.strip_prefix("file ")).expect("its name");
    assert!(!Path::new(file).exists(), "{file}");
}

#[test]
fn a_wrong_setting_is_not_tried_again() {
    let bench = Bench::new("exit 78");
    let (code, lines) = bench.run().end();
    assert_eq!((code, bench.starts()), (78, 1), "{lines}");
    assert!(lines.contains("cannot start until something is changed"), "{lines}");
}

#[test]
fn the_server_itself_is_not_tried_again_where_that_would_not_help() {
    let mut command = run_sh();
    let data = TempDir::new().unwrap();
    command.env("LEVEL3_BIN", env!("CARGO_BIN_EXE_level3")).env("LEVEL3_RESTART_PAUSE", "0");
    command.env("LEVEL3_DATA_DIR", data.path()).env("LEVEL3_LISTEN", "127.0.0.1:0").env("DATABASE_URL", "mysql://127.0.0.1/shop");
    let (code, lines) = Running::start(&mut command).end();
    assert!(
        code == 78 && lines.contains("begins with postgres://") && lines.contains("restarting would not help"),
        "{code}: {lines}"
    );
}

#[test]
fn a_program_that_cannot_be_run_is_not_tried_again() {
    let bench = Bench::new("exit 0");
    std::fs::write(bench.path("server"), "#!/nowhere/interpreter\n").unwrap();
    let (code, lines) = bench.run().end();
    assert!((126..=127).contains(&code) && lines.contains("cannot be run"), "{code}: {lines}");
}

/// Says `ready`, then runs `on_signal` at each signal named, until that exits. `$!` is a process
/// that has to be ended.
fn waiting(on_signal: &str, signals: &str) -> String {
    format!("sleep 1000 &\ntrap '{on_signal}' {signals}\necho ready\nwhile :; do wait; done")
}

#[test]
fn sigterm_reaches_the_server_and_run_sh_waits_for_it_and_takes_its_code() {
    for (answer, expected) in [("0", 0), ("5", 5)] {
        let mut running = Bench::new(&waiting(&format!("kill $!; echo tidied; exit {answer}"), "TERM")).run();
        running.line("ready");
        running.signal("TERM");
        let (code, lines) = running.end();
        assert!(code == expected && lines.contains("tidied"), "{code}: {lines}");
    }
}

#[test]
fn ctrl_c_and_a_closed_terminal_reach_the_server_too() {
    // A closed terminal is an order to stop in good order.
    for (name, arrives) in [("INT", "INT"), ("HUP", "TERM")] {
        let mut running = Bench::new(&waiting(&format!("kill $!; echo got {arrives}; exit 0"), arrives)).run();
        running.line("ready");
        running.signal(name);
        let (code, lines) = running.end();
        assert!(code == 0 && lines.contains(&format!("got {arrives}")), "{code}: {lines}");
    }
}

#[test]
fn a_server_that_dies_of_the_signal_ends_run_sh_with_the_code_of_that_signal() {
    let mut running = Bench::new("echo ready; exec sleep 1000").run();
    running.line("ready");
    running.signal("TERM");
    assert_eq!(running.end().0, 143);
}

#[test]
fn a_second_signal_goes_through() {
    let mut running = Bench::new(&waiting("k=$((k + 1)); echo signal $k; [ $k = 2 ] && kill $! && exit 9", "TERM")).run();
    running.line("ready");
    running.signal("TERM");
    running.line("signal 1");
    running.signal("TERM");
    let (code, lines) = running.end();
    assert!(code == 9 && lines.contains("signal 2"), "{code}: {lines}");
}

#[test]
fn a_restart_asked_for_while_stopping_does_not_happen() {
    let bench = Bench::new(&waiting("kill $!; exit 42", "TERM"));
    let mut running = bench.run();
    running.line("ready");
    running.signal("TERM");
    assert_eq!((running.end().0, bench.starts()), (0, 1));
}

#[test]
fn sigterm_during_a_pause_ends_it_at_once() {
    let bench = Bench::new("exit 1");
    let mut running = bench.run_with("30");
    running.line("starting again in 30 s");
    let began = std::time::Instant::now();
    running.signal("TERM");
    let (code, lines) = running.end();
    assert_eq!((code, bench.starts()), (143, 1), "{lines}");
    assert!(began.elapsed() < Duration::from_secs(30), "the pause went on");
}

#[test]
fn an_unknown_argument_is_answered_with_the_usage() {
    let (code, lines) = Running::start(run_sh().arg("serve-me")).end();
    assert!(code == 2 && lines.contains("`serve-me`") && lines.contains("usage: ./run.sh"), "{code}: {lines}");
}

#[test]
fn help_is_the_usage() {
    let (code, lines) = Running::start(run_sh().arg("help")).end();
    assert!(code == 0 && lines.starts_with("usage: ./run.sh"), "{code}: {lines}");
}

#[test]
fn overrides_that_make_no_sense_are_named() {
    let (code, lines) = Running::start(run_sh().env("LEVEL3_BIN", "/nowhere/level3")).end();
    assert!(code == 1 && lines.contains("LEVEL3_BIN is `/nowhere/level3`"), "{code}: {lines}");
    let (code, lines) = Bench::new("exit 0").run_with("soon").end();
    assert!(code == 1 && lines.contains("LEVEL3_RESTART_PAUSE is `soon`"), "{code}: {lines}");
}

#[test]
fn without_cargo_it_says_where_rust_comes_from() {
    for arguments in [&[][..], &["test"]] {
        let (code, lines) = Running::start(Bench::new("").bare(&[]).args(arguments)).end();
        assert!(code == 1 && lines.contains("https://rustup.rs"), "{code}: {lines}");
    }
}

const CARGO: (&str, &str) = ("cargo", "echo \"cargo got: $*.\"");
const CC: (&str, &str) = ("cc", "exit 0");
const XVFB: (&str, &str) = ("Xvfb", "exit 0");
const ROOT: (&str, &str) = ("id", "echo 0");

#[test]
fn test_installs_a_missing_browser_says_so_and_runs_all_tests() {
    let apt = ("apt-get", "echo \"apt-get got: $*.\"; for p in chromium chromedriver; do cp \"$BIN/cc\" \"$BIN/$p\"; done");
    let copy = ("cp", "cat \"$1\" >\"$2\"; chmod +x \"$2\"");
    let chmod = ("chmod", "exec /bin/chmod \"$@\"");
    let bench = Bench::new("");
    let mut command = bench.bare(&[CARGO, CC, ROOT, apt, copy, chmod]);
    let (code, lines) = Running::start(command.args(["test", "--lib", "clock"])).end();
    assert_eq!(code, 0, "{lines}");
    assert!(lines.contains("installing with apt-get: chromium chromium-driver"), "{lines}");
    assert!(lines.contains("apt-get got: install -y -qq --no-install-recommends chromium chromium-driver."), "{lines}");
    assert!(lines.contains("apt-get got: install -y -qq --no-install-recommends xvfb."), "{lines}");
    assert!(lines.contains("NOT RUN: the stories of the operator's screen"), "this apt-get brings none: {lines}");
    assert!(lines.contains("cargo got: test --locked --lib clock."), "{lines}");
}

#[test]
fn test_installs_nothing_when_everything_is_there() {
    let browser = [("chromium", "exit 0"), ("chromedriver", "exit 0")];
    let there = [CARGO, CC, ROOT, XVFB, browser[0], browser[1], ("espeak-ng", "exit 0"), ("apt-get", "exit 1")];
    let (code, lines) = Running::start(Bench::new("").bare(&there).arg("test")).end();
    assert!(code == 0 && !lines.contains("installing"), "{code}: {lines}");
}

#[test]
fn an_installation_that_fails_is_not_passed_over() {
    let (code, lines) = Running::start(Bench::new("").bare(&[CARGO, CC, ROOT, ("apt-get", "exit 100")]).arg("test")).end();
    assert!(code == 1 && lines.contains("could not be installed") && !lines.contains("cargo got"), "{code}: {lines}");
}

#[test]
fn without_root_and_sudo_it_says_what_it_wanted_to_do() {
    let user = [CARGO, CC, ("id", "echo 1000"), ("apt-get", "exit 0")];
    let (code, lines) = Running::start(Bench::new("").bare(&user).arg("test")).end();
    assert!(code == 1 && lines.contains("this needs root and there is no sudo: apt-get update"), "{code}: {lines}");
}

#[test]
fn known_vulnerabilities_fail_the_check_of_dependencies_and_a_database_out_of_reach_is_said() {
    let deny = |fetch: u8, advisories: u8| {
        let body = format!(
            "case \"$*\" in *fetch*) exit {fetch} ;; *advisories*) echo looked; exit {advisories} ;; *) echo \"$*\" ;; esac"
        );
        Running::start(&mut Bench::new("").bare_of("scripts/deny", &[("cargo-deny", &body)])).end()
    };
    let (code, lines) = deny(0, 0);
    assert!(code == 0 && lines.contains("licenses bans sources") && lines.contains("looked"), "{code}: {lines}");
    assert_eq!(deny(0, 1).0, 1);
    let (code, lines) = deny(1, 1);
    assert!(code == 0 && lines.contains("NOT RUN: the check for known vulnerabilities"), "{code}: {lines}");
}

#[test]
fn failing_tests_make_run_sh_fail() {
    let there = [("cargo", "exit 101"), CC, ROOT, ("chromium", "exit 0"), ("chromedriver", "exit 0")];
    let (code, lines) = Running::start(Bench::new("").bare(&there).arg("test")).end();
    assert_eq!(code, 101, "{lines}");
}

#[test]
fn test_channels_tests_the_package_outside_the_main_build() {
    let cargo = r#"case "$*" in metadata*whatsapp*) echo '{"target_directory":"'$BIN/wa'","x":1}' ;; metadata*) echo '{"target_directory":"/out","x":1}' ;; *) echo "cargo got: $*, programs: $LEVEL3_PROGRAMS." ;; esac"#;
    let run = |program: &str| {
        let bench = Bench::new("");
        let mut command = bench.bare(&[("cargo", cargo), CC, XVFB]);
        std::fs::create_dir_all(bench.path("bin/wa/debug")).unwrap();
        bench.script("bin/wa/debug/level3-whatsapp", program);
        Running::start(command.args(["test-channels", "both_ways"])).end()
    };
    let (code, lines) = run("as users have it");
    assert!(code == 0 && lines.contains("cargo got: build --locked --bin level3 --bin relay, programs: ."), "{code}: {lines}");
    assert!(lines.contains("cargo got: build --locked --manifest-path channels/whatsapp/Cargo.toml, programs: ."), "{lines}");
    assert!(lines.contains("cargo got: test --locked --manifest-path channels/whatsapp/Cargo.toml"), "{lines}");
    assert!(lines.contains("--features test-server both_ways -- --test-threads 6, programs: /out/debug."), "{lines}");
    // The door of the mock server is in a build that has no feature.
    let (code, lines) = run("reads LEVEL3_WHATSAPP_SERVER");
    assert!(code == 1 && lines.contains("without the feature test-server reads LEVEL3_WHATSAPP_SERVER"), "{code}: {lines}");
    assert!(!lines.contains("cargo got: test"), "{lines}");
    let (code, lines) = Running::start(Bench::new("").bare(&[("cargo", "exit 101"), CC, XVFB]).arg("test-channels")).end();
    assert_eq!(code, 101, "{lines}");
    let (code, lines) = Running::start(Bench::new("").bare(&[CARGO, CC, ("id", "echo 1000")]).arg("test-channels")).end();
    assert!(code == 1 && lines.contains("needs Xvfb, which could not be installed"), "{code}: {lines}");
}

#[test]
fn without_arguments_it_builds_a_release_and_runs_what_cargo_made() {
    let metadata =
        r#"case $1 in metadata) echo '{"version":1,"target_directory":"'$BIN'/out","x":1}' ;; *) echo "cargo got: $*." ;; esac"#;
    let cargo = ("cargo", metadata);
    let bench = Bench::new("");
    let mut command = bench.bare(&[cargo, CC]);
    std::fs::create_dir_all(bench.path("bin/out/release")).unwrap();
    bench.script("bin/out/release/level3", "echo level3 got: $*; exit 0");
    let (code, lines) = Running::start(&mut command).end();
    assert_eq!(code, 0, "{lines}");
    assert!(lines.contains("cargo got: build --release --locked.") && lines.contains("level3 got: serve"), "{lines}");
}

#[test]
fn a_failing_build_starts_nothing() {
    let bench = Bench::new("");
    let mut command = bench.bare(&[("cargo", "exit 101"), CC]);
    let (code, lines) = Running::start(&mut command).end();
    assert!(code == 101 && !lines.contains("serving"), "{code}: {lines}");
}
