//! Tests of `folder`.

use super::*;

fn folder() -> (tempfile::TempDir, Folder) {
    let place = tempfile::tempdir().unwrap();
    let root = place.path().join("whatsapp");
    let folder = Folder::open(root.to_str().unwrap(), root.join("media").to_str().unwrap()).unwrap();
    (place, folder)
}

fn mode(path: &Path) -> u32 {
    path.metadata().unwrap().permissions().mode() & 0o777
}

#[test]
fn nobody_else_may_read_the_session() {
    let (_place, folder) = folder();
    let session = folder.session().unwrap();
    assert_eq!((mode(&session), mode(session.parent().unwrap()), mode(folder.root())), (0o600, 0o700, 0o700));
    std::fs::set_permissions(&session, Permissions::from_mode(0o644)).unwrap();
    assert_eq!(mode(&folder.session().unwrap()), 0o600);
}

#[test]
fn a_session_is_put_aside_and_never_over_another() {
    let (_place, folder) = folder();
    folder.put_aside(7).unwrap();
    for _ in 0..2 {
        std::fs::write(folder.session().unwrap(), "keys").unwrap();
        std::fs::write(folder.ban(), "a ban of its number").unwrap();
        folder.put_aside(7).unwrap();
        assert!(!folder.root().join(SESSION).exists() && !folder.ban().exists());
    }
    for kept in ["whatsapp-session.7", "whatsapp-session.8"] {
        assert_eq!(std::fs::read_to_string(folder.root().join(kept).join("session.db")).unwrap(), "keys");
    }
    folder.session().unwrap();
    folder.forget().unwrap();
    folder.forget().unwrap();
    assert!(!folder.root().join(SESSION).exists());
}

#[test]
fn only_plain_files_of_the_media_folder_are_sent() {
    let (place, folder) = folder();
    std::fs::write(place.path().join("secret"), "x").unwrap();
    let kept = folder.keep("a.png", b"png").unwrap();
    assert_eq!(kept, "media/a.png");
    assert_eq!(folder.outgoing(&kept, 3).unwrap(), b"png");
    assert!(folder.outgoing(&kept, 2).unwrap_err().contains("2 are the most"));
    std::os::unix::fs::symlink(place.path().join("secret"), folder.root().join("media/link")).unwrap();
    for path in ["media/link", "../secret", "/etc/passwd", "media", "journal"] {
        assert!(folder.outgoing(path, 100).is_err(), "{path}");
    }
}

#[test]
fn a_media_folder_elsewhere_is_refused() {
    let place = tempfile::tempdir().unwrap();
    let error = Folder::open(place.path().join("a").to_str().unwrap(), "/tmp/b").unwrap_err();
    assert!(error.to_string().contains("is not inside"));
}
