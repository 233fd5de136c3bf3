//! level3 itself in a story: its real binaries with this program as their channel, the mock server
//! behind it, a scripted model, and a person at a terminal. `./run.sh test-channels` builds the
//! binaries and names their folder in `LEVEL3_PROGRAMS`.

mod model;
mod operator;
mod relay;
mod terminal;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::mock::Mock;

/// A binary of level3.
fn binary(name: &str) -> PathBuf {
    let folder = std::env::var_os("LEVEL3_PROGRAMS").expect(
        "LEVEL3_PROGRAMS names no folder with the programs level3 and relay: `./run.sh test-channels` builds them and says where",
    );
    let path = Path::new(&folder).join(name);
    assert!(path.is_file(), "{} is not there: `./run.sh test-channels` builds it", path.display());
    path
}

/// A port that nobody has.
fn free_address() -> String {
    std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string()
}

/// A script that stands for a program.
fn script(path: PathBuf, body: &str) -> PathBuf {
    fs::write(&path, format!("#!/bin/sh\n{body}\n")).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    path
}

/// The program, sent to the mock server: level3 starts it without any environment of its own.
fn program(folder: &Path, mock: &Mock) -> PathBuf {
    let (url, real) = (mock.url(), env!("CARGO_BIN_EXE_level3-whatsapp"));
    script(folder.join("level3-whatsapp"), &format!("LEVEL3_WHATSAPP_SERVER='{url}' exec '{real}' \"$@\""))
}

/// Kills the program that works in this folder at once.
fn kill_program(folder: &Path) {
    let here = |process: &PathBuf| {
        let leads = |name: &str| fs::read_link(process.join(name)).unwrap_or_default();
        leads("cwd") == folder && leads("exe") == Path::new(env!("CARGO_BIN_EXE_level3-whatsapp"))
    };
    let mut processes = fs::read_dir("/proc").unwrap().map(|entry| entry.unwrap().path());
    let process = processes.find(here).expect("the program runs");
    let killed = Command::new("kill").arg("-9").arg(process.file_name().unwrap()).status().unwrap();
    assert!(killed.success());
}
