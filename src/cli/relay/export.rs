//! `relay export`: instances, transcripts and settings as JSON files. They hold no secret, and what
//! contacts said: only the user may read them.

use std::collections::BTreeMap;
use std::fs::{DirBuilder, OpenOptions};
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use clap::Args;
use serde::Serialize;
use serde_json::json;

use super::home::RelayHome;
use super::told::ToldExport;
use super::{RelayCliError, RelayClient, instances};
use crate::cli::Screen;

/// The instances to export, and where to.
#[derive(Debug, Args)]
pub(super) struct ExportCommand {
    /// The instance; without it, all of them
    #[arg(value_parser = instances::id)]
    id: Option<i64>,
    /// The folder to make; nothing in it is overwritten
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
}

pub(super) async fn run(
    ask: &ExportCommand,
    home: &RelayHome,
    client: &RelayClient,
    screen: &mut Screen<'_>,
) -> Result<(), RelayCliError> {
    let query: Vec<_> = ask.id.map(|id| ("instance", id.to_string())).into_iter().collect();
    let export = client.get::<ToldExport>(&["export"], &query).await?.said;
    let mut files = BTreeMap::from([
        ("instances.json".to_owned(), content(&export.instances)),
        ("config.json".to_owned(), content(&json!({ "config": home.config()?, "settings": export.settings }))),
    ]);
    for (id, messages) in &export.transcripts {
        // It becomes the name of a file, so nothing else may stand in it.
        if id.is_empty() || !id.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(RelayCliError::Refused(format!("the server sent a transcript of `{id}`, which is no instance")));
        }
        files.insert(format!("transcripts/{id}.json"), content(messages));
    }
    // Looked at first, so that a refusal leaves nothing half written.
    if let Some(there) = files.keys().map(|name| ask.out.join(name)).find(|file| file.exists()) {
        let told = format!("out: {} is there already; name another folder, like --out ./relay-export", there.display());
        return Err(RelayCliError::Usage(told));
    }
    make(&ask.out.join("transcripts"))?;
    for (name, bytes) in &files {
        write(&ask.out.join(name), bytes)?;
    }
    let names: Vec<_> = files.keys().collect();
    if !screen.json(&json!({ "out": ask.out, "files": names, "instances": export.instances.len() }))? {
        let count = export.instances.len();
        let instances = if count == 1 { "1 instance".to_owned() } else { format!("{count} instances") };
        screen.line(format!("Wrote {instances} into {}.", ask.out.display()))?;
    }
    Ok(())
}

fn content(value: &impl Serialize) -> Vec<u8> {
    let mut text = serde_json::to_vec_pretty(value).expect("what the server sent is JSON");
    text.push(b'\n');
    text
}

fn make(folder: &Path) -> Result<(), RelayCliError> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(RelayCliError::file(folder))
}

fn write(file: &Path, bytes: &[u8]) -> Result<(), RelayCliError> {
    let opened = OpenOptions::new().write(true).create_new(true).mode(0o600).open(file);
    opened.and_then(|mut opened| opened.write_all(bytes)).map_err(RelayCliError::file(file))
}
