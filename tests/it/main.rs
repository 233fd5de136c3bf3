//! The stories of the product, told against the real thing: Postgres, wasmtime, sockets. Only time, randomness and the model are ours.

mod support;

mod capabilities;
mod chat;
mod doors;
mod kill;
mod recovery;
mod sql;
mod tasks;
mod tour;
mod turns;
