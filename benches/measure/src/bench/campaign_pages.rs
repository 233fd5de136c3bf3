//! Touches of pages in Chromium, beside a bare round trip to it.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Instant;

use serde_json::json;
use tungstenite::Message;

use super::campaigns::{Outreach, calls};
use super::house::House;
use super::model::Model;
use super::postgres::Postgres;
use super::report::Report;
use super::settings::Settings;
use super::times::Times;

const PAGE: &str = "<!doctype html><title>Ada</title><h1>Ada Lovelace</h1><p>Engineer in London</p><label>Message <textarea></textarea></label>\
                    <button type=\"button\">Look</button>";
/// Rounds of reading, typing, clicking and picturing.
const ROUNDS: usize = 40;

pub fn measure(model: &Model, settings: &Settings, report: &mut Report) {
    let Some(chromium) = Chromium::start(&settings.folder.join("chromium")) else {
        report.row("campaigns", &["touches of pages", "not measured: Chromium cannot be started, 0 rounds"]);
        return;
    };
    report.row(
        "campaigns",
        &["bare round trip to Chromium, `Browser.getVersion`", &chromium.round_trips(settings.times(200)).words()],
    );
    let site = site();
    let house = House::with(settings, model, "campaign-pages", &[("LEVEL3_BROWSER", &chromium.socket)]);
    let hosts = json!({"hosts": [site.to_string()]}).to_string();
    let campaign = Outreach::make(&house, 1, &[("environment", "environment", &hosts)]);
    let rounds = settings.times(ROUNDS);
    campaign.allow("interact", 1 + 2 * rounds);
    campaign.allow("persist", rounds);
    campaign.post("start", &json!({}));
    let does = |tool: &str, arguments: serde_json::Value| ("execute_tool", json!({"tool": tool, "arguments": arguments}));
    let mut proposals = vec![does("browser_open", json!({"address": format!("http://{site}/")}))];
    for n in 0..rounds {
        proposals.extend([
            does("browser_read", json!({})),
            does("browser_type", json!({"node": 1, "text": format!("Good day, {n}")})),
            does("browser_click", json!({"node": 2})),
            does("browser_screenshot", json!({"key": format!("page-{n}")})),
        ]);
    }
    campaign.play(proposals);
    let mut postgres = Postgres::open(&house.data, "level3");
    for (tool, settles) in [
        ("read", ""),
        ("type", ", 400 ms of it to see if the page goes on"),
        ("click", ", 400 ms of it the same"),
        ("screenshot", ""),
    ] {
        let took = Times::of_micros(&calls(&mut postgres, campaign.id, &format!("browser_{tool}")));
        report.row("campaigns", &[&format!("call of `browser_{tool}`"), &format!("{}{settles}", took.words())]);
    }
}

/// A site of one page, a thread for each connection.
fn site() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            std::thread::spawn(move || {
                let mut request = [0; 4096];
                drop(stream.read(&mut request));
                let head = "HTTP/1.1 200 OK\r\ncontent-type: text/html\r\nconnection: close\r\n";
                drop(stream.write_all(format!("{head}content-length: {}\r\n\r\n{PAGE}", PAGE.len()).as_bytes()));
            });
        }
    });
    address
}

/// A browser as a person starts it; it ends when it is dropped.
struct Chromium {
    child: Child,
    socket: String,
}

impl Chromium {
    fn start(profile: &Path) -> Option<Self> {
        let mut command = Command::new("chromium");
        command.args(["--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-dev-shm-usage"]);
        command.args([
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            "--remote-debugging-port=0",
        ]);
        command.arg(format!("--user-data-dir={}", profile.display())).arg("about:blank");
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().ok()?;
        let mut lines = BufReader::new(child.stderr.take().expect("a pipe")).lines().map_while(Result::ok);
        let socket = lines.find_map(|line| Some(line.split_once("DevTools listening on ")?.1.trim().to_owned()))?;
        // A full pipe would hold it up.
        std::thread::spawn(move || lines.for_each(drop));
        Some(Self { child, socket })
    }

    /// A command that does nothing, there and back.
    fn round_trips(&self, count: usize) -> Times {
        let place = self.socket.strip_prefix("ws://").and_then(|rest| rest.split('/').next()).expect("an address");
        let stream = TcpStream::connect(place).expect("it listens");
        stream.set_nodelay(true).expect("a socket");
        let (mut socket, _) = tungstenite::client(self.socket.as_str(), stream).expect("a websocket");
        let mut times = Times::default();
        for id in 0..=count {
            let began = Instant::now();
            socket.send(Message::text(json!({"id": id, "method": "Browser.getVersion"}).to_string())).expect("sent");
            socket.read().expect("it answers");
            // The first is warmer than none.
            if id > 0 {
                times.add(began.elapsed());
            }
        }
        times
    }
}

impl Drop for Chromium {
    fn drop(&mut self) {
        drop((self.child.kill(), self.child.wait()));
    }
}
