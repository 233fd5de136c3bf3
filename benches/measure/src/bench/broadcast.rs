//! One message told to many sockets, beside a server of node's `ws` that does nothing else.

use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use tungstenite::Utf8Bytes;

use super::client::Client;
use super::house::House;
use super::model::Model;
use super::report::{Report, ratio};
use super::settings::Settings;
use super::sockets;
use super::times::Times;

/// As many as the goal names, if the machine lets a process open twice as many files.
const SOCKETS: usize = 4000;
const ROUNDS: usize = 20;
/// Rounds before them that do not count: node first has to find out which code is worth compiling.
const WARM: usize = 5;
/// The version of `ws`.
const WS: &str = "8.23.0";
const SCRIPT: &str = include_str!("../../peers/broadcast.mjs");

pub fn measure(model: &Model, settings: &Settings, report: &mut Report) {
    let house = House::fresh(settings, model, "broadcast");
    let count = sockets::most(settings, SOCKETS);
    let mut ours = sockets::connected(house.address(), count);
    for socket in &mut ours {
        socket.resume((socket.last - 1).max(0));
    }
    let main = ours[0].main;
    // A message behind a turn that goes on is one event, and so one frame for each socket.
    let (_, frame) = reached_all(&mut ours, |client| client.say(main, "held"));
    let peer = Peer::start(settings);
    let mut theirs: Vec<_> = peer.iter().flat_map(|peer| sockets::connected(peer.address, count)).collect();
    let (mut our_times, mut their_times) = (Times::default(), Times::default());
    let warm = settings.times(WARM);
    for round in 0..warm + settings.times(ROUNDS) {
        let our_time = reached_all(&mut ours, |client| client.say(main, "told")).0;
        let their_time = peer.is_ok().then(|| reached_all(&mut theirs, |client| client.send(&frame)).0);
        if round >= warm {
            our_times.add(our_time);
            if let Some(time) = their_time {
                their_times.add(time);
            }
        }
    }
    let what = format!("one message told to {count} sockets: from its sending until the last one has it");
    match &peer {
        Ok(peer) => {
            let share = our_times.p50() / their_times.p50();
            let figure = format!("{}; `ws` {WS} of node {}: {}", our_times.words(), peer.node, their_times.words());
            report.goal(&what, &figure, share, "no slower than node's `ws`", &format!("{} that of `ws`", ratio(share)));
        }
        Err(why) => report.figure(&what, &format!("{}; node's `ws`: not measured: {why}", our_times.words())),
    }
    ours[0].stop(main);
}

/// The time from a message of the first socket until the last one has it, and the frame that tells
/// of it. The sockets are read one after the other: the time is this reader's as well.
fn reached_all(sockets: &mut [Client], say: impl FnOnce(&mut Client) -> Instant) -> (Duration, Utf8Bytes) {
    let began = say(&mut sockets[0]);
    let mut frame = Utf8Bytes::default();
    for socket in sockets {
        frame = socket.until_queued();
    }
    (began.elapsed(), frame)
}

/// The server of `ws`.
struct Peer {
    child: Child,
    address: SocketAddr,
    /// The version of node.
    node: String,
}

impl Peer {
    /// Brings `ws` by npm and starts the server, or says why not.
    fn start(settings: &Settings) -> Result<Self, &'static str> {
        if settings.quick {
            return Err("a trial brings nothing from elsewhere");
        }
        let node = output(Command::new("node").arg("--version")).ok_or("no node")?;
        let folder = settings.folder.join("peers");
        std::fs::create_dir_all(&folder).expect("a folder for the peer");
        // Beside its `node_modules`, where node looks for them.
        let script = folder.join("broadcast.mjs");
        std::fs::write(&script, SCRIPT).expect("the folder takes the script");
        let mut npm = Command::new("npm");
        npm.args(["install", "--ignore-scripts", "--no-audit", "--no-fund", "--prefix"]).arg(&folder).arg(format!("ws@{WS}"));
        output(&mut npm).ok_or("npm does not bring it")?;
        let mut server = Command::new("node");
        server.arg(&script).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = server.spawn().expect("node starts");
        let mut port = String::new();
        BufReader::new(child.stdout.take().expect("a pipe")).read_line(&mut port).expect("the peer says its port");
        let port: u16 = port.trim().parse().expect("a port");
        Ok(Self { child, address: SocketAddr::from(([127, 0, 0, 1], port)), node })
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        drop((self.child.kill(), self.child.wait()));
    }
}

/// The output of a program; `None` if it is not there or fails.
fn output(command: &mut Command) -> Option<String> {
    let told = command.stdin(Stdio::null()).output().ok().filter(|told| told.status.success())?;
    Some(String::from_utf8_lossy(&told.stdout).trim().to_owned())
}
