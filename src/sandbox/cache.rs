//! An engine as native code, kept in a file: compiling JavaScript's takes about a second and
//! Python's many, mapping the file well under a millisecond. The file is executed, so the program
//! believes it only if it is this user's alone and has the sha256 that is written beside it;
//! otherwise the engine is compiled anew. Losing the file costs that time, nothing more.

use std::collections::hash_map::DefaultHasher;
use std::fs::{self, DirBuilder, Permissions};
use std::hash::{Hash, Hasher};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};
use wasmtime::component::Component;
use wasmtime::{Engine, Module};

use super::SandboxError;

use crate::whole_file;

/// Code that is compiled and kept.
pub(super) trait Native: Sized {
    /// The first word of its files' names.
    const NAME: &str;

    /// Its native code.
    fn bytes(&self) -> wasmtime::Result<Vec<u8>>;

    /// The same out of a file.
    ///
    /// # Safety
    /// The file has to be what [`Native::bytes`] gave.
    unsafe fn mapped(engine: &Engine, file: &Path) -> wasmtime::Result<Self>;
}

impl Native for Module {
    const NAME: &str = "engine";

    fn bytes(&self) -> wasmtime::Result<Vec<u8>> {
        self.serialize()
    }

    unsafe fn mapped(engine: &Engine, file: &Path) -> wasmtime::Result<Self> {
        // SAFETY: as the caller says.
        unsafe { Self::deserialize_file(engine, file) }
    }
}

impl Native for Component {
    const NAME: &str = "python";

    fn bytes(&self) -> wasmtime::Result<Vec<u8>> {
        self.serialize()
    }

    unsafe fn mapped(engine: &Engine, file: &Path) -> wasmtime::Result<Self> {
        // SAFETY: as the caller says.
        unsafe { Self::deserialize_file(engine, file) }
    }
}

/// Gives `wasm` as native code for `engine`, out of the folder if it is there.
pub(super) fn load_or_compile(engine: &Engine, wasm: &[u8], folder: &Path) -> Result<Module, SandboxError> {
    let sum = hex::encode(Sha256::digest(wasm));
    load_or_make(engine, &sum, folder, || Module::new(engine, wasm).map_err(SandboxError::Engine))
}

/// Gives the code of this sha256 as native code for `engine`, out of the folder if it is there,
/// else made and put there.
pub(super) fn load_or_make<T: Native, E>(
    engine: &Engine,
    sha256: &str,
    folder: &Path,
    make: impl FnOnce() -> Result<T, E>,
) -> Result<T, E> {
    let file = folder.join(format!("{}-{}.cwasm", T::NAME, key(engine, sha256)));
    if let Some(native) = load(engine, &file) {
        return Ok(native);
    }
    let made = make()?;
    let kept = made.bytes().map_err(io::Error::other).and_then(|native| keep(folder, T::NAME, &file, &native));
    if let Err(error) = kept {
        tracing::warn!(folder = %folder.display(), %error, "compiled engine not kept; the next start compiles it again");
        return Ok(made);
    }
    // Mapped from the file its pages can be dropped and read again; compiled in memory they would
    // stay.
    let mapped = load(engine, &file).unwrap_or(made);
    crate::memory::give_back();
    Ok(mapped)
}

/// The file's name, which differs if one program could not run the native code of the other.
fn key(engine: &Engine, sha256: &str) -> String {
    let mut compatibility = DefaultHasher::new();
    engine.precompile_compatibility_hash().hash(&mut compatibility);
    format!("{}-{:016x}", &sha256[..16], compatibility.finish())
}

fn load<T: Native>(engine: &Engine, file: &Path) -> Option<T> {
    match believable(file) {
        Ok(true) => {}
        Ok(false) => {
            tracing::warn!(file = %file.display(), "compiled engine is damaged or not ours alone; it is compiled again");
            return None;
        }
        Err(_) => return None,
    }
    // SAFETY: the file is what `keep` wrote: only this user may write to it or its folder, and its
    // sha256 is the one written with it. wasmtime refuses native code of another version or other
    // settings by itself.
    match unsafe { T::mapped(engine, file) } {
        Ok(native) => Some(native),
        Err(error) => {
            tracing::warn!(file = %file.display(), %error, "compiled engine refused; it is compiled again");
            None
        }
    }
}

fn believable(file: &Path) -> io::Result<bool> {
    let folder = file.parent().unwrap_or(Path::new("."));
    let ours = is_ours_alone(&fs::symlink_metadata(file)?) && is_ours_alone(&fs::metadata(folder)?);
    let sum = fs::read_to_string(sum_of(file))?;
    Ok(ours && hex::encode(Sha256::digest(fs::read(file)?)) == sum)
}

fn is_ours_alone(metadata: &fs::Metadata) -> bool {
    // SAFETY: geteuid has no preconditions and cannot fail.
    let us = unsafe { libc::geteuid() };
    !metadata.is_symlink() && metadata.uid() == us && metadata.mode() & 0o022 == 0
}

fn sum_of(file: &Path) -> PathBuf {
    file.with_extension("cwasm.sha256")
}

/// Writes the file and its sum, each in one step, and removes those of other versions.
fn keep(folder: &Path, name: &str, file: &Path, native: &[u8]) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    fs::set_permissions(folder, Permissions::from_mode(0o700))?;
    for entry in fs::read_dir(folder)?.flatten() {
        let stale = entry.file_name().to_string_lossy().starts_with(&format!("{name}-"));
        if stale && entry.path() != file && entry.path() != sum_of(file) {
            let _ = fs::remove_file(entry.path()); // another start may do the same
        }
    }
    whole_file::write(file, native)?;
    whole_file::write(&sum_of(file), hex::encode(Sha256::digest(native)).as_bytes())
}

#[cfg(test)]
mod tests;
