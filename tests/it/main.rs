//! The stories of the product, told against the real thing: Postgres, wasmtime, sockets. Only time, randomness and the model are ours.

#![allow(clippy::disallowed_methods, reason = "tests read PATH themselves")]

#[allow(dead_code, reason = "shared with the other test binary, which uses the rest")]
mod support;

mod approvals;
mod attacks;
mod capabilities;
mod chat;
mod doors;
mod kill;
mod powers;
mod recovery;
mod sql;
mod tasks;
mod tour;
mod turns;
