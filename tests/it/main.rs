//! The stories of the product, told against the real thing: Postgres, wasmtime, sockets. Only time,
//! randomness and the model are ours.

#![allow(clippy::disallowed_methods, reason = "tests read PATH themselves")]

#[path = "../evals/suite/mod.rs"]
#[allow(dead_code, reason = "shared with the other test binary, which uses the rest")]
mod suite;
#[allow(dead_code, reason = "shared with the other test binary, which uses the rest")]
mod support;

mod activity;
mod announced;
mod api;
mod approvals;
mod attacks;
mod backup;
mod benchmark;
mod bounds;
mod branches;
mod campaigns;
mod capabilities;
mod chat;
mod cli;
mod closing;
mod context;
mod conversations;
mod cost;
mod doors;
mod embedded_postgres;
mod emptied;
mod evals;
mod fence;
mod fence_attacks;
mod grown;
mod host_sql;
mod images;
mod kill;
mod known_messages;
mod law;
mod limits;
mod logins;
mod many_tools;
mod mcp;
mod mcp_bridge;
mod mcp_conformance;
mod mcp_misread;
mod mcp_tools;
mod metrics;
mod migrations;
mod model_faults;
mod models;
mod old_client;
mod old_data;
mod openai_sdk;
mod operations;
mod operator;
mod plans;
mod plans_inside;
mod powers;
mod profiles;
mod public_name;
mod recovery;
mod relay;
mod replay;
mod reworded;
mod sealed;
mod sealed_served;
mod secrets;
mod servers;
mod shipped;
mod shutdown;
mod site;
mod speech;
mod sql;
mod sql_guard;
mod sql_left_behind;
mod start;
mod states;
mod steering;
mod stop;
mod talked_over;
mod tasks;
mod todo;
mod told;
mod tour;
mod truth;
mod turn_log;
mod turns;
mod undo;
mod undo_crash;
mod users;
mod v1;
mod v1_images;
mod vapi;
mod voice;
mod wake_ups;
mod walk;
