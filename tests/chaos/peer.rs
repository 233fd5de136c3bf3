//! A peer outside the house. It writes each effect to the disk before it answers, so what it did is
//! known whatever dies when. `/keyed/…` honours `Idempotency-Key`: the same key again is the same
//! effect. `/plain/…` does not: whatever arrives is an effect.

use std::collections::{BTreeMap, HashSet};
use std::fs::File;
use std::io::Write;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, Uri};

pub struct Peer {
    pub address: SocketAddr,
    file: PathBuf,
}

struct Book {
    file: File,
    keys: HashSet<String>,
}

impl Peer {
    pub async fn start(folder: &Path) -> Self {
        let path = folder.join("effects-at-the-peer");
        let file = File::options().create(true).append(true).open(&path).unwrap();
        let book = Arc::new(Mutex::new(Book { file, keys: HashSet::new() }));
        let router = axum::Router::new().fallback(take).with_state(book);
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(async move { axum::serve(listener, router).await });
        Self { address, file: path }
    }

    /// How often each effect happened, by path, as the disk says.
    pub fn effects(&self) -> BTreeMap<String, i64> {
        let mut effects = BTreeMap::new();
        for line in std::fs::read_to_string(&self.file).unwrap().lines() {
            *effects.entry(line.to_owned()).or_default() += 1;
        }
        effects
    }
}

async fn take(State(book): State<Arc<Mutex<Book>>>, uri: Uri, headers: HeaderMap) -> StatusCode {
    let path = uri.path();
    let key = headers.get("idempotency-key").and_then(|key| key.to_str().ok()).unwrap_or_default();
    let mut book = book.lock().unwrap();
    if path.starts_with("/keyed/") && !book.keys.insert(key.to_owned()) {
        return StatusCode::OK;
    }
    writeln!(book.file, "{path}").unwrap();
    book.file.sync_data().unwrap();
    StatusCode::CREATED
}
