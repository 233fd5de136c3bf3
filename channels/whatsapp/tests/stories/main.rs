//! Stories of the real program against a WhatsApp server of our own: nothing in here reaches the
//! network.

#![expect(
    clippy::disallowed_methods,
    reason = "programs of their own are looked at again and again: nothing tells what they have come to"
)]

mod contact;
mod ends;
mod first;
mod http;
mod joint;
mod kinds;
mod measure;
mod mock;
mod pairing;
mod program;
mod survival;
