//! Notes which rules of `coach` and `model::rescue` helped the model: each tells it at debug level.

use std::collections::BTreeSet;
use std::sync::Mutex;

use tracing::field::{Field, Visit};
use tracing::{Event, Metadata, Subscriber};
use tracing_subscriber::layer::{Context, Layer, SubscriberExt};

/// The rules that helped since they were last taken.
static HELPED: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());

struct Notes;

impl<S: Subscriber> Layer<S> for Notes {
    fn enabled(&self, metadata: &Metadata<'_>, _: Context<'_, S>) -> bool {
        metadata.target() == "level3::help"
    }

    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        event.record(&mut Self);
    }
}

impl Visit for Notes {
    fn record_str(&mut self, field: &Field, value: &str) {
        if field.name() == "rule" {
            HELPED.lock().unwrap().insert(value.to_owned());
        }
    }

    fn record_debug(&mut self, _: &Field, _: &dyn std::fmt::Debug) {}
}

/// Begins to note.
pub fn listen() {
    tracing::subscriber::set_global_default(tracing_subscriber::registry().with(Notes)).expect("nobody else listens");
}

/// The rules that helped since the last call, in order.
pub fn take() -> Vec<String> {
    std::mem::take(&mut *HELPED.lock().unwrap()).into_iter().collect()
}
