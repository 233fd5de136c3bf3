//! Something that is announced to many listeners. They share it, and the JSON of its frame: the
//! first socket that shows it writes it, and all others send the same bytes.

use std::ops::Deref;
use std::sync::{Arc, OnceLock};

use hyper::body::Bytes;
use serde::Serialize;

use crate::facts::EventRecord;
use crate::wire::ServerFrame;

/// Something announced. Cheap to clone, however large it is.
#[derive(Clone, Debug)]
pub struct Announced<T>(Arc<Shared<T>>);

#[derive(Debug)]
struct Shared<T> {
    it: T,
    /// The JSON of its frame, once a listener has asked for it; `None` in it if it has no frame.
    json: OnceLock<Option<Bytes>>,
}

impl<T> Announced<T> {
    /// Wraps it, before anybody hears of it.
    pub fn new(it: T) -> Self {
        Self(Arc::new(Shared { it, json: OnceLock::new() }))
    }

    /// The JSON, which `write` makes if nobody asked before.
    fn written(&self, write: impl FnOnce(&T) -> Option<String>) -> Option<Bytes> {
        self.0.json.get_or_init(|| write(&self.0.it).map(Bytes::from)).clone()
    }
}

impl<T> Deref for Announced<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0.it
    }
}

impl Announced<EventRecord> {
    /// The JSON of the frame that shows the event; `None` for an event that no client sees.
    pub fn frame_json(&self) -> Option<Bytes> {
        self.written(|record| record.frame().as_ref().map(json))
    }
}

impl Announced<ServerFrame> {
    /// The JSON of the frame.
    pub fn frame_json(&self) -> Option<Bytes> {
        self.written(|frame| Some(json(frame)))
    }
}

fn json(frame: &impl Serialize) -> String {
    serde_json::to_string(frame).expect("frames are plain data")
}
