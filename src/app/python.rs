//! `level3 python`: builds the Python component by its recipe, or takes one, and puts it into the
//! data folder. Neither needs a running server.

use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use tokio::process::Command;

use crate::sandbox::{InstalledPython, PythonError};

/// The recipe, file by file (`capabilities/python`).
const RECIPE: [(&str, &str); 4] = [
    (BUILD, include_str!("../../capabilities/python/build.sh")),
    ("requirements.txt", include_str!("../../capabilities/python/requirements.txt")),
    ("python.wit", include_str!("../../capabilities/python/python.wit")),
    ("app.py", include_str!("../../capabilities/python/app.py")),
];
/// The part of it that is run.
const BUILD: &str = "build.sh";

/// Why Python was not installed; each says what to do.
#[derive(Debug, thiserror::Error)]
pub enum PythonSetupError {
    /// The component is refused.
    #[error(transparent)]
    Component(#[from] PythonError),
    /// A file cannot be used.
    #[error("{path} cannot be used; name a file that this user may read, or another folder with LEVEL3_DATA_DIR")]
    Path {
        /// The file or folder.
        path: PathBuf,
        /// The reason.
        source: io::Error,
    },
    /// The recipe cannot be run.
    #[error(
        "the recipe cannot be run: it needs bash; or take a component that was built elsewhere: level3 python install --file FILE"
    )]
    NoShell(#[source] io::Error),
    /// The recipe failed.
    #[error("Python was not built: the recipe's last words are above")]
    NotBuilt,
}

/// The folder of Python in a data folder.
pub fn folder(data: &Path) -> PathBuf {
    data.join("python")
}

/// Installs the component of a file, or one that is built now. Gives back what was done.
///
/// # Errors
/// [`PythonSetupError`]; what was installed before stays.
pub async fn install(data: &Path, file: Option<PathBuf>) -> Result<String, PythonSetupError> {
    let folder = folder(data);
    let component = match file {
        Some(path) => fs::read(&path).map_err(|source| PythonSetupError::Path { path, source })?,
        None => build(&folder).await?,
    };
    let InstalledPython { sha256, bytes } = InstalledPython::put(&folder, component).await?;
    Ok(format!(
        "Python is installed in {}: {bytes} bytes, sha256 {sha256}. A server that runs there uses it at once.",
        folder.display()
    ))
}

/// The installed Python, in a sentence.
///
/// # Errors
/// [`PythonSetupError`] if it is not there.
pub fn status(data: &Path) -> Result<String, PythonSetupError> {
    let InstalledPython { sha256, bytes } = InstalledPython::in_folder(&folder(data))?;
    Ok(format!("Python is installed in {}: {bytes} bytes, sha256 {sha256}.", folder(data).display()))
}

/// Runs the recipe in a folder that is removed again.
async fn build(folder: &Path) -> Result<Vec<u8>, PythonSetupError> {
    let work = folder.join(format!(".build-{}", std::process::id()));
    let unusable = |source| PythonSetupError::Path { path: work.clone(), source };
    DirBuilder::new().recursive(true).mode(0o700).create(&work).map_err(unusable)?;
    let built = async {
        for (name, text) in RECIPE {
            fs::write(work.join(name), text).map_err(unusable)?;
        }
        let out = std::path::absolute(work.join("python.wasm")).map_err(unusable)?;
        let ran = Command::new("bash").arg(work.join(BUILD)).arg(&out).stdin(Stdio::null()).status().await;
        if !ran.map_err(PythonSetupError::NoShell)?.success() {
            return Err(PythonSetupError::NotBuilt);
        }
        fs::read(&out).map_err(unusable)
    };
    let built = built.await;
    if let Err(error) = fs::remove_dir_all(&work) {
        tracing::warn!(folder = %work.display(), %error, "the folder of the recipe is left");
    }
    built
}
