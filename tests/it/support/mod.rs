//! The test application and the tools around it.

use level3::egress::Resolve;

pub mod api;
mod app;
mod chance;
mod chromium;
mod client;
mod cluster;
mod counted;
mod databases;
#[path = "../../../src/egress/tests/name_server.rs"]
mod name_server;
mod patience;
mod peer;
pub mod people;
mod permit;
mod ports;
mod process;
pub mod proposer;
pub mod raw;
mod script;
mod stranger;
mod tasks;

pub use app::{TestApp, patient};
pub use chance::Chance;
pub use chromium::Chromium;
pub use client::{Client, kinds, of_type, results};
pub use cluster::{cluster, share_engine};
pub use counted::{Counted, Sent};
pub use name_server::{AsksAnew, NameServer};
pub use patience::{PATIENCE, in_time};
pub use peer::Peer;
pub use permit::permit;
pub use ports::reserved_port;
pub use process::{ModelServer, Server, administrator, asks_for};
pub use script::{Reply, Script, call, calls, text};
pub use stranger::{Behaves, Stranger, adds};
pub use tasks::make_tasks;
