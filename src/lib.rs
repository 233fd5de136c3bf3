//! level3: a self-extending agent server. `ARCHITECTURE.md` has the map.

pub mod agent;
pub mod app;
pub mod cli;
pub mod clock;
pub mod config;
pub mod domain;
pub mod egress;
pub mod facts;
pub mod failpoint;
pub mod governor;
pub mod http;
pub mod lasting;
pub mod mcp;
pub mod memory;
pub mod model;
pub mod postgres;
pub mod profiles;
pub mod program;
pub mod replay;
pub mod runner;
pub mod sandbox;
pub mod secrets;
pub mod store;
pub mod telemetry;
pub mod tools;
pub mod wire;
