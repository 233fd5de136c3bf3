//! The command `relay` as a person or another program runs it: its folder, its daemon, what it asks
//! the server and how it ends. The server is a small script where supervision is tried, and answers
//! that are written down where commands are; one story starts the real one.

mod answers;
mod bench;
mod commands;
mod daemon;
mod whatsapp;
