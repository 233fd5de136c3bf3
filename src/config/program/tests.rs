//! Tests of `config::program`.

use super::*;

#[test]
fn a_program_is_found_by_a_path_or_by_its_name_and_is_named_whole() {
    let folder = tempfile::tempdir().unwrap();
    let whole = folder.path().canonicalize().unwrap().join("spoken");
    std::fs::write(&whole, "").unwrap();
    let path = format!("/nowhere:{}", folder.path().display());
    assert_eq!(program_at(&folder.path().join("./spoken"), None), Some(whole.clone()));
    assert_eq!(program_at(Path::new("spoken"), Some(&path)), Some(whole));
    assert_eq!(program_at(Path::new("spoken"), None), None);
    assert_eq!(program_at(Path::new("./spoken"), Some(&path)), None, "a path is no name");
}
