//! The server that is measured, on a data folder and an embedded Postgres of its own, started as a
//! person starts it.

use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use serde_json::json;

use super::client::Client;
use super::door::{TOKEN, ask};
use super::model::Model;
use super::settings::Settings;

pub struct House {
    program: PathBuf,
    pub data: PathBuf,
    model: String,
    server: Option<Server>,
    /// How long the very first start took: the cluster made, the engine compiled.
    pub first: Duration,
    numbers: AtomicUsize,
    /// Settings beside the usual ones.
    more: Vec<(String, String)>,
}

struct Server {
    child: Child,
    address: SocketAddr,
}

/// Memory of a process, in MiB.
pub struct Memory {
    /// All its pages that are there.
    pub resident: f64,
    /// The same, of pages that several processes have only a share.
    pub proportional: f64,
    /// Those that it asked for itself. The rest are pages of files, such as the program's own,
    /// which the kernel can take back at any time.
    pub own: f64,
}

impl std::fmt::Display for Memory {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { resident, proportional, own } = self;
        write!(f, "{resident:.0} MiB resident, {proportional:.0} MiB proportional; {own:.0} MiB without pages of files")
    }
}

impl House {
    /// In an empty folder of this name, started, with a table and a capability.
    pub fn fresh(settings: &Settings, model: &Model, name: &str) -> Self {
        Self::with(settings, model, name, &[])
    }

    /// The same with these settings besides.
    pub fn with(settings: &Settings, model: &Model, name: &str, more: &[(&str, &str)]) -> Self {
        let folder = settings.folder.join(name);
        if folder.exists() {
            std::fs::remove_dir_all(&folder).expect("an earlier run's data goes");
        }
        std::fs::create_dir_all(&folder).expect("a folder for the data");
        let (data, program, model) = (folder.join("data"), settings.program.clone(), model.base_url());
        let more = more.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let (server, first, numbers) = (None, Duration::ZERO, AtomicUsize::new(0));
        let mut house = Self { program, data, model, server, first, numbers, more };
        house.first = house.start();
        let mut client = house.client();
        client.turn(client.main, "setup");
        house
    }

    /// Starts the server; returns the time from there until it is ready.
    pub fn start(&mut self) -> Duration {
        let mut command = Command::new(&self.program);
        command.arg("serve").env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command.env("LEVEL3_DATA_DIR", &self.data).env("LEVEL3_LISTEN", "127.0.0.1:0").env("LEVEL3_TOKEN", TOKEN);
        command.env("LLM_BASE_URL", &self.model).env("LLM_MODEL", "scripted");
        command.envs(self.more.iter().map(|(name, value)| (name, value)));
        command.current_dir(self.data.parent().expect("a folder")).stdin(Stdio::null()).stderr(Stdio::piped());
        let began = Instant::now();
        let mut child = command.spawn().unwrap_or_else(|error| panic!("{}: {error}", self.program.display()));
        let lines = BufReader::new(child.stderr.take().expect("a pipe")).lines();
        let (tell, told) = mpsc::channel();
        // The log is read to its end, since a full pipe would block the server.
        std::thread::spawn(move || {
            let mut log = Vec::new();
            for line in lines.map_while(Result::ok) {
                let now = Instant::now();
                if let Some((_, address)) = line.split_once("ready: http://") {
                    drop(tell.send(Ok((now, address.trim().parse().expect("an address")))));
                }
                log.push(line);
            }
            drop(tell.send(Err(log.join("\n"))));
        });
        let (ready, address) = match told.recv_timeout(Duration::from_secs(120)) {
            Ok(Ok(ready)) => ready,
            unready => {
                drop((child.kill(), child.wait()));
                panic!("the server is not ready: {unready:?}");
            }
        };
        self.server = Some(Server { child, address });
        assert_eq!(ask(address, "GET /readyz", None).0, 200, "what says it is ready is ready");
        ready - began
    }

    fn server(&self) -> &Server {
        self.server.as_ref().expect("the server runs")
    }

    /// Ends the server with this signal, and waits until it is gone.
    fn signal(&mut self, signal: i32) {
        if let Some(Server { mut child, .. }) = self.server.take() {
            let pid = child.id().cast_signed();
            // SAFETY: `kill` only sends a signal, to a child that has not been waited for.
            unsafe { libc::kill(pid, signal) };
            drop(child.wait());
        }
    }

    /// Ends the server in good order.
    pub fn end(&mut self) {
        self.signal(libc::SIGTERM);
    }

    /// kill -9.
    pub fn kill(&mut self) {
        self.signal(libc::SIGKILL);
    }

    /// Ends the server and starts it again.
    pub fn restart(&mut self) -> Duration {
        self.end();
        self.start()
    }

    /// Waits until the server has nothing left to do: at its start it writes the logs of all turns
    /// that it did not make itself, which is the work of minutes if there are very many.
    pub fn rest(&self) {
        const SECOND: Duration = Duration::from_secs(1);
        let began = Instant::now();
        loop {
            let before = self.processor().0;
            std::thread::sleep(SECOND);
            if self.processor().0 - before < 20.0 {
                return;
            }
            assert!(began.elapsed() < 1200 * SECOND, "the server does not come to rest");
        }
    }

    pub fn address(&self) -> SocketAddr {
        self.server().address
    }

    pub fn client(&self) -> Client {
        Client::connect(self.address())
    }

    /// A conversation of its own.
    pub fn conversation(&self) -> i64 {
        let (_, made) = ask(self.address(), "POST /api/conversations", Some(&json!({})));
        made["conversation"].as_i64().expect("a conversation")
    }

    /// A number that nothing here had before, for names of capabilities.
    pub fn number(&self) -> usize {
        self.numbers.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// Memory of the server's process alone. Its Postgres has processes of its own.
    pub fn memory(&self) -> Memory {
        let path = format!("/proc/{}/smaps_rollup", self.server().child.id());
        let rollup = std::fs::read_to_string(path).expect("Linux says it");
        let of = |name: &str| {
            let line = rollup.lines().find_map(|line| line.strip_prefix(name)).expect("Linux says it");
            line.trim().trim_end_matches(" kB").parse::<f64>().expect("a number") / 1024.0
        };
        Memory { resident: of("Rss:"), proportional: of("Pss:"), own: of("Anonymous:") }
    }

    /// The processor's time so far in milliseconds: of the server's process, and of its Postgres
    /// with all of its own.
    pub fn processor(&self) -> (f64, f64) {
        let server = i64::from(self.server().child.id());
        let all: Vec<_> = std::fs::read_dir("/proc").expect("Linux has it").filter_map(Result::ok).filter_map(stat).collect();
        let file = std::fs::read_to_string(self.data.join("postgres/postmaster.pid")).expect("Postgres runs there");
        let postmaster: i64 = file.lines().next().and_then(|pid| pid.trim().parse().ok()).unwrap_or(0);
        let own = all.iter().filter(|one| one.pid == server).map(|one| one.own).sum();
        // Processes of Postgres that are over stand with their parent.
        let postgres = all.iter().filter(|one| one.pid == postmaster).map(|one| one.own + one.ended);
        let children = all.iter().filter(|one| one.parent == postmaster).map(|one| one.own);
        (own, postgres.chain(children).sum())
    }

    /// The program's file.
    pub fn program(&self) -> &Path {
        &self.program
    }
}

impl Drop for House {
    fn drop(&mut self) {
        self.end();
        // A run that failed leaves its data to whoever asks why.
        if !std::thread::panicking() {
            drop(std::fs::remove_dir_all(self.data.parent().expect("a folder")));
        }
    }
}

/// A process: its number and its parent's, its time and that of its children that are over, in
/// milliseconds.
struct Process {
    pid: i64,
    parent: i64,
    own: f64,
    ended: f64,
}

/// The process of an entry of /proc, if it is one.
fn stat(entry: std::fs::DirEntry) -> Option<Process> {
    let pid = entry.file_name().to_str()?.parse().ok()?;
    let text = std::fs::read_to_string(entry.path().join("stat")).ok()?;
    // The name before this may hold anything.
    let fields: Vec<f64> = text.rsplit_once(") ")?.1.split(' ').skip(1).map_while(|field| field.trim().parse().ok()).collect();
    // SAFETY: it only asks for a number.
    let second = unsafe { libc::sysconf(libc::_SC_CLK_TCK) } as f64;
    let time = |at: usize| Some((fields.get(at)? + fields.get(at + 1)?) * 1e3 / second);
    Some(Process { pid, parent: *fields.first()? as i64, own: time(10)?, ended: time(12)? })
}
