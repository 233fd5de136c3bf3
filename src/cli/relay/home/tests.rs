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
    let own = HomeConfig::default();
    let token = home.token(&own).unwrap();
    assert_eq!(token.expose_secret().len(), 64);
    home.make(&SeededRandom::new(2)).unwrap();
    assert_eq!(home.token(&own).unwrap().expose_secret(), token.expose_secret());
    assert_eq!((mode(home.path()), mode(&home.templates()), mode(&home.token_file())), (0o700, 0o700, 0o600));
    home.keep(&home.key_file(), b"first").unwrap();
    home.keep(&home.key_file(), b" second\n").unwrap();
    let key = home.model_key(&HomeModel::default()).unwrap();
    assert_eq!((key.as_deref(), mode(&home.key_file())), (Some("second"), 0o600));
}

#[test]
fn a_token_that_keeps_nobody_out_is_refused_and_an_empty_one_is_made_anew() {
    let place = tempfile::tempdir().unwrap();
    let home = RelayHome { path: place.path().to_owned() };
    let of_a_server = HomeConfig { server: Some("http://127.0.0.1:8000".into()), ..HomeConfig::default() };
    home.make(&SeededRandom::new(1)).unwrap();
    let refused = |config: &HomeConfig| home.token(config).unwrap_err().to_string();
    for (text, said) in [("", "relay init"), (" \n", "relay init"), ("a", "fewer than 32"), ("two\nlines", "one line")] {
        fs::write(home.token_file(), text).unwrap();
        let why = refused(&HomeConfig::default());
        assert!(why.contains(said), "{text:?}: {why}");
    }
    fs::write(home.token_file(), "").unwrap();
    assert!(refused(&of_a_server).contains("is empty"));
    fs::write(home.token_file(), "short\n").unwrap();
    assert_eq!(home.token(&of_a_server).unwrap().expose_secret(), "short", "another level3 has the token that it has");
    fs::write(home.token_file(), "\n").unwrap();
    home.make(&SeededRandom::new(2)).unwrap();
    assert_eq!(home.token(&HomeConfig::default()).unwrap().expose_secret().len(), 64);
    fs::set_permissions(home.token_file(), fs::Permissions::from_mode(0o644)).unwrap();
    assert!(refused(&HomeConfig::default()).contains("chmod 600"));
    home.make(&SeededRandom::new(3)).unwrap();
    assert!(home.token(&HomeConfig::default()).is_ok());
}

#[test]
fn a_key_goes_to_no_place_but_the_one_it_was_given_for() {
    let place = tempfile::tempdir().unwrap();
    let home = RelayHome { path: place.path().to_owned() };
    let model = |provider: &str, base_url: Option<&str>| HomeModel {
        provider: Some(provider.into()),
        base_url: base_url.map(str::to_owned),
        ..HomeModel::default()
    };
    home.keep_key(" sk-1\n", &model("OpenAI", None)).unwrap();
    let same = HomeModel { name: Some("another".into()), ..model("openai", None) };
    assert_eq!(home.model_key(&same).unwrap().as_deref(), Some("sk-1"));
    for other in [HomeModel::default(), model("groq", None), model("openai", Some("http://127.0.0.1:21307/v1"))] {
        let why = home.model_key(&other).unwrap_err().to_string();
        assert!(why.contains("was given for openai") && why.contains("relay init --key") && !why.contains("sk-1"), "{why}");
    }
    assert!(home.forget_key().unwrap());
    assert_eq!((home.forget_key().unwrap(), home.model_key(&same).unwrap()), (false, None));
}

#[test]
fn a_daemon_is_asked_at_the_address_that_its_server_says() {
    let place = tempfile::tempdir().unwrap();
    let home = RelayHome { path: place.path().to_owned() };
    let written = |mark: &str| {
        fs::write(home.ready_file(), mark).unwrap();
        home.reach()
    };
    assert_eq!(written("127.0.0.1:3214\n").unwrap(), DaemonReach::Gone, "a mark alone says nothing");
    let _lock = home.take_lock().unwrap().unwrap();
    assert_eq!(written("127.0.0.1:3214\n").unwrap(), DaemonReach::Ready(Url::parse("http://127.0.0.1:3214/").unwrap()));
    for half in ["", "127.0.0.1:32"] {
        assert_eq!(written(half).unwrap(), DaemonReach::Coming, "{half}");
    }
    for other in ["ready\n", "192.0.2.1:3214\n"] {
        assert!(written(other).unwrap_err().to_string().contains("relay stop"), "{other}");
    }
    fs::remove_file(home.ready_file()).unwrap();
    assert_eq!(home.reach().unwrap(), DaemonReach::Coming);
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
