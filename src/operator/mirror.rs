//! Copies for a person to read: the sources of the scripts, and the global context. The originals
//! are in the database.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;

use serde_json::json;

use crate::domain::UPDATE_SCRIPT;
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
                "{}{}, to read. Editing it changes nothing: {UPDATE_SCRIPT} does, or the page.\n",
                head_of(&name),
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

/// The beginning of the copy of a script, up to its version.
fn head_of(name: &str) -> String {
    format!("// A copy of the script `{name}`, version ")
}

/// True for a copy that this module wrote. A person's own files lie in the same folder, and stay.
fn is_copy(path: &Path) -> bool {
    let name = path.extension().filter(|ending| *ending == "js").and(path.file_stem()).and_then(OsStr::to_str);
    name.filter(|_| path.is_file())
        .is_some_and(|name| fs::read(path).is_ok_and(|content| content.starts_with(head_of(name).as_bytes())))
}

fn write_all(folder: &Path, sources: &[(String, String)]) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    let there: HashSet<&str> = sources.iter().map(|(name, _)| name.as_str()).collect();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name();
        if name.to_str().is_some_and(|name| !there.contains(name)) && is_copy(&entry.path()) {
            fs::remove_file(entry.path())?;
        }
    }
    for (name, source) in sources {
        let file = folder.join(name);
        if file.symlink_metadata().is_ok() && !is_copy(&file) {
            tracing::warn!(file = %file.display(), "this file is no copy of the script of its name, so it stays as it is");
            continue;
        }
        whole_file::mirror(&file, source)?;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_copy_of_a_script_that_is_gone_goes_and_a_persons_own_files_stay() {
        let folder = tempfile::tempdir().unwrap();
        let copy = |name: &str| (format!("{name}.js"), head_of(name) + "1, to read.\nexport default () => 1;\n");
        write_all(folder.path(), &[copy("double"), copy("triple")]).unwrap();
        let own = ["mine.js", "renamed.js", "notes.txt"];
        for (name, text) in own.into_iter().zip(["export default () => 2;\n", copy("double").1.as_str(), "notes"]) {
            fs::write(folder.path().join(name), text).unwrap();
        }
        fs::create_dir(folder.path().join("folder.js")).unwrap();
        write_all(folder.path(), &[copy("triple")]).unwrap();
        let there = |name: &str| folder.path().join(name).exists();
        assert!(there("triple.js") && !there("double.js"));
        assert!(own.into_iter().all(there) && there("folder.js"));
    }

    #[test]
    fn a_persons_own_file_that_has_the_name_of_a_script_stays_as_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let copy = |name: &str, version: i32| (format!("{name}.js"), format!("{}{version}, to read.\n", head_of(name)));
        fs::write(folder.path().join("double.js"), "mine").unwrap();
        fs::create_dir(folder.path().join("triple.js")).unwrap();
        for version in [1, 2] {
            write_all(folder.path(), &[copy("double", version), copy("triple", version), copy("zip", version)]).unwrap();
        }
        let text = |name: &str| fs::read_to_string(folder.path().join(name)).unwrap();
        assert_eq!((text("double.js").as_str(), text("zip.js")), ("mine", copy("zip", 2).1), "and a copy is overwritten");
        assert!(folder.path().join("triple.js").is_dir());
    }
}
