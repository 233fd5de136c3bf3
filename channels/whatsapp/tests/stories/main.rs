//! Stories of the real program against a WhatsApp server of our own: nothing in here reaches the network.

mod contact;
mod ends;
mod first;
mod http;
mod joint;
mod kinds;
mod measure;
mod mock;
mod program;
mod survival;
