//! Memory of sockets that say nothing.

use std::net::SocketAddr;

use super::client::Client;
use super::house::House;
use super::report::Report;
use super::settings::Settings;
use super::times::milliseconds;

/// As many as are to be held; fewer if the machine lets a process open fewer files, of which the
/// server keeps more than half for other things.
const SOCKETS: usize = 5000;
const OF_FILES: (usize, usize) = (3, 8);
/// A client that comes back asks for so many events.
const MISSED: i64 = 20;

pub fn measure(house: &mut House, settings: &Settings, report: &mut Report) {
    house.restart();
    let count = most(settings, SOCKETS);
    let mut client = house.client();
    for _ in 0..settings.times(10) {
        client.turn(client.main, "simple");
    }
    // Memory that the first sockets take once is no part of a socket.
    drop(connected(house.address(), count / 10));
    settings.settle(5);
    let before = kilobytes(house);
    let mut opened = connected(house.address(), count);
    settings.settle(5);
    let each = (kilobytes(house) - before) / count as f64;
    report.goal("idle socket", &format!("{each:.1} KiB, of {count}"), each / 10.0, "10 KiB", "");
    for socket in &mut opened {
        socket.resume((socket.last - MISSED).max(0));
    }
    settings.settle(5);
    let each = (kilobytes(house) - before) / count as f64;
    report.goal("idle socket after a `resume`", &format!("{each:.1} KiB, of {count}"), each / 12.0, "12 KiB", "");
    let told = tell(house, &mut opened);
    report.figure(&format!("one turn told to {count} sockets: from its message until the last one has its end"), &told);
    drop(opened);
    settings.settle(10);
    let kept = (kilobytes(house) - before) / count as f64;
    report.goal("left of each socket when all are closed", &format!("{kept:.1} KiB"), kept / 0.5, "nothing (under 0.5 KiB)", "");
}

/// A turn in the conversation that all of them follow. One after the other reads what has come for
/// it: the time is this reader's as well.
fn tell(house: &House, sockets: &mut [Client]) -> String {
    let mut client = house.client();
    let began = client.turn(client.main, "simple").began();
    for socket in sockets {
        socket.until_completed();
    }
    milliseconds(began.elapsed().as_secs_f64() * 1e3)
}

/// So many sockets as are wanted, or as the machine allows.
pub fn most(settings: &Settings, wanted: usize) -> usize {
    if settings.quick { 20 } else { wanted.min(files() / OF_FILES.1 * OF_FILES.0) }
}

/// How many files this process may open. The soft limit, low for the sake of old programs, is
/// raised to the hard one.
fn files() -> usize {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: both calls work on the struct given, which lives until they return.
    let raised = unsafe {
        libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit);
        let raised = libc::rlimit { rlim_cur: limit.rlim_max, ..limit };
        libc::setrlimit(libc::RLIMIT_NOFILE, &raw const raised) == 0
    };
    usize::try_from(if raised { limit.rlim_max } else { limit.rlim_cur }).unwrap_or(usize::MAX)
}

/// So many clients of a server.
pub fn connected(address: SocketAddr, count: usize) -> Vec<Client> {
    (0..count).map(|_| Client::connect(address)).collect()
}

fn kilobytes(house: &House) -> f64 {
    house.memory().resident * 1024.0
}
