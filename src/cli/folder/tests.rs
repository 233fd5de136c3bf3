//! Tests of `cli::folder`.

use super::*;

#[test]
fn a_folder_reads_back_as_it_was_written_and_is_not_overwritten() {
    let place = tempfile::tempdir().unwrap();
    let component = BASE64.encode([0, 0x61, 0x73, 0x6d]);
    let folder: CapabilityFolder =
        [(DESCRIPTION.to_owned(), json!({"name": "x"})), (WASM_BASE64.to_owned(), json!(component))].into_iter().collect();
    write(&folder, place.path()).unwrap();
    fs::write(place.path().join("README.md"), "for people").unwrap();
    assert_eq!(read(place.path(), &WasmOptions::default()).unwrap(), folder);
    let again = write(&folder, place.path()).unwrap_err();
    assert!(again.to_string().contains(DESCRIPTION), "{again}");
}

#[test]
fn a_wasm_file_takes_what_is_said_and_what_lies_beside_it() {
    let place = tempfile::tempdir().unwrap();
    let file = place.path().join("thing.wasm");
    fs::write(&file, b"\0asm").unwrap();
    let missing = read(&file, &WasmOptions::default()).unwrap_err();
    assert!(missing.to_string().contains("--name") && missing.exit_code() == 2, "{missing}");
    fs::write(place.path().join(DESCRIPTION), r#"{"description": "Does.", "parameters": {}}"#).unwrap();
    let said = WasmOptions { name: Some("thing".into()), grants: Some(r#"{"kv": {}}"#.into()), ..WasmOptions::default() };
    let folder = read(&file, &said).unwrap();
    assert_eq!(folder[DESCRIPTION], json!({"name": "thing", "description": "Does.", "parameters": {}, "grants": {"kv": {}}}));
    assert_eq!(folder[WASM_BASE64], "AGFzbQ==");
}

#[test]
fn what_is_no_capability_is_refused_with_what_is_missing() {
    let place = tempfile::tempdir().unwrap();
    let refused = |path: &Path, said: WasmOptions| read(path, &said).unwrap_err().to_string();
    assert!(refused(place.path(), WasmOptions::default()).contains("no capability.json"));
    assert!(refused(&place.path().join("x.py"), WasmOptions::default()).contains("nor a .wasm file"));
    let file = place.path().join("x.wasm");
    assert!(refused(&file, WasmOptions::default()).contains("x.wasm"));
    fs::write(&file, "").unwrap();
    assert!(refused(&file, WasmOptions { grants: Some("{".into()), ..WasmOptions::default() }).contains("--grants is not JSON"));
}

#[test]
fn a_file_that_leads_elsewhere_is_not_written() {
    let place = tempfile::tempdir().unwrap();
    let folder: CapabilityFolder = [("../evil.js".to_owned(), json!(""))].into_iter().collect();
    assert!(write(&folder, place.path()).unwrap_err().to_string().contains("../evil.js"));
}
