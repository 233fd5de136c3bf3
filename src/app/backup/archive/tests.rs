//! Tests of `app::backup::archive`.

use super::*;

fn manifest() -> Manifest {
    Manifest {
        format: FORMAT,
        level3: "0".into(),
        made_at: "now".into(),
        engine: "e".into(),
        postgres: "15.1".into(),
        postgres_major: 15,
        migration: 1,
        files: Vec::new(),
    }
}

#[test]
fn a_file_comes_back_as_it_went_in_and_replaces_nothing() {
    let place = tempfile::tempdir().unwrap();
    let (source, file, out) = (place.path().join("a"), place.path().join("b.tar"), place.path().join("c"));
    fs::write(&source, vec![7; 100_000]).unwrap();
    write(&file, manifest(), &[("a", &source)]).unwrap();
    assert_eq!(check(&file).unwrap().files[0].bytes, 100_000);
    take(&file, "a", &out).unwrap();
    assert_eq!(fs::read(&out).unwrap(), vec![7; 100_000]);
    assert!(matches!(is_free(&file), Err(ArchiveError::Taken(_))));
    assert!(write(&file, manifest(), &[("a", &source)]).is_err(), "not even when it was taken meanwhile");
    let mut left: Vec<_> = fs::read_dir(place.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    left.sort();
    assert_eq!(left, ["a", "b.tar", "c"]);
}

#[test]
fn whatever_is_not_whole_is_refused_with_a_sentence() {
    let place = tempfile::tempdir().unwrap();
    let (source, file) = (place.path().join("a"), place.path().join("b.tar"));
    fs::write(&source, vec![7; 10_000]).unwrap();
    write(&file, manifest(), &[("a", &source)]).unwrap();
    let whole = fs::read(&file).unwrap();
    let content = whole.windows(64).rposition(|bytes| bytes == [7; 64]).unwrap();
    let mut flipped = whole.clone();
    flipped[content] ^= 1;
    for (bytes, wanted) in [
        (&flipped[..], "damaged"),
        (&whole[..content], "damaged"),
        (&whole[..100], "no backup"),
        (&[][..], "no backup"),
        (&b"PGDMP of somebody"[..], "no backup"),
    ] {
        fs::write(&file, bytes).unwrap();
        let told = check(&file).unwrap_err().to_string();
        assert!(told.contains(wanted), "{told}");
    }
    let newer = place.path().join("newer.tar");
    write(&newer, Manifest { format: FORMAT + 1, ..manifest() }, &[]).unwrap();
    assert!(check(&newer).unwrap_err().to_string().contains("newer level3"));
}
