//! Tests of `cli::relay::home`.

use secrecy::ExposeSecret;

use super::*;
use crate::clock::SeededRandom;

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn the_folder_is_the_one_that_is_named_most_nearly() {
    let place = tempfile::tempdir().unwrap();
    let (here, own) = (place.path().join("here"), place.path().join("own"));
    fs::create_dir_all(&here).unwrap();
    let bare = RelayEnvironment { user_home: Some(own.clone()), ..RelayEnvironment::default() };
    let named = RelayEnvironment { home: Some("of-variable".into()), ..bare.clone() };
    let found = |given: Option<&str>, environment: &RelayEnvironment| {
        RelayHome::find(given.map(Path::new), environment, &here).map(|home| home.path().to_owned())
    };
    assert_eq!(found(None, &bare).unwrap(), own.join(".relay-agent"));
    fs::create_dir(here.join(".relay-agent")).unwrap();
    assert_eq!(found(None, &bare).unwrap(), here.join(".relay-agent"));
    assert_eq!(found(None, &named).unwrap(), here.join("of-variable"));
    assert_eq!(found(Some("given"), &named).unwrap(), here.join("given"));
    fs::remove_dir(here.join(".relay-agent")).unwrap();
    let nowhere = found(None, &RelayEnvironment::default()).unwrap_err();
    assert!(nowhere.to_string().contains("--home") && nowhere.exit_code() == 2, "{nowhere}");
}

#[test]
fn what_is_made_is_closed_to_others_and_the_token_stays() {
    let place = tempfile::tempdir().unwrap();
    let home = RelayHome { path: place.path().join("home") };
    home.make(&SeededRandom::new(1)).unwrap();
    let token = home.token().unwrap();
    assert_eq!(token.expose_secret().len(), 64);
    home.make(&SeededRandom::new(2)).unwrap();
    assert_eq!(home.token().unwrap().expose_secret(), token.expose_secret());
    assert_eq!((mode(home.path()), mode(&home.templates()), mode(&home.token_file())), (0o700, 0o700, 0o600));
    home.keep(&home.key_file(), b"first").unwrap();
    home.keep(&home.key_file(), b" second\n").unwrap();
    assert_eq!((home.model_key().unwrap().as_deref(), mode(&home.key_file())), (Some("second"), 0o600));
}

#[test]
fn a_folder_without_settings_is_not_set_up() {
    let place = tempfile::tempdir().unwrap();
    let home = RelayHome { path: place.path().join("home") };
    let error = home.config().unwrap_err();
    assert!(error.to_string().contains("relay init") && error.exit_code() == 3, "{error}");
    assert_eq!(home.running().unwrap(), None);
}

#[test]
fn a_daemon_runs_while_its_lock_is_held() {
    let place = tempfile::tempdir().unwrap();
    let home = RelayHome { path: place.path().to_owned() };
    fs::write(home.pid_file(), "4711\n").unwrap();
    assert_eq!(home.running().unwrap(), None, "a number alone says nothing");
    let look = home.open_lock().unwrap();
    look.try_lock_shared().unwrap();
    assert_eq!(home.running().unwrap(), None, "another command that looks is no daemon");
    drop(look);
    let lock = home.take_lock().unwrap().unwrap();
    assert_eq!(home.running().unwrap(), Some(4711));
    assert!(home.take_lock().unwrap().is_none());
    for wrong in ["", "-1", "0", "1", "x"] {
        fs::write(home.pid_file(), wrong).unwrap();
        assert!(home.running().unwrap_err().to_string().contains("try again"), "{wrong}");
    }
    drop(lock);
    assert_eq!(home.running().unwrap(), None);
}
