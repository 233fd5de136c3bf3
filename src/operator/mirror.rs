//! Copies for a person to read: the sources of the scripts, and the global context. The originals are in the database.

use std::collections::HashSet;
use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;

use serde_json::json;

use crate::domain::operator::GlobalContext;
use crate::store::{Store, StoreError};
use crate::whole_file;

/// The folder of the scripts.
const SCRIPTS: &str = "scripts";
/// The file of the global context.
const CONTEXT: &str = "global_context.json";

/// Writes the source of each live script, and removes the files of those that are gone.
pub(super) async fn scripts(store: &Store, home: &Path) -> Result<(), StoreError> {
    let catalogue = store.catalogue(None).await?;
    let names: Vec<String> = catalogue.capabilities().map(|listed| listed.summary.name.clone()).collect();
    let mut sources = Vec::new();
    for name in names {
        if let Some(live) = catalogue.live(store, &name).await? {
            let head = format!(
                "// A copy of the script `{name}`, version {}, to read. Editing it changes nothing: update_script does, or the page.\n",
                live.version
            );
            sources.push((format!("{name}.js"), head + &live.source));
        }
    }
    if let Err(error) = write_all(&home.join(SCRIPTS), &sources) {
        tracing::warn!(%error, folder = %home.join(SCRIPTS).display(), "the copies of the scripts cannot be written");
    }
    Ok(())
}

fn write_all(folder: &Path, sources: &[(String, String)]) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    let there: HashSet<&str> = sources.iter().map(|(name, _)| name.as_str()).collect();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name();
        if name.to_str().is_some_and(|name| name.ends_with(".js") && !there.contains(name)) {
            fs::remove_file(entry.path())?;
        }
    }
    for (name, source) in sources {
        whole_file::mirror(&folder.join(name), source)?;
    }
    Ok(())
}

/// Writes the global context.
pub(super) fn context(context: &GlobalContext, home: &Path) {
    let text = serde_json::to_string_pretty(&json!({ "version": context.version, "document": context.document }));
    if let Err(error) = whole_file::mirror(&home.join(CONTEXT), &(text.unwrap_or_default() + "\n")) {
        tracing::warn!(%error, "the copy of the global context cannot be written");
    }
}
