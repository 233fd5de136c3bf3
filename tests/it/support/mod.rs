//! The test application and what stands around it.

pub mod api;
mod app;
mod client;
mod cluster;
mod peer;
mod process;
mod script;

pub use app::TestApp;
pub use client::{Client, kinds, of_type, results};
pub use cluster::cluster;
pub use peer::Peer;
pub use process::{ModelServer, Server};
pub use script::{Reply, call, calls, text};
