//! level3: a self-extending agent server. `ARCHITECTURE.md` has the map.

pub mod clock;
pub mod config;
pub mod domain;
pub mod governor;
pub mod model;
pub mod sandbox;
pub mod wire;
