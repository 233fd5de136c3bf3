//! level3: a self-extending agent server. `ARCHITECTURE.md` has the map.

pub use level3_ground::{clock, config, domain, facts, failpoint, governor, memory, telemetry, whole_file, wire};
pub use level3_hands::{browser, channels, egress, lasting, mcp, model, postgres, sandbox, secrets, store};

pub mod agent;
pub mod app;
pub mod cli;
pub mod coach;
pub mod executor;
pub mod faces;
pub mod http;
pub mod operator;
pub mod profiles;
pub mod program;
pub mod replay;
pub mod runner;
pub mod tools;
