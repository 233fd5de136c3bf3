//! Tests of `cli::relay`.

use super::*;

fn read(arguments: &[&str]) -> Result<RelayCli, clap::Error> {
    RelayCli::try_parse_from([&["relay"], arguments].concat())
}

#[test]
fn the_command_line_is_consistent() {
    RelayCli::command().debug_assert();
}

#[test]
fn every_command_of_the_document_is_understood() {
    for arguments in [
        &["init"][..],
        &["init", "--channel", "whatsapp", "--consent", "--whatsapp-program", "./program"],
        &["init", "--channel", "whatsapp", "--build-whatsapp", "--pace", "contact_gap_seconds=1", "--i-know"],
        &["start"],
        &["stop"],
        &["status", "--json"],
        &["create", "--contact", "+491701234567", "--objective", "x", "--todo", "a", "--todo", "b", "--heartbeat", "30m"],
        &[
            "create",
            "--contact",
            "+491701234567",
            "--template",
            "viewing",
            "--var",
            "who=Ana",
            "--key",
            "k",
            "--max-follow-ups",
            "5",
        ],
        &["list", "--state", "ACTIVE,PAUSED", "--contact", "+491701234567"],
        &["get", "7"],
        &["transcript", "7", "--follow"],
        &["send", "7", "hello"],
        &["pause", "7"],
        &["resume", "7"],
        &["cancel", "7"],
        &["resend", "31"],
        &["settle", "31", "lost"],
        &["loopback", "say", "+491701234567", "hello"],
        &["templates", "add", "viewing", "--objective", "x"],
        &["webhooks", "add", "https://example.org/relay", "--with-text"],
        &["export", "7", "--out", "./out"],
        &["completions", "bash"],
        &["--home", "/tmp/x", "--json", "list"],
    ] {
        assert!(read(arguments).is_ok(), "{arguments:?}: {}", read(arguments).unwrap_err());
    }
}

#[test]
fn words_that_begin_like_an_option_are_words() {
    let read = |arguments: &[&str]| read(arguments).unwrap_or_else(|error| panic!("{arguments:?}: {error}"));
    for words in ["-5 degrees, bring a coat", "-hi", "- one thing", "--really?"] {
        let RelayCommand::Send { message, .. } = read(&["send", "7", words]).command else { panic!("{words}") };
        assert_eq!(message, words);
        let RelayCommand::Loopback(channels::LoopbackCommand::Say { text, .. }) =
            read(&["loopback", "say", "+491701234567", words]).command
        else {
            panic!("{words}")
        };
        assert_eq!(text, words);
    }
    let cli = read(&["send", "7", "--json", "hello"]);
    assert!(cli.json && matches!(cli.command, RelayCommand::Send { message, .. } if message == "hello"));
}

#[test]
fn wrong_input_names_the_field_and_shows_a_right_one() {
    for (arguments, said) in [
        (&["get", "seven"][..], "a number like 7"),
        (&["get", "0"], "a number like 7"),
        (&["resend", "x"], "a number like 31"),
        (&["settle", "31", "gone"], "sent, lost"),
        (&["create", "--objective", "x"], "--contact"),
        (&["create", "--contact", "+49", "--heartbeat", "soon"], "like 30m"),
        (&["create", "--contact", "+49", "--max-follow-ups", "21"], "0..=20"),
        (&["create", "--contact", "+49", "--template", "t", "--var", "who"], "like name=Ana"),
        (&["create", "--contact", "+49", "--var", "who=Ana"], "--template"),
        (&["init", "--channel", "sms"], "loopback, whatsapp"),
        (&["init", "--pace", "slow"], "like contact_gap_seconds=5"),
        (&["init", "--pace", "contact_gap_seconds=abc"], "`contact_gap_seconds` is \"abc\"; a right one is 2"),
        (&["init", "--pace", "contact_gap=5"], "write one of "),
        (&["init", "--listen", "foo"], "like 127.0.0.1:3214"),
        (&["init", "--server", "http://127.0.0.1:8000", "--key"], "--key"),
        (&["webhooks", "test", "x"], "a number like 1"),
    ] {
        let error = read(arguments).unwrap_err();
        assert_eq!(error.exit_code(), 2, "{arguments:?}");
        assert!(error.to_string().contains(said), "{arguments:?}: {error}");
    }
}

#[test]
fn the_key_of_a_model_is_never_an_argument() {
    assert!(read(&["init", "--key"]).is_ok());
    assert!(read(&["init", "--key", "the value"]).is_err());
}
