//! The JavaScript engine as native code, kept in a file: compiling it takes about a second, mapping
//! the file well under a millisecond. The file is executed, so the program believes it only if it
//! is this user's alone and has the sha256 that is written beside it; otherwise the engine is
//! compiled anew. Losing the file costs that second, nothing more.

use std::collections::hash_map::DefaultHasher;
use std::fs::{self, DirBuilder, OpenOptions, Permissions};
use std::hash::{Hash, Hasher};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use sha2::{Digest, Sha256};
use wasmtime::{Engine, Module};

use super::SandboxError;

/// Gives `wasm` as native code for `engine`, out of the folder if it is there.
pub(super) fn load_or_compile(engine: &Engine, wasm: &[u8], folder: &Path) -> Result<Module, SandboxError> {
    let file = folder.join(format!("engine-{}.cwasm", key(engine, wasm)));
    if let Some(module) = load(engine, &file) {
        return Ok(module);
    }
    let module = Module::new(engine, wasm).map_err(SandboxError::Engine)?;
    let kept = module.serialize().map_err(io::Error::other).and_then(|native| keep(folder, &file, &native));
    if let Err(error) = kept {
        tracing::warn!(folder = %folder.display(), %error, "compiled engine not kept; the next start compiles it again");
        return Ok(module);
    }
    // Mapped from the file its pages can be dropped and read again; compiled in memory they would
    // stay.
    let module = load(engine, &file).unwrap_or(module);
    crate::memory::give_back();
    Ok(module)
}

/// The file's name, which differs if one program could not run the native code of the other.
fn key(engine: &Engine, wasm: &[u8]) -> String {
    let mut compatibility = DefaultHasher::new();
    engine.precompile_compatibility_hash().hash(&mut compatibility);
    format!("{}-{:016x}", hex::encode(&Sha256::digest(wasm)[..8]), compatibility.finish())
}

fn load(engine: &Engine, file: &Path) -> Option<Module> {
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
    match unsafe { Module::deserialize_file(engine, file) } {
        Ok(module) => Some(module),
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
fn keep(folder: &Path, file: &Path, native: &[u8]) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    fs::set_permissions(folder, Permissions::from_mode(0o700))?;
    for entry in fs::read_dir(folder)?.flatten() {
        let stale = entry.file_name().to_string_lossy().starts_with("engine-");
        if stale && entry.path() != file && entry.path() != sum_of(file) {
            let _ = fs::remove_file(entry.path()); // another start may do the same
        }
    }
    write(file, native)?;
    write(&sum_of(file), hex::encode(Sha256::digest(native)).as_bytes())
}

fn write(file: &Path, bytes: &[u8]) -> io::Result<()> {
    static WRITTEN: AtomicU32 = AtomicU32::new(0);
    let number = WRITTEN.fetch_add(1, Ordering::Relaxed);
    let temporary = file.with_file_name(format!(".new-{}-{number}", std::process::id()));
    let _ = fs::remove_file(&temporary); // of a process with this number that was killed here
    let mut open = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&temporary)?;
    open.write_all(bytes)?;
    open.sync_all()?;
    fs::rename(&temporary, file)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::SystemTime;

    /// `(module (func (export "f")))`
    const WASM: &[u8] = b"\0asm\x01\0\0\0\x01\x04\x01\x60\0\0\x03\x02\x01\0\x07\x05\x01\x01f\0\0\x0a\x04\x01\x02\0\x0b";

    fn files(folder: &Path) -> (PathBuf, PathBuf) {
        let file = fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .find(|path| path.extension().is_some_and(|extension| extension == "cwasm"))
            .unwrap();
        let sum = sum_of(&file);
        (file, sum)
    }

    fn written(file: &Path) -> SystemTime {
        fs::metadata(file).unwrap().modified().unwrap()
    }

    /// Opens a fresh cache, spoils it, opens it again, and says whether the file was written anew.
    fn is_healed_after(spoil: impl FnOnce(&Path)) -> bool {
        let (engine, folder) = (Engine::default(), tempfile::tempdir().unwrap());
        let cache = folder.path().join("cache");
        load_or_compile(&engine, WASM, &cache).unwrap();
        let (file, _) = files(&cache);
        fs::File::options().write(true).open(&file).unwrap().set_modified(SystemTime::UNIX_EPOCH).unwrap();
        spoil(&file);
        load_or_compile(&engine, WASM, &cache).unwrap();
        assert!(believable(&files(&cache).0).unwrap());
        written(&files(&cache).0) != SystemTime::UNIX_EPOCH
    }

    #[test]
    fn a_compiled_engine_is_kept_for_its_owner_alone_and_used_again() {
        let folder = tempfile::tempdir().unwrap();
        let cache = folder.path().join("a/cache");
        load_or_compile(&Engine::default(), WASM, &cache).unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().mode() & 0o777;
        assert_eq!((mode(&cache), mode(&files(&cache).0)), (0o700, 0o600));
        assert!(!is_healed_after(|_| ()));
    }

    #[test]
    fn a_damaged_compiled_engine_is_compiled_again() {
        assert!(is_healed_after(|file| {
            let mut bytes = fs::read(file).unwrap();
            let middle = bytes.len() / 2;
            bytes[middle] ^= 1;
            fs::write(file, bytes).unwrap();
        }));
        assert!(is_healed_after(|file| fs::write(file, b"").unwrap()));
        assert!(is_healed_after(|file| fs::remove_file(sum_of(file)).unwrap()));
    }

    #[test]
    fn a_compiled_engine_that_others_could_have_written_is_compiled_again() {
        assert!(is_healed_after(|file| fs::set_permissions(file, Permissions::from_mode(0o666)).unwrap()));
        assert!(is_healed_after(|file| {
            let elsewhere = file.with_extension("elsewhere");
            fs::rename(file, &elsewhere).unwrap();
            std::os::unix::fs::symlink(elsewhere, file).unwrap();
        }));
        assert!(is_healed_after(|file| {
            fs::set_permissions(file.parent().unwrap(), Permissions::from_mode(0o777)).unwrap();
        }));
    }

    #[test]
    fn native_code_of_other_settings_is_not_used() {
        let folder = tempfile::tempdir().unwrap();
        let other = Engine::new(wasmtime::Config::new().epoch_interruption(true)).unwrap();
        load_or_compile(&Engine::default(), WASM, folder.path()).unwrap();
        let (first, _) = files(folder.path());
        load_or_compile(&other, WASM, folder.path()).unwrap();
        assert_ne!(first, files(folder.path()).0);
        assert!(!first.exists());
    }

    #[test]
    fn a_folder_that_cannot_be_written_costs_only_time() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        fs::write(&file, b"").unwrap();
        let module = load_or_compile(&Engine::default(), WASM, &file.join("cache")).unwrap();
        assert!(module.get_export("f").is_some());
    }
}
