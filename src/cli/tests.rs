//! Tests of `cli`.

use std::collections::HashMap;

use super::*;
use clap::CommandFactory;

#[test]
fn the_command_line_is_consistent() {
    Cli::command().debug_assert();
}

#[test]
fn serve_is_understood() {
    assert!(matches!(Cli::parse_from(["level3", "serve"]).command, Command::Serve));
}

#[test]
fn the_value_of_a_secret_is_never_an_argument() {
    assert!(Cli::try_parse_from(["level3", "secret", "set", "API_KEY"]).is_ok());
    assert!(Cli::try_parse_from(["level3", "secret", "set", "API_KEY", "the value"]).is_err());
}

#[test]
fn a_server_that_listens_everywhere_is_reached_on_loopback() {
    let settings = |listen: &str| HashMap::from([("LEVEL3_LISTEN".into(), listen.into()), ("LEVEL3_TOKEN".into(), "t".into())]);
    for (listen, url) in [
        ("127.0.0.1:8000", "http://127.0.0.1:8000/"),
        ("0.0.0.0:8123", "http://127.0.0.1:8123/"),
        ("[::]:8123", "http://[::1]:8123/"),
    ] {
        assert_eq!(address(&Config::read(&settings(listen)).unwrap()).as_str(), url);
    }
}
