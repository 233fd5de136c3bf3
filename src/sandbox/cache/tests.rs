//! Tests of `sandbox::cache`.

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
