//! Tests of `app::backup::archive`.

use super::*;
use crate::clock::SystemRandom;

async fn written_to(file: &Path, manifest: Manifest, parts: &[(&str, &Path)]) -> Result<u64, ArchiveError> {
    let parts = parts.iter().map(|(name, path)| ((*name).to_owned(), Contents::At((*path).to_owned()))).collect();
    write(file, manifest, parts, &SystemRandom).await
}

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

#[tokio::test]
async fn a_file_comes_back_as_it_went_in_and_replaces_nothing() {
    let place = tempfile::tempdir().unwrap();
    let (source, file, out) = (place.path().join("a"), place.path().join("b.tar"), place.path().join("c"));
    fs::write(&source, vec![7; 100_000]).unwrap();
    written_to(&file, manifest(), &[("a", &source)]).await.unwrap();
    assert_eq!(check(&file).unwrap().files[0].bytes, 100_000);
    take(&file, "a", &out).unwrap();
    assert_eq!(fs::read(&out).unwrap(), vec![7; 100_000]);
    assert!(matches!(is_free(&file), Err(ArchiveError::Taken(_))));
    assert!(written_to(&file, manifest(), &[("a", &source)]).await.is_err(), "not even when it was taken meanwhile");
    let mut left: Vec<_> = fs::read_dir(place.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    left.sort();
    assert_eq!(left, ["a", "b.tar", "c"]);
}

#[tokio::test]
async fn whatever_is_not_whole_is_refused_with_a_sentence() {
    let place = tempfile::tempdir().unwrap();
    let (source, file) = (place.path().join("a"), place.path().join("b.tar"));
    fs::write(&source, vec![7; 10_000]).unwrap();
    written_to(&file, manifest(), &[("a", &source)]).await.unwrap();
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
    written_to(&newer, Manifest { format: FORMAT + 1, ..manifest() }, &[]).await.unwrap();
    assert!(check(&newer).unwrap_err().to_string().contains("newer level3"));
}

#[tokio::test]
async fn a_part_takes_no_name_that_a_file_has_and_leaves_none() {
    let place = tempfile::tempdir().unwrap();
    let (file, out) = (place.path().join("b.tar"), place.path().join("out"));
    for theirs in ["b.tar.dump", "b.tar.unfinished"] {
        fs::write(place.path().join(theirs), "mine").unwrap();
    }
    let mut part = nameless(place.path(), &SystemRandom).unwrap();
    assert_eq!(fs::read_dir(place.path()).unwrap().count(), 2, "it has no name");
    part.write_all(b"conversations").unwrap();
    let parts = vec![("a".to_owned(), Contents::Open(part))];
    write(&file, manifest(), parts, &SystemRandom).await.unwrap();
    take(&file, "a", &out).unwrap();
    assert_eq!(fs::read(&out).unwrap(), b"conversations");
    for theirs in ["b.tar.dump", "b.tar.unfinished"] {
        assert_eq!(fs::read(place.path().join(theirs)).unwrap(), b"mine");
    }
    assert_eq!(fs::read_dir(place.path()).unwrap().count(), 4);
}

#[tokio::test]
async fn an_archive_that_is_given_up_leaves_nothing() {
    let place = tempfile::tempdir().unwrap();
    let (file, source) = (place.path().join("b.tar"), place.path().join("a"));
    fs::write(&source, "a").unwrap();
    let parts = vec![("a".to_owned(), Contents::At(source))];
    let mut writing = Box::pin(write(&file, manifest(), parts, &SystemRandom));
    // The first poll makes the file; the thread that fills it has not been waited for.
    assert!(futures::poll!(&mut writing).is_pending());
    assert_eq!(fs::read_dir(place.path()).unwrap().count(), 2);
    drop(writing);
    assert_eq!(fs::read_dir(place.path()).unwrap().count(), 1);
}
