//! The words and the ground of level3, floors F0 and F1: `ARCHITECTURE.md` has the map.

pub mod clock;
pub mod config;
pub mod domain;
pub mod facts;
pub mod failpoint;
pub mod governor;
pub mod memory;
pub mod telemetry;
pub mod whole_file;
pub mod wire;
