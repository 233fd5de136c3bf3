//! Memory of sockets that say nothing.

use super::client::Client;
use super::house::House;
use super::report::Report;
use super::settings::Settings;

const SOCKETS: usize = 500;
/// A client that comes back asks for so many events.
const MISSED: i64 = 20;

pub fn measure(house: &mut House, settings: &Settings, report: &mut Report) {
    house.restart();
    let count = if settings.quick { 20 } else { SOCKETS };
    let mut client = house.client();
    for _ in 0..settings.times(10) {
        client.turn(client.main, "simple");
    }
    // Memory that the first sockets take once is no part of a socket.
    drop(sockets(house, count / 10));
    settings.settle(5);
    let before = kilobytes(house);
    let mut opened = sockets(house, count);
    settings.settle(5);
    let each = (kilobytes(house) - before) / count as f64;
    report.goal("idle socket", &format!("{each:.1} KiB, of {count}"), each / 10.0, "10 KiB", "");
    for socket in &mut opened {
        socket.resume((socket.last - MISSED).max(0));
    }
    settings.settle(5);
    let each = (kilobytes(house) - before) / count as f64;
    report.goal("idle socket after a `resume`", &format!("{each:.1} KiB, of {count}"), each / 12.0, "12 KiB", "");
    drop(opened);
    settings.settle(10);
    let kept = (kilobytes(house) - before) / count as f64;
    report.row("goals", &["left of each socket when all are closed", &format!("{kept:.1} KiB"), "nothing", ""]);
}

fn sockets(house: &House, count: usize) -> Vec<Client> {
    (0..count).map(|_| house.client()).collect()
}

fn kilobytes(house: &House) -> f64 {
    house.memory().0 * 1024.0
}
