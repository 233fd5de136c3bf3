//! Tests of `postgres::embedded::error`.

use super::*;

#[test]
fn what_a_person_has_to_mend_lasts_and_what_comes_by_itself_passes() {
    let folder = |kind: io::ErrorKind| Err::<(), _>(kind.into()).during("write", "/data".as_ref()).unwrap_err();
    let ended = |killed| EmbeddedError::Ended { status: String::new(), killed, log: PathBuf::new(), tail: String::new() };
    for (error, lasts) in [
        (EmbeddedError::NoBinaries { looked: String::new() }, true),
        (EmbeddedError::NoAccount { missing: String::new() }, true),
        (EmbeddedError::InitFailed { output: String::new() }, true),
        (folder(io::ErrorKind::PermissionDenied), true),
        (folder(io::ErrorKind::ReadOnlyFilesystem), true),
        (folder(io::ErrorKind::StorageFull), false),
        (ended(false), true),
        (ended(true), false),
        (EmbeddedError::NoAnswer { seconds: 120, log: PathBuf::new(), tail: String::new() }, false),
        (EmbeddedError::WillNotStop { pid: 1 }, false),
    ] {
        assert_eq!(error.lasts(), lasts, "{error}");
    }
}
