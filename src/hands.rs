//! The memory and the hands of level3, floors F2 and F3: `ARCHITECTURE.md` has the map.

pub use level3_ground::{clock, config, domain, facts, failpoint, governor, memory, telemetry, whole_file, wire};

pub mod browser;
pub mod channels;
pub mod egress;
pub mod lasting;
pub mod mcp;
pub mod model;
pub mod postgres;
pub mod sandbox;
pub mod secrets;
pub mod store;
